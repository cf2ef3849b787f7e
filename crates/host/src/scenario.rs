//! The operations of a scenario, sequential or at set cycles.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{Cycle, PhysicalAddress};
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use rowclone::{Operation, PlanError, Planner};

use crate::contents::Contents;
use crate::placement::{Place, PlacementError, place};

dram_spec::named! {
    /// Kind of an operation of a scenario.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperationKind {
        /// Copies `bytes` from `src` to `dst`.
        Copy = "copy",
        /// Fills `bytes` from `dst` with zeros.
        Zero = "zero",
        /// Fills `bytes` from `dst` with `value`.
        Init = "init",
        /// Reads `bytes` from `dst`.
        Read = "read",
        /// Writes `bytes` from `dst`, with data made from the seed.
        Write = "write",
    }
}

/// An operation as specified in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationSpec {
    /// Kind of operation.
    pub kind: OperationKind,
    /// Source of a copy.
    pub src: Option<Place>,
    /// Destination; the address of a read.
    pub dst: PhysicalAddress,
    /// Size in bytes.
    pub bytes: u64,
    /// Fill value of an init.
    pub value: u8,
    /// Arrival; without it, the operation arrives when its predecessor completes.
    pub at: Option<Cycle>,
}

/// Reason why an operation is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No source has the required relation.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The planner rejects the operation for this memory.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl SpecError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            SpecError::Placement(error) => error.help().to_string(),
            SpecError::Plan(error) => error.help(),
        }
    }
}

impl OperationSpec {
    /// Resolves the source and checks the operation against the memory.
    ///
    /// # Errors
    /// If no source has the required relation, or the operation reaches past the end of memory or
    /// covers a reserved row.
    pub fn resolve(&self, planner: &Planner) -> Result<Operation, SpecError> {
        let OperationSpec { kind, src, dst, bytes, value, at: _ } = *self;
        // Errors of the destination are reported before those of the source.
        planner.check(&Operation::Init { dst, bytes, value })?;
        let operation = match kind {
            OperationKind::Copy => {
                let src = place(planner, src.unwrap_or(Place::SameSubarray), dst, bytes)?;
                Operation::Copy { src, dst, bytes }
            }
            OperationKind::Zero => Operation::Init { dst, bytes, value: 0 },
            OperationKind::Init => Operation::Init { dst, bytes, value },
            OperationKind::Read => Operation::Read { address: dst, bytes },
            OperationKind::Write => Operation::Write { address: dst, bytes },
        };
        planner.check(&operation)?;
        Ok(operation)
    }
}

/// A request source that issues a list of operations. An operation without an arrival arrives when
/// all its predecessors have completed.
pub struct Sequence {
    waiting: VecDeque<(Operation, Option<Cycle>)>,
    contents: Option<Contents>,
    taken: u64,
    completed: u64,
    /// Latest completion so far.
    now: Cycle,
    completions: Vec<Completion>,
}

impl Sequence {
    /// Creates the source. Writes carry data derived from `contents`, if contents are modeled.
    pub fn new(
        operations: impl IntoIterator<Item = (Operation, Option<Cycle>)>,
        contents: Option<Contents>,
    ) -> Sequence {
        Sequence {
            waiting: operations.into_iter().collect(),
            contents,
            taken: 0,
            completed: 0,
            now: Cycle::ZERO,
            completions: Vec::new(),
        }
    }

    /// Completions, in the order of the list.
    pub fn into_completions(mut self) -> Vec<Completion> {
        self.completions.sort_by_key(|completion| completion.id);
        self.completions
    }
}

/// Data of the `index`-th write of a run; `None` for other operations.
pub fn payload(contents: &Contents, index: u64, operation: &Operation) -> Option<Arc<[u8]>> {
    match *operation {
        Operation::Write { bytes, .. } => Some(contents.payload(index, bytes)),
        _ => None,
    }
}

impl RequestSource for Sequence {
    fn next_arrival(&self) -> Option<Cycle> {
        match self.waiting.front()? {
            (_, Some(at)) => Some(*at),
            (_, None) => (self.completed == self.taken).then_some(self.now),
        }
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let (operation, _) = self.waiting.pop_front()?;
        let id = RequestId(self.taken);
        self.taken += 1;
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        Some(Request { id, source: SourceId::default(), arrival: Some(arrival), operation, payload })
    }

    fn complete(&mut self, completion: Completion) {
        self.completed += 1;
        self.now = self.now.max(completion.done);
        // The data of all reads of a long list would need much memory.
        self.completions.push(Completion { data: None, ..completion });
    }
}
