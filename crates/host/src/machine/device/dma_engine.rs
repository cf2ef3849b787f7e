//! A DMA engine beside the controller, with descriptor rings in memory.
//!
//! Each channel executes one descriptor at a time, in the order of the doorbells. It reads the descriptor from
//! memory, copies, and after the last descriptor of a doorbell writes the status line of the core, and
//! interrupts the core if that is set. `docs/copiers.md` has the steps and their times.

use std::collections::VecDeque;

use dram_spec::{LINE_BYTES, Operation};
use memctrl::Completion;

use super::super::clock::CoreCycle;
use super::super::counters::{CoherenceCounts, Purpose};
use super::super::interconnect::{Agent, Descriptor, Message, Requester};
use super::super::memory::{Memory, Scope};
use super::super::settings::{DmaCompletion, DmaSettings};
use super::Device;
use super::transfer::{LineRead, Route, Snoops, Transfer};
use crate::defects::{Planted, is_planted};

/// Bytes of a descriptor that the core writes: command and size, source, destination, and the next one.
pub const DESCRIPTOR_BYTES: u64 = 32;

/// A DMA engine.
#[derive(Debug)]
pub(super) struct DmaEngine {
    device: usize,
    route: Route,
    completion: DmaCompletion,
    channels: Vec<DmaChannel>,
}

/// A channel.
#[derive(Debug, Default)]
struct DmaChannel {
    /// Descriptors that no doorbell has announced.
    described: Vec<Descriptor>,
    /// Descriptors, of which the first is in progress.
    queue: VecDeque<Descriptor>,
    step: DescriptorPhase,
    /// Of the descriptors since the last write of a status line.
    counts: CoherenceCounts,
    /// Bytes that these moved over memory channels.
    moved_bytes: u64,
}

/// What a channel does with its first descriptor.
#[derive(Debug, Default)]
enum DescriptorPhase {
    /// There is none.
    #[default]
    Idle,
    /// It reads the descriptor.
    Fetch(Vec<LineRead>),
    Copy(Transfer),
    /// It writes the status line, with a request of this number.
    Status {
        request: u64,
        descriptor: Descriptor,
    },
}

impl DmaEngine {
    pub(super) fn new(device: usize, settings: DmaSettings) -> DmaEngine {
        let DmaSettings { is_in_dram, buffer_lines, completion, channels, .. } = settings;
        let channels = (0..channels).map(|_| DmaChannel::default()).collect();
        DmaEngine { device, route: Route { is_in_dram, buffer_lines }, completion, channels }
    }

    /// Proceeds with the first descriptor of a channel as far as possible at a cycle.
    fn proceed(&mut self, channel: usize, at: CoreCycle, memory: &mut Memory) {
        let (device, route) = (self.device, self.route);
        let DmaChannel { queue, step, counts, .. } = &mut self.channels[channel];
        let Some(&descriptor) = queue.front() else { return };
        let requester = Requester { core: descriptor.core, device: Some(device) };
        match step {
            DescriptorPhase::Idle => {
                let (own, size) = (Agent::Device(device), memory.line_size());
                let mut reads = Vec::new();
                for (line, _) in size.lines(descriptor.address, DESCRIPTOR_BYTES) {
                    let mut read = LineRead::new(line, size);
                    let known = memory.interconnect.snooped(at);
                    read.request(requester, Purpose::KernelData, counts, (at, known), memory);
                    memory.interconnect.post_later(own, own, Message::Continue, read.ready());
                    reads.push(read);
                }
                *step = DescriptorPhase::Fetch(reads);
            }
            DescriptorPhase::Fetch(reads) if reads.iter().all(|read| read.is_there(at)) => {
                for read in reads.iter() {
                    let found = read.data.as_ref().map(|line| &line[..line.len().min(DESCRIPTOR_BYTES as usize)]);
                    memory.check_device_load(descriptor.core, read.address(), found);
                }
                *step = DescriptorPhase::Copy(Transfer::new(
                    requester,
                    descriptor.bulk,
                    memory.line_size(),
                    Snoops::PerLine,
                ));
                self.proceed(channel, at, memory);
            }
            DescriptorPhase::Copy(transfer) => {
                let was_requested = transfer.is_requested();
                transfer.proceed(at, route, memory);
                let is_requested = transfer.is_requested() && !was_requested;
                if is_planted(Planted::EarlyCompletion) && is_requested && descriptor.is_last {
                    self.report(channel, &descriptor, at, memory);
                }
            }
            DescriptorPhase::Fetch(_) | DescriptorPhase::Status { .. } => {}
        }
    }

    /// Ends the copy of a channel at a cycle.
    fn copied(&mut self, channel: usize, at: CoreCycle, memory: &mut Memory) {
        let device = self.device;
        let DmaChannel { queue, step, counts, moved_bytes, .. } = &mut self.channels[channel];
        let DescriptorPhase::Copy(transfer) = std::mem::take(step) else { unreachable!("a copy is in progress") };
        *counts += transfer.counts;
        *moved_bytes += transfer.channel_bytes;
        let descriptor = queue.pop_front().expect("it is in progress");
        if descriptor.is_last && !is_planted(Planted::EarlyCompletion) && !is_planted(Planted::LostCompletion) {
            let requester = Requester { core: descriptor.core, device: Some(device) };
            let known = memory.interconnect.snooped(at);
            let operation = Operation::Write { address: descriptor.status, bytes: LINE_BYTES };
            let data = memory.device_store(descriptor.status, LINE_BYTES);
            let request = memory.device_request(requester, known, operation, data);
            *step = DescriptorPhase::Status { request, descriptor };
        } else {
            self.proceed(channel, at, memory);
        }
    }

    /// The status line of a core is in memory at a cycle.
    fn status_written(&mut self, channel: usize, at: CoreCycle, memory: &mut Memory) {
        let DmaChannel { step, counts, .. } = &mut self.channels[channel];
        let DescriptorPhase::Status { descriptor, .. } = std::mem::take(step) else { unreachable!("it was written") };
        let (core, status) = (descriptor.core, descriptor.status);
        // The core drops a line in flight when its data are there.
        let size = memory.line_size();
        for (line, _) in size.lines(status, LINE_BYTES) {
            if memory.caches.is_in_flight(core, line) {
                memory.drop_line(core, line, Scope::Others);
            } else {
                let requester = Requester { core, device: Some(self.device) };
                let part = (size.address(line), size.bytes().min(LINE_BYTES));
                memory.snoop_for_write(requester, part, Purpose::KernelData, counts, (at, at));
            }
        }
        self.report(channel, &descriptor, at, memory);
        self.proceed(channel, at, memory);
    }

    /// Lets a core see the end of its descriptors at a cycle.
    fn report(&mut self, channel: usize, descriptor: &Descriptor, at: CoreCycle, memory: &mut Memory) {
        let DmaChannel { counts, moved_bytes, .. } = &mut self.channels[channel];
        let (own, core) = (Agent::Device(self.device), Agent::Core(descriptor.core));
        let (counts, channel_bytes) = (std::mem::take(counts), std::mem::take(moved_bytes));
        let written = Message::StatusWritten { id: descriptor.id, counts, channel_bytes };
        memory.interconnect.post(own, core, written, at);
        if self.completion == DmaCompletion::Interrupt {
            memory.interconnect.post(own, core, Message::Interrupt, at);
        }
    }
}

impl Device for DmaEngine {
    fn receive(&mut self, message: Message, at: CoreCycle, memory: &mut Memory) {
        match message {
            Message::Described { channel, descriptor } => self.channels[channel].described.push(descriptor),
            Message::Doorbell { channel, core } => {
                let DmaChannel { described, queue, .. } = &mut self.channels[channel];
                queue.extend(described.extract_if(.., |descriptor| descriptor.core == core));
                self.proceed(channel, at, memory);
            }
            _ => (0..self.channels.len()).for_each(|channel| self.proceed(channel, at, memory)),
        }
    }

    fn accepted(&mut self, request: u64, at: CoreCycle, memory: &mut Memory) {
        for channel in 0..self.channels.len() {
            match &mut self.channels[channel].step {
                DescriptorPhase::Copy(transfer) => {
                    if transfer.accepted(request) {
                        let is_written = transfer.is_written();
                        return if is_written {
                            self.copied(channel, at, memory);
                        } else {
                            self.proceed(channel, at, memory);
                        };
                    }
                }
                DescriptorPhase::Status { request: write, .. } => {
                    if *write == request {
                        return self.status_written(channel, at, memory);
                    }
                }
                DescriptorPhase::Idle | DescriptorPhase::Fetch(_) => {}
            }
        }
    }

    fn completed(&mut self, completion: &Completion, at: CoreCycle, memory: &mut Memory) {
        for channel in 0..self.channels.len() {
            let (is_answered, is_ended) = match &mut self.channels[channel].step {
                DescriptorPhase::Fetch(reads) => (reads.iter_mut().any(|read| read.answered(completion)), false),
                DescriptorPhase::Copy(transfer) => (transfer.answered(completion), transfer.is_ended_by(completion)),
                DescriptorPhase::Idle | DescriptorPhase::Status { .. } => (false, false),
            };
            if is_answered {
                return self.proceed(channel, at, memory);
            }
            if is_ended {
                return self.copied(channel, at, memory);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.channels.iter().all(|channel| matches!(channel.step, DescriptorPhase::Idle) && channel.queue.is_empty())
    }
}
