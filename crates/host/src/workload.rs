//! Built-in workloads: requests generated from settings and a seed.
//!
//! [`Settings::source`] creates the [`WorkloadSource`], which the controller runs. Equal settings and
//! seeds give equal requests. Workloads of processes use an allocator; [`WorkloadSource::into_outcome`]
//! returns its counts. Caches are not modeled: each line that a process stores is a write to the
//! memory.

mod bulk;
pub mod checkpoint;
pub mod deduplication;
pub mod error;
pub mod fork;
pub mod gap;
mod kind;
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
pub mod stream;
mod unreserved;

use std::sync::Arc;

use dram_spec::{Cycle, RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::Report;
use rowclone::Planner;

use crate::aged_memory::{AgedMemories, AllocatorSettings};
use crate::contents::Contents;
use crate::sequence::payload;
use crate::virtual_memory::{VirtualCheck, WrongByte};

pub use checkpoint::Checkpoint;
pub use deduplication::Deduplication;
pub use error::WorkloadError;
pub use fork::{Fill, Fork};
pub use gap::Gap;
use kind::RequestGenerator;
pub use kind::WorkloadKind;
use machine::Setup;
pub(crate) use machine::request;
pub use machine_clone::MachineClone;
pub use migration::{Migration, MoveTo};
pub use mixed::Mixed;
pub use page_copies::{CopyBy, PageCopies};
pub use pairs::Pairs;
pub use process_exits::ProcessExits;
pub use random::Random;
pub use stream::{Pattern, Stream, StreamAccess};

/// Settings of a workload of some kind.
#[derive(Clone, Debug)]
pub struct Settings(Arc<dyn WorkloadKind>);

impl Settings {
    /// The settings of a kind.
    pub fn new(kind: impl WorkloadKind + 'static) -> Settings {
        Settings(Arc::new(kind))
    }

    /// Name in scenarios.
    pub fn name(&self) -> &'static str {
        self.0.properties().name
    }

    /// Whether requests arrive at a fixed rate, and wait for no completion. Workloads of processes do wait.
    pub fn has_fixed_arrivals(&self) -> bool {
        !self.needs_allocator() && !self.0.properties().gap.is_zero()
    }

    /// Whether the workload uses an allocator. The others have fixed addresses and must not be
    /// given one.
    pub fn needs_allocator(&self) -> bool {
        self.0.properties().needs_allocator
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
    ) -> Result<WorkloadSource, WorkloadError> {
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
    ) -> Result<WorkloadSource, WorkloadError> {
        let properties = self.0.properties();
        if !properties.needs_allocator && allocator.is_some() {
            return Err(WorkloadError::NeedlessAllocator { workload: properties.name });
        }
        let gap = properties.gap.cycles();
        if gap > Gap::CYCLES_MAX {
            return Err(WorkloadError::GapTooLong { found: gap, most: Gap::CYCLES_MAX });
        }
        let mut generator =
            self.0.generator(&Setup { workload: properties.name, planner, allocator, memories, seed })?;
        let check = contents.clone().map(VirtualCheck::new);
        if let (None, Some(machine)) = (&check, generator.machine()) {
            machine.log.stop();
        }
        Ok(WorkloadSource { generator, waits: properties.needs_allocator, check, contents, taken: 0 })
    }
}

/// A workload as a request source.
#[derive(Debug)]
pub struct WorkloadSource {
    generator: Box<dyn RequestGenerator>,
    /// Whether requests wait for completions.
    waits: bool,
    contents: Option<Contents>,
    check: Option<VirtualCheck>,
    taken: u64,
}

/// Results of a workload other than its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadOutcome {
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

impl WorkloadSource {
    /// Number of requests, if it is known in advance.
    pub fn requests(&self) -> Option<u64> {
        Some(self.generator.requests())
    }

    /// Results of the workload after the run.
    pub fn into_outcome(mut self) -> WorkloadOutcome {
        let Some(machine) = self.generator.machine() else { return WorkloadOutcome { os: None, wrong: None } };
        let wrong = self.check.take().and_then(|check| {
            machine.compare_all();
            check.finish(&mut machine.log)
        });
        WorkloadOutcome { os: Some(OsOutcome { report: machine.kernel.report() }), wrong }
    }
}

impl RequestSource for WorkloadSource {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        self.generator.next_arrival()
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let (arrival, operation) = self.generator.take(now)?;
        let id = RequestId(self.taken);
        self.taken += 1;
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        if let Some(check) = &mut self.check
            && let Some(machine) = self.generator.machine()
        {
            check.request(&mut machine.log, &operation, payload.as_deref());
        }
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    fn wants_accesses(&self) -> bool {
        self.waits
    }

    fn complete(&mut self, completion: Completion) {
        self.generator.complete(&completion.operation, completion.done);
    }
}
