//! Accesses that take place after the dispatch of their instruction.

use host::machine::Purpose;

use crate::core::Data;
use crate::dispatch::Kind;
use crate::machine::PlainMachine;

/// An access that waits for pending copies or for an older access to its line.
#[derive(Clone, Copy, Debug)]
pub struct Deferred {
    number: u64,
    pub line: u64,
    purpose: Purpose,
    kind: Kind,
}

impl PlainMachine {
    /// Whether an access to a line waits.
    pub fn must_defer(&self, at: usize, line: u64) -> bool {
        let core = &self.cores[at];
        core.pending.iter().any(|copy| copy.touches(line)) || core.deferred.iter().any(|access| access.line == line)
    }

    /// Defers an access.
    pub fn defer(&mut self, at: usize, line: u64, purpose: Purpose, kind: Kind) -> Data {
        let core = &mut self.cores[at];
        let number = core.deferrals;
        core.deferrals += 1;
        core.deferred.push(Deferred { number, line, purpose, kind });
        Data::Deferred(number)
    }

    /// Executes the deferred accesses that can take place in a cycle.
    pub fn access_deferred(&mut self, at: usize, now: u64) {
        let width = self.settings.core.width;
        let mut waiting = Vec::new();
        for access in std::mem::take(&mut self.cores[at].deferred) {
            let Deferred { number, line, purpose, kind } = access;
            let is_behind = waiting.iter().any(|older: &Deferred| older.line == line);
            let is_pending = self.cores[at].pending.iter().any(|copy| copy.touches(line));
            let data =
                if is_behind || is_pending { None } else { self.access(at, now * width, line, purpose, kind).ok() };
            let Some(data) = data else {
                waiting.push(access);
                continue;
            };
            let data = if kind == Kind::Load { data } else { Data::At((now + 1) * width) };
            let mut entries = self.cores[at].window.iter_mut();
            entries.find(|entry| entry.data == Data::Deferred(number)).expect("it waits").data = data;
        }
        self.cores[at].deferred = waiting;
    }
}
