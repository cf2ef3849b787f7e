//! What a run records of its requests.

use dram_spec::Cycle;
use memctrl::{Completion, Request, RequestSource};
use rowclone::Operation;

use crate::backlog::{Backlog, Meter};
use crate::observer::SharedObserver;
use crate::progress::RunProgress;
use crate::served::ServedTally;

/// A request source whose requests are counted, and reported to an observer, if any.
pub struct Tracked<'p, 'o, S> {
    source: S,
    backlog: Meter,
    progress: RunProgress,
    report: Option<&'p dyn Fn(RunProgress)>,
    observer: Option<SharedObserver<'o>>,
    /// Copies and initializations that are done at or after a cycle.
    from: Cycle,
    served: ServedTally,
}

impl<'p, 'o, S: RequestSource> Tracked<'p, 'o, S> {
    /// Starts before the first request. `total` is the number of requests, if known, and `from` the
    /// cycle from which mechanisms are counted.
    pub fn new(
        source: S,
        total: Option<u64>,
        from: Cycle,
        report: Option<&'p dyn Fn(RunProgress)>,
        observer: Option<SharedObserver<'o>>,
    ) -> Tracked<'p, 'o, S> {
        let progress = RunProgress { done: 0, total };
        Tracked { source, backlog: Meter::new(), progress, report, observer, from, served: ServedTally::default() }
    }

    #[cold]
    fn report_progress(&self) {
        if let Some(report) = self.report {
            report(self.progress);
        }
    }

    /// Returns the source, its backlog, and the mechanisms of its copies and initializations.
    pub fn finish(self) -> (S, Backlog, ServedTally) {
        (self.source, self.backlog.backlog(), self.served)
    }
}

impl<S: RequestSource> RequestSource for Tracked<'_, '_, S> {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.source.take(now)?;
        self.backlog.take(now, request.arrival.unwrap_or(now));
        self.progress.done += 1;
        if self.progress.done.is_multiple_of(RunProgress::STEP_REQUESTS) {
            self.report_progress();
        }
        if let Some(observer) = self.observer {
            observer.borrow_mut().taken(now, &request);
        }
        Some(request)
    }

    fn wants_accesses(&self) -> bool {
        self.observer.is_some() || self.source.wants_accesses()
    }

    fn complete(&mut self, completion: Completion) {
        if let Some(observer) = self.observer {
            observer.borrow_mut().done(&completion);
        }
        if completion.done >= self.from {
            match completion.operation {
                Operation::Copy { .. } => self.served.copies += &completion.served,
                Operation::Init { .. } => self.served.inits += &completion.served,
                Operation::Read { .. } | Operation::Write { .. } => {}
            }
        }
        self.source.complete(completion);
    }
}
