//! Clones of a virtual machine.

use dram_spec::Cycles;

/// A virtual machine is copied, all of it and several times. All clones live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineClone {
    /// The memory of the machine, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Clones.
    pub clones: u64,
    /// Copies under way at once, at most.
    pub window: u64,
    /// Between the arrivals of two copies, at least.
    pub gap: Cycles,
}
