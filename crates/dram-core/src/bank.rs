//! A bank: its open row, and the earliest cycle of each kind of command.

use dram_spec::{Cycle, GroupIndex, Row, Topology};

use crate::constraints::{Gaps, KEPT, KeptKind, Raises};
use crate::history::Lasts;
use crate::hold::Hold;

/// Earliest cycle of each of the [`KEPT`] kinds of commands, and the rule that sets it.
pub(crate) type KeptHolds = [Hold; KEPT.len()];

/// Delays some of the kinds, each by its gap after `at`.
#[inline]
pub(crate) fn raise(holds: &mut KeptHolds, at: Cycle, gaps: &Gaps, raises: Raises) {
    for kept in 0..KEPT.len() {
        let hold = Hold::new(at, gaps[kept]);
        // A branch, because the vector instructions of the baseline have no maximum of 64-bit
        // numbers.
        if raises[kept] && hold > holds[kept] {
            holds[kept] = hold;
        }
    }
}

/// Delays some of the kinds, each until its hold.
#[inline]
pub(crate) fn raise_to(holds: &mut KeptHolds, to: &KeptHolds, raises: Raises) {
    for kept in 0..KEPT.len() {
        if raises[kept] && to[kept] > holds[kept] {
            holds[kept] = to[kept];
        }
    }
}

/// A bank group and a kind of command, whose earliest cycle is [`crate::Device::floor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor(u8);

impl Floor {
    /// The floor of a kind in a bank group.
    #[inline]
    pub const fn of(group: GroupIndex, kind: KeptKind) -> Floor {
        Floor((group.get() * KEPT.len()) as u8 + kind as u8)
    }

    /// The floor of another kind in the same group.
    #[must_use]
    #[inline]
    pub const fn with(self, kind: KeptKind) -> Floor {
        Floor(self.0 / KEPT.len() as u8 * KEPT.len() as u8 + kind as u8)
    }

    /// The kind.
    #[inline]
    pub const fn kind(self) -> KeptKind {
        KeptKind::ALL[self.0 as usize % KEPT.len()]
    }
}

/// [`BankHolds`] of the bank groups of a channel, and the same delays by [`Floor`].
#[derive(Debug)]
pub(crate) struct Floors {
    groups: [KeptHolds; Topology::GROUPS_MAX],
    groups_per_rank: u8,
}

impl Floors {
    pub(crate) fn new(topology: Topology) -> Floors {
        let groups = [[Hold::NONE; KEPT.len()]; Topology::GROUPS_MAX];
        Floors { groups, groups_per_rank: topology.groups_per_rank() }
    }

    #[inline]
    pub(crate) fn of_mut(&mut self, group: GroupIndex) -> &mut KeptHolds {
        &mut self.groups[group.get() % Topology::GROUPS_MAX]
    }

    /// Those of all groups of a rank.
    #[inline]
    pub(crate) fn of_rank_mut(&mut self, rank: u8) -> &mut [KeptHolds] {
        let groups = usize::from(self.groups_per_rank);
        &mut self.groups[usize::from(rank) * groups..][..groups]
    }

    /// The delay at a floor.
    #[inline]
    pub(crate) fn at(&self, Floor(number): Floor) -> Hold {
        self.groups.as_flattened()[usize::from(number) % (Topology::GROUPS_MAX * KEPT.len())]
    }
}

/// A bank with its row buffer.
#[derive(Clone, Debug)]
pub(crate) struct Bank {
    /// Row in the row buffer.
    pub(crate) open: Option<Row>,
    /// Cycle of the last activation of that row.
    pub(crate) activated: Cycle,
    pub(crate) group: GroupIndex,
    pub(crate) holds: KeptHolds,
    pub(crate) lasts: Lasts,
}

impl Bank {
    /// A closed bank without a command.
    pub(crate) fn new(group: GroupIndex) -> Bank {
        Bank { open: None, activated: Cycle::ZERO, group, holds: [Hold::NONE; KEPT.len()], lasts: Lasts::default() }
    }
}
