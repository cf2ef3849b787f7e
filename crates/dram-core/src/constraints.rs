//! The rule table turned round: for each kind of command, what its issue holds back, and for how long.

use dram_spec::{Cycle, System};

use crate::bank::Lasts;
use crate::hold::{Gap, Hold};
use crate::rules::{Kind, RULES, Rule, Scope};
use crate::timings::Timings;

/// The kinds that are asked for at every turn: how long each is held back is kept, and raised by the commands. How long the others are
/// is worked out from the last command of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// ACT of a closed bank.
    Act,
    /// ACT of an open bank, to a row of the open subarray.
    ActCopy,
    /// PRE; and PREA in each bank.
    Pre,
    /// RD and RDA.
    Rd,
    /// WR and WRA.
    Wr,
    /// TRANSFER, in its rank.
    Transfer,
    /// TRANSFER, in the bank that it reads.
    TransferSrc,
    /// TRANSFER, in the bank that it writes.
    TransferDst,
}

/// The same, each as a kind of its own.
pub(crate) const KEPT: [Kind; 8] =
    [Kind::Act, Kind::ActCopy, Kind::Pre, Kind::Rd, Kind::Wr, Kind::Transfer, Kind::TransferSrc, Kind::TransferDst];

/// For how long a command holds back each of the [`KEPT`] kinds.
pub(crate) type Gaps = [Gap; KEPT.len()];

/// Which of the [`KEPT`] kinds something holds back.
pub(crate) type Raises = [bool; KEPT.len()];

impl KeptKind {
    /// As what a kind is held back; none, where it is worked out.
    #[inline]
    pub(crate) const fn of(kind: Kind) -> Option<KeptKind> {
        match kind {
            Kind::Act => Some(KeptKind::Act),
            Kind::ActCopy => Some(KeptKind::ActCopy),
            Kind::Pre | Kind::PreA => Some(KeptKind::Pre),
            Kind::Rd | Kind::Rda => Some(KeptKind::Rd),
            Kind::Wr | Kind::Wra => Some(KeptKind::Wr),
            Kind::Transfer => Some(KeptKind::Transfer),
            Kind::TransferSrc => Some(KeptKind::TransferSrc),
            Kind::TransferDst => Some(KeptKind::TransferDst),
            _ => None,
        }
    }

    /// The command without auto-precharge.
    #[inline]
    pub const fn kind(self) -> Kind {
        KEPT[self as usize]
    }
}

/// Kinds are one where the rules always hold them back together, and nowhere else.
const _: () = {
    let mut index = 0;
    while index < Kind::COUNT * KEPT.len() {
        let (kind, kept) = (Kind::ALL[index / KEPT.len()], index % KEPT.len());
        let is_one = match KeptKind::of(kind) {
            Some(one) => one as usize == kept,
            None => false,
        };
        assert!(
            is_one == are_held_back_alike(KEPT[kept], kind),
            "a kind is held back as another than it is said to be"
        );
        index += 1;
    }
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

/// Where a command holds back others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In its bank.
    Bank,
    /// In its rank.
    Rank,
    /// In the other ranks of its channel.
    OtherRanks,
    /// In its rank, those that come some commands later.
    Window,
    /// On its command bus: every command alike.
    Bus,
}

impl Place {
    const COUNT: usize = 5;

    /// Where a rule has `from` hold back `to`.
    const fn of(rule: &Rule, from: Kind, to: Kind) -> Place {
        match rule.scope {
            // A rank-wide command concerns each bank of its rank alike.
            Scope::Bank if from.is_rank_wide() || !is_held_back_in_banks(to) => Place::Rank,
            Scope::Bank => Place::Bank,
            Scope::Rank if rule.nth > 1 => Place::Window,
            Scope::Rank => Place::Rank,
            Scope::OtherRanks => Place::OtherRanks,
            Scope::Channel => Place::Bus,
        }
    }
}

/// Which of the [`KEPT`] kinds each kind of command holds back in each place, in one system or another. It is known when the
/// program is built: no command spends time on what it never holds back.
const RAISES: [[Raises; Place::COUNT]; Kind::COUNT] = {
    let mut raises = [[[false; KEPT.len()]; Place::COUNT]; Kind::COUNT];
    let mut index = 0;
    while index < RULES.len() * Kind::COUNT * KEPT.len() {
        let (rule, kinds) = (&RULES[index / (Kind::COUNT * KEPT.len())], index % (Kind::COUNT * KEPT.len()));
        let (from, slot) = (kinds / KEPT.len(), kinds % KEPT.len());
        if lists(rule.from, Kind::ALL[from]) && lists(rule.to, KEPT[slot]) {
            raises[from][Place::of(rule, Kind::ALL[from], KEPT[slot]) as usize][slot] = true;
        }
        assert!(rule.nth == 1 || rule.nth as usize == history_depth(rule), "a history is as deep as its window");
        index += 1;
    }
    raises
};

/// How many commands the history of a rank keeps for a rule about the `nth` latest command.
const fn history_depth(rule: &Rule) -> usize {
    if KeptKind::of(rule.to[0]).is_some() { Ring::DEPTH } else { Refreshes::DEPTH }
}

/// Which of the [`KEPT`] kinds a command of that kind holds back in a place.
#[inline]
pub(crate) const fn raises(from: Kind, place: Place) -> Raises {
    RAISES[from as usize][place as usize]
}

/// The latest few commands that entered the window of a rank: until when each holds back what comes so many later.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    until: [Hold; Ring::DEPTH],
    oldest: usize,
}

impl Ring {
    /// How many the window lets through; a power of two, so that no index is past the end.
    const DEPTH: usize = 4;

    pub(crate) const EMPTY: Ring = Ring { until: [Hold::NONE; Ring::DEPTH], oldest: 0 };

    /// Enters a command.
    #[inline]
    pub(crate) fn enter(&mut self, hold: Hold) {
        self.until[self.oldest % Ring::DEPTH] = hold;
        self.oldest = (self.oldest + 1) % Ring::DEPTH;
    }

    /// Until when the oldest of those within holds back others.
    #[inline]
    pub(crate) fn hold(&self) -> Hold {
        self.until[self.oldest % Ring::DEPTH]
    }
}

/// What one kind of command holds back, by where.
#[derive(Clone, Debug)]
pub(crate) struct Pushes {
    /// In its own bank.
    pub(crate) bank: Gaps,
    /// In its own rank.
    pub(crate) rank: Gaps,
    /// In the other ranks.
    pub(crate) other_ranks: Gaps,
    /// In the window of its rank, if it enters that; and which kinds that are, for copy activations may be free of it.
    pub(crate) window: Option<(Gap, Raises)>,
    /// On its command bus. The kinds that are the part of a bank in a command, and no command, take no time on it.
    pub(crate) bus: Gap,
}

impl Pushes {
    const NONE: Pushes = Pushes {
        bank: [Gap::NONE; KEPT.len()],
        rank: [Gap::NONE; KEPT.len()],
        other_ranks: [Gap::NONE; KEPT.len()],
        window: None,
        bus: Gap::NONE,
    };
}

/// The latest [`Refreshes::DEPTH`] REF of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Refreshes {
    at: [Cycle; Refreshes::DEPTH],
    oldest: usize,
}

impl Refreshes {
    /// JESD79-3 allows 16 REF within 2 tREFI.
    const DEPTH: usize = 16;

    pub(crate) const NONE: Refreshes = Refreshes { at: [Cycle::NEVER; Refreshes::DEPTH], oldest: 0 };

    /// Enters a REF.
    pub(crate) fn enter(&mut self, at: Cycle) {
        self.at[self.oldest] = at;
        self.oldest = (self.oldest + 1) % Refreshes::DEPTH;
    }

    /// The instant of the sixteenth latest REF; [`Cycle::NEVER`] where there were fewer.
    fn oldest(&self) -> Cycle {
        self.at[self.oldest]
    }
}

/// A command that delays a kind that is not kept, and for how long.
#[derive(Clone, Copy, Debug)]
struct Origin {
    from: Kind,
    /// 1 for the latest `from`; else the oldest of [`Refreshes`].
    nth: u8,
    /// Where not empty, one of these must have been issued after `from`.
    between: &'static [Kind],
    gap: Gap,
}

impl Origin {
    /// Until when the commands issued so far delay the kind, if they do.
    fn hold(&self, lasts: &Lasts, refreshes: &Refreshes) -> Option<Hold> {
        let at = if self.nth == 1 { lasts.of(self.from) } else { refreshes.oldest() };
        let is_after = |&kind: &Kind| lasts.of(kind) != Cycle::NEVER && lasts.of(kind) > at;
        let applies = at != Cycle::NEVER && (self.between.is_empty() || self.between.iter().any(is_after));
        applies.then(|| Hold::new(at, self.gap))
    }
}

/// The commands that delay a kind that is not kept.
#[derive(Clone, Debug, Default)]
struct Origins {
    /// In its bank.
    bank: Vec<Origin>,
    /// In its rank.
    rank: Vec<Origin>,
}

/// The rule table of one system, ready for the device.
#[derive(Clone, Debug)]
pub(crate) struct Constraints {
    pushes: [Pushes; Kind::COUNT],
    origins: [Origins; Kind::COUNT],
}

impl Constraints {
    /// Resolves every rule that holds in this system.
    pub(crate) fn new(system: &System, timings: &Timings) -> Constraints {
        let mut constraints =
            Constraints { pushes: [const { Pushes::NONE }; Kind::COUNT], origins: Default::default() };
        let resolve = |(rule, index): (&'static Rule, u8)| (rule, Gap::new(rule.cycles(timings), index));
        let rules = RULES.iter().zip(0..).filter(|(rule, _)| rule.holds_in(system)).map(resolve);
        let windows = rules.clone().filter(|(rule, _)| rule.nth as usize == Ring::DEPTH);
        assert!(windows.count() <= 1, "a rank has one activation window");
        // The bus first: what is held back no longer than the bus is taken need not be told so.
        let (on_bus, others): (Vec<_>, Vec<_>) = rules.partition(|(rule, _)| rule.scope == Scope::Channel);
        for (rule, gap) in on_bus.into_iter().chain(others) {
            for &from in rule.from {
                rule.to.iter().for_each(|&to| constraints.add(rule, from, to, gap));
            }
        }
        constraints
    }

    fn add(&mut self, rule: &Rule, from: Kind, to: Kind, gap: Gap) {
        let (pushes, origins) = (&mut self.pushes[from as usize], &mut self.origins[to as usize]);
        let origin = Origin { from, nth: rule.nth, between: rule.between, gap };
        if gap.cycles() <= pushes.bus.cycles() {
            return;
        }
        let longest = |gaps: &mut Gaps, kept: KeptKind| gaps[kept as usize] = gaps[kept as usize].max(gap);
        match (Place::of(rule, from, to), KeptKind::of(to)) {
            (_, Some(_)) if !rule.between.is_empty() => unreachable!("only kinds that are worked out look at an order"),
            (Place::Bus, _) => pushes.bus = gap,
            (Place::Bank, Some(kept)) => longest(&mut pushes.bank, kept),
            (Place::Rank, Some(kept)) => longest(&mut pushes.rank, kept),
            (Place::OtherRanks, Some(kept)) => longest(&mut pushes.other_ranks, kept),
            (Place::Window, Some(kept)) => {
                pushes.window.get_or_insert((gap, [false; KEPT.len()])).1[kept as usize] = true;
            }
            (Place::Bank, None) => origins.bank.push(origin),
            (Place::Rank | Place::Window, None) => origins.rank.push(origin),
            (Place::OtherRanks, None) => unreachable!("these hold back kinds that are kept"),
        }
    }

    /// What a command of this kind holds back.
    #[inline]
    pub(crate) fn of(&self, kind: Kind) -> &Pushes {
        &self.pushes[kind as usize]
    }

    /// Until when the commands to a bank hold back there a kind that is not kept.
    #[inline(never)]
    pub(crate) fn work_out_in_bank(&self, kind: Kind, lasts: &Lasts) -> Hold {
        latest(&self.origins[kind as usize].bank, lasts, &Refreshes::NONE)
    }

    /// Until when the commands to a rank hold back there a kind that is not kept.
    #[inline(never)]
    pub(crate) fn work_out_in_rank(&self, kind: Kind, lasts: &Lasts, refreshes: &Refreshes) -> Hold {
        latest(&self.origins[kind as usize].rank, lasts, refreshes)
    }
}

/// Until when the last of each of those holds something back.
fn latest(origins: &[Origin], lasts: &Lasts, refreshes: &Refreshes) -> Hold {
    origins.iter().filter_map(|origin| origin.hold(lasts, refreshes)).max().unwrap_or(Hold::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_one_that_the_rules_always_hold_back_together() {
        let share = |one, other| KeptKind::of(one).is_some() && KeptKind::of(one) == KeptKind::of(other);
        assert!(share(Kind::Rd, Kind::Rda) && share(Kind::Wr, Kind::Wra));
        assert!(!share(Kind::Rd, Kind::Wr), "tWTR holds back a RD alone");
        assert!(share(Kind::Pre, Kind::PreA), "a PREA is the PRE of each bank");
        assert!(!share(Kind::Act, Kind::ActCopy), "tRC holds back an ordinary ACT alone");
    }
}
