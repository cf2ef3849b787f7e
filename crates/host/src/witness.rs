//! A source that keeps a flat memory beside the simulated one, and compares the two.

use std::collections::BTreeMap;

use dram_spec::{Channel, Cycle};
use memctrl::{Completion, Controller, Request, RequestId, RequestSource};

use crate::flat_memory::{FlatMemory, Mismatch};

/// What the comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCheck {
    /// The cells, and everything that was read, are what a plain memory would hold.
    Equal,
    /// The cells differ.
    Cells(Mismatch),
    /// A read returned something else.
    Read {
        /// Which request.
        id: RequestId,
        /// The first byte of it that differs, counted from the start of the read.
        at: usize,
    },
}

/// Passes a source's requests on, and applies each to a flat memory in the order in which they arrive.
pub struct Witnessed<S> {
    source: S,
    flat: FlatMemory,
    expected: BTreeMap<RequestId, Vec<u8>>,
    wrong_read: Option<(RequestId, usize)>,
}

impl<S: RequestSource> Witnessed<S> {
    /// Beside a memory at reset.
    pub fn new(source: S, flat: FlatMemory) -> Witnessed<S> {
        Witnessed { source, flat, expected: BTreeMap::new(), wrong_read: None }
    }

    /// Compares all that was touched; gives the source back.
    pub fn finish(self, controller: &Controller, channels: u8) -> (S, MemoryCheck) {
        let cells = (0..channels).find_map(|channel| {
            let cells = controller.device(Channel(channel)).cells()?;
            self.flat.compare(Channel(channel), cells)
        });
        let found = match (self.wrong_read, cells) {
            (Some((id, at)), _) => MemoryCheck::Read { id, at },
            (None, Some(mismatch)) => MemoryCheck::Cells(mismatch),
            (None, None) => MemoryCheck::Equal,
        };
        (self.source, found)
    }
}

impl<S: RequestSource> RequestSource for Witnessed<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.source.take(now)?;
        if let Some(read) = self.flat.apply(&request.operation, request.payload.as_deref()) {
            self.expected.insert(request.id, read);
        }
        Some(request)
    }

    fn complete(&mut self, mut completion: Completion) {
        if let Some(expected) = self.expected.remove(&completion.id) {
            let found = completion.data.as_deref().unwrap_or_default();
            let differs = (0..expected.len()).find(|&at| found.get(at) != Some(&expected[at]));
            self.wrong_read = self.wrong_read.or(differs.map(|at| (completion.id, at)));
            // Compared, and of no further use: a run of many reads would keep them all.
            completion.data = None;
        }
        self.source.complete(completion);
    }
}
