//! The operations of a list, sequential or at set cycles.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{Cycle, RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use rowclone::Operation;

use crate::contents::Contents;

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
