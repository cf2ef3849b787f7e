//! Delays of commands, with the rules that cause them.

use dram_spec::{Cycle, Cycles};

use crate::rules::RULES;

/// First legal cycle of a command, and the rule that sets it.
///
/// The later hold is the greater; of two holds that end in one cycle, that of the later rule in the
/// table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold(u64);

/// Minimum distance of two commands, and the rule that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gap(u64);

/// The cycle is stored above the index of the rule.
const RULE_BITS: u32 = 8;
const NO_RULE: u8 = u8::MAX;
const _: () = assert!(RULES.len() < NO_RULE as usize, "a rule's index must fit its bits");

impl Hold {
    /// No rule delays the command.
    pub const NONE: Hold = Hold(NO_RULE as u64);

    /// The delay by a gap after a command at `at`.
    #[inline]
    pub(crate) const fn new(at: Cycle, gap: Gap) -> Hold {
        Hold((at.0 << RULE_BITS) + gap.0)
    }

    /// First legal cycle.
    #[inline]
    pub const fn until(self) -> Cycle {
        Cycle(self.0 >> RULE_BITS)
    }

    /// Name of the rule that ends at a cycle, if any.
    #[inline]
    pub fn binding(self, at: Cycle) -> Option<&'static str> {
        if self.until() == at { self.rule() } else { None }
    }

    /// Name of the binding rule; `None` if no rule delays the command.
    pub fn rule(self) -> Option<&'static str> {
        RULES.get(usize::from(self.0 as u8)).map(|rule| rule.name)
    }
}

impl Gap {
    /// No rule.
    pub(crate) const NONE: Gap = Gap(0);

    /// A gap of a rule, by the rule's index in [`RULES`].
    pub(crate) const fn new(gap: Cycles, rule: u8) -> Gap {
        Gap(gap.0 << RULE_BITS | rule as u64)
    }

    pub(crate) const fn cycles(self) -> Cycles {
        Cycles(self.0 >> RULE_BITS)
    }
}
