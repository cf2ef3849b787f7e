//! Operations that a scenario lists, one after another or at set cycles.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{Cycle, PhysicalAddress};
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use rowclone::{Operation, PlanError, Planner};

use crate::contents::Contents;
use crate::placement::{Place, PlacementError, place};

/// What an operation of a scenario does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Copies `bytes` from `src` to `dst`.
    Copy,
    /// Fills `bytes` from `dst` with zeros.
    Zero,
    /// Fills `bytes` from `dst` with `value`.
    Init,
    /// Reads `bytes` from `dst`.
    Read,
    /// Writes `bytes` from `dst`, with data made from the seed.
    Write,
}

impl Kind {
    /// All kinds, by the names that scenarios give them.
    pub const NAMES: [(&'static str, Kind); 5] = [
        ("copy", Kind::Copy),
        ("zero", Kind::Zero),
        ("init", Kind::Init),
        ("read", Kind::Read),
        ("write", Kind::Write),
    ];

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Kind> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    /// As scenarios write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Copy => "copy",
            Kind::Zero => "zero",
            Kind::Init => "init",
            Kind::Read => "read",
            Kind::Write => "write",
        }
    }
}

/// One operation as a scenario lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationSpec {
    /// What it does.
    pub kind: Kind,
    /// The source of a copy.
    pub src: Option<Place>,
    /// The destination; what a read reads.
    pub dst: PhysicalAddress,
    /// How much.
    pub bytes: u64,
    /// What an init fills with.
    pub value: u8,
    /// When it arrives; without it, when the one before is done.
    pub at: Option<Cycle>,
}

/// What is wrong with an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such source.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Not to be done on this memory.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl SpecError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            SpecError::Placement(error) => error.help().to_string(),
            SpecError::Plan(error) => error.help(),
        }
    }
}

impl OperationSpec {
    /// The operation, its source found, checked against the memory.
    ///
    /// # Errors
    /// No such source, past the end of memory, or on a reserved row.
    pub fn resolve(&self, planner: &Planner) -> Result<Operation, SpecError> {
        let OperationSpec { kind, src, dst, bytes, value, at: _ } = *self;
        // What is wrong with the destination is said before a source is looked for.
        planner.check(&Operation::Init { dst, bytes, value })?;
        let operation = match kind {
            Kind::Copy => {
                let src = place(planner, src.unwrap_or(Place::SameSubarray), dst, bytes)?;
                Operation::Copy { src, dst, bytes }
            }
            Kind::Zero => Operation::Init { dst, bytes, value: 0 },
            Kind::Init => Operation::Init { dst, bytes, value },
            Kind::Read => Operation::Read { address: dst, bytes },
            Kind::Write => Operation::Write { address: dst, bytes },
        };
        planner.check(&operation)?;
        Ok(operation)
    }
}

/// Plays a list of operations. One without a time of its own arrives when all before it are done.
pub struct Sequence {
    waiting: VecDeque<(Operation, Option<Cycle>)>,
    contents: Option<Contents>,
    taken: u64,
    completed: u64,
    /// When the operations so far were done.
    now: Cycle,
    completions: Vec<Completion>,
}

impl Sequence {
    /// From the first operation; writes carry data made from `contents`, where contents are modelled.
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

    /// What was done, in the order of the list.
    pub fn into_completions(mut self) -> Vec<Completion> {
        self.completions.sort_by_key(|completion| completion.id);
        self.completions
    }
}

/// The bytes that the `index`-th write of a run writes.
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
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    fn complete(&mut self, completion: Completion) {
        self.completed += 1;
        self.now = self.now.max(completion.done);
        self.completions.push(completion);
    }
}
