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

    /// Why a part was given `chosen`, as tallies and reports name it: [`Self::SOONEST`] or [`Self::CHEAPEST`] where the policy passed
    /// over what the paper's rule would take; else the refusal of the best mechanism that the policy admits,
    /// [`Self::FASTEST`], or [`Self::BY_POLICY`].
    pub fn reason(self, part: &Part, chosen: Mechanism) -> &'static str {
        if chosen != self.choose(part) {
            return if self == Policy::Fastest { Self::SOONEST } else { Self::CHEAPEST };
        }
        let best = self.admits()[0];
        match part.allows(best) {
            Err(reason) => reason.name(),
            Ok(()) if chosen == Mechanism::Fpm => Self::FASTEST,
            Ok(()) => Self::BY_POLICY,
        }
    }

    /// The same as a sentence without its full stop.
    pub fn explain(self, part: &Part, chosen: Mechanism) -> String {
        if chosen != self.choose(part) {
            return match self {
                Policy::Fastest => "estimated to be done first".to_string(),
                _ => "costs the least energy".to_string(),
            };
        }
        match (part.allows(self.admits()[0]), self) {
            (Err(reason), _) => reason.to_string(),
            (Ok(()), _) if chosen == Mechanism::Fpm => "whole rows within one subarray".to_string(),
            (Ok(()), Policy::Channel) => "the policy stays out of DRAM".to_string(),
            (Ok(()), _) => "the policy takes no FPM".to_string(),
        }
    }

    /// The reason of a part that is estimated to be done sooner so than by what the paper's rule takes.
    pub const SOONEST: &'static str = "soonest";
    /// The reason of a part that costs less so than by what the paper's rule takes.
    pub const CHEAPEST: &'static str = "cheapest";
    /// The reason of a part that no mechanism could have served faster.
    pub const FASTEST: &'static str = "fastest";
    /// The reason of a part that the policy keeps from FPM.
    pub const BY_POLICY: &'static str = "policy";
}
