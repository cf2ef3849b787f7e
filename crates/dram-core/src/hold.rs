//! How long a command must wait, and why.

use dram_spec::{Cycle, Cycles};

use crate::rules::RULES;

/// An instant before which a command must wait, and the rule that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The first legal instant.
    pub until: Cycle,
    rule: u8,
}

impl Hold {
    /// The name of the binding rule; nothing where the command could always have been issued.
    pub fn rule(&self) -> Option<&'static str> {
        RULES.get(usize::from(self.rule)).map(|rule| rule.name)
    }
}

/// A [`Hold`] in one word, the instant above the rule's index: the stricter of two is the larger, and of two that end together the
/// one by the later rule of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackedHold(u64);

/// So many clocks from a command on, by a rule, packed likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackedGap(u64);

const RULE_BITS: u32 = 8;
const NO_RULE: u8 = u8::MAX;
const _: () = assert!(RULES.len() < NO_RULE as usize, "a rule's index must fit its bits");

impl PackedHold {
    /// Nothing holds the command back.
    pub(crate) const NONE: PackedHold = PackedHold(NO_RULE as u64);

    /// From a command at `at` on.
    pub(crate) const fn new(at: Cycle, gap: PackedGap) -> PackedHold {
        PackedHold((at.0 << RULE_BITS) + gap.0)
    }

    /// The first legal instant.
    pub(crate) const fn until(self) -> Cycle {
        Cycle(self.0 >> RULE_BITS)
    }

    pub(crate) const fn unpack(self) -> Hold {
        Hold { until: self.until(), rule: self.0 as u8 }
    }
}

impl PackedGap {
    /// No rule: nothing is held back beyond the command itself.
    pub(crate) const NONE: PackedGap = PackedGap(0);

    /// The rule by its index in [`RULES`].
    pub(crate) const fn new(gap: Cycles, rule: u8) -> PackedGap {
        PackedGap(gap.0 << RULE_BITS | rule as u64)
    }

    pub(crate) const fn cycles(self) -> Cycles {
        Cycles(self.0 >> RULE_BITS)
    }
}
