//! Built-in workloads: requests made from a few settings and a seed.
//!
//! Each is a [`Settings`]; [`Settings::source`] makes the [`Workload`] that a controller plays. The same settings and the same
//! seed always give the same requests. Those that need processes play them on an allocator, and [`Workload::into_outcome`] says
//! afterwards what it did. No caches are modelled: each line that a process stores is a write to the memory.

mod bulk;
pub mod checkpoint;
pub mod deduplication;
pub mod error;
pub mod fork;
pub mod gap;
mod machine;
pub mod machine_clone;
pub mod migration;
pub mod mixed;
mod pace;
pub mod page_copies;
pub mod pairs;
pub mod process_exits;
pub mod random;
mod region;
mod reserved_rows;
mod share;
mod sound;
pub mod stream;

use dram_spec::Cycle;
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::Report;
use rowclone::{Operation, Planner};

use crate::allocator_settings::AllocatorSettings;
use crate::contents::Contents;
use crate::scenario::payload;

pub use checkpoint::Checkpoint;
pub use deduplication::Deduplication;
pub use error::WorkloadError;
pub use fork::{Fill, Fork};
pub use gap::Gap;
pub use machine_clone::MachineClone;
pub use migration::{Migration, MoveTo};
pub use mixed::Mixed;
pub use page_copies::{CopyBy, PageCopies};
pub use pairs::Pairs;
pub use process_exits::ProcessExits;
pub use random::Random;
pub use stream::{Access, Pattern, Stream};

/// What a workload does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settings {
    /// Lines one after another.
    Stream(Stream),
    /// Lines from anywhere.
    Random(Random),
    /// Demand traffic with copies and zeroings among it.
    Mixed(Mixed),
    /// Copies of pages.
    PageCopies(PageCopies),
    /// A fork, and the copies of the pages that the child writes to.
    Fork(Fork),
    /// Checkpoints of a process.
    Checkpoint(Checkpoint),
    /// Clones of a virtual machine.
    Clone(MachineClone),
    /// Pages that move to other frames.
    Migration(Migration),
    /// Pages of two virtual machines that are merged, and then written to.
    Deduplication(Deduplication),
    /// Processes whose memory is zeroed when they end.
    ZeroOnFree(ProcessExits),
}

impl Settings {
    /// As scenarios write it.
    pub const fn name(&self) -> &'static str {
        match self {
            Settings::Stream(_) => "stream",
            Settings::Random(_) => "random",
            Settings::Mixed(_) => "mixed",
            Settings::PageCopies(_) => "page-copies",
            Settings::Fork(_) => "fork",
            Settings::Checkpoint(_) => "checkpoint",
            Settings::Clone(_) => "clone",
            Settings::Migration(_) => "migration",
            Settings::Deduplication(_) => "dedup",
            Settings::ZeroOnFree(_) => "zero-on-free",
        }
    }

    /// The time between two arrivals.
    const fn gap(&self) -> Gap {
        match *self {
            Settings::Stream(Stream { gap, .. })
            | Settings::Random(Random { gap, .. })
            | Settings::Mixed(Mixed { gap, .. })
            | Settings::PageCopies(PageCopies { gap, .. })
            | Settings::Fork(Fork { gap, .. })
            | Settings::Checkpoint(Checkpoint { gap, .. })
            | Settings::Clone(MachineClone { gap, .. })
            | Settings::Migration(Migration { gap, .. })
            | Settings::Deduplication(Deduplication { gap, .. })
            | Settings::ZeroOnFree(ProcessExits { gap, .. }) => gap,
        }
    }

    /// Whether it takes frames from an allocator. The others have addresses of their own, and are not played with one.
    pub const fn needs_allocator(&self) -> bool {
        match self {
            Settings::Stream(_) | Settings::Random(_) | Settings::Mixed(_) | Settings::PageCopies(_) => false,
            Settings::Fork(_)
            | Settings::Checkpoint(_)
            | Settings::Clone(_)
            | Settings::Migration(_)
            | Settings::Deduplication(_)
            | Settings::ZeroOnFree(_) => true,
        }
    }

    /// The workload on the memory of that planner. `seed` decides what it leaves to chance; writes carry data made from
    /// `contents`, where contents are modelled.
    ///
    /// # Errors
    /// Settings that make no sense, or do not fit the memory; an allocator that is missing, or not needed.
    pub fn source(
        &self,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
        contents: Option<Contents>,
    ) -> Result<Workload, WorkloadError> {
        if !self.needs_allocator() && allocator.is_some() {
            return Err(WorkloadError::NeedlessAllocator { workload: self.name() });
        }
        let gap = self.gap().cycles();
        if gap > Gap::CYCLES_MAX {
            return Err(WorkloadError::GapTooLong { found: gap, most: Gap::CYCLES_MAX });
        }
        let name = self.name();
        let source = match self {
            Settings::Stream(settings) => Source::Stream(settings.source(planner)?),
            Settings::Random(settings) => Source::Random(settings.source(planner, seed)?),
            Settings::Mixed(settings) => Source::Mixed(settings.source(planner, seed)?),
            Settings::PageCopies(settings) => Source::PageCopies(settings.source(planner, seed)?),
            Settings::Fork(settings) => Source::Fork(Box::new(settings.source(name, planner, allocator, seed)?)),
            Settings::Checkpoint(settings) => {
                Source::Checkpoint(Box::new(settings.source(name, planner, allocator, seed)?))
            }
            Settings::Clone(settings) => Source::Clone(Box::new(settings.source(name, planner, allocator)?)),
            Settings::Migration(settings) => {
                Source::Migration(Box::new(settings.source(name, planner, allocator, seed)?))
            }
            Settings::Deduplication(settings) => {
                Source::Deduplication(Box::new(settings.source(name, planner, allocator, seed)?))
            }
            Settings::ZeroOnFree(settings) => {
                Source::ZeroOnFree(Box::new(settings.source(name, planner, allocator, seed)?))
            }
        };
        Ok(Workload { source, contents, taken: 0 })
    }
}

/// The requests of a workload.
#[derive(Debug)]
pub struct Workload {
    source: Source,
    contents: Option<Contents>,
    taken: u64,
}

#[derive(Debug)]
enum Source {
    Stream(stream::StreamSource),
    Random(random::RandomSource),
    Mixed(mixed::MixedSource),
    PageCopies(page_copies::PageCopiesSource),
    Fork(Box<fork::ForkSource>),
    Checkpoint(Box<bulk::Bulk<checkpoint::Checkpoints>>),
    Clone(Box<bulk::Bulk<machine_clone::Clones>>),
    Migration(Box<bulk::Bulk<migration::Moves>>),
    Deduplication(Box<bulk::Bulk<deduplication::Merges>>),
    ZeroOnFree(Box<bulk::Bulk<process_exits::Exits>>),
}

impl Source {
    /// An operation is done.
    #[inline(never)]
    fn complete(&mut self, operation: &Operation, done: Cycle) {
        match self {
            // They wait for nothing.
            Source::Stream(_) | Source::Random(_) | Source::Mixed(_) | Source::PageCopies(_) => {}
            Source::Fork(source) => source.complete(operation, done),
            Source::Checkpoint(source) => source.complete(operation, done),
            Source::Clone(source) => source.complete(operation, done),
            Source::Migration(source) => source.complete(operation, done),
            Source::Deduplication(source) => source.complete(operation, done),
            Source::ZeroOnFree(source) => source.complete(operation, done),
        }
    }
}

/// Asks whichever source it is.
macro_rules! ask {
    ($source:expr, $each:ident => $answer:expr) => {
        match $source {
            Source::Stream($each) => $answer,
            Source::Random($each) => $answer,
            Source::Mixed($each) => $answer,
            Source::PageCopies($each) => $answer,
            Source::Fork($each) => $answer,
            Source::Checkpoint($each) => $answer,
            Source::Clone($each) => $answer,
            Source::Migration($each) => $answer,
            Source::Deduplication($each) => $answer,
            Source::ZeroOnFree($each) => $answer,
        }
    };
}

/// What is left of a workload when it has been played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the system software did; nothing where the workload has none.
    pub os: Option<OsOutcome>,
}

/// What the system software did, and how it left the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsOutcome {
    /// Copies and zeroings by mechanism, and why they were not FPM; free frames by order; memory lost to the reserved rows. What was
    /// done before the run is not in it.
    pub report: Report,
}

impl Workload {
    /// How many requests there are in all, where that is known before they are played.
    pub fn requests(&self) -> Option<u64> {
        Some(ask!(&self.source, source => source.requests()))
    }

    /// What it did besides making requests, after the run.
    pub fn into_outcome(self) -> Outcome {
        let report = match &self.source {
            Source::Stream(_) | Source::Random(_) | Source::Mixed(_) | Source::PageCopies(_) => None,
            Source::Fork(source) => Some(source.report()),
            Source::Checkpoint(source) => Some(source.report()),
            Source::Clone(source) => Some(source.report()),
            Source::Migration(source) => Some(source.report()),
            Source::Deduplication(source) => Some(source.report()),
            Source::ZeroOnFree(source) => Some(source.report()),
        };
        Outcome { os: report.map(|report| OsOutcome { report }) }
    }
}

impl RequestSource for Workload {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        ask!(&self.source, source => source.next_arrival())
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let (arrival, operation): (Cycle, Operation) = ask!(&mut self.source, source => {
            if source.next_arrival().is_none_or(|at| at > now) {
                return None;
            }
            source.take(now)
        });
        let id = RequestId(self.taken);
        self.taken += 1;
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    #[inline]
    fn complete(&mut self, completion: Completion) {
        let Completion { operation, done, .. } = completion;
        let Workload { source, .. } = self;
        if !matches!(source, Source::Stream(_) | Source::Random(_) | Source::Mixed(_) | Source::PageCopies(_)) {
            source.complete(&operation, done);
        }
    }
}
