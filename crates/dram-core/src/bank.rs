//! A bank: its open row, and how long it holds each kind of command back.

use dram_spec::{Cycle, Row};

use crate::constraints::Push;
use crate::hold::Hold;
use crate::rules::Kind;

/// How long something holds back each kind of command, and by which rule.
#[derive(Clone, Debug)]
pub(crate) struct Holds([Hold; Kind::COUNT]);

impl Default for Holds {
    fn default() -> Self {
        Holds([Hold::NONE; Kind::COUNT])
    }
}

impl Holds {
    pub(crate) fn of(&self, kind: Kind) -> Hold {
        self.0[kind as usize]
    }

    pub(crate) fn push(&mut self, at: Cycle, pushes: &[Push]) {
        for push in pushes {
            self.raise(push.to, Hold { until: at + push.gap, rule: push.rule });
        }
    }

    pub(crate) fn raise(&mut self, kind: Kind, hold: Hold) {
        let held = &mut self.0[kind as usize];
        *held = held.later(hold);
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
