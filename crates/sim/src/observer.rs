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

    #[expect(clippy::inline_always, reason = "a request that is moved in memory costs as much as making it")]
    #[inline(always)]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.source.take(now);
        // The observer reads a copy: without an observer, the request then need not lie in memory.
        if let (Some(observer), Some(request)) = (self.observer, &request) {
            tell_taken(observer, now, request.clone());
        }
        request
    }

    #[expect(clippy::inline_always, reason = "most sources need no more than a part of it")]
    #[inline(always)]
    fn complete(&mut self, completion: Completion) {
        if let Some(observer) = self.observer {
            tell_done(observer, completion.clone());
        }
        self.source.complete(completion);
    }
}

#[cold]
#[expect(clippy::needless_pass_by_value, reason = "the caller's request stays in registers")]
fn tell_taken(observer: Shared<'_>, now: Cycle, request: Request) {
    observer.borrow_mut().taken(now, &request);
}

#[cold]
#[expect(clippy::needless_pass_by_value, reason = "the caller's completion stays in registers")]
fn tell_done(observer: Shared<'_>, completion: Completion) {
    observer.borrow_mut().done(&completion);
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
