//! The kernel's side of a network adapter: receive buffers, packets that have arrived, and packets to be sent.

use std::collections::VecDeque;

use dram_spec::PhysicalAddress;
use dram_spec::address::FRAME_BYTES;
use trace_io::program::DeviceStep;

use super::super::clock::CoreCycle;
use super::super::core::{Advance, Core};
use super::super::interconnect::{Agent, Message, NetworkMessage, PostedBuffer};
use super::super::memory::Memory;
use super::super::packet::{Buffer, Packet};
use super::super::settings::NetworkSettings;
use super::{Kernel, ProgramFault};

/// Packets of all cores.
#[derive(Debug)]
pub(super) struct Network {
    settings: NetworkSettings,
    adapter: Agent,
    cores: Vec<Inbox>,
    /// Packets that wait to be sent, by port.
    sending: Vec<usize>,
}

/// Packets of a core.
#[derive(Clone, Debug, Default)]
struct Inbox {
    packets: VecDeque<Packet>,
    /// Packets that the program has taken.
    taken: u64,
    /// Buffers that the adapter has.
    posted: usize,
    /// Whether the core waits for an interrupt.
    is_enabled: bool,
    is_interrupted: bool,
    is_over: bool,
}

impl Network {
    pub(super) fn new(settings: NetworkSettings, device: usize, cores: usize) -> Network {
        let adapter = Agent::Device(device);
        Network { settings, adapter, cores: vec![Inbox::default(); cores], sending: vec![0; settings.ports] }
    }

    /// Takes the packets that have arrived at a cycle; without packets the core idles until an interrupt.
    fn take(&mut self, core: &mut Core, memory: &mut Memory, at: CoreCycle) -> Advance {
        let inbox = &mut self.cores[core.index()];
        let may_go_on = if inbox.packets.is_empty() { inbox.is_over } else { !inbox.is_enabled };
        if !inbox.is_interrupted && !may_go_on {
            if !inbox.is_enabled && core.index() < self.settings.queues {
                inbox.is_enabled = true;
                let enable = NetworkMessage::Enable { queue: core.index(), taken: inbox.taken };
                memory.interconnect.post(Agent::Core(core.index()), self.adapter, Message::Network(enable), at);
            }
            return core.idle();
        }
        if std::mem::take(&mut inbox.is_interrupted) {
            core.delay_until(CoreCycle(at.0 + self.settings.interrupt_cycles), |stalls| &mut stalls.kernel);
            core.counters.network.interrupts += 1;
        }
        inbox.is_enabled = false;
        inbox.taken += inbox.packets.len() as u64;
        core.counters.network.packets += inbox.packets.len() as u64;
        let packets: Vec<Packet> = inbox.packets.drain(..).collect();
        core.receive(&packets);
        Advance::Done
    }
}

impl Kernel {
    /// Executes a step that uses the network adapter, once all earlier instructions have retired.
    #[cold]
    pub fn use_adapter(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        step: DeviceStep,
        until: CoreCycle,
    ) -> Result<Advance, ProgramFault> {
        let at = match core.quiet_before(until) {
            Ok(at) => at,
            Err(outcome) => return Ok(outcome),
        };
        core.delay_until(at, |stalls| &mut stalls.kernel);
        match step {
            DeviceStep::Post { header, payload } => {
                self.post_buffer(core, memory, Buffer { header, payload }, at, until)
            }
            DeviceStep::Await => {
                let network = self.network.as_mut().ok_or(ProgramFault::NoAdapter)?;
                let (queues, cores) = (network.settings.queues, network.cores.len());
                if queues > cores {
                    return Err(ProgramFault::TooFewCores { queues, cores });
                }
                Ok(network.take(core, memory, at))
            }
            DeviceStep::Send { port, address, bytes } => {
                self.send(core, memory, port as usize, (address, bytes), at, until)
            }
            DeviceStep::Begin { .. } | DeviceStep::Issue | DeviceStep::Wait => unreachable!("no step of the adapter"),
        }
    }

    fn post_buffer(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        buffer: Buffer,
        at: CoreCycle,
        until: CoreCycle,
    ) -> Result<Advance, ProgramFault> {
        let index = core.index();
        let NetworkSettings { header_bytes, payload_bytes, ring, queues, .. } =
            self.network.as_ref().ok_or(ProgramFault::NoAdapter)?.settings;
        let ranges = [(buffer.header, header_bytes), (buffer.payload, payload_bytes)];
        let mut physical = [PhysicalAddress(0); 2];
        for ((address, bytes), found) in ranges.into_iter().zip(&mut physical) {
            require_one_page(address, bytes)?;
            match self.translate(core, address, true)? {
                Some(translated) => *found = translated,
                None => return self.page_fault(core, memory, (address, true), until),
            }
        }
        let owner = (index, self.processes.running_number(index));
        let network = self.network.as_mut().expect("it was found");
        let inbox = &mut network.cores[index];
        if index >= queues || inbox.posted == ring {
            return Err(ProgramFault::NoRoomForBuffer { ring: if index < queues { ring } else { 0 } });
        }
        inbox.posted += 1;
        let [header, payload] = physical;
        let buffer = PostedBuffer { buffer, header, payload, owner };
        let message = Message::Network(NetworkMessage::Posted { queue: index, buffer });
        memory.interconnect.post(Agent::Core(index), network.adapter, message, at);
        Ok(Advance::Done)
    }

    fn send(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        port: usize,
        (address, bytes): (PhysicalAddress, u64),
        at: CoreCycle,
        until: CoreCycle,
    ) -> Result<Advance, ProgramFault> {
        require_one_page(address, bytes)?;
        let Some(physical) = self.translate(core, address, false)? else {
            return self.page_fault(core, memory, (address, false), until);
        };
        let network = self.network.as_mut().ok_or(ProgramFault::NoAdapter)?;
        let ports = network.sending.len();
        let sending = network.sending.get_mut(port).ok_or(ProgramFault::NoPort { port, ports })?;
        if *sending == network.settings.send_ring {
            return Ok(core.stall_for_device());
        }
        *sending += 1;
        let send = NetworkMessage::Send { port, core: core.index(), address: physical, bytes };
        memory.interconnect.post(Agent::Core(core.index()), network.adapter, Message::Network(send), at);
        Ok(Advance::Done)
    }

    /// Receives a message of the adapter for a core; returns whether a core may go on.
    pub fn received(&mut self, core: &mut Core, message: NetworkMessage) -> bool {
        let network = self.network.as_mut().expect("the adapter sends it");
        let inbox = &mut network.cores[core.index()];
        match message {
            NetworkMessage::Received { packet, counts, injected } => {
                inbox.packets.push_back(packet);
                inbox.posted -= 1;
                core.counters.coherence += counts;
                core.counters.network.injected += injected;
                return false;
            }
            NetworkMessage::Dropped => {
                core.counters.network.dropped += 1;
                return false;
            }
            NetworkMessage::Over => inbox.is_over = true,
            NetworkMessage::Interrupt => inbox.is_interrupted = true,
            NetworkMessage::Sent { port } => {
                network.sending[port] -= 1;
                core.counters.network.sent += 1;
            }
            _ => unreachable!("{message:?} is for a device"),
        }
        true
    }
}

/// Checks that a packet lies in a page.
fn require_one_page(address: PhysicalAddress, bytes: u64) -> Result<(), ProgramFault> {
    if address.0 % FRAME_BYTES + bytes > FRAME_BYTES {
        return Err(ProgramFault::PacketCrossesPage { address, bytes });
    }
    Ok(())
}
