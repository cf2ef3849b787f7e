//! A fork, and what copy-on-write makes of it.

use dram_spec::Cycles;

/// How the memory of a process came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Before the run: what memory holds at reset is what the process wrote. Nothing of it is played or counted.
    Before,
    /// In the run: for each page a zeroing, which the process waits for, and a write of each of its lines.
    Played,
}

/// The paper's `forkbench`: a process with memory forks; the child writes a line to each of some random pages, and exits.
///
/// The first write to a page copies it; the child waits for the copy, then writes its line and goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The memory of the parent: a multiple of 4096.
    pub bytes: u64,
    /// Pages of 4 KiB that the child writes to, each once: at most as many as the parent has.
    pub pages: u64,
    /// How the parent's memory came to be.
    pub fill: Fill,
    /// The child's own work between a write and the next.
    pub gap: Cycles,
}
