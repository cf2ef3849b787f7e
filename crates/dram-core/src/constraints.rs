//! The rule table by earlier command: the kinds that each kind of command delays, and for how long.

use dram_spec::{Command, Cycle, Cycles, Standard, System};

use crate::history::{Lasts, Refreshes, Ring};
use crate::hold::{Gap, Hold};
use crate::rules::{Kind, Rule, Scope, WINDOW, rules_of, table};
use crate::timings::Timings;

/// The kinds that the scheduler queries often. Their earliest cycles are stored, and updated by
/// each command. Those of other kinds are computed from the last command of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// ACT to a closed bank.
    Act,
    /// ACT to an open bank, to a row of the open subarray.
    ActCopy,
    /// PRE, PREA in each bank, and the other commands that end the use of the open row.
    Pre,
    /// RD and RDA.
    Rd,
    /// WR and WRA.
    Wr,
    /// TRANSFER, in its rank.
    Transfer,
    /// TRANSFER, in its source bank.
    TransferSrc,
    /// TRANSFER, in its destination bank.
    TransferDst,
}

/// One kind of the rule table for each [`KeptKind`].
pub(crate) const KEPT: [Kind; 8] =
    [Kind::Act, Kind::ActCopy, Kind::Pre, Kind::Rd, Kind::Wr, Kind::Transfer, Kind::TransferSrc, Kind::TransferDst];

/// Delays of the [`KEPT`] kinds after a command.
pub(crate) type Gaps = [Gap; KEPT.len()];

/// The [`KEPT`] kinds that are delayed.
pub(crate) type Raises = [bool; KEPT.len()];

impl KeptKind {
    /// All kinds, in the order of [`KEPT`].
    pub(crate) const ALL: [KeptKind; KEPT.len()] = [
        KeptKind::Act,
        KeptKind::ActCopy,
        KeptKind::Pre,
        KeptKind::Rd,
        KeptKind::Wr,
        KeptKind::Transfer,
        KeptKind::TransferSrc,
        KeptKind::TransferDst,
    ];

    /// The stored kind of a command; `None` if it is computed.
    #[inline]
    pub(crate) const fn of(kind: Kind) -> Option<KeptKind> {
        KEPT_OF[kind as usize]
    }

    /// The stored kind of a row command to a bank with an open row ([`Kind::on_open_row`]).
    ///
    /// # Panics
    /// If it is no row command of one bank.
    pub const fn on_open_row(command: &Command) -> KeptKind {
        KeptKind::of(Kind::on_open_row(command)).expect("the row commands are stored")
    }

    /// Kind of the command without auto-precharge.
    #[inline]
    pub const fn kind(self) -> Kind {
        KEPT[self as usize]
    }
}

/// The [`KeptKind`] of each kind: kinds share one if the rules always delay them equally.
const KEPT_OF: [Option<KeptKind>; Kind::COUNT] = {
    let mut kept_of = [None; Kind::COUNT];
    let mut index = 0;
    while index < Kind::COUNT * KEPT.len() {
        let (kind, kept) = (index / KEPT.len(), index % KEPT.len());
        if are_held_back_alike(KEPT[kept], Kind::ALL[kind]) {
            assert!(kept_of[kind].is_none(), "a kind is delayed as two of the stored kinds");
            kept_of[kind] = Some(KeptKind::ALL[kept]);
        }
        index += 1;
    }
    kept_of
};

/// The rules of all standards, one table after the other.
const ALL_RULES: &[Rule; ALL_COUNT] = &{
    let mut all = [table(Standard::ALL[0]).rules[0]; ALL_COUNT];
    let (mut standard, mut at) = (0, 0);
    while standard < Standard::ALL.len() {
        let rules = table(Standard::ALL[standard]).rules;
        let mut index = 0;
        while index < rules.len() {
            all[at] = rules[index];
            (index, at) = (index + 1, at + 1);
        }
        standard += 1;
    }
    all
};
const ALL_COUNT: usize = {
    let (mut standard, mut count) = (0, 0);
    while standard < Standard::ALL.len() {
        count += table(Standard::ALL[standard]).rules.len();
        standard += 1;
    }
    count
};

/// The kinds that each of [`ALL_RULES`] delays, a bit each.
const DELAYED: &[u32; ALL_COUNT] = &{
    let mut delayed = [0; ALL_COUNT];
    let (mut rule, mut at) = (0, 0);
    while rule < ALL_COUNT {
        while at < ALL_RULES[rule].to.len() {
            delayed[rule] |= 1 << ALL_RULES[rule].to[at] as u32;
            at += 1;
        }
        (rule, at) = (rule + 1, 0);
    }
    delayed
};

/// Whether a rule delays a kind.
const fn delays(rule: usize, kind: Kind) -> bool {
    DELAYED[rule] & 1 << kind as u32 != 0
}

/// Whether every rule that delays one kind also delays the other, in the same scope. (A PREA is
/// delayed in its banks, like their PREs.) A RDA may have rules of its own in its bank.
const fn are_held_back_alike(one: Kind, other: Kind) -> bool {
    let mut rule = 0;
    while rule < ALL_RULES.len() {
        let (is_one, is_other) = (delays(rule, one), delays(rule, other));
        let is_own = matches!((other, ALL_RULES[rule].scope), (Kind::Rda, Scope::Bank));
        if is_one && !is_other || is_other && !is_one && !is_own {
            return false;
        }
        rule += 1;
    }
    is_held_back_in_banks(one) == is_held_back_in_banks(other)
}

/// Whether a bank's rule delays the kind in that bank. Of the rank-wide commands, only PREA is
/// checked in each bank.
const fn is_held_back_in_banks(kind: Kind) -> bool {
    !kind.is_rank_wide() || matches!(kind, Kind::PreA)
}

/// Set of banks or ranks in which a command delays others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldScope {
    /// In the bank of the command.
    Bank,
    /// In the bank group of the command.
    Group,
    /// In the rank of the command.
    Rank,
    /// In the other ranks of the channel.
    OtherRanks,
    /// In the rank of the command, after a number of further commands.
    Window,
    /// On the command bus: every command.
    Bus,
}

impl HoldScope {
    const COUNT: usize = 6;

    /// Set of banks or ranks in which a rule delays `to` after `from`.
    const fn of(rule: &Rule, from: Kind, to: Kind) -> HoldScope {
        match rule.scope {
            // A rank-wide command affects each bank of its rank equally.
            Scope::Bank if from.is_rank_wide() || !is_held_back_in_banks(to) => HoldScope::Rank,
            Scope::Bank => HoldScope::Bank,
            Scope::Group => HoldScope::Group,
            Scope::Rank if rule.nth != 1 => HoldScope::Window,
            Scope::Rank => HoldScope::Rank,
            Scope::OtherRanks => HoldScope::OtherRanks,
            Scope::Channel => HoldScope::Bus,
        }
    }
}

/// The [`KEPT`] kinds that each kind of command delays in each place, in any system. It is computed
/// at compile time, so that commands take no time for kinds that they never delay.
const RAISES: [[Raises; HoldScope::COUNT]; Kind::COUNT] = {
    let mut raises = [[[false; KEPT.len()]; HoldScope::COUNT]; Kind::COUNT];
    let mut index = 0;
    while index < ALL_RULES.len() {
        let rule = &ALL_RULES[index];
        let mut pair = 0;
        while pair < rule.from.len() * KEPT.len() {
            let (from, slot) = (rule.from[pair / KEPT.len()], pair % KEPT.len());
            if delays(index, KEPT[slot]) {
                let place = HoldScope::of(rule, from, KEPT[slot]);
                let raises = &mut raises[from as usize];
                raises[place as usize][slot] = true;
                // A window delays in the whole rank, and the bank group of a command is a part of its rank.
                if matches!(place, HoldScope::Rank | HoldScope::Window) {
                    raises[HoldScope::Rank as usize][slot] = true;
                    raises[HoldScope::Group as usize][slot] = true;
                }
            }
            pair += 1;
        }
        let is_kept = KeptKind::of(rule.to[0]).is_some();
        assert!(
            rule.nth == 1 || (is_kept && rule.nth as usize == Ring::DEPTH) || (!is_kept && rule.nth == WINDOW),
            "a history is as deep as its window"
        );
        let of_writes = matches!((rule.from, rule.to), ([Kind::Wr, Kind::Wra], [Kind::Wr, Kind::Wra]));
        assert!(rule.or_exactly.is_empty() || of_writes, "only WRs have a forbidden distance");
        index += 1;
    }
    raises
};

/// No column command delays its own kind in its bank: the next one of a run waits only for its rank and the bus
/// ([`crate::Device::kept_rank_hold`]).
const _: () = {
    let columns = [KeptKind::Rd, KeptKind::Wr, KeptKind::TransferSrc, KeptKind::TransferDst];
    let mut index = 0;
    while index < columns.len() {
        let kept = columns[index];
        assert!(
            !RAISES[kept.kind() as usize][HoldScope::Bank as usize][kept as usize],
            "a run of columns waits for its bank"
        );
        index += 1;
    }
};

/// The [`KEPT`] kinds that a command of the kind `from` delays in a place.
#[inline]
pub(crate) const fn raises(from: Kind, place: HoldScope) -> Raises {
    RAISES[from as usize][place as usize]
}

/// Delays caused by one kind of command, by place.
#[derive(Clone, Debug)]
pub(crate) struct Pushes {
    /// In its bank.
    pub(crate) bank: Gaps,
    /// In its bank group.
    pub(crate) group: Gaps,
    /// In the other groups of its rank.
    pub(crate) rank: Gaps,
    /// Whether it delays in the other groups of its rank at all.
    pub(crate) reaches_groups: bool,
    /// In the other ranks.
    pub(crate) other_ranks: Gaps,
    /// In the activation window of its rank, if it counts there, and the kinds delayed, as copy
    /// activations may be exempt.
    pub(crate) window: Option<(Gap, Raises)>,
    /// On its command bus. Kinds that denote the part of a command in one bank take no time on it.
    pub(crate) bus: Gap,
}

impl Pushes {
    const NONE: Pushes = Pushes {
        bank: [Gap::NONE; KEPT.len()],
        group: [Gap::NONE; KEPT.len()],
        rank: [Gap::NONE; KEPT.len()],
        reaches_groups: false,
        other_ranks: [Gap::NONE; KEPT.len()],
        window: None,
        bus: Gap::NONE,
    };
}

/// A command that delays a kind that is not stored, and for how long.
#[derive(Clone, Copy, Debug)]
struct DelayedBy {
    from: Kind,
    /// 1 for the latest `from`; else one of [`Refreshes`].
    nth: u8,
    /// If not empty, one of these must have been issued after `from`.
    between: &'static [Kind],
    gap: Gap,
}

impl DelayedBy {
    /// The delay of the kind by the commands issued so far, if any.
    fn hold(&self, lasts: &Lasts, refreshes: &Refreshes) -> Option<Hold> {
        let at = if self.nth == 1 { lasts.of(self.from) } else { refreshes.nth(self.nth) };
        let is_after = |&kind: &Kind| lasts.of(kind) != Cycle::NEVER && lasts.of(kind) > at;
        let applies = at != Cycle::NEVER && (self.between.is_empty() || self.between.iter().any(is_after));
        applies.then(|| Hold::new(at, self.gap))
    }
}

/// The commands that delay a kind that is not stored.
#[derive(Clone, Debug, Default)]
struct Origins {
    /// In its bank.
    bank: Vec<DelayedBy>,
    /// In its rank.
    rank: Vec<DelayedBy>,
}

/// Distances of two WRs of a rank that are forbidden, between two that are permitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exclusion {
    /// The shorter of these two.
    pub(crate) after: Cycles,
    /// The longer one, with the rule.
    pub(crate) gap: Gap,
}

impl Exclusion {
    /// Whether a distance is forbidden.
    pub(crate) fn contains(self, distance: Cycles) -> bool {
        self.after < distance && distance < self.gap.cycles()
    }

    /// First cycle in which a WR is forbidden after one at `last`.
    pub(crate) fn begins(self, last: Cycle) -> Cycle {
        last + self.after + Cycles(1)
    }

    /// The delay of a WR that is not issued before [`Self::begins`].
    pub(crate) const fn hold(self, last: Cycle) -> Hold {
        Hold::new(last, self.gap)
    }
}

/// The rule table of one system, resolved for the device.
#[derive(Clone, Debug)]
pub(crate) struct Constraints {
    pushes: [Pushes; Kind::COUNT],
    origins: [Origins; Kind::COUNT],
    /// The rules whose distance depends on the earlier command, and their indices.
    of_own_time: Vec<(&'static Rule, u8)>,
    /// Distances of WRs that are forbidden, if any are.
    pub(crate) exclusion: Option<Exclusion>,
    standard: Standard,
}

impl Constraints {
    /// Resolves every rule that applies to this system.
    pub(crate) fn new(system: &System, timings: &Timings) -> Constraints {
        let mut constraints = Constraints {
            pushes: [const { Pushes::NONE }; Kind::COUNT],
            origins: Default::default(),
            of_own_time: rules_of(system).filter(|(rule, _)| rule.has_own_time()).collect(),
            exclusion: rules_of(system).find_map(|(rule, index)| {
                let gap = Gap::new(rule.distance(Kind::Wr, Kind::Wr, timings), system.standard(), index);
                rule.exact_distance(timings).map(|after| Exclusion { after, gap })
            }),
            standard: system.standard(),
        };
        // A forbidden distance is no minimum.
        let rules = || rules_of(system).filter(|(rule, _)| rule.or_exactly.is_empty());
        assert!(
            rules().filter(|(rule, _)| rule.nth as usize == Ring::DEPTH).count() <= 1,
            "a rank has one activation window"
        );
        // The bus first: a delay that is no longer than the command on the bus has no effect.
        let on_bus = |(rule, _): &(&Rule, u8)| rule.scope == Scope::Channel;
        for (rule, index) in rules().filter(on_bus).chain(rules().filter(|rule| !on_bus(rule))) {
            for &from in rule.from {
                for &to in rule.to {
                    let gap = Gap::new(rule.distance(from, to, timings), system.standard(), index);
                    constraints.add(rule, rule.nth(system), from, to, gap);
                }
            }
        }
        let has_groups = system.geometry.topology().has_groups();
        // In its own group, a command delays as in the others of its rank, or longer.
        for pushes in &mut constraints.pushes {
            for (group, &rank) in pushes.group.iter_mut().zip(&pushes.rank) {
                *group = (*group).max(rank);
            }
            let delays = pushes.window.is_some() || pushes.rank != [Gap::NONE; KEPT.len()];
            pushes.reaches_groups = delays && has_groups;
        }
        if let Some(exclusion) = constraints.exclusion {
            for pushes in [Kind::Wr, Kind::Wra].map(|kind| kind as usize) {
                let Pushes { group, rank, .. } = &mut constraints.pushes[pushes];
                for gap in [group, rank].map(|gaps| &mut gaps[KeptKind::Wr as usize]) {
                    *gap = if exclusion.contains(gap.cycles()) { exclusion.gap } else { *gap };
                }
            }
        }
        constraints
    }

    fn add(&mut self, rule: &Rule, nth: u8, from: Kind, to: Kind, gap: Gap) {
        let (pushes, origins) = (&mut self.pushes[from as usize], &mut self.origins[to as usize]);
        let origin = DelayedBy { from, nth, between: rule.between, gap };
        if gap.cycles() <= pushes.bus.cycles() {
            return;
        }
        let longest = |gaps: &mut Gaps, kept: KeptKind| gaps[kept as usize] = gaps[kept as usize].max(gap);
        // A rule of RDA alone is worked out.
        let kept = KeptKind::of(to).filter(|kept| rule.to.contains(&kept.kind()));
        match (HoldScope::of(rule, from, to), kept) {
            (_, Some(_)) if !rule.between.is_empty() => unreachable!("only kinds that are worked out look at an order"),
            (HoldScope::Bus, _) => pushes.bus = gap,
            (HoldScope::Bank, Some(kept)) => longest(&mut pushes.bank, kept),
            (HoldScope::Group, Some(kept)) => longest(&mut pushes.group, kept),
            (HoldScope::Rank, Some(kept)) => longest(&mut pushes.rank, kept),
            (HoldScope::OtherRanks, Some(kept)) => longest(&mut pushes.other_ranks, kept),
            (HoldScope::Window, Some(kept)) => {
                pushes.window.get_or_insert((gap, [false; KEPT.len()])).1[kept as usize] = true;
            }
            (HoldScope::Bank, None) => origins.bank.push(origin),
            (HoldScope::Rank | HoldScope::Window, None) => origins.rank.push(origin),
            (HoldScope::Group | HoldScope::OtherRanks, None) => unreachable!("these delay stored kinds only"),
        }
    }

    /// Delays in its bank by a command with a time of its own ([`Timings::own_time`]).
    pub(crate) fn after(&self, kind: Kind, own_time: Cycles, timings: &Timings) -> Gaps {
        let mut gaps = self.of(kind).bank;
        for &(rule, index) in self.of_own_time.iter().filter(|(rule, _)| rule.from.contains(&kind)) {
            for (gap, &to) in gaps.iter_mut().zip(&KEPT).filter(|&(_, &to)| rule.to.contains(&to)) {
                let distance = rule.distance_after(own_time, kind, to, timings);
                *gap = (*gap).max(Gap::new(distance, self.standard, index));
            }
        }
        gaps
    }

    /// Delays caused by this kind of command.
    #[inline]
    pub(crate) fn of(&self, kind: Kind) -> &Pushes {
        &self.pushes[kind as usize]
    }

    /// Delay of a kind that is not stored by the commands to a bank.
    #[inline(never)]
    pub(crate) fn work_out_in_bank(&self, kind: Kind, lasts: &Lasts) -> Hold {
        latest(&self.origins[kind as usize].bank, lasts, &Refreshes::NONE)
    }

    /// Delay of a kind that is not stored by the commands to a rank.
    #[inline(never)]
    pub(crate) fn work_out_in_rank(&self, kind: Kind, lasts: &Lasts, refreshes: &Refreshes) -> Hold {
        latest(&self.origins[kind as usize].rank, lasts, refreshes)
    }
}

/// The latest of the delays by these commands.
fn latest(origins: &[DelayedBy], lasts: &Lasts, refreshes: &Refreshes) -> Hold {
    origins.iter().filter_map(|origin| origin.hold(lasts, refreshes)).max().unwrap_or(Hold::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_delay_the_kinds_of_a_group_together() {
        let share = |one, other| KeptKind::of(one).is_some() && KeptKind::of(one) == KeptKind::of(other);
        assert!(share(Kind::Rd, Kind::Rda) && share(Kind::Wr, Kind::Wra));
        assert!(!share(Kind::Rd, Kind::Wr), "tWTR delays only a RD");
        assert!(share(Kind::Pre, Kind::PreA), "a PREA is the PRE of each bank");
        assert!(!share(Kind::Act, Kind::ActCopy), "tRC delays only an ordinary ACT");
    }
}
