//! Observers of the commands and requests of a run.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, CommandEvent, Cycle, EventSink, Queued};
use memctrl::{Completion, Request};

use crate::progress::RunProgress;

/// An observer of commands and requests.
pub trait Observer: EventSink {
    /// Called when the controller takes a request.
    fn taken(&mut self, now: Cycle, request: &Request);

    /// Called when a request completes.
    fn done(&mut self, completion: &Completion);
}

/// An observer shared by the request source and the event sink of a run.
pub type SharedObserver<'a> = &'a RefCell<dyn Observer + 'a>;

/// Optional observers of a run.
#[derive(Default)]
pub struct Attachments<'a, 'o> {
    /// Set by the caller to stop the run.
    pub stop: Option<&'a AtomicBool>,
    /// Sink of the commands, for example a log.
    pub commands: Option<&'a mut dyn EventSink>,
    /// Observer of commands and requests.
    pub observer: Option<SharedObserver<'o>>,
    /// Called every [`RunProgress::STEP_REQUESTS`] requests.
    pub progress: Option<&'a dyn Fn(RunProgress)>,
}

/// Event sink that forwards to an observer.
pub struct ObserverSink<'a>(pub SharedObserver<'a>);

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
