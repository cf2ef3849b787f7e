//! Observers of a run: its commands, and its requests when they are accepted and completed.

use std::cell::RefCell;

use dram_spec::{Channel, CommandEvent, Cycle, EventSink, Queued};
use memctrl::{Completion, Request, RequestSource};

/// Hears commands, and requests.
pub trait Observer: EventSink {
    /// The controller has taken a request.
    fn taken(&mut self, now: Cycle, request: &Request);

    /// A request is done.
    fn done(&mut self, completion: &Completion);
}

/// An observer that the source of a run and the reader of its commands share.
pub type Shared<'a> = &'a RefCell<dyn Observer + 'a>;

/// A source whose requests an observer hears of, if there is one.
pub struct Observed<'a, S> {
    source: S,
    observer: Option<Shared<'a>>,
}

impl<'a, S> Observed<'a, S> {
    /// With an observer, or without.
    pub fn new(source: S, observer: Option<Shared<'a>>) -> Observed<'a, S> {
        Observed { source, observer }
    }

    /// The source back.
    pub fn finish(self) -> S {
        self.source
    }
}

impl<S: RequestSource> RequestSource for Observed<'_, S> {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.source.take(now);
        if let (Some(observer), Some(request)) = (self.observer, &request) {
            observer.borrow_mut().taken(now, request);
        }
        request
    }

    #[inline]
    fn complete(&mut self, completion: Completion) {
        if let Some(observer) = self.observer {
            observer.borrow_mut().done(&completion);
        }
        self.source.complete(completion);
    }
}

/// The commands that it hears.
pub struct Commands<'a>(pub Shared<'a>);

impl EventSink for Commands<'_> {
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
