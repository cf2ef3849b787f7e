//! Messages between cores and devices.

use dram_spec::PhysicalAddress;

use super::super::bulk::{Bulk, CopyId};
use super::super::counters::CoherenceCounts;
use super::super::packet::{Buffer, Packet};

/// Who sends or receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// A core.
    Core(usize),
    /// A device.
    Device(usize),
}

impl Agent {
    /// Whether it is a core.
    pub const fn is_core(self) -> bool {
        matches!(self, Agent::Core(_))
    }
}

/// A descriptor of a DMA engine.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// Number of the copy.
    pub id: CopyId,
    /// The core that wrote it.
    pub core: usize,
    /// The copy.
    pub bulk: Bulk,
    /// Its line in the ring.
    pub address: PhysicalAddress,
    /// The status line of the core.
    pub status: PhysicalAddress,
    /// Whether the engine reports the end of this descriptor, and of those of the core before it.
    pub is_last: bool,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// A device is to copy, for a core.
    Copy {
        /// Number of the copy.
        id: CopyId,
        /// The core.
        core: usize,
        /// The copy.
        bulk: Bulk,
    },
    /// All cores have entered a copy in their pending copy tables.
    Entered(CopyId),
    /// A copy is complete.
    Completed {
        /// Number of the copy.
        id: CopyId,
        /// Its steps of coherence.
        counts: CoherenceCounts,
        /// Bytes that it moved over memory channels: those read, and those written.
        channel_bytes: u64,
    },
    /// A descriptor lies in the ring of a channel. The engine learns of it by the next doorbell.
    Described {
        /// The channel.
        channel: usize,
        /// The descriptor.
        descriptor: Descriptor,
    },
    /// A core has written the doorbell of a channel.
    Doorbell {
        /// The channel.
        channel: usize,
        /// The core.
        core: usize,
    },
    /// A write of a core's status line has reached memory: all descriptors of the core up to this one are
    /// complete.
    StatusWritten {
        /// Number of the last copy.
        id: CopyId,
        /// Steps of coherence.
        counts: CoherenceCounts,
        /// Bytes moved over memory channels.
        channel_bytes: u64,
    },
    /// A device interrupts a core.
    Interrupt,
    /// Of a network adapter.
    Network(NetworkMessage),
    /// A device continues by itself.
    Continue,
}

/// A receive buffer that a core gives to a network adapter.
#[derive(Clone, Copy, Debug)]
pub struct PostedBuffer {
    /// Its virtual addresses.
    pub buffer: Buffer,
    /// Physical address of the header.
    pub header: PhysicalAddress,
    /// Physical address of the payload.
    pub payload: PhysicalAddress,
    /// Core and number of the process that posted it.
    pub owner: (usize, u32),
}

/// A message to or from a network adapter.
#[derive(Clone, Copy, Debug)]
pub enum NetworkMessage {
    /// A queue has a further free buffer.
    Posted {
        /// The queue.
        queue: usize,
        /// The buffer.
        buffer: PostedBuffer,
    },
    /// A core lets a queue interrupt it.
    Enable {
        /// The queue.
        queue: usize,
        /// Packets that the core has taken.
        taken: u64,
    },
    /// A packet has arrived at a port.
    Arrived {
        /// The port.
        port: usize,
    },
    /// The data of a line that is injected are at the caches.
    Injected {
        /// The queue.
        queue: usize,
        /// Number of the packet.
        packet: u64,
        /// First byte of the line.
        address: PhysicalAddress,
    },
    /// A client of a port sends its next request.
    Requested {
        /// The port.
        port: usize,
    },
    /// The time for which a queue collects packets has ended.
    Coalesced {
        /// The queue.
        queue: usize,
        /// Number of the collection.
        number: u64,
    },
    /// A packet lies in memory.
    Received {
        /// The packet.
        packet: Packet,
        /// Steps of coherence.
        counts: CoherenceCounts,
        /// Lines that were injected into caches.
        injected: u64,
    },
    /// A packet found no free buffer.
    Dropped,
    /// No packet follows.
    Over,
    /// The adapter interrupts a core.
    Interrupt,
    /// A core sends a packet.
    Send {
        /// The port.
        port: usize,
        /// The core.
        core: usize,
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// A packet has left through a port.
    Sent {
        /// The port.
        port: usize,
    },
}

impl Message {
    /// Whether it crosses a bus.
    pub(super) fn crosses(&self, from: Agent, to: Agent) -> bool {
        from.is_core() != to.is_core() && self.addresses() > 0
    }

    /// Addresses that it carries over a bus: those of source and destination, and for an end the
    /// destination.
    pub(super) const fn addresses(&self) -> u64 {
        match self {
            Message::Copy { .. } => 2,
            Message::Entered(_)
            | Message::Completed { .. }
            | Message::Doorbell { .. }
            | Message::Interrupt
            | Message::Network(
                NetworkMessage::Enable { .. } | NetworkMessage::Interrupt | NetworkMessage::Send { .. },
            ) => 1,
            // Changes of memory, which cross no bus by themselves.
            Message::Described { .. } | Message::StatusWritten { .. } | Message::Network(_) | Message::Continue => 0,
        }
    }
}
