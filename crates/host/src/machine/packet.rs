//! Packets of a network adapter, and the buffers in which they lie.

use dram_spec::PhysicalAddress;

/// A receive buffer, by virtual addresses of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// First byte of the header.
    pub header: PhysicalAddress,
    /// First byte of the payload.
    pub payload: PhysicalAddress,
}

/// A packet that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The connection, counted over all ports.
    pub connection: u64,
    /// The buffer in which it lies.
    pub buffer: Buffer,
    /// Bytes of its payload.
    pub bytes: u64,
}
