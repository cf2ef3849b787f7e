//! The timing rules of each standard as a table. `docs/rules.md` describes the rules in words.

mod ddr2;
mod ddr3;
mod ddr4;
mod ddr5;

use std::fmt::Write;

use crate::timings::{P, Timings};
use dram_spec::{Command, CommandKind, CopyActivations, Cycles, Effect, Geometry, Min, Standard, System, Width};

macro_rules! kinds {
    ($($variant:ident = $name:literal, $in_rank:literal, $two_cycles:literal, $what:literal;)*) => {
        /// Kind of a command in the rules, which depends on the state of its bank or rank.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            $(#[doc = concat!($what, ".")] $variant,)*
        }

        impl Kind {
            /// All kinds, in the order of their discriminants.
            pub const ALL: [Kind; [$($name),*].len()] = [$(Kind::$variant),*];

            /// Name in the rule table.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Kind::$variant => $name,)*
                }
            }

            /// Whether the kind is rank-wide: a rule of scope `Bank` then applies to each bank of the rank.
            pub const fn is_rank_wide(self) -> bool {
                match self {
                    $(Kind::$variant => $in_rank,)*
                }
            }

            /// Whether a command of this kind takes two cycles on the bus of a standard that has such commands.
            const fn may_take_two_cycles(self) -> bool {
                match self {
                    $(Kind::$variant => $two_cycles,)*
                }
            }
        }
    };
}

#[rustfmt::skip] // One kind per line.
kinds! {
//  kind          name             rank-wide two cycles what
    Act         = "ACT",           false,    true,      "ACT to a closed bank";
    ActCopy     = "ACT (copy)",    false,    true,      "ACT to an open bank, to a row of the open subarray: a copy";
    ActDropped  = "ACT (dropped)", false,    true,      "ACT to an open bank, to another subarray: dropped by the chip, so it only occupies the command bus";
    Pre         = "PRE",           false,    false,     "PRE";
    PreA        = "PREA",          true,     false,     "PREA";
    Rd          = "RD",            false,    true,      "RD";
    Rda         = "RDA",           false,    true,      "RDA";
    Wr          = "WR",            false,    true,      "WR";
    Wra         = "WRA",           false,    true,      "WRA";
    Transfer    = "TRANSFER",      true,     true,      "TRANSFER, in its rank";
    TransferSrc = "TRANSFER out",  false,    true,      "TRANSFER, in its source bank";
    TransferDst = "TRANSFER in",   false,    true,      "TRANSFER, in its destination bank";
    Rbm         = "RBM",           false,    false,     "RBM";
    Ref         = "REF",           true,     false,     "REF";
    RefSb       = "REFsb",         false,    false,     "REFsb, in each of its banks";
    Pde         = "PDE",           true,     false,     "PDE";
    Pdx         = "PDX",           true,     false,     "PDX of an active power-down, or of a precharge power-down with fast exit";
    PdxSlow     = "PDX (slow)",    true,     false,     "PDX of a precharge power-down with slow exit";
    Sre         = "SRE",           true,     false,     "SRE";
    Srx         = "SRX",           true,     false,     "SRX";
}

impl Kind {
    /// Number of kinds.
    pub const COUNT: usize = Self::ALL.len();

    /// Kind of a row command to a bank with an open row, in the subarray of that row where it is an ACT.
    ///
    /// # Panics
    /// If it is no row command of one bank.
    pub const fn on_open_row(command: &Command) -> Kind {
        match command {
            Command::Activate { .. } => Kind::ActCopy,
            Command::Precharge { .. } => Kind::Pre,
            Command::MoveRowBuffer { .. } => Kind::Rbm,
            _ => panic!("only row commands change the open row of one bank"),
        }
    }
}

dram_spec::named! {
    /// Where the earlier and the later command of a rule must coincide.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
    #[display("{}", self.name())]
    pub enum Scope {
        /// In one bank.
        Bank = "bank",
        /// In one bank group.
        Group = "bank group",
        /// In one rank.
        Rank = "rank",
        /// In two ranks of one channel.
        OtherRanks = "other ranks",
        /// On one command bus.
        Channel = "channel",
    }
}

/// A term of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A multiple of a parameter.
    Plus(u8, P),
    /// Minus a parameter.
    Minus(P),
    /// [`Timings::own_time`] of the earlier command: of a row buffer movement, the time of a hop, once per hop
    /// and once more.
    Hops,
}

/// Condition on the system for a rule to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// If copy activations count in tRRD and tFAW.
    CopiesCounted,
    /// If they do not.
    CopiesFree,
    /// In chips with more than four banks.
    ManyBanks,
    /// In x4 chips, which read the rest of a codeword for each write.
    ReadModifyWrite,
    /// In the other chips.
    WholeWrites,
    /// With a write preamble of more than one clock.
    LongWritePreamble,
}

/// Source of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Origin {
    /// JESD79-2.
    #[display("JESD79-2: {_0}")]
    Jesd79_2(&'static str),
    /// JESD79-3.
    #[display("JESD79-3: {_0}")]
    Jesd79_3(&'static str),
    /// JESD79-4.
    #[display("JESD79-4: {_0}")]
    Jesd79_4(&'static str),
    /// JESD79-5.
    #[display("JESD79-5: {_0}")]
    Jesd79_5(&'static str),
    /// A public simulator or datasheet.
    Public(&'static str),
    /// The paper.
    #[display("RowClone: {_0}")]
    RowClone(&'static str),
    /// Chang et al., "LISA", HPCA 2016.
    #[display("LISA: {_0}")]
    Lisa(&'static str),
    /// This project's definition of TRANSFER, where the paper is silent.
    #[display("this project: {_0}")]
    Project(&'static str),
}

/// One minimum distance: each `to` waits for the `nth` latest `from` within `scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name in violations and listings.
    pub name: &'static str,
    /// Where the two commands must coincide.
    pub scope: Scope,
    /// Earlier command.
    pub from: &'static [Kind],
    /// Later command.
    pub to: &'static [Kind],
    /// Distance: a sum of timing parameters, as data, so that it can be printed.
    pub gap: &'static [Term],
    /// 1 for the latest `from`, 4 for the fourth latest, [`WINDOW`] for that of the refresh mode.
    pub nth: u8,
    /// If not empty, this shorter distance is permitted as well, so that only those between the two are forbidden.
    pub or_exactly: &'static [Term],
    /// If not empty, the rule applies only if one of these was issued after the latest `from`.
    pub between: &'static [Kind],
    /// Conditions of the systems to which the rule applies: all must hold.
    pub when: &'static [When],
    /// Source.
    pub origin: Origin,
}

/// [`Rule::nth`] that the refresh mode gives: the most REFs in a window.
pub const WINDOW: u8 = 0;

impl Rule {
    /// The number of the earlier command, counted back from the later one.
    pub const fn nth(&self, system: &System) -> u8 {
        if self.nth == WINDOW { system.refresh_mode.window } else { self.nth }
    }

    /// Whether the rule applies to a system.
    pub fn holds_in(&self, system: &System) -> bool {
        let has_window = self.nth != WINDOW || system.refresh_mode.window > 0;
        has_window
            && self.when.iter().all(|when| match when {
                When::CopiesCounted => system.copy_activations == CopyActivations::Counted,
                When::CopiesFree => system.copy_activations == CopyActivations::Free,
                When::ManyBanks => system.geometry.banks() > 4,
                When::ReadModifyWrite => system.geometry.width() == Width::X4,
                When::WholeWrites => system.geometry.width() != Width::X4,
                When::LongWritePreamble => system.bin.write_preamble > 1,
            })
    }

    /// Distance in clocks; the least where it depends on the earlier command. A negative sum is 0: the rule
    /// then has no effect.
    pub fn cycles(&self, timings: &Timings) -> Cycles {
        sum(self.gap, timings, timings.movement(1))
    }

    /// Whether the distance depends on the earlier command: on its [`Timings::own_time`].
    pub fn has_own_time(&self) -> bool {
        self.gap.contains(&Term::Hops)
    }

    /// Distance of these two kinds in clocks, from the first cycle of each command on the bus. Where
    /// distances count from the second cycle of commands of two cycles, it is a clock longer after one
    /// and a clock shorter before one.
    pub(crate) fn distance(&self, from: Kind, to: Kind, timings: &Timings) -> Cycles {
        self.distance_after(timings.movement(1), from, to, timings)
    }

    /// [`Self::distance`] after a command with a time of its own.
    pub(crate) fn distance_after(&self, own_time: Cycles, from: Kind, to: Kind, timings: &Timings) -> Cycles {
        let shift = |kind: Kind| {
            let counts = timings.counts_from_second_cycle() && self.scope != Scope::Channel;
            u64::from(counts && kind.may_take_two_cycles())
        };
        Cycles((sum(self.gap, timings, own_time).0 + shift(from)).saturating_sub(shift(to)))
    }

    /// The shorter distance that is permitted as well, if there is one.
    pub(crate) fn exact_distance(&self, timings: &Timings) -> Option<Cycles> {
        (!self.or_exactly.is_empty()).then(|| sum(self.or_exactly, timings, Cycles(0)))
    }

    /// Distance as a formula: "CWL + BL/2 + tWTR".
    pub fn formula(&self) -> String {
        let least = formula(self.gap);
        if self.or_exactly.is_empty() { least } else { format!("{least}, or exactly {}", formula(self.or_exactly)) }
    }
}

fn sum(gap: &[Term], timings: &Timings, own_time: Cycles) -> Cycles {
    let (mut plus, mut minus) = (0, 0);
    for term in gap {
        match *term {
            Term::Plus(times, parameter) => plus += u64::from(times) * timings.get(parameter).0,
            Term::Minus(parameter) => minus += timings.get(parameter).0,
            Term::Hops => plus += own_time.0,
        }
    }
    Cycles(plus.saturating_sub(minus))
}

fn formula(gap: &[Term]) -> String {
    let mut text = String::new();
    for term in gap {
        let (sign, times, parameter) = match *term {
            Term::Plus(times, parameter) => (" + ", times, parameter),
            Term::Minus(parameter) => (" - ", 1, parameter),
            Term::Hops => {
                let _ = write!(text, "{} ns x (hops + 1)", HOP_PS / 1000);
                continue;
            }
        };
        if !text.is_empty() {
            text.push_str(sign);
        }
        match (times, parameter) {
            (1, _) => text.push_str(parameter.name()),
            (_, P::Clock) => text.extend([&times.to_string(), " nCK"]),
            _ => text.extend([&times.to_string(), " ", parameter.name()]),
        }
    }
    text
}

/// Time of a hop of a row buffer movement, with LISA's margin of 60 %.
const HOP_PS: u64 = 8_000;

/// Times of commands that no parameter gives.
impl Timings {
    /// Clocks of a row buffer movement: a row reaches the destination in two halves, one of which takes
    /// a hop more.
    const fn movement(&self, hops: u16) -> Cycles {
        self.clock().at_least(Min::ps(HOP_PS * (hops as u64 + 1)))
    }

    /// Time of a command with an effect, if the distance to the next command of its bank depends on it.
    pub const fn own_time(&self, effect: Effect) -> Option<Cycles> {
        match effect {
            Effect::Moved { hops, .. } => Some(self.movement(hops)),
            Effect::Plain | Effect::Copied { .. } | Effect::Dropped { .. } => None,
        }
    }

    /// The longest [`Self::own_time`] of the commands of a kind, if they have one.
    pub const fn longest_own_time(&self, kind: CommandKind, geometry: &Geometry) -> Option<Cycles> {
        match kind {
            CommandKind::MoveRowBuffer => Some(self.movement(geometry.subarrays_per_bank() as u16 - 1)),
            _ => None,
        }
    }
}

const fn plus(parameter: P) -> Term {
    Term::Plus(1, parameter)
}

/// A row of the table. Malformed rows fail the build.
const fn rule(
    name: &'static str,
    scope: Scope,
    from: &'static [Kind],
    to: &'static [Kind],
    gap: &'static [Term],
    nth: u8,
    origin: Origin,
) -> Rule {
    assert!(!from.is_empty() && !to.is_empty() && !gap.is_empty(), "a rule needs both ends and a distance");
    assert!(nth == 1 || matches!(scope, Scope::Rank), "only ranks keep a history");
    Rule { name, scope, from, to, gap, nth, or_exactly: &[], between: &[], when: &[], origin }
}

const fn when(when: &'static [When], rule: Rule) -> Rule {
    Rule { when, ..rule }
}

/// Permits a shorter distance besides the minimum of a row.
const fn or_exactly(distance: &'static [Term], rule: Rule) -> Rule {
    assert!(matches!(rule.scope, Scope::Rank) && rule.nth == 1, "only ranks keep the last command");
    Rule { or_exactly: distance, ..rule }
}

/// Restricts a row to commands between which one of `between` was issued.
const fn between(between: &'static [Kind], rule: Rule) -> Rule {
    assert!(matches!(rule.scope, Scope::Rank) && rule.nth == 1, "only ranks compare the order of commands");
    Rule { between, ..rule }
}

use Kind::{
    Act, ActCopy, ActDropped, Pde, Pdx, PdxSlow, Pre, PreA, Rbm, Rd, Rda, Ref, RefSb, Sre, Srx, Transfer, TransferDst,
    TransferSrc, Wr, Wra,
};
use Origin::{Lisa, Project, Public, RowClone};
use Scope::{Bank, Channel, Group, OtherRanks, Rank};
use Term::Minus;

const RCD: &[Term] = &[plus(P::Rcd)];
const CCD: &[Term] = &[plus(P::Ccd)];
const CCD_L: &[Term] = &[plus(P::CcdL)];
const CCD_L_WR: &[Term] = &[plus(P::CcdLWr)];
const RTP: &[Term] = &[plus(P::Rtp)];
const READ_RECOVERY: &[Term] = &[plus(P::Rtp), plus(P::Rp)];
const WRITE_RECOVERY: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::Wr)];
const WRITE_RECOVERY_AND_RP: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Rp)];
const WRITE_TO_READ: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::Wtr)];
const WRITE_TO_READ_L: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::WtrL)];
const ACTS: &[Kind] = &[Act, ActCopy];
const READS: &[Kind] = &[Rd, Rda];
const WRITES: &[Kind] = &[Wr, Wra];
const PRES: &[Kind] = &[Pre, PreA];
/// The commands after which the open row is no longer in its row buffer: the bank's rules for PRE delay them all.
const TO_PRES: &[Kind] = &[Pre, PreA, Rbm];
const REFS: &[Kind] = &[Ref, Sre];
const PDXS: &[Kind] = &[Pdx, PdxSlow];
/// The commands that require CKE high: all but PDE, PDX and SRX, which only change CKE.
const CKE_HIGH: &[Kind] = &[Act, ActCopy, ActDropped, Pre, PreA, Rd, Rda, Wr, Wra, Transfer, Rbm, Ref, RefSb, Sre];
/// The commands of every standard that may follow SRX after tXS: those that need no DLL, without PDE.
const NO_DLL: &[Kind] = &[Act, Pre, PreA, Transfer, Rbm, Ref, Sre];
/// [`NO_DLL`] with PDE.
const NO_DLL_OR_PDE: &[Kind] = &[Act, Pre, PreA, Transfer, Rbm, Ref, Sre, Pde];
/// [`NO_DLL_OR_PDE`] with REFsb.
const NO_DLL_OR_REFSB: &[Kind] = &[Act, Pre, PreA, Transfer, Rbm, Ref, RefSb, Sre, Pde];
const ANY: &[Kind] =
    &[Act, ActCopy, ActDropped, Pre, PreA, Rd, Rda, Wr, Wra, Transfer, Rbm, Ref, RefSb, Pde, Pdx, PdxSlow, Sre, Srx];

/// Number of the rules that are added to those of each standard.
const MECHANISMS: usize = 14;

/// Number of them up to TRANSFER-tCCD.
const UP_TO_CCD: usize = 5;

/// The rules of a standard, and those of FPM, TRANSFER and RBM. A TRANSFER keeps the distances of column commands, in a
/// bank group if the standard has those: `ccd` of reads, and `ccd_write` of writes. The last `after_ccd` rules of the
/// standard follow TRANSFER-tCCD: of two rules that end in one cycle, the later one is reported.
const fn with_mechanisms<const COUNT: usize>(
    own: &[Rule],
    after_ccd: usize,
    ccd: &'static [Term],
    ccd_write: &'static [Term],
    write_to_read: &'static [Term],
    read_to_precharge: &'static [Term],
) -> [Rule; COUNT] {
    #[rustfmt::skip] // One rule per line.
    let mechanisms: [Rule; MECHANISMS] = [
        rule("bus-TRANSFER", Channel, &[Transfer], ANY, &[Term::Plus(2, P::Clock)],   1, RowClone("TRANSFER takes two command-bus cycles")),
        rule("FPM",      Bank, ACTS, &[ActCopy], &[Term::Plus(1, P::Ras)],            1, RowClone("source row restored first")),
        rule("FPM-tWR",  Bank, &[Wr, TransferDst], &[ActCopy], WRITE_RECOVERY,        1, Project("written data is in the row before it is copied")),
        rule("TRANSFER-tRCD", Bank, ACTS, &[TransferSrc, TransferDst], RCD,           1, Project("ACT to TRANSFER, in both banks")),
        rule("TRANSFER-tCCD", Rank, &[Transfer], &[Transfer], ccd,                    1, Project("TRANSFER to TRANSFER")),
        rule("TRANSFER-turnaround", Bank, &[TransferDst], &[TransferSrc], write_to_read, 1, Project("TRANSFER into a bank to TRANSFER out of it")),
        rule("RD-TRANSFER",   Rank, READS, &[Transfer], ccd,                          1, Project("RD to TRANSFER")),
        rule("TRANSFER-WR",   Rank, &[Transfer], WRITES, ccd_write,                   1, Project("TRANSFER to WR")),
        rule("WR-TRANSFER",   Rank, WRITES, &[Transfer], write_to_read,               1, Project("WR to TRANSFER")),
        rule("TRANSFER-RD",   Rank, &[Transfer], READS, write_to_read,                1, Project("TRANSFER to RD")),
        rule("TRANSFER-tRTP", Bank, &[TransferSrc], TO_PRES, read_to_precharge,       1, Project("TRANSFER to PRE of its source bank")),
        rule("TRANSFER-tWR",  Bank, &[TransferDst], TO_PRES, WRITE_RECOVERY,          1, Project("TRANSFER to PRE of its destination bank")),
        rule("TRANSFER-PDE",  Rank, &[Transfer], &[Pde], WRITE_RECOVERY,              1, Project("the internal write ends first")),
        rule("RBM",      Bank, &[Rbm], &[ActCopy], &[Term::Hops],                     1, Lisa("the contents have arrived at the destination")),
    ];
    assert!(COUNT == own.len() + MECHANISMS, "the rules of a standard, and those of all");
    let mut all = [mechanisms[0]; COUNT];
    let (first_moved, mut at, mut own_at) = (own.len() - after_ccd, 0, 0);
    while at < COUNT {
        let is_own = own_at < first_moved || own_at < own.len() && at >= first_moved + UP_TO_CCD;
        all[at] = if is_own { own[own_at] } else { mechanisms[at - own_at] };
        (at, own_at) = (at + 1, own_at + is_own as usize);
    }
    all
}

/// A maximum duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maximum {
    /// Name in violations and listings.
    pub name: &'static str,
    /// State that is limited.
    pub what: &'static str,
    /// Maximum duration.
    pub most: Term,
    /// Source.
    pub origin: Origin,
}

impl Maximum {
    /// Duration in clocks.
    pub fn cycles(&self, timings: &Timings) -> Cycles {
        sum(&[self.most], timings, Cycles(0))
    }

    /// Duration as a formula.
    pub fn formula(&self) -> String {
        formula(&[self.most])
    }
}

/// The rules of a standard.
#[derive(Debug)]
pub struct RuleTable {
    /// Minimum distances.
    pub rules: &'static [Rule],
    /// Whether a rank that left self-refresh needs a refresh before power-down, as before self-refresh.
    pub(crate) refresh_before_power_down: bool,
    /// Time with a row open.
    row_open: (Term, Origin),
    /// Time in power-down.
    power_down: (Term, Origin),
    /// Sources of the longest gap between two REF and of the most that may be postponed.
    refresh: (Origin, Origin),
}

/// The table of a standard.
pub const fn table(standard: Standard) -> &'static RuleTable {
    match standard {
        Standard::Ddr2 => &ddr2::TABLE,
        Standard::Ddr3 => &ddr3::TABLE,
        Standard::Ddr4 => &ddr4::TABLE,
        Standard::Ddr5 => &ddr5::TABLE,
    }
}

/// The rules that apply to a system, each with its index in the table.
pub fn rules_of(system: &System) -> impl Iterator<Item = (&'static Rule, u8)> {
    table(system.standard()).rules.iter().zip(0..).filter(|(rule, _)| rule.holds_in(system))
}

/// Name of the limit of a row's time open.
pub const RAS_MAX: &str = "tRAS-max";
/// Name of the limit of a time in power-down.
pub const PD_MAX: &str = "tPD-max";
/// Name of the limit of a time without REF.
pub const REF_GAP: &str = "REF-gap";
/// Name of the limit of a REF's delay.
pub const REF_POSTPONED: &str = "REF-postponed";

/// The maximum durations of a system.
pub fn maxima(system: &System) -> [Maximum; 4] {
    let RuleTable { row_open, power_down, refresh, .. } = table(system.standard());
    let mode = system.refresh_mode;
    let interval = if mode.divisor == 1 && !mode.same_bank { P::Refi } else { P::RefInterval };
    // The limits of a REFsb are counted in refreshes of all banks.
    let times = |count: u64| Term::Plus((count * system.refreshes_per_round()) as u8, interval);
    [
        Maximum { name: RAS_MAX, what: "a row open", most: row_open.0, origin: row_open.1 },
        Maximum { name: PD_MAX, what: "a rank in power-down", most: power_down.0, origin: power_down.1 },
        Maximum { name: REF_GAP, what: "a rank awake without a REF", most: times(mode.gap_most), origin: refresh.0 },
        Maximum {
            name: REF_POSTPONED,
            what: "a REF after it fell due",
            most: times(mode.postponed_most),
            origin: refresh.1,
        },
    ]
}
