//! Which of the planner's mechanisms a part of an operation is given.

use rowclone::{Mechanism, Part};

/// What the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// Never in DRAM.
    Channel,
    /// FPM, else the channel.
    Fpm,
    /// PSM or 2 x PSM, else the channel; never FPM.
    Psm,
    /// The paper's rule: FPM, else PSM, else 2 x PSM, else the channel.
    Rule,
    /// What is estimated to be done first, given open rows, queues and refresh.
    Fastest,
    /// What costs the least energy above standby.
    LeastEnergy,
}

impl Policy {
    /// All of them, in the order in which reports list them.
    pub const ALL: [Policy; 6] =
        [Policy::Channel, Policy::Fpm, Policy::Psm, Policy::Rule, Policy::Fastest, Policy::LeastEnergy];

    /// As scenarios and reports spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Channel => "channel",
            Policy::Fpm => "fpm",
            Policy::Psm => "psm",
            Policy::Rule => "rule",
            Policy::Fastest => "fastest",
            Policy::LeastEnergy => "least-energy",
        }
    }

    /// The policy of that name.
    pub fn named(name: &str) -> Option<Policy> {
        Policy::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// The mechanisms that it admits, best first. The channel is always possible.
    pub const fn admits(self) -> &'static [Mechanism] {
        match self {
            Policy::Channel => &[Mechanism::Channel],
            Policy::Fpm => &[Mechanism::Fpm, Mechanism::Channel],
            Policy::Psm => &[Mechanism::Psm, Mechanism::Psm2, Mechanism::Channel],
            Policy::Rule | Policy::Fastest | Policy::LeastEnergy => {
                &[Mechanism::Fpm, Mechanism::Psm, Mechanism::Psm2, Mechanism::Channel]
            }
        }
    }

    /// The best mechanism that both the policy and the part admit, by the paper's order. (What `fastest` and `least-energy` take,
    /// [`crate::estimate`] says.)
    pub fn choose(self, part: &Part) -> Mechanism {
        let possible = |mechanism: &&Mechanism| part.allows(**mechanism).is_ok();
        *self.admits().iter().find(possible).unwrap_or(&Mechanism::Channel)
    }

    /// Why no mechanism better than `chosen` serves a part, as tallies and reports name it:
    ///
    /// - [`Self::FASTEST`]: `chosen` is FPM, and there is none.
    /// - [`Self::SOONEST`] or [`Self::CHEAPEST`]: the policy weighs mechanisms, and passed over the one of the paper's rule.
    /// - [`Self::BY_POLICY`]: a better mechanism was possible, and the policy excludes it.
    /// - The planner's reason against FPM: no better mechanism was possible.
    pub fn reason(self, part: &Part, chosen: Mechanism) -> &'static str {
        if chosen != self.choose(part) {
            return if self == Policy::Fastest { Self::SOONEST } else { Self::CHEAPEST };
        }
        if Policy::Rule.choose(part) != chosen {
            return Self::BY_POLICY;
        }
        part.allows(Mechanism::Fpm).map_or_else(|reason| reason.name(), |()| Self::FASTEST)
    }

    /// The same as a sentence without its full stop.
    pub fn explain(self, part: &Part, chosen: Mechanism) -> String {
        let ruled = Policy::Rule.choose(part);
        match (part.allows(Mechanism::Fpm), self) {
            (_, Policy::Fastest) if chosen != ruled => format!("estimated to be done sooner than by {}", ruled.name()),
            (_, Policy::LeastEnergy) if chosen != ruled => format!("takes less energy than {}", ruled.name()),
            _ if chosen != ruled => format!("{} was possible, and the policy excludes it", ruled.name()),
            (Ok(()), _) => "whole rows within one subarray".to_owned(),
            (Err(reason), _) => reason.to_string(),
        }
    }

    /// The reason of a part that is estimated to be done sooner so than by what the paper's rule takes.
    pub const SOONEST: &'static str = "soonest";
    /// The reason of a part that costs less so than by what the paper's rule takes.
    pub const CHEAPEST: &'static str = "cheapest";
    /// The reason of a part that no mechanism could have served faster.
    pub const FASTEST: &'static str = "fastest";
    /// The reason of a part for which a better mechanism was possible, which the policy excludes.
    pub const BY_POLICY: &'static str = "policy";
}
