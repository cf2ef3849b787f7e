//! The machine as a source of requests.

use dram_spec::{Cycle, Operation, RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};

use super::Machine;
use super::clock::CoreCycle;
use super::core::Core;
use super::interconnect::{Agent, Delivery, HeldEntry, Message};
use super::settings::Sharing;

/// Core cycles by which a core may advance before the controller, as long as it affects no other
/// core. The boundaries of the measured interval are exact up to this time.
const RUN_AHEAD: u64 = 1 << 12;

/// The number of a request, modulo the number of cores, is the core on whose behalf it is made.
impl RequestSource for Machine {
    fn next_arrival(&self) -> Option<Cycle> {
        if self.error.is_some() || self.memory.conflict.is_some() {
            return None;
        }
        let at = self.next_event().min(self.memory.interconnect.first_request());
        (at < CoreCycle::NEVER).then(|| self.settings.clock.memory_at(at))
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let now_core = self.settings.clock.core_until(now);
        self.horizon = self.horizon.max(CoreCycle(now_core.0 + RUN_AHEAD));
        // What the controller accepts now affects the actions of this cycle, unless cores have acted in it: they have
        // then sent a message to a device, which has made the request.
        let past = CoreCycle(now_core.0 + 1);
        while self.next_event() < self.memory.interconnect.first_request().min(past) || self.is_within_cycle(past) {
            self.act();
        }
        let outgoing = self.memory.interconnect.take_request(now_core)?;
        if self.latest_action.0 == now_core {
            self.latest_action.1 = usize::MAX;
        }
        let (core, free) = (usize::from(outgoing.core), self.settings.clock.core_at(now));
        let source = match outgoing.device {
            Some(device) => {
                self.receive_until(free);
                self.devices[usize::from(device)].accepted(outgoing.number, free, &mut self.memory);
                SourceId::device(device)
            }
            None => SourceId(outgoing.core),
        };
        if outgoing.holds != HeldEntry::Nothing {
            // Actions before the free entry come first, so that all cores see one order.
            self.receive_until(free);
            match outgoing.holds {
                HeldEntry::StoreEntry | HeldEntry::EntryOfVictim => self.cores[core].store_accepted(),
                _ => self.memory.caches.write_accepted(core),
            }
            self.resume(core, free);
        }
        Some(Request {
            id: RequestId(outgoing.number * self.cores.len() as u64 + core as u64),
            source,
            arrival: Some(self.settings.clock.memory_at(outgoing.at)),
            operation: outgoing.operation,
            payload: outgoing.payload,
        })
    }

    fn complete(&mut self, completion: Completion) {
        let at = self.settings.clock.core_at(completion.done);
        self.receive_until(at);
        if let Some(device) = completion.source.device_number() {
            self.devices[usize::from(device)].completed(&completion, at, &mut self.memory);
        } else if let Some(arrives) = self.memory.interconnect.answer(&completion.operation, at) {
            self.memory.interconnect.deliver(completion, arrives);
        } else {
            self.answered(&completion, at);
        }
    }
}

impl Machine {
    /// Whether cores have acted in a cycle before `past`, and events of this cycle are left.
    fn is_within_cycle(&self, past: CoreCycle) -> bool {
        let next = self.next_event();
        next < past && next == self.latest_action.0
    }

    /// Executes the events before a cycle, and what arrives in it.
    fn receive_until(&mut self, at: CoreCycle) {
        self.run_before(at);
        while self.memory.interconnect.first_delivery() <= at {
            self.deliver();
        }
    }

    /// Delivers the first of the data and messages on their way.
    #[cold]
    pub(super) fn deliver(&mut self) {
        let at = self.memory.interconnect.first_delivery();
        match self.memory.interconnect.take_delivery() {
            None => {}
            Some(Delivery::Completion(completion)) => self.answered(&completion, at),
            Some(Delivery::Leaving { from, to, message }) => self.memory.interconnect.post(from, to, message, at),
            Some(Delivery::Message { to: Agent::Device(device), message }) => {
                self.devices[device].receive(message, at, &mut self.memory);
            }
            Some(Delivery::Message { to: Agent::Core(core), message }) => {
                if let Message::Network(message) = message {
                    if !self.kernel.received(&mut self.cores[core], message) {
                        return;
                    }
                } else {
                    self.copier.received(&mut self.cores[core], &mut self.memory, message, at);
                }
                self.resume(core, at);
                self.resume_others(core, at, Core::lacks_device);
            }
        }
    }

    /// Continues the other cores that wait for something shared.
    fn resume_others(&mut self, index: usize, at: CoreCycle, waits: impl Fn(&Core) -> bool) {
        for other in (0..self.cores.len()).filter(|&other| other != index) {
            if waits(&self.cores[other]) {
                self.resume(other, at);
            }
        }
    }

    /// Gives a core the data or the end of its request at a cycle.
    fn answered(&mut self, completion: &Completion, at: CoreCycle) {
        let index = usize::from(completion.source.0);
        match completion.operation {
            Operation::Read { .. } => {
                if let Some(ticket) = self.memory.arrived(index, completion, at) {
                    self.cores[index].line_arrived(ticket, at);
                }
            }
            Operation::Write { .. } => return,
            Operation::Copy { .. } | Operation::Init { .. } => {
                self.copier.completed(&mut self.cores[index], &mut self.memory, completion, at);
            }
        }
        self.resume(index, at);
        let sharing = self.settings.sharing;
        if sharing != Sharing::Private {
            // A core may wait for a way of a set in which all lines were pending.
            let is_near = |core: &Core| sharing.cache_of(core.index()) == sharing.cache_of(index);
            self.resume_others(index, at, |core| core.lacks_mshr() && is_near(core));
        }
    }
}
