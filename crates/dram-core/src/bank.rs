//! A bank: its open row, and how long it holds each kind of command back.

use dram_spec::{Cycle, Row};

use crate::constraints::{Gaps, KEPT, KeptKind, Raises};
use crate::hold::Hold;
use crate::rules::Kind;

/// How long something holds back each of the [`KEPT`] kinds of command, and by which rule.
#[derive(Clone, Debug)]
pub(crate) struct Holds([Hold; KEPT.len()]);

impl Default for Holds {
    fn default() -> Self {
        Holds([Hold::NONE; KEPT.len()])
    }
}

impl Holds {
    #[inline]
    pub(crate) fn of(&self, kind: KeptKind) -> Hold {
        self.0[kind as usize]
    }

    /// A command at `at` holds back some of the kinds, each for so long.
    #[inline]
    pub(crate) fn raise(&mut self, at: Cycle, gaps: &Gaps, raises: Raises) {
        for ((held, &gap), raised) in self.0.iter_mut().zip(gaps).zip(raises) {
            let hold = Hold::new(at, gap);
            // A branch: vector instructions of the baseline have no maximum of 64-bit numbers.
            if raised && hold > *held {
                *held = hold;
            }
        }
    }

    /// Something holds back some of the kinds alike.
    #[inline]
    pub(crate) fn raise_to(&mut self, hold: Hold, raises: impl Iterator<Item = bool>) {
        for (held, raised) in self.0.iter_mut().zip(raises) {
            if raised && hold > *held {
                *held = hold;
            }
        }
    }
}

/// When the last command of each kind was issued; [`Cycle::NEVER`] where none was.
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

    /// When the last command was that is a matter of banks, and of no whole rank.
    pub(crate) fn of_banks(&self) -> Option<Cycle> {
        let kinds = Kind::ALL.into_iter().filter(|kind| !kind.is_rank_wide());
        kinds.map(|kind| self.of(kind)).filter(|&at| at != Cycle::NEVER).max()
    }
}

/// One bank with its row buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bank {
    /// The row that the sense amplifiers hold.
    pub(crate) open: Option<Row>,
    /// When that row was (last) activated.
    pub(crate) activated: Cycle,
    pub(crate) holds: Holds,
    pub(crate) lasts: Lasts,
}
