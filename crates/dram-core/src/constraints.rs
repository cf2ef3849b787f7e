//! The rule table turned round: for each kind of command, what its issue holds back, and for how long.

use dram_spec::{Cycle, Cycles, System};

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

/// Whether every rule that holds back one of them holds back the other, in the same place. (A PREA is held back in its banks,
/// as their PRE are.)
const fn are_held_back_alike(one: Kind, other: Kind) -> bool {
    let mut rule = 0;
    while rule < RULES.len() {
        if lists(RULES[rule].to, one) != lists(RULES[rule].to, other) {
            return false;
        }
        rule += 1;
    }
    is_held_back_in_banks(one) == is_held_back_in_banks(other)
}

/// Whether a bank's rule holds it back in that bank. Of the commands to a whole rank only PREA looks at each bank.
const fn is_held_back_in_banks(kind: Kind) -> bool {
    !kind.is_rank_wide() || matches!(kind, Kind::PreA)
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
    until: [PackedHold; Ring::ROOM],
    oldest: usize,
}

impl Ring {
    /// At least as long as any window is deep; a power of two, so that no index is past the end.
    const ROOM: usize = 4;
}

impl Window {
    pub(crate) fn ring(&self) -> Ring {
        assert!(self.depth <= Ring::ROOM, "a window is deeper than there is room for");
        Ring { until: [PackedHold::NONE; Ring::ROOM], oldest: 0 }
    }

    /// Enters a command; says until when the oldest of those now within holds back which others.
    pub(crate) fn enter(&self, ring: &mut Ring, at: Cycle) -> (PackedHold, &[Slot]) {
        ring.until[ring.oldest % Ring::ROOM] = PackedHold::new(at, self.gap);
        ring.oldest = if ring.oldest + 1 == self.depth { 0 } else { ring.oldest + 1 };
        (ring.until[ring.oldest % Ring::ROOM], &self.to)
    }
}

/// What one kind of command holds back, by where.
#[derive(Clone, Debug)]
pub(crate) struct Pushes {
    /// In its own bank.
    pub(crate) bank: Vec<Push>,
    /// In its own rank.
    pub(crate) rank: Vec<Push>,
    /// On its command bus: every command alike.
    pub(crate) bus: PackedGap,
    /// What else there is; most kinds have none of it.
    pub(crate) elsewhere: Elsewhere,
}

/// What a command holds back beyond its bank and its rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    /// In the other ranks of its channel, where it has others.
    pub(crate) other_ranks: Vec<Push>,
    /// The windows that it enters, by index.
    pub(crate) windows: Vec<usize>,
    is_some: bool,
}

impl Elsewhere {
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_some
    }
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
            let mut pushes = Pushes::of(from, rules.iter().filter(|(rule, _)| rule.nth == 1));
            let elsewhere = &mut pushes.elsewhere;
            elsewhere.windows = entered.map(|(_, index)| index).collect();
            if system.geometry.ranks() == 1 {
                elsewhere.other_ranks.clear();
            }
            elsewhere.is_some = !elsewhere.windows.is_empty() || !elsewhere.other_ranks.is_empty();
            pushes
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
        // The kinds that are the part of a bank in a command, and no command, take no time on the bus.
        let bus = on_bus.iter().map(|&&(_, gap)| gap).max().unwrap_or(PackedGap::new(Cycles(0), 0));
        let mut pushes = Pushes { bank: Vec::new(), rank: Vec::new(), bus, elsewhere: Elsewhere::default() };
        for &&(rule, gap) in &others {
            // What is held back no longer than the bus is taken need not be told so.
            if gap.cycles() <= bus.cycles() {
                continue;
            }
            for &to in rule.to {
                let list = match rule.scope {
                    // A rank-wide command concerns each bank of its rank alike.
                    Scope::Bank if from.is_rank_wide() || !is_held_back_in_banks(to) => &mut pushes.rank,
                    Scope::Bank => &mut pushes.bank,
                    Scope::Rank => &mut pushes.rank,
                    Scope::OtherRanks => &mut pushes.elsewhere.other_ranks,
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
        assert!(share(Kind::Pre, Kind::PreA), "a PREA is the PRE of each bank");
        assert!(!share(Kind::Act, Kind::ActCopy), "tRC holds back an ordinary ACT alone");
    }
}
