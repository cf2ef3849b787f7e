//! Why a trace could not be played.

use dram_spec::{Cycle, PhysicalAddress};
use rowclone::PlanError;
use trace_io::trace::TraceError;

use crate::allocator_settings::AllocatorError;

/// Why a trace could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is not what it should be.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A record outside the memory or on a reserved row.
    #[error("line {line}: {source}")]
    Record {
        /// The line of the record.
        line: u64,
        /// What is wrong with it.
        source: PlanError,
    },
    /// No rate at which instructions can be executed.
    #[error("`instructions_per_clock` is {found}, but must be a finite number above 0")]
    InstructionsPerClock {
        /// The rate.
        found: f64,
    },
    /// A record that counts instructions, and no rate for them.
    #[error("line {line}: counts instructions, and `instructions_per_clock` is not set")]
    NoRate {
        /// The line of the record.
        line: u64,
    },
    /// The time of a record, or the instructions up to it, are too long.
    #[error("line {line}: arrives after more than 2^52 clocks of the memory")]
    TooLate {
        /// The line of the record.
        line: u64,
    },
    /// Times that are not in order.
    #[error("line {line}: arrives at clock {at}, but a record before it at clock {before}")]
    GoesBack {
        /// The line of the record.
        line: u64,
        /// Its time.
        at: Cycle,
        /// The latest time before it.
        before: Cycle,
    },
    /// No such allocator.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// The allocator has nothing left.
    #[error(
        "line {line}: no frame is left for page {page}: all {frames} frames that there are to hand out are in use, \
         {held} of them since before the trace began"
    )]
    OutOfFrames {
        /// The line of the record.
        line: u64,
        /// The page, by the address that was recorded.
        page: PhysicalAddress,
        /// Frames that there were to hand out.
        frames: u64,
        /// Those of them that ageing left in use.
        held: u64,
    },
}

impl ReplayError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            ReplayError::Trace(error) => error.help(),
            ReplayError::Record { source, .. } => {
                format!("{}; or leave such records out with `unusable_records = \"skip\"`", source.help())
            }
            ReplayError::InstructionsPerClock { .. } | ReplayError::NoRate { .. } => {
                "give the instructions that the CPU executes per clock of the memory, as `instructions_per_clock = 4.0`"
                    .to_owned()
            }
            ReplayError::TooLate { .. } => {
                "give a larger `instructions_per_clock`, or correct the instructions or times of the trace".to_owned()
            }
            ReplayError::GoesBack { .. } => {
                "sort the trace by time, or correct the time; a record without a time follows the one before it"
                    .to_owned()
            }
            ReplayError::Allocator(error) => error.help(),
            ReplayError::OutOfFrames { held: 0, .. } => {
                "give the system more memory: each page of the trace takes a frame".to_owned()
            }
            ReplayError::OutOfFrames { .. } => "lower `utilisation`, or give the system more memory".to_owned(),
        }
    }
}
