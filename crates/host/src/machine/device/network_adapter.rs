//! A network adapter: packets arrive at ports and are written to receive buffers in memory, or injected into caches;
//! others are sent.
//!
//! `docs/copiers.md` has the rules and their times.

use std::collections::{BTreeSet, VecDeque};

use dram_spec::{Operation, PhysicalAddress};
use memctrl::Completion;

use super::super::clock::CoreCycle;
use super::super::counters::{CoherenceCounts, Purpose};
use super::super::interconnect::{Agent, Message, NetworkMessage, PostedBuffer, Requester};
use super::super::memory::{Injected, InjectedLine, Memory};
use super::super::packet::Packet;
use super::super::settings::{InjectionPolicy, NetworkSettings, Spread, WithoutBuffer};
use super::Device;
use super::transfer::LineRead;

/// A network adapter.
#[derive(Debug)]
pub(super) struct NetworkAdapter {
    settings: NetworkSettings,
    device: usize,
    cores: usize,
    queues: Vec<Queue>,
    ports: Vec<NetworkPort>,
    /// Whether packets arrive.
    has_begun: bool,
    /// Packets that were accepted.
    accepted: u64,
}

/// A receive queue, of the core with its number.
#[derive(Debug, Default)]
struct Queue {
    free: VecDeque<PostedBuffer>,
    /// Ports whose packets wait for a buffer.
    waiting: VecDeque<usize>,
    /// Headers of the buffers that hold packets, and that were not posted again; kept where the policy asks for them.
    in_use: BTreeSet<PhysicalAddress>,
    /// Packets that are being written, in the order of their arrival.
    writing: VecDeque<Writing>,
    /// Packets that were written.
    received: u64,
    /// Packets that the core had taken when it last let the queue interrupt it.
    taken: u64,
    /// Whether the core has let the queue interrupt it, and it has not done so.
    is_enabled: bool,
    /// Whether the core has ever done so.
    was_enabled: bool,
    /// Whether packets are collected for an interrupt.
    is_collecting: bool,
    /// Number of the collection.
    collection: u64,
}

/// A packet that is being written.
#[derive(Debug)]
struct Writing {
    /// Number among the packets of the adapter.
    number: u64,
    packet: Packet,
    /// Requests that the controller has not accepted.
    unaccepted: Vec<u64>,
    /// Lines whose data are on their way to caches.
    injecting: Vec<InjectedLine>,
    /// Lines that were injected.
    injected: u64,
    counts: CoherenceCounts,
}

impl Writing {
    fn is_written(&self) -> bool {
        self.unaccepted.is_empty() && self.injecting.is_empty()
    }
}

/// A port.
#[derive(Debug, Default)]
struct NetworkPort {
    /// Packets that arrived.
    arrived: u64,
    /// The cycle from which the link's time counts, and the packets that had arrived by then.
    counts_from: (CoreCycle, u64),
    /// Packets that clients have requested; with packets without gap, all.
    requested: u64,
    /// Packets that have left, or are leaving, since packets arrive.
    sent: u64,
    /// Packets to be sent, of which the first may be read from memory.
    sends: VecDeque<Sending>,
    /// From when the first of them may be read.
    reads_from: CoreCycle,
    /// From when the link is free for the next one.
    is_free: CoreCycle,
}

/// A packet to be sent.
#[derive(Debug)]
struct Sending {
    core: usize,
    address: PhysicalAddress,
    bytes: u64,
    /// Its lines, once they were requested.
    reads: Vec<LineRead>,
}

impl NetworkAdapter {
    pub(super) fn new(device: usize, settings: NetworkSettings, cores: usize) -> NetworkAdapter {
        NetworkAdapter {
            settings,
            device,
            cores,
            queues: (0..settings.queues).map(|_| Queue::default()).collect(),
            ports: (0..settings.ports).map(|_| NetworkPort::default()).collect(),
            has_begun: false,
            accepted: 0,
        }
    }

    const fn own(&self) -> Agent {
        Agent::Device(self.device)
    }

    /// Sends a notice to a core at a cycle.
    fn tell(&self, core: usize, message: NetworkMessage, at: CoreCycle, memory: &mut Memory) {
        memory.interconnect.post(self.own(), Agent::Core(core), Message::Network(message), at);
    }

    /// Lets a queue interrupt its core. Packets begin to arrive once all cores have done so.
    fn enable(&mut self, index: usize, taken: u64, at: CoreCycle, memory: &mut Memory) {
        let queue = &mut self.queues[index];
        (queue.taken, queue.is_enabled, queue.was_enabled) = (taken, true, true);
        if !self.has_begun && self.queues.iter().all(|queue| queue.was_enabled) {
            self.has_begun = true;
            (0..self.ports.len()).for_each(|port| self.begin(port, at, memory));
            self.end_if_over(at, memory);
        }
        self.collect(index, at, memory);
    }

    /// Lets packets begin to arrive at a port.
    fn begin(&mut self, port: usize, at: CoreCycle, memory: &mut Memory) {
        let NetworkSettings { packets, clients, burst, .. } = self.settings;
        self.ports[port].requested = if clients == 0 { packets } else { packets.min(clients * burst) };
        self.ports[port].counts_from = (at, 0);
        self.expect(port, memory);
    }

    /// Accepts the request of a client, whose packets arrive after those before.
    fn request(&mut self, port: usize, at: CoreCycle, memory: &mut Memory) {
        let NetworkSettings { packets, burst, .. } = self.settings;
        let NetworkPort { arrived, requested, counts_from, .. } = &mut self.ports[port];
        let was_idle = arrived == requested;
        *requested = packets.min(*requested + burst);
        if was_idle {
            *counts_from = (at, *arrived);
            self.expect(port, memory);
        }
    }

    /// Sends itself the arrival of the next packet of a port, if there is one.
    fn expect(&self, port: usize, memory: &mut Memory) {
        let NetworkSettings { header_bytes, payload_bytes, .. } = self.settings;
        let NetworkPort { arrived, requested, counts_from: (from, before), .. } = self.ports[port];
        if arrived < requested {
            let at = from.0 + self.settings.link_cycles(arrived + 1 - before, header_bytes + payload_bytes);
            let message = Message::Network(NetworkMessage::Arrived { port });
            memory.interconnect.post_later(self.own(), self.own(), message, CoreCycle(at));
        }
    }

    /// The next packet of a port arrives: it is written to a free buffer of its queue; without one it is dropped, or
    /// waits, as that of a client does.
    fn arrive(&mut self, port: usize, at: CoreCycle, memory: &mut Memory) {
        let NetworkSettings { connections, burst, queues, payload_bytes: bytes, spread, clients, .. } = self.settings;
        let number = self.ports[port].arrived;
        let connection = port as u64 * connections + number / burst % connections;
        let queue = match spread {
            Spread::Ports => port % queues,
            Spread::Connections => (connection % queues as u64) as usize,
        };
        let buffer = self.queues[queue].free.pop_front();
        if buffer.is_none() && (clients > 0 || self.settings.without_buffer == WithoutBuffer::Wait) {
            return self.queues[queue].waiting.push_back(port);
        }
        self.ports[port].arrived += 1;
        self.expect(port, memory);
        if let Some(buffer) = buffer {
            let packet = Packet { connection, buffer: buffer.buffer, bytes };
            let writing = self.write(queue, &buffer, packet, at, memory);
            self.queues[queue].writing.push_back(writing);
        } else {
            self.tell(queue, NetworkMessage::Dropped, at, memory);
            self.end_if_over(at, memory);
        }
    }

    /// Gives a queue a further free buffer, which a packet may await.
    fn post(&mut self, index: usize, buffer: PostedBuffer, at: CoreCycle, memory: &mut Memory) {
        let queue = &mut self.queues[index];
        queue.in_use.remove(&buffer.header);
        queue.free.push_back(buffer);
        if let Some(port) = queue.waiting.pop_front() {
            self.ports[port].counts_from = (at, self.ports[port].arrived + 1);
            self.arrive(port, at, memory);
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

    /// Writes a packet to its buffer. Until it is received, no line of the buffer is prefetched.
    fn write(
        &mut self,
        queue: usize,
        buffer: &PostedBuffer,
        packet: Packet,
        at: CoreCycle,
        memory: &mut Memory,
    ) -> Writing {
        let (header, payload) = (self.settings.header_bytes, packet.bytes);
        let number = self.accepted;
        self.accepted += 1;
        let (unaccepted, injecting, counts) = (Vec::new(), Vec::new(), CoherenceCounts::default());
        let mut writing = Writing { number, packet, unaccepted, injecting, injected: 0, counts };
        let is_one = buffer.header.0 + header == buffer.payload.0;
        let ranges = if is_one {
            vec![(buffer.header, buffer.buffer.header, header + payload)]
        } else {
            vec![(buffer.header, buffer.buffer.header, header), (buffer.payload, buffer.buffer.payload, payload)]
        };
        for (start, virtual_start, bytes) in ranges.into_iter().filter(|(_, _, bytes)| *bytes > 0) {
            let (size, is_injected) = (memory.line_size(), self.injects(queue, bytes));
            memory.caches.bar_prefetches(bar(number), size.span(start, bytes));
            for (line, _) in size.lines(start, bytes) {
                let PhysicalAddress(first) = size.address(line);
                let from = start.0.max(first);
                let end = (start.0 + bytes).min(first + size.bytes());
                let virtual_address = PhysicalAddress(virtual_start.0 + (from - start.0));
                let (address, owner) = (PhysicalAddress(from), buffer.owner);
                if is_injected && end - from == size.bytes() {
                    let known = memory.interconnect.snooped(at);
                    let there = memory.interconnect.passed(size.bytes(), known);
                    let message = Message::Network(NetworkMessage::Injected { queue, packet: number, address });
                    memory.interconnect.post_later(self.own(), self.own(), message, there);
                    writing.injecting.push(InjectedLine { address, owner, virtual_address });
                } else {
                    let part = (address, end - from);
                    self.write_part(queue, part, (owner, virtual_address), &mut writing, at, memory);
                }
            }
        }
        if self.settings.injection.policy == InjectionPolicy::WhenExpected {
            self.queues[queue].in_use.insert(buffer.header);
        }
        writing
    }

    /// Writes a part of a line, which the caches lose.
    fn write_part(
        &self,
        queue: usize,
        (address, bytes): (PhysicalAddress, u64),
        (owner, virtual_address): ((usize, u32), PhysicalAddress),
        writing: &mut Writing,
        at: CoreCycle,
        memory: &mut Memory,
    ) {
        let requester = Requester { core: queue, device: Some(self.device) };
        let known = memory.interconnect.snooped(at);
        let (range, counts) = ((address, bytes), &mut writing.counts);
        let known = memory.snoop_for_write(requester, range, Purpose::KernelData, counts, (at, known));
        let data = memory.device_store_for(owner, (address, virtual_address), bytes);
        let request = memory.device_request(requester, known, Operation::Write { address, bytes }, data);
        writing.unaccepted.push(request);
    }

    /// Injects a line of a packet, whose data are at the caches.
    fn inject(&mut self, index: usize, number: u64, address: PhysicalAddress, at: CoreCycle, memory: &mut Memory) {
        let (own, injection) = (self.own(), self.settings.injection);
        let requester = Requester { core: index, device: Some(self.device) };
        let queue = &mut self.queues[index];
        let writing = queue.writing.iter_mut().find(|writing| writing.number == number).expect("it is being written");
        let place = writing.injecting.iter().position(|line| line.address == address).expect("it is being injected");
        let into = (injection.core.unwrap_or(index), &injection);
        match memory.inject(requester, &writing.injecting[place], into, &mut writing.counts, at) {
            Injected::InFlight => {
                let message = Message::Network(NetworkMessage::Injected { queue: index, packet: number, address });
                return memory.repeat(address, own, message);
            }
            Injected::Cached(request) => {
                writing.injected += 1;
                writing.unaccepted.extend(request);
            }
            Injected::Written(request) => writing.unaccepted.push(request),
        }
        writing.injecting.swap_remove(place);
        if writing.is_written() {
            self.received(index, at, memory);
        }
    }

    /// Notifies the core of a queue of the written packets.
    fn received(&mut self, index: usize, at: CoreCycle, memory: &mut Memory) {
        while self.queues[index].writing.front().is_some_and(Writing::is_written) {
            let Writing { number, packet, counts, injected, .. } =
                self.queues[index].writing.pop_front().expect("it is there");
            memory.caches.admit_prefetches(bar(number));
            self.queues[index].received += 1;
            self.tell(index, NetworkMessage::Received { packet, counts, injected }, at, memory);
        }
        self.collect(index, at, memory);
        self.end_if_over(at, memory);
    }

    /// Interrupts the core of a queue if enough packets were collected, or else begins to collect.
    fn collect(&mut self, index: usize, at: CoreCycle, memory: &mut Memory) {
        let (own, settings) = (self.own(), self.settings);
        let queue = &mut self.queues[index];
        let waiting = queue.received - queue.taken;
        if !queue.is_enabled || waiting == 0 {
            return;
        }
        if waiting >= settings.coalesced_packets as u64 {
            self.interrupt(index, at, memory);
        } else if !queue.is_collecting {
            queue.is_collecting = true;
            queue.collection += 1;
            let ended = Message::Network(NetworkMessage::Coalesced { queue: index, number: queue.collection });
            memory.interconnect.post_later(own, own, ended, CoreCycle(at.0 + settings.coalesced_cycles));
        }
    }

    fn interrupt(&mut self, index: usize, at: CoreCycle, memory: &mut Memory) {
        let queue = &mut self.queues[index];
        (queue.is_enabled, queue.is_collecting) = (false, false);
        self.tell(index, NetworkMessage::Interrupt, at, memory);
    }

    /// Notifies all cores that no packet follows, if all packets arrived and are written.
    fn end_if_over(&self, at: CoreCycle, memory: &mut Memory) {
        let is_over = self.ports.iter().all(|port| port.arrived == self.settings.packets)
            && self.queues.iter().all(|queue| queue.writing.is_empty());
        if is_over {
            (0..self.cores).for_each(|core| self.tell(core, NetworkMessage::Over, at, memory));
        }
    }

    /// Proceeds with the packets to be sent through a port.
    fn send(&mut self, index: usize, at: CoreCycle, memory: &mut Memory) {
        let (own, device) = (self.own(), self.device);
        let port = &mut self.ports[index];
        let Some(first) = port.sends.front_mut() else { return };
        if first.reads.is_empty() {
            if at >= port.reads_from {
                let ready = first.read(device, at, memory);
                memory.interconnect.post_later(own, own, Message::Continue, ready);
            }
            return;
        }
        if !first.reads.iter().all(|read| read.is_there(at)) {
            return;
        }
        let Sending { core, bytes, .. } = port.sends.pop_front().expect("it is there");
        let begin = at.max(port.is_free);
        (port.reads_from, port.is_free) = (begin, CoreCycle(begin.0 + self.settings.link_cycles(1, bytes)));
        // Before packets arrive, no client has asked for an answer.
        port.sent += u64::from(self.has_begun);
        let (end, sent) = (port.is_free, port.sent);
        let NetworkSettings { clients, client_cycles, answer_packets, .. } = self.settings;
        if self.has_begun && clients > 0 && sent.is_multiple_of(answer_packets) {
            let next = Message::Network(NetworkMessage::Requested { port: index });
            memory.interconnect.post_later(own, own, next, CoreCycle(end.0 + client_cycles));
        }
        self.tell(core, NetworkMessage::Sent { port: index }, end, memory);
        memory.interconnect.post_later(own, own, Message::Continue, begin);
    }
}

/// The bar of the prefetches of a packet's lines, beside those of copies.
const fn bar(packet: u64) -> u64 {
    1 << 63 | packet
}

impl Sending {
    /// Requests all lines; returns the cycle in which the answers of the caches are there.
    fn read(&mut self, device: usize, at: CoreCycle, memory: &mut Memory) -> CoreCycle {
        let requester = Requester { core: self.core, device: Some(device) };
        let mut counts = CoherenceCounts::default();
        let mut ready = at;
        let size = memory.line_size();
        for (line, _) in size.lines(self.address, self.bytes) {
            let mut read = LineRead::new(line, size);
            let known = memory.interconnect.snooped(at);
            read.request(requester, Purpose::KernelData, &mut counts, (at, known), memory);
            ready = ready.max(read.ready());
            self.reads.push(read);
        }
        ready
    }
}

impl Device for NetworkAdapter {
    fn receive(&mut self, message: Message, at: CoreCycle, memory: &mut Memory) {
        let Message::Network(message) = message else {
            return (0..self.ports.len()).for_each(|port| self.send(port, at, memory));
        };
        match message {
            NetworkMessage::Posted { queue, buffer } => self.post(queue, buffer, at, memory),
            NetworkMessage::Requested { port } => self.request(port, at, memory),
            NetworkMessage::Enable { queue, taken } => self.enable(queue, taken, at, memory),
            NetworkMessage::Arrived { port } => self.arrive(port, at, memory),
            NetworkMessage::Injected { queue, packet, address } => self.inject(queue, packet, address, at, memory),
            NetworkMessage::Coalesced { queue, number } => {
                let found = &self.queues[queue];
                if found.is_collecting && found.collection == number {
                    self.interrupt(queue, at, memory);
                }
            }
            NetworkMessage::Send { port, core, address, bytes } => {
                self.ports[port].sends.push_back(Sending { core, address, bytes, reads: Vec::new() });
                self.send(port, at, memory);
            }
            _ => unreachable!("{message:?} is for a core"),
        }
    }

    fn accepted(&mut self, request: u64, at: CoreCycle, memory: &mut Memory) {
        for queue in 0..self.queues.len() {
            for writing in &mut self.queues[queue].writing {
                if let Some(place) = writing.unaccepted.iter().position(|other| *other == request) {
                    writing.unaccepted.swap_remove(place);
                    if writing.is_written() {
                        self.received(queue, at, memory);
                    }
                    return;
                }
            }
        }
    }

    fn completed(&mut self, completion: &Completion, at: CoreCycle, memory: &mut Memory) {
        for port in 0..self.ports.len() {
            let mut reads = self.ports[port].sends.front_mut().into_iter().flat_map(|first| &mut first.reads);
            if reads.any(|read| read.answered(completion)) {
                return self.send(port, at, memory);
            }
        }
    }
}
