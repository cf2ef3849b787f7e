//! The timing rules as a table. `docs/rules.md` describes the rules in words.

use std::fmt;

use crate::timings::{P, Timings};
use dram_spec::{CopyActivations, Cycles, System};

/// Kind of a command in the rules, which depends on the state of its bank or rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// ACT to a closed bank.
    Act,
    /// ACT to an open bank, to a row of the open subarray: a copy.
    ActCopy,
    /// ACT to an open bank, to another subarray: dropped by the chip, so it only occupies the
    /// command bus.
    ActDropped,
    /// PRE.
    Pre,
    /// PREA.
    PreA,
    /// RD.
    Rd,
    /// RDA.
    Rda,
    /// WR.
    Wr,
    /// WRA.
    Wra,
    /// TRANSFER, in its rank.
    Transfer,
    /// TRANSFER, in its source bank.
    TransferSrc,
    /// TRANSFER, in its destination bank.
    TransferDst,
    /// REF.
    Ref,
    /// PDE.
    Pde,
    /// PDX of an active power-down, or of a precharge power-down with fast exit.
    Pdx,
    /// PDX of a precharge power-down with slow exit.
    PdxSlow,
    /// SRE.
    Sre,
    /// SRX.
    Srx,
}

impl Kind {
    /// All kinds, in the order of their discriminants.
    #[rustfmt::skip]
    pub const ALL: [Kind; 18] = [
        Kind::Act,
        Kind::ActCopy,
        Kind::ActDropped,
        Kind::Pre,
        Kind::PreA,
        Kind::Rd,
        Kind::Rda,
        Kind::Wr,
        Kind::Wra,
        Kind::Transfer,
        Kind::TransferSrc,
        Kind::TransferDst,
        Kind::Ref,
        Kind::Pde,
        Kind::Pdx,
        Kind::PdxSlow,
        Kind::Sre,
        Kind::Srx,
    ];
    /// Number of kinds.
    pub const COUNT: usize = Self::ALL.len();

    /// Whether the kind is rank-wide: a rule of scope `Bank` then applies to each bank of the rank.
    pub const fn is_rank_wide(self) -> bool {
        matches!(
            self,
            Kind::PreA | Kind::Transfer | Kind::Ref | Kind::Pde | Kind::Pdx | Kind::PdxSlow | Kind::Sre | Kind::Srx
        )
    }

    /// Name in the rule table.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Act => "ACT",
            Kind::ActCopy => "ACT (copy)",
            Kind::ActDropped => "ACT (dropped)",
            Kind::Pre => "PRE",
            Kind::PreA => "PREA",
            Kind::Rd => "RD",
            Kind::Rda => "RDA",
            Kind::Wr => "WR",
            Kind::Wra => "WRA",
            Kind::Transfer => "TRANSFER",
            Kind::TransferSrc => "TRANSFER out",
            Kind::TransferDst => "TRANSFER in",
            Kind::Ref => "REF",
            Kind::Pde => "PDE",
            Kind::Pdx => "PDX",
            Kind::PdxSlow => "PDX (slow)",
            Kind::Sre => "SRE",
            Kind::Srx => "SRX",
        }
    }
}

/// Where the earlier and the later command of a rule must coincide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In one bank.
    Bank,
    /// In one rank.
    Rank,
    /// In two ranks of one channel.
    OtherRanks,
    /// On one command bus.
    Channel,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scope::Bank => "bank",
            Scope::Rank => "rank",
            Scope::OtherRanks => "other ranks",
            Scope::Channel => "channel",
        })
    }
}

/// A term of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A multiple of a parameter.
    Plus(u8, P),
    /// Minus a parameter.
    Minus(P),
}

/// Condition on the system for a rule to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// If copy activations count in tRRD and tFAW.
    CopiesCounted,
    /// If they do not.
    CopiesFree,
}

/// Source of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The standard.
    Jesd79_3(&'static str),
    /// A public simulator or datasheet.
    Public(&'static str),
    /// The paper.
    RowClone(&'static str),
    /// This project's definition of TRANSFER, where the paper is silent.
    Project(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Jesd79_3(what) => write!(f, "JESD79-3: {what}"),
            Origin::Public(what) => f.write_str(what),
            Origin::RowClone(what) => write!(f, "RowClone: {what}"),
            Origin::Project(what) => write!(f, "this project: {what}"),
        }
    }
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
    /// 1 for the latest `from`, 4 for the fourth latest.
    pub nth: u8,
    /// If not empty, the rule applies only if one of these was issued after the latest `from`.
    pub between: &'static [Kind],
    /// Systems to which the rule applies.
    pub when: When,
    /// Source.
    pub origin: Origin,
}

impl Rule {
    /// Whether the rule applies to a system.
    pub fn holds_in(&self, system: &System) -> bool {
        match self.when {
            When::Always => true,
            When::CopiesCounted => system.copy_activations == CopyActivations::Counted,
            When::CopiesFree => system.copy_activations == CopyActivations::Free,
        }
    }

    /// Distance in clocks. A negative sum is 0: the rule then has no effect.
    pub fn cycles(&self, timings: &Timings) -> Cycles {
        sum(self.gap, timings)
    }

    /// Distance as a formula: "CWL + BL/2 + tWTR".
    pub fn formula(&self) -> String {
        formula(self.gap)
    }
}

fn sum(gap: &[Term], timings: &Timings) -> Cycles {
    let (mut plus, mut minus) = (0, 0);
    for term in gap {
        match *term {
            Term::Plus(times, parameter) => plus += u64::from(times) * timings.get(parameter).0,
            Term::Minus(parameter) => minus += timings.get(parameter).0,
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
    assert!(!from.is_empty() && !to.is_empty() && !gap.is_empty() && nth >= 1, "a rule needs both ends and a distance");
    assert!(nth == 1 || matches!(scope, Scope::Rank), "only ranks keep a history");
    Rule { name, scope, from, to, gap, nth, between: &[], when: When::Always, origin }
}

const fn when(when: When, rule: Rule) -> Rule {
    Rule { when, ..rule }
}

/// Restricts a row to commands between which one of `between` was issued.
const fn between(between: &'static [Kind], rule: Rule) -> Rule {
    assert!(matches!(rule.scope, Scope::Rank) && rule.nth == 1, "only ranks compare the order of commands");
    Rule { between, ..rule }
}

use Kind::{
    Act, ActCopy, ActDropped, Pde, Pdx, PdxSlow, Pre, PreA, Rd, Rda, Ref, Sre, Srx, Transfer, TransferDst, TransferSrc,
    Wr, Wra,
};
use Origin::{Jesd79_3, Project, Public, RowClone};
use Scope::{Bank, Channel, OtherRanks, Rank};
use Term::Minus;

const RCD: &[Term] = &[plus(P::Rcd)];
const CCD: &[Term] = &[plus(P::Ccd)];
const READ_RECOVERY: &[Term] = &[plus(P::Rtp), plus(P::Rp)];
const WRITE_RECOVERY: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::Wr)];
const WRITE_RECOVERY_AND_RP: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Rp)];
const WRITE_TO_READ: &[Term] = &[plus(P::Cwl), plus(P::Burst), plus(P::Wtr)];
const ACTS: &[Kind] = &[Act, ActCopy];
const READS: &[Kind] = &[Rd, Rda];
const WRITES: &[Kind] = &[Wr, Wra];
const PRES: &[Kind] = &[Pre, PreA];
const REFS: &[Kind] = &[Ref, Sre];
const PDXS: &[Kind] = &[Pdx, PdxSlow];
/// The commands that require CKE high: all but PDE, PDX and SRX, which only change CKE.
const CKE_HIGH: &[Kind] = &[Act, ActCopy, ActDropped, Pre, PreA, Rd, Rda, Wr, Wra, Transfer, Ref, Sre];
const ANY: &[Kind] =
    &[Act, ActCopy, ActDropped, Pre, PreA, Rd, Rda, Wr, Wra, Transfer, Ref, Pde, Pdx, PdxSlow, Sre, Srx];

/// All minimum distances of the device.
#[rustfmt::skip] // One rule per line: read it beside the datasheet.
pub const RULES: &[Rule] = &[
    rule("tRCD",     Bank, ACTS, &[Rd, Rda, Wr, Wra], RCD,                             1, Jesd79_3("ACT to RD or WR")),
    rule("tRAS",     Bank, ACTS,   PRES,   &[plus(P::Ras)],                            1, Jesd79_3("ACT to PRE")),
    rule("tRC",      Bank, ACTS,   &[Act], &[plus(P::Rc)],                             1, Jesd79_3("ACT to ACT of a bank")),
    rule("tRP",      Bank, PRES,   &[Act], &[plus(P::Rp)],                             1, Jesd79_3("PRE to ACT")),
    rule("tRTP",     Bank, READS,  PRES,   &[plus(P::Rtp)],                            1, Jesd79_3("RD to PRE")),
    rule("tWR",      Bank, WRITES, PRES,   WRITE_RECOVERY,                             1, Jesd79_3("write recovery")),
    rule("RDA-ACT",  Bank, &[Rda], &[Act], READ_RECOVERY,                              1, Jesd79_3("auto-precharge after a read")),
    rule("WRA-ACT",  Bank, &[Wra], &[Act], WRITE_RECOVERY_AND_RP,                      1, Jesd79_3("auto-precharge after a write")),
    when(When::CopiesCounted, rule("tRRD", Rank, ACTS, ACTS, &[plus(P::Rrd)],          1, Jesd79_3("ACT to ACT of two banks"))),
    when(When::CopiesFree, rule("tRRD", Rank, &[Act], &[Act], &[plus(P::Rrd)],         1, Jesd79_3("ACT to ACT of two banks"))),
    when(When::CopiesCounted, rule("tFAW", Rank, ACTS, ACTS, &[plus(P::Faw)],          4, Jesd79_3("four-activate window"))),
    when(When::CopiesFree, rule("tFAW", Rank, &[Act], &[Act], &[plus(P::Faw)],         4, Jesd79_3("four-activate window"))),
    rule("tCCD-RD",  Rank, READS,  READS,  CCD,                                        1, Jesd79_3("RD to RD")),
    rule("tCCD-WR",  Rank, WRITES, WRITES, CCD,                                        1, Jesd79_3("WR to WR")),
    rule("RD-WR",    Rank, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), Term::Plus(2, P::Clock), Minus(P::Cwl)], 1, Jesd79_3("RD to WR")),
    rule("tWTR",     Rank, WRITES, READS,  WRITE_TO_READ,                              1, Jesd79_3("WR to RD")),
    rule("RD-RD-rank", OtherRanks, READS,  READS,  &[plus(P::Burst), plus(P::Rtrs)],   1, Public("Ramulator 1: rank switch")),
    rule("WR-WR-rank", OtherRanks, WRITES, WRITES, &[plus(P::Burst), plus(P::Rtrs)],   1, Public("Ramulator 1: rank switch")),
    rule("RD-WR-rank", OtherRanks, READS,  WRITES, &[plus(P::Cl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cwl)], 1, Public("Ramulator 1: rank switch")),
    rule("WR-RD-rank", OtherRanks, WRITES, READS,  &[plus(P::Cwl), plus(P::Burst), plus(P::Rtrs), Minus(P::Cl)], 1, Public("Ramulator 1: rank switch")),
    rule("tRP-REF",  Rank, PRES,   REFS,   &[plus(P::Rp)],                             1, Jesd79_3("PRE to REF or SRE")),
    rule("tRC-REF",  Rank, ACTS,   REFS,   &[plus(P::Rc)],                             1, Jesd79_3("ACT to REF or SRE")),
    rule("RDA-REF",  Rank, &[Rda], REFS,   READ_RECOVERY,                              1, Jesd79_3("RDA to REF or SRE")),
    rule("WRA-REF",  Rank, &[Wra], REFS,   WRITE_RECOVERY_AND_RP,                      1, Jesd79_3("WRA to REF or SRE")),
    rule("tRFC",     Rank, &[Ref], CKE_HIGH, &[plus(P::Rfc)],                          1, Jesd79_3("only DES and NOP until tRFC after a REF")),
    rule("REF-window", Rank, &[Ref], &[Ref], &[plus(P::RefiTwice)],                   16, Jesd79_3("at most 16 REF within 2 tREFI")),
    rule("tRDPDEN",  Rank, READS,  &[Pde, Sre], &[plus(P::Cl), plus(P::Burst), plus(P::Clock)], 1, Jesd79_3("RD to PDE; no data burst in progress at SRE")),
    rule("tWRPDEN",  Rank, &[Wr],  &[Pde], WRITE_RECOVERY,                             1, Jesd79_3("WR to PDE")),
    rule("tWRAPDEN", Rank, &[Wra], &[Pde], &[plus(P::Cwl), plus(P::Burst), plus(P::Wr), plus(P::Clock)], 1, Jesd79_3("WRA to PDE")),
    rule("tACTPDEN", Rank, ACTS,   &[Pde], &[plus(P::ActPden)],                           1, Jesd79_3("ACT to PDE")),
    rule("tPRPDEN",  Rank, PRES,   &[Pde], &[plus(P::PrPden)],                           1, Jesd79_3("PRE to PDE")),
    rule("tREFPDEN", Rank, &[Ref], &[Pde], &[plus(P::RefPden)],                           1, Jesd79_3("REF to PDE")),
    rule("tPD",      Rank, &[Pde], PDXS,   &[plus(P::Cke)],                            1, Jesd79_3("PDE to PDX")),
    rule("tCKE",     Rank, PDXS,   &[Pde], &[plus(P::Cke)],                            1, Jesd79_3("PDX to PDE: CKE high for tCKE")),
    rule("tXP",      Rank, PDXS,   CKE_HIGH, &[plus(P::Xp)],                           1, Jesd79_3("PDX to any command")),
    rule("tXPDLL",   Rank, &[PdxSlow], &[Rd, Rda, Wr, Wra], &[plus(P::Xpdll)],         1, Jesd79_3("slow PDX to RD; to WR: chosen")),
    between(&[Ref], rule("PDX-REF-PDE", Rank, PDXS, &[Pde], &[plus(P::Xpdll)],         1, Jesd79_3("power-down clarification, case 2"))),
    between(PDXS, rule("REF-PDX-PDE", Rank, &[Ref], &[Pde], &[plus(P::Rfc)],           1, Jesd79_3("power-down clarification, case 3"))),
    rule("tCKESR",   Rank, &[Sre], &[Srx], &[plus(P::Ckesr)],                          1, Jesd79_3("SRE to SRX")),
    rule("tXS",      Rank, &[Srx], &[Act, Pre, PreA, Transfer, Ref, Sre], &[plus(P::Xs)], 1, Jesd79_3("SRX to a command that needs no DLL")),
    rule("tXSDLL",   Rank, &[Srx], &[Rd, Rda, Wr, Wra, Pde], &[plus(P::Dllk)],         1, Jesd79_3("SRX to RD or PDE; to WR: chosen")),
    rule("bus",      Channel, ANY, ANY,    &[plus(P::Clock)],                          1, Jesd79_3("one command a clock")),
    rule("bus-TRANSFER", Channel, &[Transfer], ANY, &[Term::Plus(2, P::Clock)],        1, RowClone("TRANSFER takes two command-bus cycles")),
    rule("FPM",      Bank, ACTS, &[ActCopy], &[plus(P::Ras)],                          1, RowClone("source row restored first")),
    rule("FPM-tWR",  Bank, &[Wr, TransferDst], &[ActCopy], WRITE_RECOVERY,             1, Project("written data is in the row before it is copied")),
    rule("TRANSFER-tRCD", Bank, ACTS, &[TransferSrc, TransferDst], RCD,                1, Project("ACT to TRANSFER, in both banks")),
    rule("TRANSFER-tCCD", Rank, &[Transfer], &[Transfer], CCD,                         1, Project("TRANSFER to TRANSFER")),
    rule("TRANSFER-turnaround", Bank, &[TransferDst], &[TransferSrc], WRITE_TO_READ,   1, Project("TRANSFER into a bank to TRANSFER out of it")),
    rule("RD-TRANSFER",   Rank, READS, &[Transfer], CCD,                               1, Project("RD to TRANSFER")),
    rule("TRANSFER-WR",   Rank, &[Transfer], WRITES, CCD,                              1, Project("TRANSFER to WR")),
    rule("WR-TRANSFER",   Rank, WRITES, &[Transfer], WRITE_TO_READ,                    1, Project("WR to TRANSFER")),
    rule("TRANSFER-RD",   Rank, &[Transfer], READS, WRITE_TO_READ,                     1, Project("TRANSFER to RD")),
    rule("TRANSFER-tRTP", Bank, &[TransferSrc], PRES, &[plus(P::Rtp)],                 1, Project("TRANSFER to PRE of its source bank")),
    rule("TRANSFER-tWR",  Bank, &[TransferDst], PRES, WRITE_RECOVERY,                  1, Project("TRANSFER to PRE of its destination bank")),
    rule("TRANSFER-PDE",  Rank, &[Transfer], &[Pde], WRITE_RECOVERY,                   1, Project("the internal write ends first")),
];

/// A maximum duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maximum {
    /// Name in violations and listings.
    pub name: &'static str,
    /// State that is limited.
    pub what: &'static str,
    /// Maximum duration.
    pub most: &'static [Term],
    /// Source.
    pub origin: Origin,
}

impl Maximum {
    /// Duration in clocks.
    pub fn cycles(&self, timings: &Timings) -> Cycles {
        sum(self.most, timings)
    }

    /// Duration as a formula.
    pub fn formula(&self) -> String {
        formula(self.most)
    }
}

const NINE_INTERVALS: &[Term] = &[Term::Plus(9, P::Refi)];

/// Time with a row open.
pub const RAS_MAX: Maximum = Maximum {
    name: "tRAS-max",
    what: "a row open",
    most: NINE_INTERVALS,
    origin: Public("Samsung M378B5673EH1 rev 1.03"),
};
/// Time in power-down.
pub const PD_MAX: Maximum = Maximum {
    name: "tPD-max",
    what: "a rank in power-down",
    most: NINE_INTERVALS,
    origin: Public("Samsung K4B2G0446D rev 1.01, table 49"),
};
/// Time of an awake rank without a REF.
pub const REF_GAP: Maximum = Maximum {
    name: "REF-gap",
    what: "a rank awake without a REF",
    most: NINE_INTERVALS,
    origin: Jesd79_3("at most 9 tREFI between two REF"),
};
/// Delay of a REF.
pub const REF_POSTPONED: Maximum = Maximum {
    name: "REF-postponed",
    what: "a REF after it fell due",
    most: &[Term::Plus(8, P::Refi)],
    origin: Jesd79_3("at most eight REF postponed"),
};

/// All maximum durations of the device.
pub const MAXIMA: &[Maximum] = &[RAS_MAX, PD_MAX, REF_GAP, REF_POSTPONED];
