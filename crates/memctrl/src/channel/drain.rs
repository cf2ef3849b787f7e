//! Write drain: whether a channel serves reads or writes.

use dram_spec::BankSet;

use crate::access::AccessKind;
use crate::queues::Queues;

/// The kind of access that a channel serves. Rules 12 and 13 of `docs/controller.md`.
#[derive(Clone, Debug)]
pub(crate) struct WriteDrain {
    mode: AccessKind,
    high: usize,
    low: usize,
    /// Write drains since the last [`Self::take_drains`].
    drains: u64,
}

impl WriteDrain {
    /// Creates the mode with the watermarks of queued writes; `low` is less than `high`.
    pub(crate) fn new(high: usize, low: usize) -> WriteDrain {
        WriteDrain { mode: AccessKind::Read, high, low, drains: 0 }
    }

    /// Kind of access for which rows are opened.
    #[inline]
    pub(crate) fn mode(&self) -> AccessKind {
        self.mode
    }

    /// Write drains since the last call.
    pub(crate) fn take_drains(&mut self) -> u64 {
        std::mem::take(&mut self.drains)
    }

    /// Whether the queues require the other mode. `free` are the banks that no thread holds.
    #[inline]
    pub(crate) fn is_due(&self, queues: &Queues, free: BankSet) -> bool {
        let pending = |kind| queues.pending(kind).intersects(free);
        let queued = queues.queued(AccessKind::Write);
        let is_awaited = || queues.is_any_awaited(AccessKind::Write);
        match self.mode {
            AccessKind::Read => {
                pending(AccessKind::Write) && (queued >= self.high || !pending(AccessKind::Read) || is_awaited())
            }
            AccessKind::Write => {
                !pending(AccessKind::Write) || (queued <= self.low && pending(AccessKind::Read) && !is_awaited())
            }
        }
    }

    /// Sets the mode without a drain; returns whether it changed.
    pub(crate) fn serve(&mut self, kind: AccessKind) -> bool {
        std::mem::replace(&mut self.mode, kind) != kind
    }

    /// Changes the mode if the queues require it; returns whether it changed.
    #[inline]
    pub(crate) fn update(&mut self, queues: &Queues, free: BankSet) -> bool {
        let is_due = self.is_due(queues, free);
        if is_due {
            self.mode = self.mode.other();
            self.drains += u64::from(self.mode == AccessKind::Write);
        }
        is_due
    }
}

#[cfg(test)]
mod tests;
