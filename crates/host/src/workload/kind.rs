//! Kinds of workloads.

use std::fmt;

use dram_spec::Cycle;
use rowclone::Operation;

use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::{RunningKernel, Setup};

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
    fn machine(&mut self) -> Option<&mut RunningKernel> {
        None
    }
}
