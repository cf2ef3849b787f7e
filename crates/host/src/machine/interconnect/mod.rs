//! What connects cores, caches, devices and the controller: requests, data and messages on their way.
//!
//! Without a bus, all of them arrive in the cycle in which they leave. A front-side bus (`bus`) lies
//! between the last-level caches and the controller. Devices lie beside the controller: their requests
//! do not cross the bus, and their messages to and from cores do.

mod bus;
mod deliveries;
mod message;
mod requests;

use std::sync::Arc;

use dram_spec::{Operation, PhysicalAddress};
use memctrl::Completion;

use self::bus::Bus;
use self::deliveries::Deliveries;
use self::requests::OutgoingRequests;
use super::clock::CoreCycle;
use super::settings::BusSettings;

pub use self::deliveries::Delivery;
pub use self::message::{Agent, Descriptor, Message, NetworkMessage, PostedBuffer};
pub use self::requests::{HeldEntry, Outgoing, Requester};

/// Requests, data and messages on their way.
#[derive(Debug)]
pub struct Interconnect {
    bus: Option<Bus>,
    /// Requests that cross no bus.
    direct: OutgoingRequests,
    deliveries: Deliveries,
    /// Requests made so far.
    made: u64,
}

impl Interconnect {
    /// Nothing is on its way.
    pub fn new(bus: Option<BusSettings>) -> Interconnect {
        Interconnect { bus: bus.map(Bus::new), direct: OutgoingRequests::new(), deliveries: Deliveries::new(), made: 0 }
    }

    /// Sends a request to the controller, which leaves at a cycle; returns its number.
    pub fn send(
        &mut self,
        requester: Requester,
        leaves: CoreCycle,
        operation: Operation,
        payload: Option<Arc<[u8]>>,
        holds: HeldEntry,
    ) -> u64 {
        let number = self.made;
        self.made += 1;
        let (core, device) = (requester.core as u16, requester.device.map(|device| device as u16));
        let requests = match &mut self.bus {
            Some(bus) if device.is_none() => &mut bus.leaving,
            _ => &mut self.direct,
        };
        requests.add(Outgoing { at: leaves, number, operation, payload, core, device, holds });
        number
    }

    /// Arrival of the first request at the controller; [`CoreCycle::NEVER`] without requests.
    #[inline]
    pub fn first_request(&self) -> CoreCycle {
        let direct = self.direct.first();
        self.bus.as_ref().map_or(direct, |bus| direct.min(bus.first_arrival()))
    }

    /// Takes the first request if it has arrived by `now`.
    pub fn take_request(&mut self, now: CoreCycle) -> Option<Outgoing> {
        let requests = match &mut self.bus {
            // A device may act on a message that arrives with a write of its core, which precedes what the device does.
            Some(bus) if bus.first_arrival() <= self.direct.first() => bus.arrived(now),
            _ => &mut self.direct,
        };
        requests.take(now)
    }

    /// Takes the write-back of a line of some bytes that arrives at the controller after a cycle, if there is one. One
    /// that has arrived precedes what a device requests from then on.
    pub fn take_write_back(&mut self, address: PhysicalAddress, bytes: u64, at: CoreCycle) -> Option<Outgoing> {
        let on_bus = self.bus.as_mut().and_then(|bus| bus.take_write_back(address, bytes, at));
        on_bus.or_else(|| self.direct.take_write_back(address, bytes, Some(at)))
    }

    /// Sends a message, which leaves in the present cycle. One between a core and a device crosses the bus.
    pub fn post(&mut self, from: Agent, to: Agent, message: Message, now: CoreCycle) {
        let arrives = match &mut self.bus {
            Some(bus) if message.crosses(from, to) => bus.address(now, message.addresses()),
            _ => now,
        };
        self.deliveries.add(arrives, Delivery::Message { to, message });
    }

    /// Sends a message, which leaves at a cycle, and gets its part of the bus then.
    pub fn post_later(&mut self, from: Agent, to: Agent, message: Message, leaves: CoreCycle) {
        let is_over_bus = self.bus.is_some() && message.crosses(from, to);
        let delivery =
            if is_over_bus { Delivery::Leaving { from, to, message } } else { Delivery::Message { to, message } };
        self.deliveries.add(leaves, delivery);
    }

    /// The cycle in which the data or the end of a request of a core, which leave the controller at a cycle,
    /// arrive over the bus; `None` if they arrive at once.
    #[inline]
    pub fn answer(&mut self, operation: &Operation, at: CoreCycle) -> Option<CoreCycle> {
        self.bus.as_mut().map(|bus| bus.answer(operation, at))
    }

    /// Delivers the data or the end of a request of a core at a cycle.
    pub fn deliver(&mut self, completion: Completion, arrives: CoreCycle) {
        self.deliveries.add(arrives, Delivery::Completion(completion));
    }

    /// The cycle in which a snoop of the caches by a device, which begins at a cycle, has its results.
    pub fn snooped(&mut self, at: CoreCycle) -> CoreCycle {
        self.bus.as_mut().map_or(at, |bus| bus.snoop(at))
    }

    /// The cycle in which a line that a cache passes to a device after a snoop is there.
    pub fn passed(&mut self, bytes: u64, at: CoreCycle) -> CoreCycle {
        self.bus.as_mut().map_or(at, |bus| bus.data(bytes, at))
    }

    /// The cycle of the first delivery; [`CoreCycle::NEVER`] without deliveries.
    #[inline]
    pub fn first_delivery(&self) -> CoreCycle {
        self.deliveries.first()
    }

    /// Whether a message is on its way.
    pub fn has_messages(&self) -> bool {
        self.deliveries.has_messages()
    }

    /// Takes the first delivery.
    pub fn take_delivery(&mut self) -> Option<Delivery> {
        self.deliveries.take()
    }
}
