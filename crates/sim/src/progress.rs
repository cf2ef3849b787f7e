//! Progress of a run.

use dram_spec::Cycle;
use memctrl::{Completion, Request, RequestSource};

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests completed.
    pub done: u64,
    /// Requests of the whole run, if known in advance.
    pub total: Option<u64>,
}

impl Progress {
    /// Requests between two reports.
    pub const STEP_REQUESTS: u64 = 256;
}

/// A request source that reports its progress.
pub(crate) struct WithProgress<'a, S> {
    source: S,
    progress: Progress,
    report: Option<&'a dyn Fn(Progress)>,
}

impl<'a, S> WithProgress<'a, S> {
    /// Starts before the first request.
    pub(crate) fn new(source: S, total: Option<u64>, report: Option<&'a dyn Fn(Progress)>) -> WithProgress<'a, S> {
        WithProgress { source, progress: Progress { done: 0, total }, report }
    }

    /// Returns the source.
    pub(crate) fn finish(self) -> S {
        self.source
    }
}

impl<S: RequestSource> RequestSource for WithProgress<'_, S> {
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
