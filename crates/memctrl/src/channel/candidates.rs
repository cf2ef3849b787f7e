//! The candidates of the accesses: the next command of each bank. An array for each field, as every
//! decision compares the candidates of many banks.

use dram_core::{Device, Floor, KeptKind};
use dram_spec::{BankId, BankIndex, BankSet, Cycle, PerBank, Topology};

use crate::access::AccessKind;
use crate::policy::scheduler::Priority;

/// The next command for the accesses of each bank, and the access that it serves.
#[derive(Debug)]
pub(super) struct Candidates {
    /// First cycle at which the bank's own rules permit the command, or the floor when the command was last compared
    /// with others. As floors only rise, it is a lower bound, with which most candidates are left out of a comparison.
    pub(super) ready: PerBank<Cycle>,
    /// Command, and what else delays it.
    pub(super) floor: PerBank<Floor>,
    pub(super) priority: PerBank<Priority>,
    /// Place of the access in the pool.
    pub(super) place: PerBank<u16>,
    /// Kind of the access.
    pub(super) kind: PerBank<AccessKind>,
    /// Accesses served by the open row.
    pub(super) served: PerBank<u32>,
    id: PerBank<BankId>,
}

/// A candidate, as it is issued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) place: u16,
    pub(crate) command: KeptKind,
    pub(crate) kind: AccessKind,
    pub(crate) bank: BankId,
}

/// The candidate that is issued first among some, and its cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub(super) at: Cycle,
    bank: BankIndex,
}

impl Least {
    const NONE: Least = Least { at: Cycle::NEVER, bank: BankIndex::FIRST };

    /// Its bank, if there is any candidate.
    #[inline]
    pub(super) fn bank(&self) -> Option<BankIndex> {
        (self.at < Cycle::NEVER).then_some(self.bank)
    }
}

impl Candidates {
    pub(super) fn new(topology: Topology) -> Candidates {
        Candidates {
            ready: PerBank::new(Cycle::ZERO),
            floor: PerBank::from_fn(|bank| Floor::of(topology.group(topology.bank(bank)), KeptKind::Act)),
            priority: PerBank::new(Priority::LAST),
            place: PerBank::new(0),
            kind: PerBank::new(AccessKind::Read),
            served: PerBank::new(0),
            id: PerBank::from_fn(|bank| topology.bank(bank)),
        }
    }

    /// The candidate of a bank.
    #[inline]
    pub(super) fn get(&self, bank: BankIndex) -> Candidate {
        let (place, command, kind) = (self.place[bank], self.floor[bank].kind(), self.kind[bank]);
        Candidate { place, command, kind, bank: self.id[bank] }
    }

    #[inline]
    pub(super) fn command(&self, bank: BankIndex) -> KeptKind {
        self.floor[bank].kind()
    }

    #[inline]
    pub(super) fn rank(&self, bank: BankIndex) -> u8 {
        self.id[bank].rank
    }

    /// The next command of a bank is of another kind.
    #[inline]
    pub(super) fn set_command(&mut self, bank: BankIndex, command: KeptKind, device: &Device) {
        self.ready[bank] = device.kept_bank_hold(bank, command).until();
        self.floor[bank] = self.floor[bank].with(command);
    }

    /// The candidate of some banks that is issued first, from `from` on.
    #[inline]
    pub(super) fn first(&mut self, banks: BankSet, device: &Device, from: Cycle) -> Least {
        let mut least = Least::NONE;
        for bank in banks {
            if self.ready[bank] > least.at {
                continue;
            }
            let ready = self.ready[bank].max(device.floor(self.floor[bank]));
            self.ready[bank] = ready;
            least = self.least_of(least, bank, ready.max(from));
        }
        least
    }

    /// Of some banks, the one whose candidate has the earliest `turn`; of several, the one of least
    /// priority.
    #[inline]
    pub(super) fn least_by(&self, banks: BankSet, mut turn: impl FnMut(BankIndex) -> Cycle) -> Least {
        banks.into_iter().fold(Least::NONE, |least, bank| self.least_of(least, bank, turn(bank)))
    }

    /// The least of some candidates and of that of another bank.
    #[inline]
    fn least_of(&self, least: Least, bank: BankIndex, at: Cycle) -> Least {
        let precedes = || self.priority[bank] < self.priority[least.bank];
        if at < least.at || (at == least.at && precedes()) { Least { at, bank } } else { least }
    }
}
