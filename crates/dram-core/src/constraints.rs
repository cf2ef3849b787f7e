//! The rule table turned round: for each kind of command, what its issue holds back, and for how long.

use dram_spec::{Cycles, System};

use crate::rules::{Kind, RULES, Scope};
use crate::timings::Timings;

/// "This command holds back each `to`, by `gap`."
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// What is held back.
    pub to: Kind,
    /// For how long.
    pub gap: Cycles,
    /// The index of the rule in [`RULES`].
    pub rule: u8,
}

/// "The `depth`-th latest of these holds back each of those, by `gap`."
#[derive(Clone, Debug)]
pub struct Window {
    /// Which commands enter the window.
    pub from: &'static [Kind],
    /// Which it holds back.
    pub to: &'static [Kind],
    /// How many it lets through.
    pub depth: usize,
    /// For how long.
    pub gap: Cycles,
    /// The index of the rule in [`RULES`].
    pub rule: u8,
}

/// What one kind of command holds back, by where.
#[derive(Clone, Debug, Default)]
pub struct Pushes {
    /// In its own bank.
    pub bank: Vec<Push>,
    /// In its own rank.
    pub rank: Vec<Push>,
    /// In the other ranks of its channel.
    pub other_ranks: Vec<Push>,
    /// On its command bus: every command alike.
    pub bus: Option<Push>,
}

/// The rule table of one system, ready for the device.
#[derive(Clone, Debug)]
pub struct Constraints {
    by_kind: Vec<Pushes>,
    /// Rules about the n-th latest of something in a rank.
    pub windows: Vec<Window>,
}

impl Constraints {
    /// Resolves every rule that holds in this system.
    pub fn new(system: &System, timings: &Timings) -> Constraints {
        let mut by_kind = vec![Pushes::default(); Kind::COUNT];
        let mut windows = Vec::new();
        for (index, rule) in RULES.iter().enumerate() {
            if !rule.holds_in(system) {
                continue;
            }
            let (gap, index) = (rule.cycles(timings), index as u8);
            if rule.nth > 1 {
                windows.push(Window { from: rule.from, to: rule.to, depth: usize::from(rule.nth), gap, rule: index });
                continue;
            }
            for &from in rule.from {
                let pushes = &mut by_kind[from as usize];
                if rule.scope == Scope::Channel {
                    let push = Push { to: from, gap, rule: index };
                    pushes.bus = Some(pushes.bus.filter(|other| other.gap >= gap).unwrap_or(push));
                    continue;
                }
                for &to in rule.to {
                    let push = Push { to, gap, rule: index };
                    match rule.scope {
                        // A rank-wide end of a bank's rule concerns each bank of the rank alike.
                        Scope::Bank if from.is_rank_wide() || to.is_rank_wide() => pushes.rank.push(push),
                        Scope::Bank => pushes.bank.push(push),
                        Scope::Rank => pushes.rank.push(push),
                        Scope::OtherRanks => pushes.other_ranks.push(push),
                        Scope::Channel => unreachable!("taken above"),
                    }
                }
            }
        }
        Constraints { by_kind, windows }
    }

    /// What a command of this kind holds back.
    pub fn of(&self, kind: Kind) -> &Pushes {
        &self.by_kind[kind as usize]
    }
}
