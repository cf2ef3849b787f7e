//! How copies are served, and how initialisations are: apart, where the controller's tally has them together.

use dram_spec::Cycle;
use memctrl::stats::PartTally;
use memctrl::{Completion, Request, RequestSource};
use rowclone::Operation;

/// A source, and a tally of what is done for it from some cycle on.
pub struct Served<S> {
    source: S,
    from: Cycle,
    copies: PartTally,
    inits: PartTally,
}

/// The segments of copies, and of initialisations.
#[derive(Clone, Debug, Default)]
pub struct ServedTally {
    /// Of copies.
    pub copies: PartTally,
    /// Of initialisations.
    pub inits: PartTally,
}

impl<S> Served<S> {
    /// Counts what is done at `from` or later.
    pub fn new(source: S, from: Cycle) -> Served<S> {
        Served { source, from, copies: PartTally::default(), inits: PartTally::default() }
    }

    /// The source back, and the tally.
    pub fn finish(self) -> (S, ServedTally) {
        let Served { source, from: _, copies, inits } = self;
        (source, ServedTally { copies, inits })
    }
}

impl<S: RequestSource> RequestSource for Served<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        self.source.take(now)
    }

    fn complete(&mut self, completion: Completion) {
        if completion.done >= self.from {
            match completion.operation {
                Operation::Copy { .. } => self.copies += completion.parts(),
                Operation::Init { .. } => self.inits += completion.parts(),
                Operation::Read { .. } | Operation::Write { .. } => {}
            }
        }
        self.source.complete(completion);
    }
}
