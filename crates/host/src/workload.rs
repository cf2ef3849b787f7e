//! Built-in workloads: requests generated from settings and a seed.
//!
//! [`Settings::source`] creates the [`Workload`], which the controller runs. Equal settings and
//! seeds give equal requests. Workloads of processes use an allocator; [`Workload::into_outcome`]
//! returns its counts. Caches are not modeled: each line that a process stores is a write to the
//! memory.

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
mod page_allocator;
pub mod page_copies;
pub mod pairs;
pub mod process_exits;
pub mod random;
mod region;
mod reserved_rows;
mod share;
pub mod stream;
mod unreserved;

use dram_spec::Cycle;
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::Report;
use rowclone::{Operation, Planner};

use crate::aged_memory::{AgedMemories, AllocatorSettings};
use crate::contents::Contents;
use crate::scenario::payload;
use crate::virtual_memory::{VirtualCheck, WrongByte};

pub use checkpoint::Checkpoint;
pub use deduplication::Deduplication;
pub use error::WorkloadError;
pub use fork::{Fill, Fork};
pub use gap::Gap;
use machine::Machine;
pub(crate) use machine::request;
pub use machine_clone::MachineClone;
pub use migration::{Migration, MoveTo};
pub use mixed::Mixed;
use page_allocator::PageAllocator;
pub use page_copies::{CopyBy, PageCopies};
pub use pairs::Pairs;
pub use process_exits::ProcessExits;
pub use random::Random;
pub use stream::{Access, Pattern, Stream};

/// Settings of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settings {
    /// Accesses to lines at equal distances.
    Stream(Stream),
    /// Accesses to random lines.
    Random(Random),
    /// Random accesses, mixed with copies and zeroings of pages.
    Mixed(Mixed),
    /// Copies of pages.
    PageCopies(PageCopies),
    /// A fork, and the copies of the pages that the child writes to.
    Fork(Fork),
    /// Checkpoints of a process.
    Checkpoint(Checkpoint),
    /// Clones of a virtual machine.
    Clone(MachineClone),
    /// Migrations of pages to other frames.
    Migration(Migration),
    /// De-duplication of pages of two virtual machines, followed by writes.
    Deduplication(Deduplication),
    /// Processes whose memory is zeroed at exit.
    ZeroOnFree(ProcessExits),
}

impl Settings {
    /// Name in scenarios.
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

    /// Whether requests arrive at a fixed rate, and wait for no completion. Workloads of processes do wait.
    pub const fn has_fixed_arrivals(&self) -> bool {
        !self.needs_allocator() && !self.gap().is_zero()
    }

    /// Whether the workload uses an allocator. The others have fixed addresses and must not be
    /// given one.
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

    /// Creates the workload on the planner's memory. `seed` determines all random choices. Writes
    /// carry data derived from `contents`, if contents are modeled.
    ///
    /// # Errors
    /// If a setting is invalid or does not fit the memory, or the allocator is missing or not
    /// needed.
    pub fn source(
        &self,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
        contents: Option<Contents>,
    ) -> Result<Workload, WorkloadError> {
        self.source_with(&AgedMemories::default(), planner, allocator, seed, contents)
    }

    /// Creates the workload as [`Settings::source`] does; an aged memory is built only if `memories`
    /// does not keep it.
    ///
    /// # Errors
    /// As of [`Settings::source`].
    pub fn source_with(
        &self,
        memories: &AgedMemories,
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
        let allocator = PageAllocator { settings: allocator, memories };
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
        let mut workload = Workload { source, check: contents.clone().map(VirtualCheck::new), contents, taken: 0 };
        if let (None, Some(machine)) = (&workload.check, workload.source.machine()) {
            machine.log.stop();
        }
        Ok(workload)
    }
}

/// A workload as a request source.
#[derive(Debug)]
pub struct Workload {
    source: Source,
    contents: Option<Contents>,
    check: Option<VirtualCheck>,
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
    /// The system software, if the workload uses any.
    const fn machine(&mut self) -> Option<&mut Machine> {
        match self {
            Source::Stream(_) | Source::Random(_) | Source::Mixed(_) | Source::PageCopies(_) => None,
            Source::Fork(source) => Some(source.machine()),
            Source::Checkpoint(source) => Some(source.machine()),
            Source::Clone(source) => Some(source.machine()),
            Source::Migration(source) => Some(source.machine()),
            Source::Deduplication(source) => Some(source.machine()),
            Source::ZeroOnFree(source) => Some(source.machine()),
        }
    }

    /// Reports a completion.
    #[inline(never)]
    fn complete(&mut self, operation: &Operation, done: Cycle) {
        match self {
            // These sources wait for no completion.
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

/// Evaluates an expression on the source, whatever its type.
macro_rules! for_each_source {
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

/// Results of a workload other than its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Results of the system software; `None` if the workload uses none.
    pub os: Option<OsOutcome>,
    /// The first byte that a process reads wrong at a virtual address, if contents are modeled.
    pub wrong: Option<WrongByte>,
}

/// Counts of the system software, and the state of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsOutcome {
    /// Copies and zeroings by mechanism, and the reasons against FPM; free frames by order; memory
    /// lost to reserved rows. Operations before the run are not counted.
    pub report: Report,
}

impl Workload {
    /// Number of requests, if it is known in advance.
    pub fn requests(&self) -> Option<u64> {
        Some(for_each_source!(&self.source, source => source.requests()))
    }

    /// Results of the workload after the run.
    pub fn into_outcome(mut self) -> Outcome {
        let wrong = match (self.check.take(), self.source.machine()) {
            (Some(check), Some(machine)) => {
                machine.compare_all();
                check.finish(&mut machine.log)
            }
            _ => None,
        };
        let report = match &self.source {
            Source::Stream(_) | Source::Random(_) | Source::Mixed(_) | Source::PageCopies(_) => None,
            Source::Fork(source) => Some(source.report()),
            Source::Checkpoint(source) => Some(source.report()),
            Source::Clone(source) => Some(source.report()),
            Source::Migration(source) => Some(source.report()),
            Source::Deduplication(source) => Some(source.report()),
            Source::ZeroOnFree(source) => Some(source.report()),
        };
        Outcome { os: report.map(|report| OsOutcome { report }), wrong }
    }
}

impl RequestSource for Workload {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        for_each_source!(&self.source, source => source.next_arrival())
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let (arrival, operation): (Option<Cycle>, Operation) = for_each_source!(&mut self.source, source => {
            if source.next_arrival().is_none_or(|at| at > now) {
                return None;
            }
            source.take(now)
        });
        let id = RequestId(self.taken);
        self.taken += 1;
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        if let Some(check) = &mut self.check
            && let Some(machine) = self.source.machine()
        {
            check.request(&mut machine.log, &operation, payload.as_deref());
        }
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    fn wants_accesses(&self) -> bool {
        !matches!(self.source, Source::Stream(_) | Source::Random(_) | Source::Mixed(_) | Source::PageCopies(_))
    }

    fn complete(&mut self, completion: Completion) {
        self.source.complete(&completion.operation, completion.done);
    }
}
