//! Reasons why a program does not run to its end.

use trace_io::program::ProgramError;

use super::kernel::ProgramFault;
use crate::allocator_settings::AllocatorError;

/// Reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The program cannot be read further.
    #[error("the program of core {core}: {source}")]
    Program {
        /// Core.
        core: usize,
        /// Reason.
        source: ProgramError,
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
    /// The allocator cannot be built.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
}

impl MachineError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Program { source, .. } => source.help(),
            Self::Fault { source, .. } => source.help().to_owned(),
            Self::TooShort { .. } => "use a shorter warm-up, or a longer program".to_owned(),
            Self::Allocator(error) => error.help(),
        }
    }
}
