//! Accesses that take place after the dispatch of their instruction.

use crate::access::{Access, Kind};
use crate::core::Data;
use crate::machine::ReferenceMachine;

/// An access that waits for pending copies or for an older access to its line.
#[derive(Clone, Copy, Debug)]
pub struct Deferred {
    number: u64,
    pub access: Access,
}

impl ReferenceMachine {
    /// Whether an access to a line waits.
    pub fn must_defer(&self, at: usize, line: u64) -> bool {
        let core = &self.cores[at];
        core.pending.iter().any(|copy| copy.touches(line))
            || core.deferred.iter().any(|deferred| deferred.access.line == line)
    }

    /// Defers an access.
    pub fn defer(&mut self, at: usize, access: Access) -> Data {
        let core = &mut self.cores[at];
        let number = core.deferrals;
        core.deferrals += 1;
        core.deferred.push(Deferred { number, access });
        Data::Deferred(number)
    }

    /// Executes the deferred accesses that can take place in a cycle.
    pub fn access_deferred(&mut self, at: usize, now: u64) {
        let width = self.settings.core.width;
        let mut waiting = Vec::new();
        for deferred in std::mem::take(&mut self.cores[at].deferred) {
            let Deferred { number, access } = deferred;
            let Access { line, kind, .. } = access;
            let is_behind = waiting.iter().any(|older: &Deferred| older.access.line == line);
            let is_pending = self.cores[at].pending.iter().any(|copy| copy.touches(line));
            let mut entries = self.cores[at].window.iter();
            let entry = *entries.find(|entry| entry.data == Data::Deferred(number)).expect("it waits");
            let begin = entry.begin.filter(|begin| begin / width <= now);
            // An access that takes place later than its instruction begins counts from the first slot.
            let slot = begin.map_or(0, |begin| begin.max(now * width));
            let data =
                if is_behind || is_pending || begin.is_none() { None } else { self.access(at, slot, access).ok() };
            let Some(data) = data else {
                waiting.push(deferred);
                continue;
            };
            let core = &mut self.cores[at];
            let class = entry.wants.expect("it is an access").class;
            let result = core.result(class, kind == Kind::Load, slot, data);
            let mut entries = core.window.iter_mut();
            entries.find(|entry| entry.data == Data::Deferred(number)).expect("it waits").data = result;
            core.choose_units();
        }
        self.cores[at].deferred = waiting;
    }
}
