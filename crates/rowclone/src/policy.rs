//! Which of the possible mechanisms to take, without looking at the device.

use crate::block::Part;
use crate::mechanism::Mechanism;
use crate::reason::Reason;

/// A fixed choice among the mechanisms that a part allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Never in DRAM: the baseline.
    Channel,
    /// FPM, else over the channel.
    Fpm,
    /// PSM or 2 x PSM, else over the channel; never FPM.
    Psm,
    /// The paper's rule: FPM, else PSM, else 2 x PSM, else over the channel.
    #[default]
    Rule,
}

impl Policy {
    /// All policies, in the order in which reports list them.
    pub const ALL: [Policy; 4] = [Policy::Channel, Policy::Fpm, Policy::Psm, Policy::Rule];

    /// The name that a user writes.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Channel => "channel",
            Policy::Fpm => "fpm",
            Policy::Psm => "psm",
            Policy::Rule => "rule",
        }
    }

    /// The policy of that name.
    pub fn from_name(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// The mechanisms that it takes if it can, the best first.
    const fn preferences(self) -> &'static [Mechanism] {
        match self {
            Policy::Channel => &[Mechanism::Channel],
            Policy::Fpm => &[Mechanism::Fpm, Mechanism::Channel],
            Policy::Psm => &[Mechanism::Psm, Mechanism::Psm2, Mechanism::Channel],
            Policy::Rule => &[Mechanism::Fpm, Mechanism::Psm, Mechanism::Psm2, Mechanism::Channel],
        }
    }

    /// The mechanism that it takes for a part.
    pub fn choose(self, part: &Part) -> Mechanism {
        let possible = |mechanism: &Mechanism| part.allows(*mechanism).is_ok();
        self.preferences().iter().copied().find(possible).unwrap_or(Mechanism::Channel)
    }

    /// Why it does not take a mechanism for a part, or `None` where it takes this one or one that it likes better.
    ///
    /// A report that counts by cause asks for [`Mechanism::Fpm`].
    pub fn why_not(self, part: &Part, mechanism: Mechanism) -> Option<Reason> {
        let place = |mechanism| self.preferences().iter().position(|&other| other == mechanism);
        match (part.allows(mechanism), place(mechanism)) {
            (Err(Reason::NotACopy), _) => Some(Reason::NotACopy),
            (_, None) => Some(Reason::Policy),
            (_, place_of_it) if place_of_it > place(self.choose(part)) => None,
            (verdict, Some(_)) => verdict.err(),
        }
    }
}
