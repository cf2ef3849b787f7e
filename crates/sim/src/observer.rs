//! Observers of the commands and requests of a run.

use std::cell::RefCell;

use dram_spec::{Channel, CommandEvent, Cycle, EventSink, Queued};
use memctrl::{Completion, Request, RequestSource};

/// An observer of commands and requests.
pub trait Observer: EventSink {
    /// Called when the controller takes a request.
    fn taken(&mut self, now: Cycle, request: &Request);

    /// Called when a request completes.
    fn done(&mut self, completion: &Completion);
}

/// An observer shared by the request source and the event sink of a run.
pub type Shared<'a> = &'a RefCell<dyn Observer + 'a>;

/// A request source that reports to an observer, if any.
pub struct Observed<'a, S> {
    source: S,
    observer: Option<Shared<'a>>,
}

impl<'a, S> Observed<'a, S> {
    /// Wraps a source.
    pub fn new(source: S, observer: Option<Shared<'a>>) -> Observed<'a, S> {
        Observed { source, observer }
    }

    /// Returns the source.
    pub fn finish(self) -> S {
        self.source
    }
}

impl<S: RequestSource> RequestSource for Observed<'_, S> {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    #[expect(clippy::inline_always, reason = "a request that is moved in memory costs as much as making it")]
    #[inline(always)]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let Some(observer) = self.observer else { return self.source.take(now) };
        let request = self.source.take(now)?;
        observer.borrow_mut().taken(now, &request);
        Some(request)
    }

    #[expect(clippy::inline_always, reason = "most sources use only a part of it")]
    #[inline(always)]
    fn complete(&mut self, completion: Completion) {
        if let Some(observer) = self.observer {
            observer.borrow_mut().done(&completion);
        }
        self.source.complete(completion);
    }
}

/// Event sink that forwards to an observer.
pub struct ObserverSink<'a>(pub Shared<'a>);

impl EventSink for ObserverSink<'_> {
    fn command(&mut self, event: &CommandEvent) {
        self.0.borrow_mut().command(event);
    }

    fn wants_queues(&self) -> bool {
        true
    }

    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        self.0.borrow_mut().queued(at, channel, queued);
    }

    fn finish(&mut self, end: Cycle) {
        self.0.borrow_mut().finish(end);
    }
}
