//! What a channel keeps of its banks.

use dram_spec::{BankId, BankIndex, BankSet, Cycle, Topology};

use super::access::AccessKind;
use super::candidate::Candidate;

/// A bank, as far as its accesses and threads go. The device has the rest of its state.
#[derive(Clone, Debug)]
pub(crate) struct Bank {
    id: BankId,
    /// The kind of access that the open row was opened for, while the row is unused.
    unused: Option<AccessKind>,
    /// Accesses that the open row has served.
    served: u32,
    /// When a thread last released the bank.
    released: Option<Cycle>,
}

impl Bank {
    /// Rank and bank.
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

/// The banks of a channel. All that can change a candidate goes through here, and outdates it.
#[derive(Debug)]
pub(crate) struct Banks {
    states: Box<[Bank]>,
    /// The banks whose candidate was computed from their present state.
    current: BankSet,
    /// By bank, the candidate as last computed.
    candidates: Box<[Candidate; BankSet::CAPACITY]>,
    /// The banks with an unused row that was opened for a read, and for a write.
    unused: [BankSet; 2],
}

impl Banks {
    /// Closed banks.
    pub(crate) fn new(topology: Topology) -> Banks {
        let bank = |index| Bank { id: topology.bank(index), unused: None, served: 0, released: None };
        Banks {
            states: topology.indices().map(bank).collect(),
            current: BankSet::EMPTY,
            candidates: Box::new([Candidate::NONE; BankSet::CAPACITY]),
            unused: [BankSet::EMPTY; 2],
        }
    }

    #[inline]
    pub(crate) fn get(&self, bank: BankIndex) -> &Bank {
        &self.states[bank.get()]
    }

    #[inline]
    fn change(&mut self, bank: BankIndex) -> &mut Bank {
        self.current.remove(bank);
        &mut self.states[bank.get()]
    }

    /// The banks with an unused row that was opened for an access of a kind.
    #[inline]
    pub(crate) fn unused(&self, kind: AccessKind) -> BankSet {
        self.unused[kind as usize]
    }

    /// The candidate of a bank as last computed.
    #[inline]
    pub(crate) fn candidate(&self, bank: BankIndex) -> &Candidate {
        &self.candidates[bank.get()]
    }

    /// Whether the candidate of a bank was computed from its present state.
    #[inline]
    pub(crate) fn is_current(&self, bank: BankIndex) -> bool {
        self.current.contains(bank)
    }

    /// Of some banks, those whose candidates must be computed.
    #[inline]
    pub(crate) fn outdated(&self, banks: BankSet) -> BankSet {
        banks.without(self.current)
    }

    #[inline]
    pub(crate) fn set_candidate(&mut self, bank: BankIndex, candidate: Candidate) {
        self.candidates[bank.get()] = candidate;
        self.current.insert(bank);
    }

    /// The queues of a bank have changed such that another access may be preferred.
    #[inline]
    pub(crate) fn changed(&mut self, bank: BankIndex) {
        self.current.remove(bank);
    }

    /// The mode, or the order of accesses, has changed.
    #[inline]
    pub(crate) fn all_changed(&mut self) {
        self.current = BankSet::EMPTY;
    }

    /// A row was opened, for an access of a kind or for a thread.
    #[inline]
    pub(crate) fn opened(&mut self, bank: BankIndex, kind: Option<AccessKind>) {
        self.change(bank).served = 0;
        self.set_unused(bank, kind);
    }

    /// The open row has served an access.
    #[inline]
    pub(crate) fn has_served(&mut self, bank: BankIndex) {
        self.change(bank).served += 1;
        self.set_unused(bank, None);
    }

    /// The row was closed.
    #[inline]
    pub(crate) fn closed(&mut self, bank: BankIndex) {
        self.change(bank).served = 0;
        self.set_unused(bank, None);
    }

    /// A thread released the bank.
    pub(crate) fn released(&mut self, bank: BankIndex, now: Cycle) {
        self.change(bank).released = Some(now);
    }

    #[inline]
    fn set_unused(&mut self, bank: BankIndex, kind: Option<AccessKind>) {
        self.states[bank.get()].unused = kind;
        for other in [AccessKind::Read, AccessKind::Write] {
            self.unused[other as usize].set(bank, kind == Some(other));
        }
    }
}
