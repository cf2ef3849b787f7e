//! The machine as a source of requests.

use dram_spec::{Cycle, Operation, RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};

use super::Machine;
use super::clock::CoreCycle;
use super::memory::Holds;
use super::settings::Sharing;

/// Core cycles by which a core may advance before the controller, as long as it affects no other
/// core. The boundaries of the measured interval are exact up to this time.
const RUN_AHEAD: u64 = 1 << 12;

/// The number of a request, modulo the number of cores, is its core.
impl RequestSource for Machine {
    fn next_arrival(&self) -> Option<Cycle> {
        if self.error.is_some() {
            return None;
        }
        let at = self.first_action.0.min(self.memory.outbox.first());
        (at < CoreCycle::NEVER).then(|| self.settings.clock.memory_at(at))
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let now_core = self.settings.clock.core_until(now);
        self.horizon = self.horizon.max(CoreCycle(now_core.0 + RUN_AHEAD));
        // Actions make requests that leave at least a cycle later. What the controller accepts now
        // affects the actions of this cycle.
        let past = CoreCycle(now_core.0 + 1);
        while self.first_action.0 < self.memory.outbox.first().min(past) {
            let (at, index) = self.first_action;
            self.settle(index, CoreCycle(at.0 + 1));
        }
        let outgoing = self.memory.outbox.take(now_core)?;
        if outgoing.holds != Holds::Nothing {
            let free = self.settings.clock.core_at(now);
            // Actions before the free entry come first, so that all cores see one order.
            self.run_before(free);
            match outgoing.holds {
                Holds::StoreEntry => self.cores[outgoing.core].store_accepted(),
                _ => self.memory.caches.write_accepted(outgoing.core),
            }
            self.resume(outgoing.core, free);
        }
        Some(Request {
            id: RequestId(outgoing.number * self.cores.len() as u64 + outgoing.core as u64),
            source: SourceId(outgoing.core as u16),
            arrival: Some(self.settings.clock.memory_at(outgoing.at)),
            operation: outgoing.operation,
            payload: outgoing.payload,
        })
    }

    fn complete(&mut self, completion: Completion) {
        let at = self.settings.clock.core_at(completion.done);
        let index = usize::from(completion.source.0);
        self.run_before(at);
        match completion.operation {
            Operation::Read { .. } => {
                if let Some(ticket) = self.memory.arrived(index, &completion, at) {
                    self.cores[index].line_arrived(ticket, at);
                }
            }
            Operation::Write { .. } => return,
            Operation::Copy { .. } | Operation::Init { .. } => {
                self.copier.completed(&mut self.cores[index], &mut self.memory, &completion, at);
            }
        }
        self.resume(index, at);
        let sharing = self.settings.sharing;
        if sharing != Sharing::Private {
            // A core may wait for a way of a set in which all lines were pending.
            for other in (0..self.cores.len()).filter(|&other| other != index) {
                if sharing.cache_of(other) == sharing.cache_of(index) && self.cores[other].lacks_mshr() {
                    self.resume(other, at);
                }
            }
        }
    }
}
