//! The channels of the engine: descriptors, copies and statuses.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{DmaCompletion, Purpose};

use super::{Activity, DESCRIPTOR_BYTES, Descriptor, DmaWork, STATUS_BYTES, element};
use crate::bulk::Range;
use crate::core::Work;
use crate::devices::Snooper;
use crate::machine::ReferenceMachine;
use crate::traffic::{Message, Sender};
use crate::transfer::{Next, Read, Transfer, receive};

impl ReferenceMachine {
    /// The doorbell of a core arrives at the engine.
    pub fn receive_doorbell(&mut self, now: u64, core: usize) {
        let dma = self.dma();
        let at = dma.ringing.iter().position(|(other, _)| *other == core).expect("it was sent");
        let (_, copies) = dma.ringing.remove(at);
        let channel = dma.channel_of(core);
        let is_idle = dma.channels[channel].queue.is_empty();
        dma.channels[channel].queue.extend(copies);
        if is_idle {
            self.fetch(now, channel);
        }
    }

    fn first(&self, channel: usize) -> Option<Descriptor> {
        self.dma.as_ref().and_then(|dma| dma.channels[channel].queue.front().copied())
    }

    /// Reads the next descriptor of a channel.
    fn fetch(&mut self, now: u64, channel: usize) {
        let Some(copy) = self.first(channel) else { return };
        let line_bytes = self.settings.lines.bytes;
        let address = element(&self.dma().channels[channel].ring, copy.slot);
        let snooper = Snooper { core: copy.core, purpose: Purpose::KernelData, device: 0 };
        let mut reads = Vec::new();
        for line in self.lines(address, DESCRIPTOR_BYTES) {
            let operation = Operation::Read { address: PhysicalAddress(line * line_bytes), bytes: line_bytes };
            self.send(Sender::Dma { channel, core: copy.core }, now, operation);
            let answers = self.bus.snoop(now);
            let snooped = self.snoop_for_reading(now, answers, snooper, line);
            reads.push(Read::new(line, snooped));
            self.wake(now, snooped);
        }
        self.dma().channels[channel].activity = Activity::Fetch(reads);
    }

    /// Begins the copy of a channel, whose descriptor is there.
    fn start_transfer(&mut self, now: u64, channel: usize) {
        let copy = self.first(channel).expect("it was fetched");
        let transfer = Transfer::new(copy.src, copy.dst, self.settings.lines.bytes);
        if !self.dma().settings.is_in_dram {
            self.dma().channels[channel].activity = Activity::Copy(transfer);
            return self.advance_transfer(now, channel);
        }
        let snooper = Snooper { core: copy.core, purpose: Purpose::KernelCopy, device: 0 };
        let mut leaves = now;
        for read in transfer.reads() {
            let answers = self.bus.snoop(now);
            leaves = leaves.max(self.snoop_for_reading(now, answers, snooper, read.line));
        }
        for part in transfer.parts() {
            let answers = self.bus.snoop(now);
            leaves = leaves.max(self.snoop_for_writing(now, answers, snooper, part));
        }
        self.dma().channels[channel].activity = Activity::InDram;
        let [src, dst] = [copy.src, copy.dst].map(|range| PhysicalAddress(range.from));
        let operation = Operation::Copy { src, dst, bytes: copy.dst.bytes };
        self.send(Sender::Dma { channel, core: copy.core }, leaves, operation);
    }

    /// Writes and reads what can leave.
    fn advance_transfer(&mut self, now: u64, channel: usize) {
        let Some(copy) = self.first(channel) else { return };
        let (sender, line_bytes) = (Sender::Dma { channel, core: copy.core }, self.settings.lines.bytes);
        let snooper = Snooper { core: copy.core, purpose: Purpose::KernelCopy, device: 0 };
        loop {
            let dma = self.dma();
            let buffer_lines = dma.settings.buffer_lines;
            let Activity::Copy(transfer) = &mut dma.channels[channel].activity else { return };
            let Some(next) = transfer.next(now, buffer_lines) else { return };
            let operation = next.operation(line_bytes);
            self.cores[copy.core].counters.controller_copy_bytes += operation.bytes();
            self.send(sender, now, operation);
            let Next::Read { at, line } = next else { continue };
            let answers = self.bus.snoop(now);
            let snooped = self.snoop_for_reading(now, answers, snooper, line);
            self.transfer(channel).read(at).snooped = snooped;
            self.wake(now, snooped);
            for (part, range) in self.transfer(channel).parts_after(at) {
                let answers = self.bus.snoop(now);
                let there = self.snoop_for_writing(now, answers, snooper, range);
                self.transfer(channel).part_snooped(part, there);
                self.wake(now, there);
            }
        }
    }

    fn transfer(&mut self, channel: usize) -> &mut Transfer {
        match &mut self.dma().channels[channel].activity {
            Activity::Copy(transfer) => transfer,
            _ => unreachable!("it copies"),
        }
    }

    /// Proceeds with the descriptors of all channels.
    pub fn advance_channels(&mut self, now: u64) {
        for channel in 0..self.dma().channels.len() {
            self.advance_channel(now, channel);
        }
    }

    fn advance_channel(&mut self, now: u64, channel: usize) {
        match &self.dma().channels[channel].activity {
            Activity::Fetch(reads) if reads.iter().all(|read| read.is_there(now)) => self.start_transfer(now, channel),
            Activity::Copy(_) => self.advance_transfer(now, channel),
            _ => {}
        }
    }

    /// The data of a read of a channel are there.
    pub fn dma_reads(&mut self, now: u64, channel: usize, line: u64) {
        match &mut self.dma().channels[channel].activity {
            Activity::Fetch(reads) => receive(reads, line),
            Activity::Copy(transfer) => transfer.receive(line),
            Activity::None | Activity::InDram => unreachable!("they read nothing"),
        }
        self.advance_channel(now, channel);
    }

    /// The controller has accepted a write of a channel.
    pub fn dma_wrote(&mut self, now: u64, channel: usize) {
        let Activity::Copy(transfer) = &mut self.dma().channels[channel].activity else {
            unreachable!("others write nothing");
        };
        if transfer.accept() {
            self.end_transfer(now, channel);
        } else {
            self.advance_transfer(now, channel);
        }
    }

    /// The copy of a channel has ended.
    pub fn end_transfer(&mut self, now: u64, channel: usize) {
        let copy = self.first(channel).expect("it has ended");
        if !copy.is_last {
            return self.end_descriptor(now, channel);
        }
        let address = PhysicalAddress(element(&self.dma().status, copy.core));
        let leaves = self.bus.snoop(now);
        self.send(Sender::Status { channel }, leaves, Operation::Write { address, bytes: STATUS_BYTES });
    }

    /// The first descriptor of a channel has ended.
    fn end_descriptor(&mut self, now: u64, channel: usize) {
        self.dma().channels[channel].queue.pop_front();
        self.fetch(now, channel);
    }

    /// The controller has accepted the write of a status.
    pub fn show_status(&mut self, now: u64, channel: usize) {
        let Descriptor { core, number, .. } = self.first(channel).expect("it has ended");
        let dma = self.dma();
        dma.live.retain(|copy| copy.core != core || copy.number > number);
        let status = Range { from: element(&dma.status, core), bytes: STATUS_BYTES };
        let completion = dma.settings.completion;
        let cache = self.cache_of(core);
        for line in self.lines(status.from, status.bytes) {
            let found = self.caches[cache].get(line).map(|found| found.is_in_flight);
            if found == Some(true) {
                let stale = &mut self.dma().stale;
                stale.retain(|other| *other != line);
                stale.push(line);
                self.drop_elsewhere(cache, line);
                continue;
            }
            let snooper = Snooper { core, purpose: Purpose::KernelData, device: 0 };
            let line_bytes = self.settings.lines.bytes;
            let part = Range { from: line * line_bytes, bytes: line_bytes.min(STATUS_BYTES) };
            self.snoop_for_writing(now, now, snooper, part);
        }
        if completion == DmaCompletion::Interrupt {
            self.post(now, now, Message::Interrupt { core });
        }
        self.end_descriptor(now, channel);
    }

    /// An interrupt arrives at a core.
    pub fn receive_interrupt(&mut self, core: usize) {
        let dma = self.dma();
        if std::mem::take(&mut dma.awaits_interrupt[core]) {
            self.cores[core].push_front([Work::Dma(DmaWork::Interrupt), Work::Dma(DmaWork::Load)]);
        } else {
            dma.interrupts[core] += 1;
        }
    }

    /// Drops the status line of a core whose data are there, if the status has become visible meanwhile.
    pub fn drop_stale_status(&mut self, cache: usize, line: u64) {
        let Some(dma) = &mut self.dma else { return };
        let Some(at) = dma.stale.iter().position(|other| *other == line) else { return };
        dma.stale.remove(at);
        self.caches[cache].remove(line);
        self.leave_l1s(cache, line);
    }
}
