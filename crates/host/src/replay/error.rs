//! Errors of a replay.

use dram_spec::PhysicalAddress;
use dram_spec::address::Location;
use rowclone::PlanError;
use trace_io::LineError;

use crate::aged_memory::AllocatorError;

use super::settings::RESERVED_PERCENT_MAX;

/// Reason why a record cannot be played on a memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It reaches past the end of the usable memory, or covers a reserved row.
    #[error(transparent)]
    Operation(#[from] PlanError),
    /// Its DRAM coordinates do not exist.
    #[error("{location} does not exist in this memory: {memory}")]
    Location {
        /// Coordinates.
        location: Location,
        /// Geometry of the memory.
        memory: String,
    },
}

impl Unusable {
    /// Whether it lies on a reserved row between usable ones.
    pub(super) const fn is_reserved(&self) -> bool {
        matches!(self, Unusable::Operation(PlanError::Reserved { .. }))
    }

    /// Suggested change.
    fn help(&self) -> String {
        match self {
            Unusable::Operation(why @ PlanError::PastEnd { .. }) => format!(
                "{}; if the addresses of the trace are not physical, let an allocator place its pages \
                 (`placement = \"allocator\"`)",
                why.help()
            ),
            Unusable::Operation(why) => why.help(),
            Unusable::Location { .. } => "give the system of the trace".to_owned(),
        }
    }
}

/// Reason why a trace could not be replayed to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is malformed.
    #[error(transparent)]
    Trace(#[from] LineError),
    /// A record lies outside the memory or in a reserved row.
    #[error("line {line}: {source}")]
    Record {
        /// Line of the record.
        line: u64,
        /// Reason.
        source: Unusable,
    },
    /// Too many records lie on reserved rows.
    #[error(
        "{skipped} of {records} records lie on reserved rows ({:.2} %), more than {RESERVED_PERCENT_MAX} %",
        *skipped as f64 * 100.0 / *records as f64
    )]
    ReservedRecords {
        /// Records skipped, in whole or in part.
        skipped: u64,
        /// Records of the trace.
        records: u64,
    },
    /// A record has DRAM coordinates, which no allocator can place.
    #[error("line {line}: has DRAM coordinates, and an allocator places pages")]
    PlacedCoordinates {
        /// Line of the record.
        line: u64,
    },
    /// An event of the operating system needs an allocator.
    #[error("line {line}: is an event of the operating system, and no allocator places its pages")]
    NoKernel {
        /// Line of the record.
        line: u64,
    },
    /// The instruction rate is invalid.
    #[error("`instructions_per_clock` is {found}, but must be a finite number above 0")]
    InstructionsPerClock {
        /// Value found.
        found: f64,
    },
    /// A record counts instructions, but has to arrive at a recorded time.
    #[error("line {line}: counts instructions, and has no time of arrival")]
    NoRate {
        /// Line of the record.
        line: u64,
    },
    /// The time of a record, or the instructions before it, exceed the limit.
    #[error("line {line}: arrives after more than 2^52 clocks of the memory")]
    TooLate {
        /// Line of the record.
        line: u64,
    },
    /// The allocator cannot be built.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// The allocator has no free frame.
    #[error(
        "line {line}: no frame is left for page {page}: all {frames} allocatable frames are in use, \
         {held} of them since before the trace began"
    )]
    OutOfFrames {
        /// Line of the record.
        line: u64,
        /// Page, by its recorded address.
        page: PhysicalAddress,
        /// Allocatable frames.
        frames: u64,
        /// Frames that aging left in use.
        held: u64,
    },
}

impl ReplayError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            ReplayError::Trace(error) => error.help().to_owned(),
            ReplayError::Record { source, .. } => {
                format!("{}; or leave such records out with `unusable_records = \"skip\"`", source.help())
            }
            ReplayError::ReservedRecords { .. } => {
                "take a preset map, or list `row` above `subarray` as the highest fields: all reserved rows are then \
                    the end \
                 of the memory, if `rows_per_subarray` is a power of two; or leave such records out with \
                 `unusable_records = \"skip\"`"
                    .to_owned()
            }
            ReplayError::PlacedCoordinates { .. } => "play it as recorded: `placement = \"as-recorded\"`".to_owned(),
            ReplayError::NoKernel { .. } => {
                "write `placement = \"allocator\"`: the simulated kernel needs frames to hand out".to_owned()
            }
            ReplayError::NoRate { .. } => {
                "play the trace with `timing = \"instructions\"`, `\"back-to-back\"` or `\"window\"`".to_owned()
            }
            ReplayError::InstructionsPerClock { .. } => {
                "give the instructions that the CPU executes per clock of the memory, as `instructions_per_clock = 4.0`"
                    .to_owned()
            }
            ReplayError::TooLate { .. } => {
                "give a larger `instructions_per_clock`, or correct the instructions or times of the trace".to_owned()
            }
            ReplayError::Allocator(error) => error.help(),
            ReplayError::OutOfFrames { held: 0, .. } => {
                "give the system more memory: each page of the trace takes a frame".to_owned()
            }
            ReplayError::OutOfFrames { .. } => "lower `utilization`, or give the system more memory".to_owned(),
        }
    }
}
