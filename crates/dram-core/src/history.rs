//! Earlier commands that delay later ones: of a bank, and of a rank.

use dram_spec::Cycle;

use crate::hold::Hold;
use crate::rules::Kind;

/// Cycle of the last command of each kind; [`Cycle::NEVER`] if there was none.
#[derive(Clone, Debug)]
pub(crate) struct Lasts([Cycle; Kind::COUNT]);

impl Default for Lasts {
    fn default() -> Self {
        Lasts([Cycle::NEVER; Kind::COUNT])
    }
}

impl Lasts {
    #[inline]
    pub(crate) fn issued(&mut self, at: Cycle, kind: Kind) {
        self.0[kind as usize] = at;
    }

    pub(crate) fn of(&self, kind: Kind) -> Cycle {
        self.0[kind as usize]
    }

    /// Cycle of the last command to a bank, excluding rank-wide commands and REFsb.
    pub(crate) fn of_banks(&self) -> Option<Cycle> {
        let kinds = Kind::ALL.into_iter().filter(|kind| !kind.is_rank_wide() && *kind != Kind::RefSb);
        kinds.map(|kind| self.of(kind)).filter(|&at| at != Cycle::NEVER).max()
    }
}

/// The latest commands in the activation window of a rank: the cycle until which each delays a
/// later one.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    until: [Hold; Ring::DEPTH],
    oldest: usize,
}

impl Ring {
    /// Commands per window; a power of two, so that no index is out of bounds.
    pub(crate) const DEPTH: usize = 4;

    pub(crate) const EMPTY: Ring = Ring { until: [Hold::NONE; Ring::DEPTH], oldest: 0 };

    /// Adds a command.
    #[inline]
    pub(crate) fn enter(&mut self, hold: Hold) {
        self.until[self.oldest % Ring::DEPTH] = hold;
        self.oldest = (self.oldest + 1) % Ring::DEPTH;
    }

    /// The delay by the oldest command of the window.
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        self.until[self.oldest % Ring::DEPTH]
    }
}

/// The latest REF of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Refreshes {
    at: [Cycle; Refreshes::DEPTH],
    next: usize,
}

impl Refreshes {
    /// The most REF in a window of any standard: DDR4's mode 4x.
    const DEPTH: usize = 64;

    pub(crate) const NONE: Refreshes = Refreshes { at: [Cycle::NEVER; Refreshes::DEPTH], next: 0 };

    /// Adds a REF.
    pub(crate) fn enter(&mut self, at: Cycle) {
        self.at[self.next] = at;
        self.next = (self.next + 1) % Refreshes::DEPTH;
    }

    /// Cycle of the `nth` latest REF; [`Cycle::NEVER`] if there were fewer.
    pub(crate) fn nth(&self, nth: u8) -> Cycle {
        self.at[(self.next + Refreshes::DEPTH - usize::from(nth)) % Refreshes::DEPTH]
    }
}
