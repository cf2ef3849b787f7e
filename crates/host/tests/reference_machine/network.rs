//! The network adapter: packets that arrive, are written or injected, and interrupt cores; and packets that are sent
//! (`docs/copiers.md`).

use std::collections::{BTreeSet, VecDeque};

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{
    CoherenceCounts, InjectionLevel, InjectionPolicy, MachineSettings, NetworkSettings, Purpose, Spread, WithoutBuffer,
    WritePolicy,
};

use crate::bulk::Range;
use crate::cache::Line;
use crate::core::{Address, Stall};
use crate::devices::Snooper;
use crate::machine::{Incoming, Message, ReferenceMachine, Sender};
use crate::transfer::{Read, receive};

/// A receive buffer: first bytes of header and payload.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    header: u64,
    payload: u64,
}

/// A packet from its arrival until it is received.
#[derive(Debug)]
struct Arriving {
    number: u64,
    /// The lines that it has parts of, of which nothing is prefetched.
    lines: Vec<u64>,
    /// Writes that the controller has not accepted, and lines that are not in a cache.
    missing: usize,
    counts: CoherenceCounts,
    injected: u64,
}

#[derive(Debug, Default)]
struct Queue {
    free: VecDeque<Buffer>,
    /// Ports whose packet waits for a buffer.
    waiting: VecDeque<usize>,
    arriving: VecDeque<Arriving>,
    /// Headers of the buffers of packets in use.
    in_use: BTreeSet<u64>,
    /// Packets that were received, and that the core has not taken.
    untaken: u64,
    has_awaited: bool,
    /// Whether the queue may interrupt its core.
    may_interrupt: bool,
    /// Number of the latest time after which it does.
    timer: u64,
    is_timed: bool,
}

#[derive(Debug, Default)]
struct Port {
    arrived: u64,
    /// The cycle and the number of packets from which the time of the link counts.
    from: (u64, u64),
    sends: VecDeque<Sending>,
    /// The previous packet begins to leave in this cycle, and the link is then free in the other one.
    leaves: u64,
    is_free: u64,
}

/// A packet that waits to be sent.
#[derive(Debug)]
struct Sending {
    core: usize,
    range: Range,
    reads: Vec<Read>,
}

#[derive(Debug)]
pub struct Network {
    settings: NetworkSettings,
    /// The number of the adapter among the devices.
    pub device: u16,
    queues: Vec<Queue>,
    ports: Vec<Port>,
    has_begun: bool,
    is_over: bool,
    packets: u64,
    /// Packets that wait or leave, by port.
    unsent: Vec<usize>,
    /// Whether each core has let its queue interrupt it, and whether it was interrupted.
    awaits: Vec<bool>,
    is_interrupted: Vec<bool>,
}

/// What happens at the adapter at a cycle.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Packet {
        port: usize,
    },
    /// The data of a line are at the caches.
    Line {
        queue: usize,
        packet: u64,
        line: u64,
    },
    /// The time after the first packet of a queue has passed.
    Time {
        queue: usize,
        timer: u64,
    },
    /// The port may continue.
    Port {
        port: usize,
    },
    /// A packet has left.
    Left {
        port: usize,
        core: usize,
    },
}

/// A message of a core to the adapter.
#[derive(Clone, Copy, Debug)]
pub enum ToAdapter {
    MayInterrupt,
    Send { port: usize, from: u64, bytes: u64 },
}

impl Network {
    pub fn new(settings: &MachineSettings, cores: usize, device: u16) -> Option<Network> {
        let network = settings.network?;
        Some(Network {
            settings: network,
            device,
            queues: (0..network.queues).map(|_| Queue::default()).collect(),
            ports: (0..network.ports).map(|_| Port::default()).collect(),
            has_begun: false,
            is_over: false,
            packets: 0,
            unsent: vec![0; network.ports],
            awaits: vec![false; cores],
            is_interrupted: vec![false; cores],
        })
    }

    /// Cycles for which packets of some bytes occupy a link.
    fn link_cycles(&self, packets: u64, bytes: u64) -> u64 {
        let NetworkSettings { frame_bytes, cycles_per_1000_bytes, .. } = self.settings;
        (packets * (frame_bytes + bytes) * cycles_per_1000_bytes).div_ceil(1000)
    }

    /// Whether a line is of a packet that is not received.
    pub fn is_arriving(&self, line: u64) -> bool {
        self.queues.iter().flat_map(|queue| &queue.arriving).any(|packet| packet.lines.contains(&line))
    }

    /// The queue of a packet of a port, by its number from 0.
    fn queue_of(&self, port: usize, packet: u64) -> usize {
        let NetworkSettings { burst, connections, queues, spread, .. } = self.settings;
        let connection = port as u64 * connections + packet / burst % connections;
        match spread {
            Spread::Ports => port % queues,
            Spread::Connections => connection as usize % queues,
        }
    }

    /// Whether a range of a packet is injected.
    fn injects(&self, queue: usize, bytes: u64) -> bool {
        let injection = self.settings.injection;
        match injection.policy {
            InjectionPolicy::Never => false,
            InjectionPolicy::Always | InjectionPolicy::BoundedWays => true,
            InjectionPolicy::BySize => bytes <= injection.max_bytes,
            InjectionPolicy::WhenExpected => self.queues[queue].in_use.len() < injection.near_packets,
        }
    }
}

impl ReferenceMachine {
    fn network(&mut self) -> &mut Network {
        self.network.as_mut().expect("the program uses an adapter")
    }

    /// A core gives its queue a buffer.
    pub fn post_buffer(&mut self, at: usize, slot: u64, header: u64, payload: u64) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        self.wait_until_drained(at, now)?;
        let Some(header) = self.physical(at, now, Address::Virtual(header), true)? else { return Ok(false) };
        let Some(payload) = self.physical(at, now, Address::Virtual(payload), true)? else { return Ok(false) };
        self.cores[at].work.pop_front();
        // The buffer is in memory: no message crosses the bus.
        self.post_to_adapter(now, Incoming::Buffer { core: at, buffer: Buffer { header, payload } });
        Ok(false)
    }

    /// The adapter finds a buffer.
    pub fn receive_buffer(&mut self, now: u64, at: usize, buffer: Buffer) {
        let queue = &mut self.network().queues[at];
        queue.in_use.remove(&buffer.header);
        queue.free.push_back(buffer);
        if let Some(port) = queue.waiting.pop_front() {
            let arrived = self.network().ports[port].arrived;
            // The next packet is there after the time of one packet.
            self.network().ports[port].from = (now, arrived + 1);
            self.arrive_at_port(now, port);
        }
    }

    /// A core awaits packets.
    pub fn await_packets(&mut self, at: usize, slot: u64) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        self.wait_until_drained(at, now)?;
        let network = self.network();
        let has_queue = at < network.queues.len();
        let untaken = if has_queue { network.queues[at].untaken } else { 0 };
        let goes_on = if untaken == 0 { network.is_over } else { !network.awaits[at] };
        let is_interrupted = network.is_interrupted[at];
        if !is_interrupted && !goes_on {
            let is_first = has_queue && !network.awaits[at];
            if is_first {
                network.awaits[at] = true;
                let message = Message::ToAdapter { core: at, message: ToAdapter::MayInterrupt };
                self.send_to_adapter(now, message);
            }
            return Err(Stall::Idle);
        }
        network.is_interrupted[at] = false;
        network.awaits[at] = false;
        if has_queue {
            network.queues[at].untaken = 0;
        }
        let cycles = network.settings.interrupt_cycles;
        let core = &mut self.cores[at];
        core.work.pop_front();
        core.counters.network.packets += untaken;
        if is_interrupted {
            core.counters.network.interrupts += 1;
            core.busy = (now + cycles, Stall::Kernel);
        }
        Ok(false)
    }

    /// A core sends a packet.
    pub fn send_packet(
        &mut self,
        at: usize,
        slot: u64,
        port: usize,
        (address, bytes): (u64, u64),
    ) -> Result<bool, Stall> {
        let now = slot / self.settings.core.width;
        self.wait_until_drained(at, now)?;
        let Some(from) = self.physical(at, now, Address::Virtual(address), false)? else { return Ok(false) };
        let network = self.network();
        if network.unsent[port] == network.settings.send_ring {
            return Err(Stall::ControllerCopy);
        }
        network.unsent[port] += 1;
        self.cores[at].work.pop_front();
        let message = Message::ToAdapter { core: at, message: ToAdapter::Send { port, from, bytes } };
        self.send_to_adapter(now, message);
        Ok(false)
    }

    /// A message of a core arrives at the adapter.
    pub fn receive_at_adapter(&mut self, now: u64, core: usize, message: ToAdapter) {
        match message {
            ToAdapter::MayInterrupt => self.let_interrupt(now, core),
            ToAdapter::Send { port, from, bytes } => {
                let range = Range { from, bytes };
                self.network().ports[port].sends.push_back(Sending { core, range, reads: Vec::new() });
                self.advance_port(now, port);
            }
        }
    }

    pub fn happen(&mut self, now: u64, event: Event) {
        match event {
            Event::Packet { port } => self.arrive_at_port(now, port),
            Event::Line { queue, packet, line } => self.inject(now, queue, packet, line),
            Event::Time { queue, timer } => {
                let found = &self.network().queues[queue];
                if found.is_timed && found.timer == timer {
                    self.interrupt_core(now, queue);
                }
            }
            Event::Port { port } => self.advance_port(now, port),
            Event::Left { port, core } => {
                self.network().unsent[port] -= 1;
                if !self.cores[core].is_over() {
                    self.cores[core].counters.network.sent += 1;
                }
            }
        }
    }

    /// A queue may interrupt its core; packets begin to arrive once all queues may.
    fn let_interrupt(&mut self, now: u64, at: usize) {
        let network = self.network();
        let queue = &mut network.queues[at];
        (queue.may_interrupt, queue.has_awaited) = (true, true);
        if !network.has_begun && network.queues.iter().all(|queue| queue.has_awaited) {
            network.has_begun = true;
            for port in 0..network.ports.len() {
                self.network().ports[port].from = (now, 0);
                self.expect_packet(port);
            }
            self.end_if_over();
        }
        self.collect(now, at);
    }

    /// The next packet of a port is on its way.
    fn expect_packet(&mut self, port: usize) {
        let network = self.network();
        let NetworkSettings { packets, header_bytes, payload_bytes, .. } = network.settings;
        let Port { arrived, from: (from, before), .. } = network.ports[port];
        if arrived < packets {
            let at = from + network.link_cycles(arrived + 1 - before, header_bytes + payload_bytes);
            self.plan(at, Event::Packet { port });
        }
    }

    /// A packet is there.
    fn arrive_at_port(&mut self, now: u64, port: usize) {
        let network = self.network();
        let at = network.queue_of(port, network.ports[port].arrived);
        let Some(buffer) = network.queues[at].free.pop_front() else {
            if network.settings.without_buffer == WithoutBuffer::Wait {
                return network.queues[at].waiting.push_back(port);
            }
            network.ports[port].arrived += 1;
            self.expect_packet(port);
            if !self.cores[at].is_over() {
                self.cores[at].counters.network.dropped += 1;
            }
            return self.end_if_over();
        };
        network.ports[port].arrived += 1;
        self.expect_packet(port);
        self.write_packet(now, at, buffer);
    }

    /// Writes a packet to its buffer, or sends its lines to caches.
    fn write_packet(&mut self, now: u64, at: usize, buffer: Buffer) {
        let line_bytes = self.settings.lines.bytes;
        let network = self.network();
        let NetworkSettings { header_bytes, payload_bytes, .. } = network.settings;
        let number = network.packets;
        network.packets += 1;
        let Buffer { header, payload } = buffer;
        let mut ranges = if header + header_bytes == payload {
            vec![Range { from: header, bytes: header_bytes + payload_bytes }]
        } else {
            vec![Range { from: header, bytes: header_bytes }, Range { from: payload, bytes: payload_bytes }]
        };
        ranges.retain(|range| range.bytes > 0);
        let lines = ranges.iter().flat_map(|range| self.lines(range.from, range.bytes)).collect();
        let injected: Vec<bool> = ranges.iter().map(|range| self.network().injects(at, range.bytes)).collect();
        let counts = CoherenceCounts::default();
        let packet = Arriving { number, lines, missing: 0, counts, injected: 0 };
        let queue = &mut self.network().queues[at];
        queue.arriving.push_back(packet);
        queue.in_use.insert(header);
        for (range, is_injected) in ranges.into_iter().zip(injected) {
            for line in self.lines(range.from, range.bytes) {
                let from = range.from.max(line * line_bytes);
                let end = (range.from + range.bytes).min((line + 1) * line_bytes);
                self.arriving(at, number).missing += 1;
                let answers = self.bus.snoop(now);
                if is_injected && end - from == line_bytes {
                    let there = self.bus.data(answers, line_bytes);
                    self.plan(there, Event::Line { queue: at, packet: number, line });
                } else {
                    let part = Range { from, bytes: end - from };
                    let there = self.snoop_for_packet(now, answers, (at, number), part);
                    self.write_part(there, (at, number), part);
                }
            }
        }
    }

    fn arriving(&mut self, at: usize, number: u64) -> &mut Arriving {
        let packets = &mut self.network().queues[at].arriving;
        packets.iter_mut().find(|packet| packet.number == number).expect("it is not received")
    }

    /// Snoops a part of a line for a packet, which keeps the counts until it is received.
    fn snoop_for_packet(&mut self, now: u64, answers: u64, (at, number): (usize, u64), part: Range) -> u64 {
        let device = self.network().device;
        let snooper = Snooper { core: at, purpose: Purpose::KernelData, device };
        let before = self.cores[at].counters.coherence;
        let there = self.snoop_for_writing(now, answers, snooper, part);
        let counts = self.cores[at].counters.coherence - before;
        self.cores[at].counters.coherence = before;
        self.arriving(at, number).counts += counts;
        there
    }

    fn write_part(&mut self, leaves: u64, (queue, packet): (usize, u64), part: Range) {
        let operation = Operation::Write { address: PhysicalAddress(part.from), bytes: part.bytes };
        self.send(Sender::Packet { queue, packet }, leaves, operation);
    }

    /// The data of a line are at the caches.
    fn inject(&mut self, now: u64, at: usize, number: u64, line: u64) {
        let is_in_flight = |machine: &ReferenceMachine| {
            let is_in_cache = machine.caches.iter().any(|cache| cache.find(line).is_some_and(|it| it.is_in_flight));
            is_in_cache || machine.cores.iter().any(|core| core.mshrs.contains(&line))
        };
        if is_in_flight(self) {
            return self.repeated.push((line, Event::Line { queue: at, packet: number, line }));
        }
        let line_bytes = self.settings.lines.bytes;
        let whole = Range { from: line * line_bytes, bytes: line_bytes };
        let there = self.snoop_for_packet(now, now, (at, number), whole);
        let injection = self.network().settings.injection;
        let into = injection.core.unwrap_or(at);
        let ways = |ways: usize| match injection.policy {
            InjectionPolicy::BoundedWays => (ways * injection.share as usize / 100).max(1),
            _ => ways,
        };
        let writes_through = self.settings.lines.write == WritePolicy::WriteThrough;
        let cache = self.cache_of(into);
        let has_place = self.caches[cache].has_place_within(line, ways(self.settings.last_level.ways));
        if has_place {
            let dirty = (!writes_through).then_some(Purpose::Network);
            let leaves = now + self.settings.last_level.latency;
            let bound = ways(self.settings.last_level.ways);
            self.insert_within(into, leaves, Line { dirty, ..Line::clean(line) }, bound);
            let level = match injection.level {
                InjectionLevel::L1 => 1,
                InjectionLevel::L2 => 2,
                InjectionLevel::LastLevel => 3,
            };
            self.cores[into].levels.enter_within(line, level, ways);
            self.arriving(at, number).injected += 1;
        }
        if has_place && !writes_through {
            self.arriving(at, number).missing -= 1;
            self.receive_packets(now, at);
        } else {
            self.write_part(there, (at, number), whole);
        }
    }

    /// The controller has accepted a write of a packet.
    pub fn accept_part(&mut self, now: u64, queue: usize, packet: u64) {
        self.arriving(queue, packet).missing -= 1;
        self.receive_packets(now, queue);
    }

    /// Packets of a queue are received, in the order of their arrival.
    fn receive_packets(&mut self, now: u64, at: usize) {
        if self.network().queues[at].arriving.front().is_none_or(|packet| packet.missing > 0) {
            return;
        }
        while self.network().queues[at].arriving.front().is_some_and(|packet| packet.missing == 0) {
            let packet = self.network().queues[at].arriving.pop_front().expect("it is there");
            self.network().queues[at].untaken += 1;
            if !self.cores[at].is_over() {
                self.cores[at].counters.coherence += packet.counts;
                self.cores[at].counters.network.injected += packet.injected;
            }
        }
        self.collect(now, at);
        self.end_if_over();
    }

    /// Interrupts the core of a queue once enough packets were received, or a time after the first one.
    fn collect(&mut self, now: u64, at: usize) {
        let network = self.network();
        let NetworkSettings { coalesced_packets, coalesced_cycles, .. } = network.settings;
        let queue = &mut network.queues[at];
        if !queue.may_interrupt || queue.untaken == 0 {
            return;
        }
        if queue.untaken >= coalesced_packets as u64 {
            self.interrupt_core(now, at);
        } else if !queue.is_timed {
            queue.is_timed = true;
            queue.timer += 1;
            let event = Event::Time { queue: at, timer: queue.timer };
            self.plan(now + coalesced_cycles, event);
        }
    }

    fn interrupt_core(&mut self, now: u64, at: usize) {
        let queue = &mut self.network().queues[at];
        (queue.may_interrupt, queue.is_timed) = (false, false);
        self.post(now, now, Message::PacketInterrupt { core: at });
    }

    /// An interrupt arrives at a core, which awaits packets.
    pub fn receive_packet_interrupt(&mut self, core: usize) {
        self.network().is_interrupted[core] = true;
    }

    /// All packets have arrived, and are received or dropped.
    fn end_if_over(&mut self) {
        let network = self.network();
        network.is_over |= network.ports.iter().all(|port| port.arrived == network.settings.packets)
            && network.queues.iter().all(|queue| queue.arriving.is_empty());
    }

    /// Reads the first packet of a port, or lets it leave.
    fn advance_port(&mut self, now: u64, at: usize) {
        let line_bytes = self.settings.lines.bytes;
        let network = self.network();
        let device = network.device;
        let port = &mut network.ports[at];
        let leaves = port.leaves;
        let Some(first) = port.sends.front() else { return };
        let (core, range) = (first.core, first.range);
        if first.reads.is_empty() {
            if now < leaves {
                return;
            }
            let snooper = Snooper { core, purpose: Purpose::KernelData, device };
            // The lookups of a packet that is sent are not counted.
            let before = self.cores[core].counters.coherence;
            let mut reads = Vec::new();
            let mut ready = now;
            for line in self.lines(range.from, range.bytes) {
                let operation = Operation::Read { address: PhysicalAddress(line * line_bytes), bytes: line_bytes };
                self.send(Sender::PacketRead { port: at }, now, operation);
                let answers = self.bus.snoop(now);
                let snooped = self.snoop_for_reading(now, answers, snooper, line);
                ready = ready.max(snooped);
                reads.push(Read::new(line, snooped));
            }
            self.cores[core].counters.coherence = before;
            self.network().ports[at].sends.front_mut().expect("it waits").reads = reads;
            return self.plan(ready, Event::Port { port: at });
        }
        if !first.reads.iter().all(|read| read.is_there(now)) {
            return;
        }
        port.sends.pop_front();
        let begin = now.max(port.is_free);
        let end = begin + network.link_cycles(1, range.bytes);
        let port = &mut self.network().ports[at];
        (port.leaves, port.is_free) = (begin, end);
        self.plan(end, Event::Left { port: at, core });
        self.plan(begin, Event::Port { port: at });
    }

    /// The data of a line of a packet to be sent are there.
    pub fn packet_reads(&mut self, now: u64, port: usize, line: u64) {
        receive(&mut self.network().ports[port].sends.front_mut().expect("it is read").reads, line);
        self.advance_port(now, port);
    }
}
