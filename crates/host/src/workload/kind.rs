//! Kinds of workloads.

use std::fmt;

use dram_spec::Cycle;
use os_alloc_sim::{Kernel, ZeroOnFree};
use rowclone::{Operation, Planner};

use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::Machine;
use crate::aged_memory::AgedMemories;
use crate::aged_memory::AllocatorSettings;

/// Settings of one kind of workload, from which requests are generated.
pub trait WorkloadKind: fmt::Debug + Send + Sync {
    /// What all kinds have.
    fn properties(&self) -> KindProperties;

    /// Creates the generator of the requests.
    ///
    /// # Errors
    /// If a setting is invalid or does not fit the memory, or the allocator is missing.
    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError>;
}

/// What settings of all kinds have.
#[derive(Clone, Copy, Debug)]
pub struct KindProperties {
    /// Name of the kind in scenarios.
    pub name: &'static str,
    /// Time between two arrivals.
    pub gap: Gap,
    /// Whether processes take frames from an allocator; their requests wait for completions.
    pub needs_allocator: bool,
}

/// Memory and random numbers of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Name of the kind.
    pub workload: &'static str,
    /// The memory.
    pub planner: &'a Planner,
    /// The allocator, if one is set.
    pub allocator: Option<&'a AllocatorSettings>,
    /// Aged memories that are kept.
    pub memories: &'a AgedMemories,
    /// Determines all random choices.
    pub seed: u64,
}

impl Setup<'_> {
    /// A kernel without processes.
    pub(super) fn kernel(&self, zero_on_free: ZeroOnFree) -> Result<Kernel, WorkloadError> {
        let settings = self.allocator.ok_or(WorkloadError::NoAllocator { workload: self.workload })?;
        Ok(self.memories.kernel(settings, self.planner.map(), zero_on_free)?)
    }
}

/// A generator of requests.
pub trait RequestGenerator: fmt::Debug {
    /// Number of requests.
    fn requests(&self) -> u64;

    /// Earliest cycle at which the next request may be taken, if one may.
    fn next_arrival(&self) -> Option<Cycle>;

    /// The next request and its arrival, which is none where it arrives when it is accepted; none before the next
    /// arrival.
    fn take(&mut self, now: Cycle) -> Option<(Option<Cycle>, Operation)>;

    /// Reports a completion.
    fn complete(&mut self, _operation: &Operation, _done: Cycle) {}

    /// The system software, if the workload uses any.
    fn machine(&mut self) -> Option<&mut Machine> {
        None
    }
}
