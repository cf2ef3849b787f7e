//! Packets that arrive: they are written to buffers or injected into caches, and interrupt cores.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{
    CoherenceCounts, InjectionLevel, InjectionPolicy, NetworkSettings, Purpose, WithoutBuffer, WritePolicy,
};

use super::{Arriving, Buffer, Event, Network, Port, queue_of};
use crate::bulk::Range;
use crate::cache::Line;
use crate::devices::Snooper;
use crate::machine::ReferenceMachine;
use crate::traffic::{Message, Sender};

impl Network {
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

    /// The next packet of a port is on its way.
    pub fn expect_packet(&mut self, port: usize) {
        let network = self.network();
        let NetworkSettings { header_bytes, payload_bytes, .. } = network.settings;
        let Port { arrived, requested, from: (from, before), .. } = network.ports[port];
        if arrived < requested {
            let at = from + network.link_cycles(arrived + 1 - before, header_bytes + payload_bytes);
            self.plan(at, Event::Packet { port });
        }
    }

    /// A packet is there.
    pub fn arrive_at_port(&mut self, now: u64, port: usize) {
        let network = self.network();
        let at = queue_of(&network.settings, port, network.ports[port].arrived);
        let Some(buffer) = network.queues[at].free.pop_front() else {
            if network.settings.clients > 0 || network.settings.without_buffer == WithoutBuffer::Wait {
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
    pub fn inject(&mut self, now: u64, at: usize, number: u64, line: u64) {
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
    pub fn collect(&mut self, now: u64, at: usize) {
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

    pub fn interrupt_core(&mut self, now: u64, at: usize) {
        let queue = &mut self.network().queues[at];
        (queue.may_interrupt, queue.is_timed) = (false, false);
        self.post(now, now, Message::PacketInterrupt { core: at });
    }

    /// All packets have arrived, and are received or dropped.
    pub fn end_if_over(&mut self) {
        let network = self.network();
        network.is_over |= network.ports.iter().all(|port| port.arrived == network.settings.packets)
            && network.queues.iter().all(|queue| queue.arriving.is_empty());
    }
}
