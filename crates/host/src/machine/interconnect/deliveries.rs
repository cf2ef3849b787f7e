//! Data and messages that arrive at cores and devices, and messages that leave for the bus.

use std::collections::BTreeMap;

use memctrl::Completion;

use super::super::clock::CoreCycle;
use super::message::{Agent, Message};

/// What arrives, or leaves.
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
    /// A message leaves, and gets its part of the bus.
    Leaving {
        /// Who sends it.
        from: Agent,
        /// Who will receive it.
        to: Agent,
        /// The message.
        message: Message,
    },
}

/// Deliveries by cycle; those of a cycle keep the order in which they were sent.
#[derive(Debug)]
pub(super) struct Deliveries {
    waiting: BTreeMap<(CoreCycle, u64), Delivery>,
    /// The cycle of the first one; [`CoreCycle::NEVER`] if nothing is on its way.
    first: CoreCycle,
    sent: u64,
}

impl Deliveries {
    /// Nothing is on its way.
    pub(super) const fn new() -> Deliveries {
        Deliveries { waiting: BTreeMap::new(), first: CoreCycle::NEVER, sent: 0 }
    }

    pub(super) fn add(&mut self, at: CoreCycle, delivery: Delivery) {
        self.waiting.insert((at, self.sent), delivery);
        self.first = self.first.min(at);
        self.sent += 1;
    }

    /// The cycle of the first one; [`CoreCycle::NEVER`] if nothing is on its way.
    #[inline]
    pub(super) const fn first(&self) -> CoreCycle {
        self.first
    }

    pub(super) fn has_messages(&self) -> bool {
        self.waiting.values().any(|delivery| !matches!(delivery, Delivery::Completion(_)))
    }

    pub(super) fn take(&mut self) -> Option<Delivery> {
        let (_, delivery) = self.waiting.pop_first()?;
        self.first = self.waiting.first_key_value().map_or(CoreCycle::NEVER, |((at, _), _)| *at);
        Some(delivery)
    }
}
