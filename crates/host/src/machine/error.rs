//! Reasons why a program does not run to its end.

use dram_spec::PhysicalAddress;
use trace_io::LineError;

use super::kernel::ProgramFault;
use crate::aged_memory::AllocatorError;

/// Reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The program cannot be read further.
    #[error("the program of core {core}: {source}")]
    Program {
        /// Core.
        core: usize,
        /// Reason.
        source: LineError,
    },
    /// The kernel refuses a request or an access of the program.
    #[error("the program of core {core}: {source}")]
    Fault {
        /// Core.
        core: usize,
        /// Reason.
        source: ProgramFault,
    },
    /// The program has fewer instructions than its warm-up and its measured region.
    #[error("the program of core {core} ends after {found} instructions, and {needed} are needed")]
    TooShort {
        /// Core.
        core: usize,
        /// Instructions that were executed.
        found: u64,
        /// Instructions of the warm-up and of the region.
        needed: u64,
    },
    /// A device never reported the end of a copy, for which a core waits.
    #[error("the copy of {bytes} bytes from {:#x} to {:#x} for core {core} was never completed", src.0, dst.0)]
    LostCopy {
        /// Core.
        core: usize,
        /// Physical address of the source.
        src: PhysicalAddress,
        /// Physical address of the destination.
        dst: PhysicalAddress,
        /// Bytes.
        bytes: u64,
    },
    /// A program accesses a line while a device writes it.
    #[error("a device writes {:#x} for core {core} while a program accesses it", address.0)]
    WrittenInFlight {
        /// Core on whose behalf the device writes.
        core: usize,
        /// Physical address of the line.
        address: PhysicalAddress,
    },
    /// A program waits for packets, and some receive queue has no program that does so.
    #[error("core {core} waits for packets that never arrive")]
    NoPackets {
        /// Core.
        core: usize,
    },
    /// The core into whose caches packets are injected does not exist.
    #[error("packets are injected into the caches of core {core}, and there are {cores} cores")]
    NoCore {
        /// Core.
        core: usize,
        /// Cores.
        cores: usize,
    },
    /// The allocator cannot be built.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
}

impl MachineError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Program { source, .. } => source.help().to_owned(),
            Self::Fault { source, .. } => source.help().to_owned(),
            Self::TooShort { .. } => "use a shorter warm-up, or a longer program".to_owned(),
            Self::LostCopy { .. } => "if `dma.timeout_cycles` of the machine is given, try a longer time; otherwise \
                                      this is a defect of the simulator: please report it with the input"
                .to_owned(),
            Self::WrittenInFlight { .. } => "let the program execute `wait` between `begin` and each access to the \
                                             destination, also by another `begin`, whose small pieces the loop copies"
                .to_owned(),
            Self::NoPackets { .. } => "let the program of each core with a receive queue await packets".to_owned(),
            Self::NoCore { cores, .. } => {
                format!("try `network.inject_core` from 0 to {}, or leave it out", cores.saturating_sub(1))
            }
            Self::Allocator(error) => error.help(),
        }
    }
}
