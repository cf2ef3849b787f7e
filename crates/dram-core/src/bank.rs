//! A bank: its open row, and how long it holds each kind of command back.

use dram_spec::{Cycle, Row};

use crate::constraints::{Push, Slot};
use crate::hold::PackedHold;
use crate::rules::Kind;

/// How long something holds back each kind of command, and by which rule.
#[derive(Clone, Debug)]
pub(crate) struct Holds([PackedHold; Slot::ROOM]);

impl Default for Holds {
    fn default() -> Self {
        Holds([PackedHold::NONE; Slot::ROOM])
    }
}

impl Holds {
    pub(crate) fn of(&self, kind: Kind) -> PackedHold {
        self.0[Slot::of(kind).index()]
    }

    pub(crate) fn push(&mut self, at: Cycle, pushes: &[Push]) {
        for push in pushes {
            self.raise(push.to, PackedHold::new(at, push.gap));
        }
    }

    pub(crate) fn raise(&mut self, to: Slot, hold: PackedHold) {
        let held = &mut self.0[to.index()];
        *held = hold.max(*held);
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
}
