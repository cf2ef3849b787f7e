//! Requests and completions of the controller.

use std::sync::Arc;

use dram_spec::{Cycle, Cycles, Operation, RequestId, SourceId};

use crate::stats::PartTally;

/// A request to the controller.
#[derive(Clone, Debug)]
pub struct Request {
    /// Identifier.
    pub id: RequestId,
    /// Source.
    pub source: SourceId,
    /// Arrival; `None`: in the cycle in which the controller accepts its first line, or the copy.
    pub arrival: Option<Cycle>,
    /// Operation.
    pub operation: Operation,
    /// Data of a write, if contents are modeled; as many bytes as the operation has.
    pub payload: Option<Arc<[u8]>>,
}

/// A completed request.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Identifier.
    pub id: RequestId,
    /// Source.
    pub source: SourceId,
    /// Operation.
    pub operation: Operation,
    /// Arrival; of a request without one, its acceptance.
    pub arrival: Cycle,
    /// Cycle of the first command; `None` if no command was needed (a copy onto itself, a forwarded
    /// read).
    pub first_command: Option<Cycle>,
    /// Completion: of a read or write, the end of its data; else the earliest next ACT of the last
    /// bank used.
    pub done: Cycle,
    /// Mechanisms and reasons of the parts of a copy or an initialization; none of a read or a write.
    pub served: PartTally,
    /// The bytes that a read returned, where contents are modeled.
    pub data: Option<Vec<u8>>,
}

impl Completion {
    /// From the arrival to the end.
    pub fn response(&self) -> Cycles {
        self.done.since(self.arrival)
    }

    /// Latency in reports: of a read or a write from its arrival, of a copy or an initialization
    /// from its first command (0 without one), to [`Self::done`].
    pub fn latency(&self) -> Cycles {
        match self.operation {
            Operation::Read { .. } | Operation::Write { .. } => self.response(),
            Operation::Copy { .. } | Operation::Init { .. } => {
                self.first_command.map_or(Cycles(0), |first| self.done.since(first))
            }
        }
    }
}

/// A source of requests, for [`crate::Controller::run`].
pub trait RequestSource {
    /// Arrival of the next request, if known. It may be in the past: the request is then taken at
    /// once.
    fn next_arrival(&self) -> Option<Cycle>;

    /// Takes the request announced by [`Self::next_arrival`], if it has arrived by `now`.
    fn take(&mut self, now: Cycle) -> Option<Request>;

    /// Whether [`Self::complete`] must be called for reads and writes. If not, it is called for
    /// copies, initializations, and reads and writes of several lines or of parts of lines.
    fn wants_accesses(&self) -> bool {
        true
    }

    /// Reports the bytes of a read that [`Self::complete`] does not report, where contents are
    /// modeled.
    fn data_read(&mut self, id: RequestId, data: &[u8]) {
        let _ = (id, data);
    }

    /// Reports a completion, which may lead to new arrivals.
    fn complete(&mut self, completion: Completion);
}
