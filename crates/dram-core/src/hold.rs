//! Delays of commands, with the rules that cause them.

use dram_spec::{Cycle, Cycles, Standard};

use crate::rules::table;

/// First legal cycle of a command, and the rule that sets it.
///
/// The later hold is the greater; of two holds that end in one cycle, that of the later rule in the
/// table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hold(u64);

/// Minimum distance of two commands, and the rule that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gap(u64);

/// The name of each rule, by the bits of its holds.
static NAMES: [Option<&str>; 1 << RULE_BITS] = {
    let mut names = [None; 1 << RULE_BITS];
    let mut standard = 0;
    while standard < Standard::ALL.len() {
        let rules = table(Standard::ALL[standard]).rules;
        let mut index = 0;
        while index < rules.len() {
            names[standard << INDEX_BITS | index] = Some(rules[index].name);
            index += 1;
        }
        standard += 1;
    }
    names
};

/// The cycle is stored above the standard and the index of the rule.
const RULE_BITS: u32 = INDEX_BITS + 2;
/// The index in the table of the standard.
const INDEX_BITS: u32 = 8;
const NO_RULE: u64 = (1 << RULE_BITS) - 1;
const _: () = {
    let mut at = 0;
    while at < Standard::ALL.len() {
        assert!(table(Standard::ALL[at]).rules.len() < (1 << INDEX_BITS) - 1, "a rule's index must fit its bits");
        assert!(Standard::ALL[at] as usize == at && at < 4, "a standard must fit its bits");
        at += 1;
    }
};

impl Hold {
    /// No rule delays the command.
    pub const NONE: Hold = Hold(NO_RULE);

    /// No rule delays the command beyond a cycle.
    pub(crate) const fn at(at: Cycle) -> Hold {
        Hold((at.0 << RULE_BITS) + NO_RULE)
    }

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
    #[inline]
    pub fn rule(self) -> Option<&'static str> {
        NAMES[(self.0 & NO_RULE) as usize]
    }
}

impl Gap {
    /// No rule.
    pub(crate) const NONE: Gap = Gap(0);

    /// A gap of a rule, by the rule's index in the table of its standard.
    pub(crate) const fn new(gap: Cycles, standard: Standard, index: u8) -> Gap {
        Gap(gap.0 << RULE_BITS | (standard as u64) << INDEX_BITS | index as u64)
    }

    pub(crate) const fn cycles(self) -> Cycles {
        Cycles(self.0 >> RULE_BITS)
    }
}
