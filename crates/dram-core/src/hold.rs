//! How long a command must wait, and why.

use dram_spec::Cycle;

use crate::rules::RULES;

/// An instant before which a command must wait, and the rule that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The first legal instant.
    pub until: Cycle,
    pub(crate) rule: u8,
}

impl Hold {
    const NO_RULE: u8 = u8::MAX;
    /// Nothing holds the command back.
    pub(crate) const NONE: Hold = Hold { until: Cycle::ZERO, rule: Hold::NO_RULE };

    /// The stricter of two; of equals, `self`.
    #[must_use]
    pub(crate) fn later(self, other: Hold) -> Hold {
        if other.until > self.until { other } else { self }
    }

    /// The name of the binding rule; nothing where the command could always have been issued.
    pub fn rule(&self) -> Option<&'static str> {
        RULES.get(usize::from(self.rule)).map(|rule| rule.name)
    }
}
