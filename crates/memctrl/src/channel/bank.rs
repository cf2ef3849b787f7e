//! State of a channel's banks.

use dram_spec::{BankId, BankIndex, BankSet, Cycle, PerBank, Topology};

use super::access::AccessKind;
use super::candidate::{AccessCommand, Candidate};

/// State of a bank with respect to its accesses and threads. The device has the other state.
#[derive(Clone, Debug)]
pub(crate) struct Bank {
    id: BankId,
    /// Kind of access for which the open row was opened, while the row is unused.
    unused: Option<AccessKind>,
    /// Accesses served by the open row.
    served: u32,
    /// Cycle in which a thread last released the bank.
    released: Option<Cycle>,
    /// Cached candidate.
    candidate: Candidate,
}

impl Bank {
    /// Rank and bank number.
    #[inline]
    pub(crate) fn id(&self) -> BankId {
        self.id
    }

    #[inline]
    pub(crate) fn unused(&self) -> Option<AccessKind> {
        self.unused
    }

    #[inline]
    pub(crate) fn served(&self) -> u32 {
        self.served
    }

    pub(crate) fn released(&self) -> Option<Cycle> {
        self.released
    }
}

/// Banks of a channel. Every change that may affect a candidate uses this type, which marks the
/// candidate as outdated.
#[derive(Debug)]
pub(crate) struct Banks {
    states: PerBank<Bank>,
    /// Banks whose cached candidate is valid.
    current: BankSet,
    /// Banks by the command of their cached candidate.
    by_command: [BankSet; AccessCommand::ALL.len()],
    /// Banks with an unused row opened for a read, and for a write.
    unused: [BankSet; 2],
}

impl Banks {
    /// Creates closed banks.
    pub(crate) fn new(topology: Topology) -> Banks {
        let (unused, candidate) = (None, Candidate::NONE);
        let bank = |index| Bank { id: topology.bank(index), unused, served: 0, released: None, candidate };
        let by_command = [BankSet::EMPTY; AccessCommand::ALL.len()];
        Banks { states: PerBank::from_fn(bank), current: BankSet::EMPTY, by_command, unused: [BankSet::EMPTY; 2] }
    }

    #[inline]
    pub(crate) fn get(&self, bank: BankIndex) -> &Bank {
        &self.states[bank]
    }

    #[inline]
    fn change(&mut self, bank: BankIndex) -> &mut Bank {
        self.current.remove(bank);
        &mut self.states[bank]
    }

    /// Banks with an unused row that was opened for a kind of access.
    #[inline]
    pub(crate) fn unused(&self, kind: AccessKind) -> BankSet {
        self.unused[kind as usize]
    }

    /// Cached candidate of a bank.
    #[inline]
    pub(crate) fn candidate(&self, bank: BankIndex) -> &Candidate {
        &self.states[bank].candidate
    }

    /// Banks whose cached candidate has a command.
    #[inline]
    pub(crate) fn with_command(&self, command: AccessCommand) -> BankSet {
        self.by_command[command as usize]
    }

    /// Whether the cached candidate of a bank is valid.
    #[inline]
    pub(crate) fn is_current(&self, bank: BankIndex) -> bool {
        self.current.contains(bank)
    }

    /// Banks of the set whose candidates must be computed.
    #[inline]
    pub(crate) fn outdated(&self, banks: BankSet) -> BankSet {
        banks.without(self.current)
    }

    #[inline]
    pub(crate) fn set_candidate(&mut self, bank: BankIndex, candidate: Candidate) {
        let state = &mut self.states[bank];
        self.by_command[state.candidate.command as usize].remove(bank);
        self.by_command[candidate.command as usize].insert(bank);
        state.candidate = candidate;
        self.current.insert(bank);
    }

    /// Invalidates the candidate of a bank after a change of its queues that may change the
    /// preferred access.
    #[inline]
    pub(crate) fn changed(&mut self, bank: BankIndex) {
        self.current.remove(bank);
    }

    /// Invalidates all candidates after a change of the mode or of the order of accesses.
    #[inline]
    pub(crate) fn all_changed(&mut self) {
        self.current = BankSet::EMPTY;
    }

    /// Records that a row was opened, for a kind of access or for a thread.
    #[inline]
    pub(crate) fn opened(&mut self, bank: BankIndex, kind: Option<AccessKind>) {
        self.change(bank).served = 0;
        self.set_unused(bank, kind);
    }

    /// Records that the open row has served an access.
    #[inline]
    pub(crate) fn has_served(&mut self, bank: BankIndex) {
        self.change(bank).served += 1;
        self.set_unused(bank, None);
    }

    /// Records that the row was closed.
    #[inline]
    pub(crate) fn closed(&mut self, bank: BankIndex) {
        self.change(bank).served = 0;
        self.set_unused(bank, None);
    }

    /// Records that a thread released the bank.
    pub(crate) fn released(&mut self, bank: BankIndex, now: Cycle) {
        self.change(bank).released = Some(now);
    }

    #[inline]
    fn set_unused(&mut self, bank: BankIndex, kind: Option<AccessKind>) {
        self.states[bank].unused = kind;
        for other in [AccessKind::Read, AccessKind::Write] {
            self.unused[other as usize].set(bank, kind == Some(other));
        }
    }
}
