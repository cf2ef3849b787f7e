//! The network adapter (`docs/copiers.md`): its queues, ports and events, and the steps of programs that use it.

mod receive;
mod send;

use std::collections::{BTreeSet, VecDeque};

use host::machine::{CoherenceCounts, MachineSettings, NetworkSettings, Spread};

use crate::bulk::Range;
use crate::core::{Address, Stall};
use crate::machine::ReferenceMachine;
use crate::traffic::{Incoming, Message};
use crate::transfer::Read;

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
    /// Packets that have arrived or are on their way: all, or those that clients have requested.
    requested: u64,
    /// Packets that are or were sent since packets arrive.
    answered: u64,
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
    /// A client sends its next request.
    Request {
        port: usize,
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
}

/// The queue of a packet of a port, by its number from 0.
pub fn queue_of(settings: &NetworkSettings, port: usize, packet: u64) -> usize {
    let NetworkSettings { burst, connections, queues, spread, .. } = *settings;
    let connection = port as u64 * connections + packet / burst % connections;
    match spread {
        Spread::Ports => port % queues,
        Spread::Connections => connection as usize % queues,
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
            Event::Request { port } => self.request_packets(now, port),
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
            let NetworkSettings { packets, clients, burst, .. } = network.settings;
            for port in 0..network.ports.len() {
                let state = &mut self.network().ports[port];
                state.requested = if clients == 0 { packets } else { packets.min(clients * burst) };
                state.from = (now, 0);
                self.expect_packet(port);
            }
            self.end_if_over();
        }
        self.collect(now, at);
    }

    /// An interrupt arrives at a core, which awaits packets.
    pub fn receive_packet_interrupt(&mut self, core: usize) {
        self.network().is_interrupted[core] = true;
    }
}
