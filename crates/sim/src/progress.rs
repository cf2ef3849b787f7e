//! Reports of a run's progress to its caller.

use dram_spec::Cycle;
use memctrl::{Completion, Request, RequestSource};

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests completed.
    pub done: u64,
    /// Requests of the whole run, where they are known before.
    pub total: Option<u64>,
}

impl Progress {
    /// Requests between two reports.
    pub const STEP_REQUESTS: u64 = 256;
}

/// A source whose progress is reported.
pub(crate) struct Watched<'a, S> {
    source: S,
    progress: Progress,
    report: Option<&'a dyn Fn(Progress)>,
}

impl<'a, S> Watched<'a, S> {
    /// Before the first request.
    pub(crate) fn new(source: S, total: Option<u64>, report: Option<&'a dyn Fn(Progress)>) -> Watched<'a, S> {
        Watched { source, progress: Progress { done: 0, total }, report }
    }

    /// The source back.
    pub(crate) fn finish(self) -> S {
        self.source
    }
}

impl<S: RequestSource> RequestSource for Watched<'_, S> {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        self.source.take(now)
    }

    #[inline]
    fn complete(&mut self, completion: Completion) {
        self.progress.done += 1;
        if let Some(report) = self.report
            && self.progress.done.is_multiple_of(Progress::STEP_REQUESTS)
        {
            report(self.progress);
        }
        self.source.complete(completion);
    }
}
