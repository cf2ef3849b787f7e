//! Observers of the commands and requests of a run.

use std::cell::RefCell;

use dram_spec::{Channel, CommandEvent, Cycle, EventSink, Queued};
use memctrl::{Completion, Request};

/// An observer of commands and requests.
pub trait Observer: EventSink {
    /// Called when the controller takes a request.
    fn taken(&mut self, now: Cycle, request: &Request);

    /// Called when a request completes.
    fn done(&mut self, completion: &Completion);
}

/// An observer shared by the request source and the event sink of a run.
pub type Shared<'a> = &'a RefCell<dyn Observer + 'a>;

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
