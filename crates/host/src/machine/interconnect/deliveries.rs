//! Data and messages that arrive at cores and devices.

use std::collections::BTreeMap;

use memctrl::Completion;

use super::super::clock::CoreCycle;
use super::message::{Agent, Message};

/// What arrives.
#[derive(Debug)]
pub enum Delivery {
    /// Data or the end of a request of a core.
    Completion(Completion),
    /// A message.
    Message {
        /// Who receives it.
        to: Agent,
        /// The message.
        message: Message,
    },
}

/// Deliveries by cycle; those of a cycle keep the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    waiting: BTreeMap<(CoreCycle, u64), Delivery>,
    sent: u64,
}

impl Deliveries {
    pub(super) fn add(&mut self, at: CoreCycle, delivery: Delivery) {
        self.waiting.insert((at, self.sent), delivery);
        self.sent += 1;
    }

    /// The cycle of the first one; [`CoreCycle::NEVER`] if nothing is on its way.
    #[inline]
    pub(super) fn first(&self) -> CoreCycle {
        self.waiting.first_key_value().map_or(CoreCycle::NEVER, |((at, _), _)| *at)
    }

    pub(super) fn take(&mut self) -> Option<Delivery> {
        self.waiting.pop_first().map(|(_, delivery)| delivery)
    }
}
