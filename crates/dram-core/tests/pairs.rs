//! The table "Every ordered pair" of docs/rules.md lists the rules of the device, and the device applies them.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::{BTreeMap, BTreeSet};

use dram_core::{Device, Kind, Rule, Scope, Timings};
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AutoPrecharge, BankId, Column, Command, Cycle, Cycles, Density, Geometry, PrechargePowerDown, RawGeometry, Refresh,
    Row, SpeedBin, Standard, System, Width,
};

const COMMANDS: [&str; 15] =
    ["ACT", "copy ACT", "PRE", "PREA", "RD", "RDA", "WR", "WRA", "TRANSFER", "RBM", "REF", "PDE", "PDX", "SRE", "SRX"];
/// Cycle after the set-up of a pair.
const QUIET: Cycle = Cycle(5000);

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairScope {
    OneBank,
    TwoBanks,
    TwoRanks,
}

/// The cells of each pair, in the order of [`PairScope`].
fn table() -> BTreeMap<(&'static str, &'static str), [&'static str; 3]> {
    let page = include_str!("../../../docs/rules.md");
    let (_, table) = page.split_once("## Every ordered pair").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let mut pairs = BTreeMap::new();
    for line in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, from, to, one, two, ranks, source, _] = cells[..] else { panic!("{line}") };
        assert!(!source.is_empty(), "{line}");
        for from in from.split(", ") {
            for to in to.split(", ") {
                assert_eq!(pairs.insert((from, to), [one, two, ranks]), None, "{from} to {to} is listed twice");
            }
        }
    }
    pairs
}

/// The names in a cell: of timing rules and of state rules.
fn names(cell: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let names = cell.split(", ").filter(|name| *name != "none").map(|name| name.trim_matches('`'));
    names.partition(|name| dram_core::table(Standard::Ddr3).rules.iter().any(|rule| rule.name == *name))
}

/// Kinds of a command in the rules, in the bank of the pair and in its rank.
fn kinds(command: &str) -> &'static [Kind] {
    match command {
        "ACT" => &[Kind::Act],
        "copy ACT" => &[Kind::ActCopy],
        "PRE" => &[Kind::Pre],
        "PREA" => &[Kind::PreA],
        "RD" => &[Kind::Rd],
        "RDA" => &[Kind::Rda],
        "WR" => &[Kind::Wr],
        "WRA" => &[Kind::Wra],
        "TRANSFER" => &[Kind::Transfer, Kind::TransferSrc, Kind::TransferDst],
        "RBM" => &[Kind::Rbm],
        "REF" => &[Kind::Ref],
        "PDE" => &[Kind::Pde],
        "PDX" => &[Kind::Pdx, Kind::PdxSlow],
        "SRE" => &[Kind::Sre],
        "SRX" => &[Kind::Srx],
        other => panic!("no command {other}"),
    }
}

fn is_rank_wide(command: &str) -> bool {
    matches!(command, "PREA" | "REF" | "PDE" | "PDX" | "SRE" | "SRX")
}

/// Whether a rule binds `to` directly after `from` at a place.
fn binds(rule: &Rule, from: (&str, &[Kind]), to: (&str, &[Kind]), place: PairScope, system: &System) -> bool {
    let is_met = match rule.scope {
        Scope::Bank => match place {
            PairScope::OneBank => true,
            PairScope::TwoBanks => is_rank_wide(from.0) || is_rank_wide(to.0),
            PairScope::TwoRanks => false,
        },
        // DDR3 has one bank group per rank.
        Scope::Group | Scope::Rank => place != PairScope::TwoRanks,
        Scope::OtherRanks => place == PairScope::TwoRanks,
        Scope::Channel => false,
    };
    let lists = |kinds: &[Kind], some: &[Kind]| some.iter().any(|kind| kinds.contains(kind));
    is_met
        && rule.nth == 1
        && rule.between.is_empty()
        && rule.holds_in(system)
        && lists(rule.from, from.1)
        && lists(rule.to, to.1)
}

fn system(precharge_power_down: PrechargePowerDown) -> System {
    let (density, width) = (Density::Gb2, Width::X8);
    let row_bytes = native_row_bytes(Standard::Ddr3, density, width);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 2,
        density,
        width,
        row_bytes,
        rows_per_subarray: 512.into(),
    };
    System {
        precharge_power_down,
        refresh: Refresh::Off,
        ..System::new(SpeedBin::named("2133N").unwrap(), Geometry::try_from(raw).unwrap())
    }
}

/// A command to `bank`, or to its rank. A TRANSFER copies from `bank` to `other`.
fn command(name: &str, bank: BankId, other: BankId) -> Command {
    let (column, rank) = (Column(0), bank.rank);
    match name {
        "ACT" => Command::Activate { bank, row: Row(5) },
        "copy ACT" => Command::Activate { bank, row: Row(6) },
        "PRE" => Command::Precharge { bank },
        "PREA" => Command::PrechargeAll { rank },
        "RD" => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
        "RDA" => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
        "WR" => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
        "WRA" => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
        "TRANSFER" => Command::Transfer { src: bank, src_column: column, dst: other, dst_column: column },
        "RBM" => Command::MoveRowBuffer { bank, row: Row(600) },
        "REF" => Command::Refresh { rank },
        "PDE" => Command::PowerDownEnter { rank },
        "PDX" => Command::PowerDownExit { rank },
        "SRE" => Command::SelfRefreshEnter { rank },
        "SRX" => Command::SelfRefreshExit { rank },
        other => panic!("no command {other}"),
    }
}

const fn bank(rank: u8, bank: u8) -> BankId {
    BankId { rank, bank }
}

/// Whether a command requires its bank open.
fn needs_open(name: &str) -> bool {
    matches!(name, "copy ACT" | "RD" | "RDA" | "WR" | "WRA" | "TRANSFER" | "RBM" | "PRE" | "PREA")
}

/// A command of a pair, with its bank and, for a TRANSFER, the other bank.
#[derive(Clone, Copy, Debug)]
struct End {
    name: &'static str,
    bank: BankId,
    other: BankId,
    /// Whether `bank` is the source of a TRANSFER.
    is_src: bool,
}

impl End {
    fn command(self) -> Command {
        if self.is_src { command(self.name, self.bank, self.other) } else { command(self.name, self.other, self.bank) }
    }

    /// Kinds of the command in the bank of the pair, and in its rank.
    fn kinds(self, in_every_bank: bool) -> Vec<Kind> {
        match self.name {
            "TRANSFER" if in_every_bank => kinds(self.name).to_vec(),
            "TRANSFER" => vec![Kind::Transfer, if self.is_src { Kind::TransferSrc } else { Kind::TransferDst }],
            // The system of this test has the fast exit.
            "PDX" => vec![Kind::Pdx],
            name => kinds(name).to_vec(),
        }
    }
}

/// The two commands at a place, once for each role of a TRANSFER.
fn ends(from: &'static str, to: &'static str, place: PairScope) -> Vec<(End, End)> {
    let roles = |name: &str| if name == "TRANSFER" { vec![true, false] } else { vec![true] };
    let (there, partner) = match place {
        PairScope::OneBank => (bank(0, 0), bank(0, 2)),
        PairScope::TwoBanks => (bank(0, 3), bank(0, 4)),
        PairScope::TwoRanks => (bank(1, 0), bank(1, 1)),
    };
    let mut ends = Vec::new();
    for is_src in roles(from) {
        let first = End { name: from, bank: bank(0, 0), other: bank(0, 1), is_src };
        ends.extend(roles(to).into_iter().map(|is_src| (first, End { name: to, bank: there, other: partner, is_src })));
    }
    ends
}

/// A device after `from` was issued at [`QUIET`], with the banks and ranks of both commands in the
/// required state.
fn device_after(from: End, to: End, place: PairScope, system: &System) -> Device {
    let closes_all = matches!(from.name, "REF" | "SRE" | "SRX");
    let mut open: Vec<BankId> = Vec::new();
    let mut with_partner = |end: End| {
        open.push(end.bank);
        open.extend((end.name == "TRANSFER").then_some(end.other));
    };
    if needs_open(from.name) {
        with_partner(from);
    }
    let follows_in_bank =
        place == PairScope::OneBank && !matches!(from.name, "PDX" | "TRANSFER") && needs_open(from.name);
    if needs_open(to.name)
        && (place == PairScope::TwoRanks || !closes_all)
        && (!follows_in_bank || to.name == "TRANSFER")
    {
        with_partner(to);
    }
    open.sort_by_key(|bank| (bank.rank, bank.bank));
    open.dedup();
    if place == PairScope::OneBank && matches!(from.name, "ACT" | "PRE" | "PREA") {
        open.retain(|&bank| bank != from.bank || needs_open(from.name));
    }
    // An RBM moves the row buffer from row 5 to row 600; before a copy ACT, from row 600 to the subarray of row 6.
    let moves_back = from.name == "RBM" && to.name == "copy ACT";
    let row = |bank| Row(if moves_back && bank == from.bank { 600 } else { 5 });
    let mut commands: Vec<Command> = open.iter().map(|&bank| Command::Activate { bank, row: row(bank) }).collect();
    for (end, enters) in [(from, true), (to, place == PairScope::TwoRanks)] {
        match end.name {
            "PDX" if enters => commands.push(Command::PowerDownEnter { rank: end.bank.rank }),
            "SRX" if enters => commands.push(Command::SelfRefreshEnter { rank: end.bank.rank }),
            _ => {}
        }
    }
    let mut device = Device::new(system, None);
    for command in &commands {
        let at = device.earliest(command).unwrap().until();
        device.issue(at, command);
    }
    let first = if moves_back { Command::MoveRowBuffer { bank: from.bank, row: Row(5) } } else { from.command() };
    device.issue(QUIET, &first);
    device
}

#[test]
fn the_table_lists_every_ordered_pair_once() {
    let table = table();
    for from in COMMANDS {
        for to in COMMANDS {
            assert!(table.contains_key(&(from, to)), "{from} to {to} is not in the table");
        }
    }
    assert_eq!(table.len(), COMMANDS.len() * COMMANDS.len());
}

#[test]
fn the_table_lists_the_timing_rules_of_the_device() {
    let system = system(PrechargePowerDown::SlowExit);
    for ((from, to), cells) in table() {
        for (place, cell) in [PairScope::OneBank, PairScope::TwoBanks, PairScope::TwoRanks].into_iter().zip(cells) {
            if cell == "ordinary" {
                continue;
            }
            let ends = ((from, kinds(from)), (to, kinds(to)));
            let rules = dram_core::table(Standard::Ddr3)
                .rules
                .iter()
                .filter(|rule| binds(rule, ends.0, ends.1, place, &system));
            let device: BTreeSet<&str> = rules.map(|rule| rule.name).collect();
            assert_eq!(names(cell).0, device, "{from} to {to}, {place:?}");
        }
    }
}

/// Directly after `from`, the device refuses `to` by the listed state rule, or delays it exactly as
/// the listed rules require.
#[test]
fn the_device_applies_the_rules_of_the_table() {
    let system = system(PrechargePowerDown::FastExit);
    let mut probed = 0;
    for ((from, to), cells) in table() {
        for (place, cell) in [PairScope::OneBank, PairScope::TwoBanks, PairScope::TwoRanks].into_iter().zip(cells) {
            // The device has no dialect: an ACT to an open bank is a copy.
            if cell == "ordinary" || cell.contains("bank-open") {
                continue;
            }
            for (from, to) in ends(from, to, place) {
                probe(from, to, place, cell, &system);
                probed += 1;
            }
        }
    }
    assert!(probed > 600, "{probed}");
}

fn probe(from: End, to: End, place: PairScope, cell: &str, system: &System) {
    let (_, state) = names(cell);
    let what = format!("{from:?} to {to:?}, {place:?}");
    let hold = match device_after(from, to, place, system).earliest(&to.command()) {
        Err(refusal) => return assert_eq!(state.into_iter().collect::<Vec<_>>(), [refusal.to_string()], "{what}"),
        Ok(hold) => hold,
    };
    assert!(state.is_empty(), "{what}: {state:?}");
    let from_kinds = from.kinds(is_rank_wide(to.name));
    let to_kinds = to.kinds(false);
    let (first, second) = ((from.name, &from_kinds[..]), (to.name, &to_kinds[..]));
    let timings = Timings::new(system);
    let bus = if from.name == "TRANSFER" { Cycles(2) } else { Cycles(1) };
    let rules = dram_core::table(Standard::Ddr3).rules.iter().filter(|rule| binds(rule, first, second, place, system));
    let longest = rules.map(|rule| rule.cycles(&timings)).max().unwrap_or(bus).max(bus);
    assert_eq!(hold.until(), QUIET + longest, "{what}: {:?}", hold.rule());
    let rule = hold.rule().unwrap();
    assert!(names(cell).0.contains(rule) || longest == bus, "{what}: {rule}");
}
