//! The channels of the engine: descriptors, copies and statuses.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{DmaCompletion, Purpose};

use super::{Activity, DESCRIPTOR_BYTES, Descriptor, DmaWork, STATUS_BYTES, element};
use crate::bulk::Range;
use crate::core::Work;
use crate::devices::Snooper;
use crate::machine::{PlainMachine, Sender};
use crate::transfer::{Next, Transfer};

impl PlainMachine {
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
        let lines = self.lines(address, DESCRIPTOR_BYTES);
        self.dma().channels[channel].activity = Activity::Fetch(lines.end - lines.start);
        let snooper = Snooper { core: copy.core, purpose: Purpose::KernelData };
        for line in lines {
            let operation = Operation::Read { address: PhysicalAddress(line * line_bytes), bytes: line_bytes };
            self.send(Sender::Dma { channel, core: copy.core }, now, operation);
            self.snoop_for_reading(now, snooper, line);
        }
    }

    /// Begins the copy of a channel, whose descriptor is there.
    fn start_transfer(&mut self, now: u64, channel: usize) {
        let copy = self.first(channel).expect("it was fetched");
        let transfer = Transfer::new(copy.src, copy.dst, self.settings.lines.bytes);
        if !self.dma().settings.is_in_dram {
            self.dma().channels[channel].activity = Activity::Copy(transfer);
            return self.advance_transfer(now, channel);
        }
        let snooper = Snooper { core: copy.core, purpose: Purpose::KernelCopy };
        let (lines, parts) = transfer.lines_and_parts();
        for line in lines {
            self.snoop_for_reading(now, snooper, line);
        }
        for part in parts {
            self.snoop_for_writing(now, snooper, part);
        }
        self.dma().channels[channel].activity = Activity::InDram;
        let [src, dst] = [copy.src, copy.dst].map(|range| PhysicalAddress(range.from));
        let operation = Operation::Copy { src, dst, bytes: copy.dst.bytes };
        self.send(Sender::Dma { channel, core: copy.core }, now, operation);
    }

    /// Writes and reads what can leave.
    fn advance_transfer(&mut self, now: u64, channel: usize) {
        let Some(copy) = self.first(channel) else { return };
        let (sender, line_bytes) = (Sender::Dma { channel, core: copy.core }, self.settings.lines.bytes);
        let snooper = Snooper { core: copy.core, purpose: Purpose::KernelCopy };
        loop {
            let dma = self.dma();
            let buffer_lines = dma.settings.buffer_lines;
            let Activity::Copy(transfer) = &mut dma.channels[channel].activity else { return };
            let Some(next) = transfer.next(buffer_lines) else { return };
            let operation = next.operation(line_bytes);
            self.cores[copy.core].counters.controller_copy_bytes += operation.bytes();
            self.send(sender, now, operation);
            if let Next::Read { line, parts } = next {
                self.snoop_for_reading(now, snooper, line);
                for part in parts {
                    self.snoop_for_writing(now, snooper, part);
                }
            }
        }
    }

    /// The data of a read of a channel are there.
    pub fn dma_reads(&mut self, now: u64, channel: usize, line: u64) {
        match &mut self.dma().channels[channel].activity {
            Activity::Fetch(1) => self.start_transfer(now, channel),
            Activity::Fetch(left) => *left -= 1,
            Activity::Copy(transfer) => {
                transfer.receive(line);
                self.advance_transfer(now, channel);
            }
            Activity::None | Activity::InDram => unreachable!("they read nothing"),
        }
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
        self.send(Sender::Status { channel }, now, Operation::Write { address, bytes: STATUS_BYTES });
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
                continue;
            }
            self.cores[core].counters.coherence.lookups += 1;
            if found == Some(false) {
                self.cores[core].counters.coherence.invalidated += 1;
                self.caches[cache].remove(line);
                self.leave_l1s(cache, line);
            }
        }
        if completion == DmaCompletion::Interrupt {
            let cycles = self.dma().settings.interrupt_cycles;
            let (until, cause) = self.cores[core].busy;
            if now < until {
                self.cores[core].counters.dma.interrupts += 1;
                self.cores[core].busy = (until + cycles, cause);
            } else if matches!(self.cores[core].work.front(), Some(Work::Dma(DmaWork::Wait)))
                && !self.is_in_progress(core)
            {
                self.cores[core].push_front([Work::Dma(DmaWork::Interrupt), Work::Dma(DmaWork::Load)]);
            } else {
                self.dma().interrupts[core] += 1;
            }
        }
        self.end_descriptor(now, channel);
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
