//! How long a command must wait, and by which rule.

use dram_spec::{Cycle, Cycles};

use crate::rules::RULES;

/// The first legal cycle of a command, and the rule that sets it.
///
/// Of two holds the stricter is the larger; of two that end in the same cycle, the one by the later rule of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold(u64);

/// A distance from a command to another, and the rule that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gap(u64);

/// The cycle stands above the index of the rule.
const RULE_BITS: u32 = 8;
const NO_RULE: u8 = u8::MAX;
const _: () = assert!(RULES.len() < NO_RULE as usize, "a rule's index must fit its bits");

impl Hold {
    /// No rule delays the command.
    pub const NONE: Hold = Hold(NO_RULE as u64);

    /// From a command at `at` on.
    #[inline]
    pub(crate) const fn new(at: Cycle, gap: Gap) -> Hold {
        Hold((at.0 << RULE_BITS) + gap.0)
    }

    /// The first legal cycle.
    #[inline]
    pub const fn until(self) -> Cycle {
        Cycle(self.0 >> RULE_BITS)
    }

    /// The name of the rule that ends at a cycle, if one does.
    #[inline]
    pub fn binding(self, at: Cycle) -> Option<&'static str> {
        if self.until() == at { self.rule() } else { None }
    }

    /// The name of the binding rule; none where the command could always have been issued.
    pub fn rule(self) -> Option<&'static str> {
        RULES.get(usize::from(self.0 as u8)).map(|rule| rule.name)
    }
}

impl Gap {
    /// No rule.
    pub(crate) const NONE: Gap = Gap(0);

    /// The rule by its index in [`RULES`].
    pub(crate) const fn new(gap: Cycles, rule: u8) -> Gap {
        Gap(gap.0 << RULE_BITS | rule as u64)
    }

    pub(crate) const fn cycles(self) -> Cycles {
        Cycles(self.0 >> RULE_BITS)
    }
}
