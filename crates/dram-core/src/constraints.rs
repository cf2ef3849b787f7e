//! The rule table turned round: for each kind of command, what its issue holds back, and for how long.

use dram_spec::{Cycle, System};

use crate::hold::{PackedGap, PackedHold};
use crate::rules::{Kind, RULES, Rule, Scope};
use crate::timings::Timings;

/// Where it is kept how long a kind of command is held back: one place for all kinds that the rules always hold back together,
/// such as RD and RDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(u8);

impl Slot {
    /// At least as many as there are; a power of two, so that no index is past the end.
    pub(crate) const ROOM: usize = 16;

    pub(crate) const fn of(kind: Kind) -> Slot {
        SLOTS[kind as usize]
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize % Slot::ROOM
    }
}

/// The slot of each kind.
const SLOTS: [Slot; Kind::COUNT] = {
    let mut slots = [Slot(0); Kind::COUNT];
    let (mut kind, mut used) = (0, 0);
    while kind < Kind::COUNT {
        let mut like = 0;
        while !are_held_back_alike(Kind::ALL[like], Kind::ALL[kind]) {
            like += 1;
        }
        if like == kind {
            slots[kind] = Slot(used);
            used += 1;
        } else {
            slots[kind] = slots[like];
        }
        kind += 1;
    }
    assert!(used as usize <= Slot::ROOM, "the rules tell more kinds apart than there is room for");
    slots
};

/// Whether every rule that holds back one of them holds back the other, in the same place.
const fn are_held_back_alike(one: Kind, other: Kind) -> bool {
    let mut rule = 0;
    while rule < RULES.len() {
        if lists(RULES[rule].to, one) != lists(RULES[rule].to, other) {
            return false;
        }
        rule += 1;
    }
    one.is_rank_wide() == other.is_rank_wide()
}

const fn lists(kinds: &[Kind], kind: Kind) -> bool {
    let mut at = 0;
    while at < kinds.len() {
        if kinds[at] as u8 == kind as u8 {
            return true;
        }
        at += 1;
    }
    false
}

/// "This command holds back each `to`, by `gap`."
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    /// What is held back.
    pub(crate) to: Slot,
    /// For how long.
    pub(crate) gap: PackedGap,
}

/// "The `depth`-th latest of these holds back each of those, by `gap`."
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// What it holds back.
    to: Vec<Slot>,
    /// How many it lets through.
    depth: usize,
    /// For how long.
    gap: PackedGap,
}

/// The latest few commands that entered a window of a rank: until when each holds back what comes `depth` later.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    until: Vec<PackedHold>,
    oldest: usize,
}

impl Window {
    pub(crate) fn ring(&self) -> Ring {
        Ring { until: vec![PackedHold::NONE; self.depth], oldest: 0 }
    }

    /// Enters a command; says until when the oldest of those now within holds back which others.
    pub(crate) fn enter(&self, ring: &mut Ring, at: Cycle) -> (PackedHold, &[Slot]) {
        ring.until[ring.oldest] = PackedHold::new(at, self.gap);
        ring.oldest = if ring.oldest + 1 == self.depth { 0 } else { ring.oldest + 1 };
        (ring.until[ring.oldest], &self.to)
    }
}

/// What one kind of command holds back, by where.
#[derive(Clone, Debug)]
pub(crate) struct Pushes {
    /// In its own bank.
    pub(crate) bank: Vec<Push>,
    /// In its own rank.
    pub(crate) rank: Vec<Push>,
    /// In the other ranks of its channel.
    pub(crate) other_ranks: Vec<Push>,
    /// On its command bus: every command alike.
    pub(crate) bus: PackedGap,
    /// The windows that it enters, by index.
    pub(crate) windows: Vec<usize>,
}

/// The rule table of one system, ready for the device.
#[derive(Clone, Debug)]
pub(crate) struct Constraints {
    by_kind: [Pushes; Kind::COUNT],
    /// Rules about the n-th latest of something in a rank.
    pub(crate) windows: Vec<Window>,
}

impl Constraints {
    /// Resolves every rule that holds in this system.
    pub(crate) fn new(system: &System, timings: &Timings) -> Constraints {
        let resolve = |(rule, index): (&'static Rule, u8)| (rule, PackedGap::new(rule.cycles(timings), index));
        let rules: Vec<(&Rule, PackedGap)> =
            RULES.iter().zip(0..).filter(|(rule, _)| rule.holds_in(system)).map(resolve).collect();
        let windows: Vec<&(&Rule, PackedGap)> = rules.iter().filter(|(rule, _)| rule.nth > 1).collect();
        let by_kind = Kind::ALL.map(|from| {
            let entered = windows.iter().zip(0..).filter(|((rule, _), _)| lists(rule.from, from));
            let windows = entered.map(|(_, index)| index).collect();
            Pushes { windows, ..Pushes::of(from, rules.iter().filter(|(rule, _)| rule.nth == 1)) }
        });
        let windows = windows.iter().map(|(rule, gap)| {
            let mut to: Vec<Slot> = rule.to.iter().map(|&to| Slot::of(to)).collect();
            to.dedup();
            Window { to, depth: usize::from(rule.nth), gap: *gap }
        });
        Constraints { windows: windows.collect(), by_kind }
    }

    /// What a command of this kind holds back.
    pub(crate) fn of(&self, kind: Kind) -> &Pushes {
        &self.by_kind[kind as usize]
    }
}

impl Pushes {
    fn of<'a>(from: Kind, rules: impl Iterator<Item = &'a (&'static Rule, PackedGap)>) -> Pushes {
        let (on_bus, others): (Vec<_>, Vec<_>) =
            rules.filter(|(rule, _)| lists(rule.from, from)).partition(|(rule, _)| rule.scope == Scope::Channel);
        // Of the kinds that are no commands but the part of a bank in one, the bus does not hear.
        let bus = on_bus.iter().map(|&&(_, gap)| gap).max().unwrap_or(PackedGap::new(dram_spec::Cycles(0), 0));
        let mut pushes =
            Pushes { bank: Vec::new(), rank: Vec::new(), other_ranks: Vec::new(), bus, windows: Vec::new() };
        for &&(rule, gap) in &others {
            // What is held back no longer than the bus is taken need not be told so.
            if gap.cycles() <= bus.cycles() {
                continue;
            }
            for &to in rule.to {
                let list = match rule.scope {
                    // A rank-wide end of a bank's rule concerns each bank of the rank alike.
                    Scope::Bank if from.is_rank_wide() || to.is_rank_wide() => &mut pushes.rank,
                    Scope::Bank => &mut pushes.bank,
                    Scope::Rank => &mut pushes.rank,
                    Scope::OtherRanks => &mut pushes.other_ranks,
                    Scope::Channel => unreachable!("taken apart above"),
                };
                add(list, Push { to: Slot::of(to), gap });
            }
        }
        pushes
    }
}

/// One push a slot: the longest.
fn add(pushes: &mut Vec<Push>, push: Push) {
    match pushes.iter_mut().find(|other| other.to == push.to) {
        Some(other) => other.gap = other.gap.max(push.gap),
        None => pushes.push(push),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_share_a_slot_that_the_rules_always_hold_back_together() {
        let share = |one, other| Slot::of(one) == Slot::of(other);
        assert!(share(Kind::Rd, Kind::Rda) && share(Kind::Wr, Kind::Wra) && share(Kind::Ref, Kind::Sre));
        assert!(!share(Kind::Rd, Kind::Wr), "tWTR holds back a RD alone");
        assert!(!share(Kind::Pre, Kind::PreA), "tRAS holds back a PRE in its bank, a PREA in its rank");
        assert!(!share(Kind::Act, Kind::ActCopy), "tRC holds back an ordinary ACT alone");
    }
}
