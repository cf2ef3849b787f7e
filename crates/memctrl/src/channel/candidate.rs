//! Candidate of a bank: the next command for its accesses.

use dram_core::KeptKind;
use dram_spec::{BankIndex, BankSet, Cycle};

use super::Channel;
use super::access::AccessKind;
use super::queues::Rows;
use crate::policy::scheduler::Priority;

/// The next command for the accesses of a bank, and the access it serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// First cycle at which the bank's own rules permit the command.
    pub(crate) ready: Cycle,
    pub(crate) priority: Priority,
    /// Place of the access in the pool.
    pub(crate) place: u16,
    pub(crate) command: AccessCommand,
    /// Kind of the access.
    pub(crate) kind: AccessKind,
}

/// Command of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessCommand {
    Precharge,
    Activate,
    Read,
    Write,
}

impl AccessCommand {
    /// All commands.
    pub(crate) const ALL: [AccessCommand; 4] =
        [AccessCommand::Precharge, AccessCommand::Activate, AccessCommand::Read, AccessCommand::Write];

    /// Column command of a kind of access.
    #[inline]
    pub(crate) const fn column(kind: AccessKind) -> AccessCommand {
        match kind {
            AccessKind::Read => AccessCommand::Read,
            AccessKind::Write => AccessCommand::Write,
        }
    }

    /// Whether the command is RD or WR.
    #[inline]
    pub(crate) const fn is_column(self) -> bool {
        matches!(self, AccessCommand::Read | AccessCommand::Write)
    }

    /// Kind of the command in the device.
    #[inline]
    pub(crate) const fn device_kind(self) -> KeptKind {
        match self {
            AccessCommand::Precharge => KeptKind::Pre,
            AccessCommand::Activate => KeptKind::Act,
            AccessCommand::Read => KeptKind::Rd,
            AccessCommand::Write => KeptKind::Wr,
        }
    }
}

impl Candidate {
    /// Initial value before the first candidate.
    pub(crate) const NONE: Candidate = Candidate {
        ready: Cycle::ZERO,
        priority: Priority::LAST,
        place: 0,
        command: AccessCommand::Activate,
        kind: AccessKind::Read,
    };
}

impl Channel {
    /// Computes the outdated candidates of banks. The banks must be free and their ranks usable,
    /// and have accesses of the mode or an unused row.
    #[inline]
    pub(super) fn update_candidates(&mut self, banks: BankSet) {
        for bank in self.banks.outdated(banks) {
            self.update_candidate(bank);
        }
    }

    fn update_candidate(&mut self, bank: BankIndex) {
        let (open, state, mode) = (self.device.row_in(bank), self.banks.get(bank), self.drain.mode());
        // An unused row serves an access before the bank serves the other kind.
        let is_other = state.unused() == Some(mode.other());
        let kind = if is_other { mode.other() } else { mode };
        let rows = Rows { open, served: state.served(), only_hits: is_other };
        let preferred = self.queues.preferred(kind, bank, rows, &*self.scheduler);
        let (priority, place) = preferred.expect("an access is queued, or needs the unused row");
        let command = match open {
            None => AccessCommand::Activate,
            Some(row) if row != self.queues.get(place).row() => AccessCommand::Precharge,
            Some(_) => AccessCommand::column(kind),
        };
        let ready = self.device.kept_bank_hold(bank, command.device_kind()).until();
        self.banks.set_candidate(bank, Candidate { ready, priority, place, command, kind });
    }
}
