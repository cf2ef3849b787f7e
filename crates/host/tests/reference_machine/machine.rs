//! The machine: core cycles one after the other, and requests and completions of the controller.

use std::collections::BTreeMap;

use dram_spec::{AddressMap, Cycle, Mechanism, Operation, PhysicalAddress, RequestId, SourceId};
use host::machine::{CoreCycle, MachineSettings, PageCopier, Sharing};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::ZeroOnFree;

use crate::bulk::Range;
use crate::bus::Bus;
use crate::cache::Cache;
use crate::cases::ProgramCase;
use crate::core::{BufferedStore, Core};
use crate::dma::Dma;
use crate::engine::Engine;
use crate::network::{Event, Network};
use crate::prefetch::Prefetch;
use crate::processes::Processes;
use crate::runs::{CoreFigures, MEMORIES};
use crate::traffic::{Holds, Incoming, Message, Outgoing, Sender, Waiting};

/// Bytes of a line in machines with a copy engine.
pub const LINE: u64 = 64;

/// Index of the last-level cache of a core.
fn cache_of(sharing: Sharing, core: usize) -> usize {
    match sharing {
        Sharing::Private => core,
        Sharing::Group(cores) => core / cores.get(),
        Sharing::Shared => 0,
    }
}

pub struct ReferenceMachine {
    pub settings: MachineSettings,
    pub cores: Vec<Core>,
    /// The last-level caches: one per core, or one.
    pub caches: Vec<Cache>,
    pub processes: Processes,
    /// Lines that prefetchers have requested, and that are in flight.
    pub prefetches: Vec<Prefetch>,
    pub engine: Option<Engine>,
    pub dma: Option<Dma>,
    pub network: Option<Network>,
    /// Events that happen again when a line in flight is there.
    pub repeated: Vec<(u64, Event)>,
    /// Copies that the engine was given.
    pub copies: u64,
    pub bus: Bus,
    /// In order of creation.
    outbox: Vec<Outgoing>,
    /// By the cycle of its arrival and the order in which it was sent.
    incoming: BTreeMap<(u64, u64), Incoming>,
    waiting: BTreeMap<u64, Waiting>,
    requests: u64,
    /// Requests and messages so far.
    made: u64,
    /// The next core cycle to execute.
    next: u64,
}

impl ReferenceMachine {
    pub fn new(settings: MachineSettings, programs: &[ProgramCase], map: &AddressMap) -> ReferenceMachine {
        let memory = MEMORIES.memory(&settings.allocator, map).expect("the settings are sound");
        let kernel = memory.into_kernel(ZeroOnFree::Off);
        let caches = cache_of(settings.sharing, programs.len() - 1) + 1;
        let mut processes = Processes::new(kernel, programs.len());
        ReferenceMachine {
            settings,
            cores: programs
                .iter()
                .map(|program| Core::new(program.steps.clone(), &settings, program.is_uncached))
                .collect(),
            caches: (0..caches).map(|_| Cache::new(settings.last_level, settings.lines.bytes)).collect(),
            dma: Dma::new(settings.kernel.copier, &mut processes, programs.len()),
            processes,
            network: Network::new(
                &settings,
                programs.len(),
                u16::from(!matches!(settings.kernel.copier, PageCopier::Loop | PageCopier::Controller)),
            ),
            repeated: Vec::new(),
            prefetches: Vec::new(),
            engine: Engine::new(settings.kernel.copier),
            copies: 0,
            bus: Bus::new(settings.bus),
            outbox: Vec::new(),
            incoming: BTreeMap::new(),
            waiting: BTreeMap::new(),
            requests: 0,
            made: 0,
            next: 0,
        }
    }

    pub fn outcome(&self) -> Vec<CoreFigures> {
        let of = |core: &Core| CoreFigures {
            counters: core.counters,
            cycles: CoreCycle(core.ended.expect("the program has ended")),
        };
        self.cores.iter().map(of).collect()
    }

    /// Index of the last-level cache of a core.
    pub fn cache_of(&self, core: usize) -> usize {
        cache_of(self.settings.sharing, core)
    }

    pub fn push(&mut self, sender: Sender, leaves: u64, operation: Operation, holds: Holds) {
        let arrives = (sender.is_device() || !self.bus.exists()).then_some(leaves);
        self.outbox.push(Outgoing { leaves, arrives, sender, operation, holds });
        self.made += 1;
    }

    /// Sends a message that leaves at a cycle, and gets its part of the bus then.
    pub fn post(&mut self, now: u64, leaves: u64, message: Message) {
        self.expect(now, leaves, Incoming::Leaving(message));
    }

    /// A message leaves.
    fn leave(&mut self, now: u64, message: Message) {
        let addresses = if matches!(message, Message::Copy(_)) { 2 } else { 1 };
        let arrives = self.bus.send(now, addresses, 0);
        self.expect(now, arrives, Incoming::Message(message));
    }

    /// A device proceeds when caches have answered it.
    pub fn wake(&mut self, now: u64, snooped: u64) {
        if snooped > now {
            self.expect(now, snooped, Incoming::Snooped);
        }
    }

    fn expect(&mut self, now: u64, arrives: u64, incoming: Incoming) {
        if arrives > now {
            self.incoming.insert((arrives, self.made), incoming);
            self.made += 1;
        } else {
            self.arrive(now, incoming);
        }
    }

    /// Begins a cycle: requests that leave in it get their part of the bus, and then what arrives in it arrives, in the
    /// order in which it was sent.
    fn begin_cycle(&mut self, now: u64) {
        let has_left = |outgoing: &mut Outgoing| outgoing.arrives.is_none() && outgoing.leaves <= now;
        let mut left: Vec<Outgoing> = self.outbox.extract_if(.., has_left).collect();
        left.sort_by_key(|outgoing| outgoing.leaves);
        for outgoing in &mut left {
            let bytes = if let Operation::Write { bytes, .. } = outgoing.operation { bytes } else { 0 };
            outgoing.arrives = Some(self.bus.send(outgoing.leaves, 1, bytes));
        }
        self.outbox.extend(left);
        self.arrive_all(now);
    }

    /// What arrives up to a cycle arrives, in the order in which it was sent.
    pub fn arrive_all(&mut self, now: u64) {
        while let Some(entry) = self.incoming.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), incoming) = entry.remove_entry();
            self.arrive(at, incoming);
            self.count_useless();
        }
    }

    /// Plans an event at the adapter at a cycle.
    pub fn plan(&mut self, at: u64, event: Event) {
        self.post_to_adapter(at, Incoming::Adapter(event));
    }

    /// Sends a message of a core to the adapter, which gets its part of the bus at once.
    pub fn send_to_adapter(&mut self, now: u64, message: Message) {
        let arrives = self.bus.send(now, 1, 0);
        self.post_to_adapter(arrives, Incoming::Message(message));
    }

    /// The adapter finds something at a cycle. In a cycle, it acts after the core.
    pub fn post_to_adapter(&mut self, at: u64, incoming: Incoming) {
        self.incoming.insert((at, self.made), incoming);
        self.made += 1;
    }

    fn arrive(&mut self, now: u64, incoming: Incoming) {
        match incoming {
            Incoming::Line { core, line } => {
                self.count_useless();
                if self.receive_prefetch(now, core, line) {
                    return;
                }
                let cache = self.cache_of(core);
                if let Some(found) = self.caches[cache].get(line) {
                    found.is_in_flight = false;
                } else {
                    assert!(self.cores[core].is_uncached, "a line in flight keeps its place");
                }
                // A line that was prefetched may be awaited by another core.
                for other in (0..self.cores.len()).filter(|other| self.settings.sharing.cache_of(*other) == cache) {
                    self.cores[other].arrive(line, now * self.settings.core.width);
                }
                self.drop_stale_status(cache, line);
                for (_, event) in self.repeated.extract_if(.., |(other, _)| *other == line).collect::<Vec<_>>() {
                    self.plan(now, event);
                }
            }
            Incoming::Copy { core, bytes } => {
                let cache = self.cache_of(core);
                let core = &mut self.cores[core];
                core.waits_for_copy = false;
                for line in std::mem::take(&mut core.copied) {
                    self.caches[cache].get(line).expect("it keeps its place").is_in_flight = false;
                }
                core.counters.controller_copy_bytes += bytes;
            }
            Incoming::Leaving(message) => self.leave(now, message),
            Incoming::Message(Message::Copy(copy)) => self.receive_copy(now, copy),
            Incoming::Message(Message::Reply(copy, reply)) => self.receive_reply(now, copy, reply),
            Incoming::Message(Message::Doorbell { core }) => self.receive_doorbell(now, core),
            Incoming::Message(Message::Interrupt { core }) => self.receive_interrupt(core),
            Incoming::Message(Message::ToAdapter { core, message }) => self.receive_at_adapter(now, core, message),
            Incoming::Message(Message::PacketInterrupt { core }) => self.receive_packet_interrupt(core),
            Incoming::Buffer { core, buffer } => self.receive_buffer(now, core, buffer),
            Incoming::Adapter(event) => self.happen(now, event),
            Incoming::Snooped if self.engine.is_some() => self.advance_copy(now),
            Incoming::Snooped => self.advance_channels(now),
        }
    }

    /// Issues a request that leaves the cache at a cycle.
    pub fn send(&mut self, sender: Sender, leaves: u64, operation: Operation) {
        self.push(sender, leaves, operation, Holds::Nothing);
    }

    /// Removes the write-back of a line that arrives at the controller after a cycle, if there is one; returns the
    /// entry that it occupies.
    pub fn drop_write_back(&mut self, now: u64, line: u64) -> Option<Holds> {
        let target = PhysicalAddress(line * self.settings.lines.bytes);
        let is = |outgoing: &Outgoing| {
            matches!(outgoing.sender, Sender::Core(_))
                && outgoing.holds != Holds::OwnEntry
                && outgoing.arrives.is_none_or(|arrives| arrives > now)
                && matches!(outgoing.operation, Operation::Write { address, .. } if address == target)
        };
        let found = self.outbox.iter().position(is);
        found.map(|at| self.outbox.remove(at).holds)
    }

    pub fn read(&mut self, core: usize, leaves: u64, line: u64) {
        let bytes = self.settings.lines.bytes;
        self.send(Sender::Core(core), leaves, Operation::Read { address: PhysicalAddress(line * bytes), bytes });
    }

    pub fn write(&mut self, core: usize, leaves: u64, line: u64) {
        let bytes = self.settings.lines.bytes;
        self.send(Sender::Core(core), leaves, Operation::Write { address: PhysicalAddress(line * bytes), bytes });
    }

    /// Issues a non-temporal store.
    pub fn bypass(&mut self, core: usize, leaves: u64, line: u64) {
        let bytes = self.settings.lines.bytes;
        let operation = Operation::Write { address: PhysicalAddress(line * bytes), bytes };
        self.push(Sender::Core(core), leaves, operation, Holds::OwnEntry);
        self.cores[core].store_buffer.push(BufferedStore::Write(line));
    }

    /// Executes all cycles before `until`.
    fn run_to(&mut self, until: u64) {
        while self.next < until {
            let now = self.next;
            self.begin_cycle(now);
            for core in 0..self.cores.len() {
                self.tick(core, now);
                self.arrive_all(now);
            }
            self.next += 1;
        }
    }

    /// Counts the prefetched lines that have left caches without an access.
    fn count_useless(&mut self) {
        for core in self.caches.iter_mut().flat_map(|cache| std::mem::take(&mut cache.useless)) {
            self.cores[core].count_prefetch(|counts| &mut counts.useless);
        }
    }

    /// Executes a cycle of a core.
    fn tick(&mut self, at: usize, now: u64) {
        let width = self.settings.core.width;
        self.access_deferred(at, now);
        for slot in now * width..(now + 1) * width {
            self.count_useless();
            if self.cores[at].ended.is_some() {
                return;
            }
            self.cores[at].retire(slot, width);
            if let Err(cause) = self.dispatch(at, slot) {
                self.cores[at].stall(cause);
            }
        }
        let core = &mut self.cores[at];
        core.counters.pending_copy_cycles += u64::from(!core.pending.is_empty());
    }

    /// Position of the first request to arrive, if it has arrived by a clock.
    fn first_by(&self, now: Cycle) -> Option<usize> {
        let arrival = |at: usize| {
            let Outgoing { arrives, sender, .. } = self.outbox[at];
            let arrives = arrives.filter(|arrives| self.settings.clock.memory_at(CoreCycle(*arrives)) <= now);
            arrives.map(|arrives| (arrives, sender.is_device(), at))
        };
        (0..self.outbox.len()).filter_map(arrival).min().map(|(.., at)| at)
    }
}

impl RequestSource for ReferenceMachine {
    fn next_arrival(&self) -> Option<Cycle> {
        let clock = self.settings.clock;
        let is_on_the_bus = self.outbox.iter().any(|outgoing| outgoing.arrives.is_none()) || !self.incoming.is_empty();
        let is_running = is_on_the_bus || self.cores.iter().any(|core| core.ended.is_none());
        let next = is_running.then_some(self.next);
        let arrivals = self.outbox.iter().filter_map(|outgoing| outgoing.arrives);
        arrivals.chain(next).min().map(|cycle| clock.memory_at(CoreCycle(cycle)))
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let clock = self.settings.clock;
        // What the controller accepts in a clock affects the core cycle at its beginning.
        let cycle = clock.core_at(now).0;
        self.run_to(cycle);
        self.begin_cycle(cycle);
        let at = self.first_by(now).or_else(|| {
            self.run_to(clock.core_until(now).0 + 1);
            self.first_by(now)
        })?;
        let Outgoing { arrives, sender, operation, holds, .. } = self.outbox.remove(at);
        let line = operation.target().0 / self.settings.lines.bytes;
        let entry_of = match (holds, sender) {
            (Holds::OwnEntry, Sender::Core(core)) | (Holds::EntryOfVictim { core }, _) => Some(core),
            _ => None,
        };
        if let Some(core) = entry_of {
            let buffer = &mut self.cores[core].store_buffer;
            let entry = buffer.iter().position(|entry| *entry == BufferedStore::Write(line)).expect("it is buffered");
            buffer.remove(entry);
        }
        if let Sender::WriteBuffer { core, entry } | Sender::PassedEntry { core, entry, .. } = sender {
            self.accept_write(core, entry);
        }
        let id = self.requests;
        self.requests += 1;
        self.waiting.insert(id, Waiting::of(sender, operation, line));
        let arrival = clock.memory_at(CoreCycle(arrives.expect("it has left")));
        if let (Sender::Engine { .. }, Operation::Write { address, bytes }) = (sender, operation) {
            self.engine_wrote(cycle, Range { from: address.0, bytes });
        }
        match (sender, operation) {
            (Sender::Dma { channel, .. }, Operation::Write { .. }) => self.dma_wrote(cycle, channel),
            (Sender::Status { channel }, _) => self.show_status(cycle, channel),
            (Sender::Packet { queue, packet }, _) => self.accept_part(cycle, queue, packet),
            _ => {}
        }
        self.arrive_all(cycle);
        let source = match sender {
            Sender::Core(core) | Sender::WriteBuffer { core, .. } => SourceId(core as u16),
            Sender::Passed { device, .. } | Sender::PassedEntry { device, .. } => SourceId::device(device),
            Sender::Packet { .. } | Sender::PacketRead { .. } => {
                SourceId::device(self.network.as_ref().expect("it sends").device)
            }
            _ => SourceId::device(0),
        };
        Some(Request { id: RequestId(id), source, arrival: Some(arrival), operation, payload: None })
    }

    fn complete(&mut self, completion: Completion) {
        let now = self.settings.clock.core_at(completion.done).0;
        self.run_to(now);
        self.begin_cycle(now);
        let channel = completion.served.iter().filter(|(mechanism, ..)| *mechanism == Mechanism::CHANNEL);
        let bytes: u64 = channel.map(|(_, _, parts)| parts.bytes).sum();
        let passes = if matches!(completion.operation, Operation::Copy { .. }) { 2 } else { 1 };
        let on_the_bus = now + self.bus.response_latency();
        match self.waiting.remove(&completion.id.0).expect("it was issued") {
            Waiting::Line { core, line } => {
                let arrives = self.bus.data(on_the_bus, self.settings.lines.bytes);
                self.expect(now, arrives, Incoming::Line { core, line });
            }
            Waiting::Copy { core } => self.expect(now, on_the_bus, Incoming::Copy { core, bytes: passes * bytes }),
            Waiting::EngineRead { line } => self.engine_reads(now, line),
            Waiting::DmaRead { channel, line } => self.dma_reads(now, channel, line),
            Waiting::PacketRead { port, line } => self.packet_reads(now, port, line),
            Waiting::DmaCopy { channel, core } => {
                self.cores[core].counters.controller_copy_bytes += passes * bytes;
                self.end_transfer(now, channel);
            }
            Waiting::EngineCopy { core } => {
                self.cores[core].counters.controller_copy_bytes += passes * bytes;
                self.complete_copy(now);
            }
            Waiting::None => {}
        }
        self.arrive_all(now);
    }
}
