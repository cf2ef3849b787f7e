//! What the controller is asked for, and what it answers.

use std::sync::Arc;

use dram_spec::{Cycle, Cycles, Operation, RequestId, SourceId};

use crate::stats::PartTally;

/// An operation that arrives at the controller.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// Who asks.
    pub source: SourceId,
    /// When it arrives.
    pub arrival: Cycle,
    /// What is to be done.
    pub operation: Operation,
    /// The bytes of a write, where contents are modelled; as many as the operation has.
    pub payload: Option<Arc<[u8]>>,
}

/// A request that is done.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Its name.
    pub id: RequestId,
    /// Who asked.
    pub source: SourceId,
    /// What was done.
    pub operation: Operation,
    /// When it arrived.
    pub arrival: Cycle,
    /// Its first command; none where it needed none (a copy onto itself, a forwarded read).
    pub first_command: Option<Cycle>,
    /// Of a read or write, the end of its data; else when the last bank that it used can take an ACT again.
    pub done: Cycle,
    /// How the parts of a copy or an initialization were served.
    pub served: Option<Box<PartTally>>,
    /// The bytes that a read returned, where contents are modelled.
    pub data: Option<Vec<u8>>,
}

/// The tally of what has no parts.
static NO_PARTS: PartTally = PartTally::EMPTY;

impl Completion {
    /// How its parts were served; a read or a write has none.
    pub fn parts(&self) -> &PartTally {
        self.served.as_deref().unwrap_or(&NO_PARTS)
    }

    /// From the arrival to the end.
    pub fn response(&self) -> Cycles {
        self.done.since(self.arrival)
    }

    /// Latency as the reports define it: of a read or a write from its arrival, of a copy or an initialization from its first command
    /// (0 without one), to [`Self::done`].
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
    /// When the next request arrives, as far as is known now. It may lie in the past: the request is then taken at once.
    fn next_arrival(&self) -> Option<Cycle>;

    /// The request that [`Self::next_arrival`] announced, if it has arrived by `now`.
    fn take(&mut self, now: Cycle) -> Option<Request>;

    /// A request is done. New arrivals may follow from that.
    fn complete(&mut self, completion: Completion);
}
