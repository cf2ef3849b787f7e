//! Checkpoints of a process.

use dram_spec::Cycles;

/// A process writes lines to its memory, and stops while all of it is copied; again and again. Only the last checkpoint is kept,
/// and an older one only until the next is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The memory of the process, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Lines that are written before each of them, anywhere in that memory.
    pub writes: u64,
    /// Copies under way at once, at most.
    pub window: u64,
    /// Between the arrivals of two requests, at least.
    pub gap: Cycles,
}
