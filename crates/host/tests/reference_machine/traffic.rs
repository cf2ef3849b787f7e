//! What is on its way between cores, caches, devices and the controller: requests, data and messages.

use dram_spec::Operation;

use crate::engine::{Copy, Reply};
use crate::network::{Buffer, Event, ToAdapter};

/// Who sends a request.
#[derive(Clone, Copy, Debug)]
pub enum Sender {
    Core(usize),
    /// An entry of the write buffer of a core.
    WriteBuffer {
        core: usize,
        entry: u64,
    },
    /// The engine, for a core.
    Engine {
        core: usize,
    },
    /// A channel of the DMA engine, for a core.
    Dma {
        channel: usize,
        core: usize,
    },
    /// The network adapter, which writes a part of a packet.
    Packet {
        queue: usize,
        packet: u64,
    },
    /// The network adapter, which reads a line of a packet that a core sends.
    PacketRead {
        port: usize,
    },
    /// The DMA engine, which writes the status of a descriptor of a core.
    Status {
        channel: usize,
    },
    /// A device, which writes an entry of the write buffer of a core.
    PassedEntry {
        core: usize,
        entry: u64,
        device: u16,
    },
    /// A device, which writes a dirty line of a cache.
    Passed {
        core: usize,
        device: u16,
    },
}

/// Who waits for a request.
#[derive(Clone, Copy, Debug)]
pub enum Waiting {
    Line { core: usize, line: u64 },
    Copy { core: usize },
    EngineRead { line: u64 },
    EngineCopy { core: usize },
    DmaRead { channel: usize, line: u64 },
    DmaCopy { channel: usize, core: usize },
    PacketRead { port: usize, line: u64 },
    None,
}

impl Waiting {
    /// Who waits for a request that touches a line.
    pub fn of(sender: Sender, operation: Operation, line: u64) -> Waiting {
        match (sender, operation) {
            (_, Operation::Write { .. }) | (Sender::WriteBuffer { .. }, _) => Waiting::None,
            (Sender::Core(core), Operation::Read { .. }) => Waiting::Line { core, line },
            (Sender::Core(core), Operation::Copy { .. } | Operation::Init { .. }) => Waiting::Copy { core },
            (Sender::Dma { channel, .. }, Operation::Read { .. }) => Waiting::DmaRead { channel, line },
            (Sender::Dma { channel, core }, _) => Waiting::DmaCopy { channel, core },
            (Sender::PacketRead { port }, _) => Waiting::PacketRead { port, line },
            (_, Operation::Read { .. }) => Waiting::EngineRead { line },
            (Sender::Engine { core } | Sender::Passed { core, .. }, _) => Waiting::EngineCopy { core },
            (Sender::Status { .. } | Sender::PassedEntry { .. } | Sender::Packet { .. }, _) => {
                unreachable!("it is a write")
            }
        }
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// To the engine.
    Copy(Copy),
    /// Of the engine, to a core.
    Reply(Copy, Reply),
    /// The doorbell of a core, to the DMA engine.
    Doorbell { core: usize },
    /// Of the DMA engine, to a core.
    Interrupt { core: usize },
    /// To the network adapter.
    ToAdapter { core: usize, message: ToAdapter },
    /// Of the network adapter, to a core.
    PacketInterrupt { core: usize },
}

impl Sender {
    pub fn is_device(self) -> bool {
        !matches!(self, Sender::Core(_) | Sender::WriteBuffer { .. })
    }
}

/// What arrives in a cycle.
#[derive(Clone, Copy, Debug)]
pub enum Incoming {
    /// Data of a line.
    Line { core: usize, line: u64 },
    /// The end of a copy or zeroing of the controller, and the bytes that it moved over channels.
    Copy { core: usize, bytes: u64 },
    /// A message leaves, and gets its part of the bus.
    Leaving(Message),
    /// A message arrives.
    Message(Message),
    /// Caches have answered a device, or passed a line to it.
    Snooped,
    /// The adapter finds a buffer of a core.
    Buffer { core: usize, buffer: Buffer },
    /// An event at the adapter.
    Adapter(Event),
}

#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    pub leaves: u64,
    /// Arrival at the controller, which a bus determines when the request leaves.
    pub arrives: Option<u64>,
    pub sender: Sender,
    pub operation: Operation,
    pub holds: Holds,
}

/// The entry of the store buffer that a write occupies until the controller accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Nothing,
    /// That of a non-temporal store.
    OwnEntry,
    /// That of a store of a whole line by a core, whose victim it writes back.
    EntryOfVictim {
        core: usize,
    },
}
