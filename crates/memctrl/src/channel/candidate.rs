//! The candidate of a bank: the command that its accesses need next.

use dram_core::{Hold, Kind};
use dram_spec::{AutoPrecharge, BankIndex, Cause, Command};

use super::Channel;
use super::access::{AccessKind, Stamp};
use super::bank::Cached;
use super::queues::Preferred;

/// The command that the accesses of a bank need next, and the access that it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) action: Action,
    /// The kind of the access.
    pub(crate) kind: AccessKind,
    /// The access.
    pub(crate) access: Preferred,
    pub(crate) stamp: Stamp,
    /// How long the bank itself delays the command.
    pub(crate) bank_hold: Hold,
    /// What the command is to the rank.
    pub(crate) device_kind: Kind,
}

impl Candidate {
    /// Whether it may be issued while the data bus has that direction.
    #[inline]
    pub(crate) fn may_go(&self, direction: AccessKind) -> bool {
        self.action != Action::Column || self.kind == direction
    }
}

/// What a candidate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// PRE.
    Precharge,
    /// ACT.
    Activate,
    /// RD or WR.
    Column,
}

impl Channel {
    /// The candidate of a free bank of a usable rank.
    #[inline]
    pub(super) fn candidate(&mut self, bank: BankIndex) -> Option<Candidate> {
        if let Cached::Valid(candidate) = self.banks[bank.get()].candidate(self.shared_version) {
            return candidate;
        }
        let candidate = self.find_candidate(bank);
        self.banks[bank.get()].set_candidate(self.shared_version, candidate);
        candidate
    }

    fn find_candidate(&self, bank: BankIndex) -> Option<Candidate> {
        let (open, state, mode) = (self.device.row_in(bank), &self.banks[bank.get()], self.drain.mode());
        // An unused row is used before the bank serves the other kind.
        let unused = state.unused().filter(|&kind| kind != mode);
        let kind = unused.unwrap_or(mode);
        let scheduler = &*self.scheduler;
        let access = self.queues.preferred(kind, bank, open, state.served(), scheduler, unused.is_some())?;
        let queued = self.queues.get(access.place);
        let (action, device_kind) = match open {
            None => (Action::Activate, Kind::Act),
            Some(row) if row != queued.row() => (Action::Precharge, Kind::Pre),
            Some(_) if kind == AccessKind::Read => (Action::Column, Kind::Rd),
            Some(_) => (Action::Column, Kind::Wr),
        };
        let bank_hold = self.device.bank_hold(bank, device_kind);
        Some(Candidate { action, kind, access, stamp: queued.stamp(), bank_hold, device_kind })
    }

    /// The command of a bank's candidate, and why it is issued.
    #[inline]
    pub(super) fn access_command(&mut self, index: BankIndex) -> (Command, Cause) {
        let candidate = self.candidate(index).expect("the bank has a candidate");
        let access = self.queues.get(candidate.access.place);
        let (bank, row, column) = (self.topology.bank(index), access.row(), access.column());
        let cause = match candidate.kind {
            AccessKind::Read => Cause::Read(access.id()),
            AccessKind::Write => Cause::Write(access.id()),
        };
        let command = match (candidate.action, candidate.kind) {
            (Action::Precharge, _) => Command::Precharge { bank },
            (Action::Activate, _) => Command::Activate { bank, row },
            (Action::Column, kind) => {
                let is_last = || !self.queues.has_other(index, candidate.access.place, row);
                let closes = self.row_policy.closes_after_last_access() && is_last();
                let auto_precharge = if closes { AutoPrecharge::Yes } else { AutoPrecharge::No };
                match kind {
                    AccessKind::Read => Command::Read { bank, column, auto_precharge },
                    AccessKind::Write => Command::Write { bank, column, auto_precharge },
                }
            }
        };
        (command, cause)
    }
}
