//! The checker against the table "Every ordered pair" of `docs/rules.md`: each pair of commands in each column.
//!
//! A probe is a log of a set-up, `from`, and `to` at some distance after it. The set-up ends longer before `from` than any
//! minimum, so that only `from` and the state of the banks and ranks can make `to` illegal.

mod common;

use std::collections::BTreeSet;

use common::log;
use dram_spec::{AutoPrecharge, BankId, Column, Command, Cycle, Dialect, PrechargePowerDown, Row, SpeedBin, System};
use protocol_check::{Rule, Sort, Violation, audit, planted};

const COMMANDS: [&str; 14] =
    ["ACT", "copy ACT", "PRE", "PREA", "RD", "RDA", "WR", "WRA", "TRANSFER", "REF", "PDE", "PDX", "SRE", "SRX"];

/// The column of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    OneBank,
    TwoBanks,
    TwoRanks,
}

/// A pair of commands in one column, and the rules that `to` can break; none where the table says "ordinary".
#[derive(Debug)]
struct Cell {
    from: &'static str,
    to: &'static str,
    scope: Scope,
    rules: Option<BTreeSet<Rule>>,
}

fn cells() -> Vec<Cell> {
    let page = include_str!("../../../docs/rules.md");
    let section = page.split("\n## ").find(|section| section.starts_with("Every ordered pair")).expect("the table");
    let mut cells = Vec::new();
    for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let columns: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, froms, tos, one_bank, two_banks, two_ranks, _, _] = columns[..] else { panic!("{row}") };
        let scopes = [(Scope::OneBank, one_bank), (Scope::TwoBanks, two_banks), (Scope::TwoRanks, two_ranks)];
        for from in froms.split(", ") {
            for to in tos.split(", ") {
                cells.extend(scopes.map(|(scope, text)| Cell { from, to, scope, rules: rules(text) }));
            }
        }
    }
    cells
}

fn rules(text: &str) -> Option<BTreeSet<Rule>> {
    let named = |name: &str| Rule::named(name.trim_matches('`')).unwrap_or_else(|| panic!("{name} is no rule"));
    match text {
        "ordinary" => None,
        "none" => Some(BTreeSet::new()),
        _ => Some(text.split(", ").map(named).collect()),
    }
}

/// The power-down that ends with `from` where it is PDX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PowerDown {
    /// Active where `to` needs an open bank in the rank, else precharge power-down; the switch is on slow exit.
    AsNeeded,
    Precharge(PrechargePowerDown),
}

/// The bank of `from`; for a TRANSFER, its source and its destination.
const FROM: [BankId; 2] = [BankId { rank: 0, bank: 0 }, BankId { rank: 0, bank: 1 }];
const FROM_AT: u64 = 10_000;

/// One arrangement of the banks and of the power-down for a cell.
#[derive(Clone, Copy, Debug)]
struct Probe<'a> {
    cell: &'a Cell,
    bin: &'static SpeedBin,
    /// The bank of `to`; for a TRANSFER, its source and its destination.
    to: [BankId; 2],
    to_row: Row,
    power_down: PowerDown,
}

/// The banks that a command uses.
fn banks<'a>(name: &str, banks: &'a [BankId; 2]) -> &'a [BankId] {
    if name == "TRANSFER" { banks } else { &banks[..1] }
}

fn command(name: &str, [bank, dst]: [BankId; 2], row: Row) -> Command {
    let (column, rank) = (Column(0), bank.rank);
    match name {
        "ACT" | "copy ACT" => Command::Activate { bank, row },
        "PRE" => Command::Precharge { bank },
        "PREA" => Command::PrechargeAll { rank },
        "RD" => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
        "RDA" => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
        "WR" => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
        "WRA" => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
        "TRANSFER" => Command::Transfer { src: bank, src_column: column, dst, dst_column: column },
        "REF" => Command::Refresh { rank },
        "PDE" => Command::PowerDownEnter { rank },
        "PDX" => Command::PowerDownExit { rank },
        "SRE" => Command::SelfRefreshEnter { rank },
        "SRX" => Command::SelfRefreshExit { rank },
        _ => panic!("{name} is no command"),
    }
}

/// Every arrangement of a cell: each role of the banks, and each power-down before a PDX.
fn probes<'a>(cell: &'a Cell, bin: &'static SpeedBin) -> impl Iterator<Item = Probe<'a>> {
    let rank = u8::from(cell.scope == Scope::TwoRanks);
    let roles = (0..4).flat_map(|one| (0..4).map(move |other| [one, other])).filter(|[one, other]| match cell.to {
        "TRANSFER" => one != other,
        _ => *other == 0,
    });
    let arranged = roles.map(move |banks| banks.map(|bank| BankId { rank, bank })).filter(|to| {
        let shared = banks(cell.to, to).iter().any(|bank| banks(cell.from, &FROM).contains(bank));
        cell.scope == Scope::TwoRanks || shared == (cell.scope == Scope::OneBank)
    });
    let power_downs = [
        PowerDown::AsNeeded,
        PowerDown::Precharge(PrechargePowerDown::FastExit),
        PowerDown::Precharge(PrechargePowerDown::SlowExit),
    ];
    let power_downs = if cell.from == "PDX" { &power_downs[..] } else { &power_downs[..1] }.to_vec();
    // An ACT goes to another subarray than the open row, so that it is no copy ACT where its bank is open.
    let to_row = Row(if cell.to == "ACT" { 512 } else { 2 });
    arranged.flat_map(move |to| {
        power_downs.clone().into_iter().map(move |power_down| Probe { cell, bin, to, to_row, power_down })
    })
}

impl Probe<'_> {
    /// The commands that put the banks and ranks into the states that `from` and `to` need.
    fn set_up(&self) -> Vec<Command> {
        let Cell { from, to, .. } = *self.cell;
        let mut open: BTreeSet<BankId> = BTreeSet::new();
        if ["copy ACT", "RD", "RDA", "WR", "WRA", "TRANSFER"].contains(&to) {
            open.extend(banks(to, &self.to));
        }
        match from {
            "copy ACT" | "PRE" | "PREA" | "RD" | "RDA" | "WR" | "WRA" | "TRANSFER" => open.extend(banks(from, &FROM)),
            "ACT" => open.retain(|bank| *bank != FROM[0]),
            "PDX" if self.power_down == PowerDown::AsNeeded => {}
            "REF" | "SRE" | "SRX" | "PDX" => open.retain(|bank| bank.rank != 0),
            _ => {}
        }
        let mut commands: Vec<_> = open.into_iter().map(|bank| command("ACT", [bank; 2], Row(0))).collect();
        // An exit needs its entry. In the rank of `from`, that of `from` alone: `to` directly follows it.
        let exit_in_another_rank = (self.cell.scope == Scope::TwoRanks).then_some((to, self.to));
        for (exit, banks) in [(from, FROM)].into_iter().chain(exit_in_another_rank) {
            match exit {
                "PDX" => commands.push(command("PDE", banks, Row(0))),
                "SRX" => commands.push(command("SRE", banks, Row(0))),
                _ => {}
            }
        }
        commands
    }

    /// The violations of `to` at a distance after `from`.
    fn violations(&self, distance: u64) -> Vec<Violation> {
        let precharge_power_down = match self.power_down {
            PowerDown::AsNeeded => PrechargePowerDown::SlowExit,
            PowerDown::Precharge(exit) => exit,
        };
        let system = System { bin: self.bin, precharge_power_down, ..planted::system() };
        let in_jedec = self.cell.rules.as_ref().is_some_and(|rules| rules.contains(&Rule::BankOpen));
        let mut listing: Vec<_> = (0..).step_by(1000).zip(self.set_up()).collect();
        listing.push((FROM_AT, command(self.cell.from, FROM, Row(1))));
        listing.push((FROM_AT + distance, command(self.cell.to, self.to, self.to_row)));
        let mut found = audit(&system, if in_jedec { Dialect::Jedec } else { Dialect::RowClone }, &log(listing));
        if in_jedec {
            // `from` can be a copy ACT or a TRANSFER.
            found.retain(|violation| violation.at.0 > FROM_AT);
        }
        assert!(found.iter().all(|violation| violation.at.0 > FROM_AT), "`from` is legal: {self:?} {found:#?}");
        found
    }

    /// Whether `to` needs an open bank and `from` ends a precharge power-down, in which all banks are closed.
    fn accesses_after_precharge_power_down(&self) -> bool {
        let accesses = ["RD", "RDA", "WR", "WRA", "TRANSFER"];
        self.power_down != PowerDown::AsNeeded && self.cell.scope != Scope::TwoRanks && accesses.contains(&self.cell.to)
    }

    /// Whether a rule of the cell applies to this arrangement.
    fn applies(&self, rule: Rule) -> bool {
        let Cell { from, to, .. } = *self.cell;
        match rule {
            // One clock, as the command bus requires, except at DDR3-2133.
            Rule::TActpden | Rule::TPrpden | Rule::TRefpden => self.bin.name == "2133N",
            Rule::TXpdll => self.power_down == PowerDown::Precharge(PrechargePowerDown::SlowExit),
            Rule::TransferTRtp => to == "PREA" || self.to[0] == FROM[0],
            Rule::TransferTWr => to == "PREA" || self.to[0] == FROM[1],
            Rule::FpmTWr => from != "TRANSFER" || self.to[0] == FROM[1],
            Rule::TransferTurnaround => self.to[0] == FROM[1],
            _ => true,
        }
    }
}

fn broken(violations: &[Violation]) -> BTreeSet<Rule> {
    violations.iter().map(|violation| violation.rule).collect()
}

#[test]
fn the_table_has_every_ordered_pair_once() {
    let first_column = cells().into_iter().filter(|cell| cell.scope == Scope::OneBank);
    let mut listed: Vec<_> = first_column.map(|cell| (cell.from, cell.to)).collect();
    let mut expected: Vec<_> = COMMANDS.into_iter().flat_map(|from| COMMANDS.map(|to| (from, to))).collect();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
}

#[test]
fn every_rule_between_two_commands_is_in_the_table() {
    use Rule::{Address, Bus, BusTransfer, FpmSubarray, Order, PdxRefPde, RefPdxPde, RefWindow, TFaw};
    let others = [
        Bus,
        BusTransfer,
        TFaw,
        RefWindow,
        PdxRefPde,
        RefPdxPde,
        FpmSubarray,
        Address,
        Order,
        Rule::TransferJedec,
        Rule::TransferBanks,
    ];
    let listed: BTreeSet<_> = cells().into_iter().filter_map(|cell| cell.rules).flatten().collect();
    let expected = Rule::ALL.into_iter().filter(|rule| rule.sort() != Sort::Maximum && !others.contains(rule));
    assert_eq!(listed, expected.collect());
}

/// `to` on the first cycle that the command bus allows breaks exactly the rules of the cell that apply to the probe, and
/// each timing rule until its own distance. Each rule of the cell applies to some probe.
#[test]
fn the_checker_reports_the_rules_of_every_cell() {
    for cell in cells() {
        let Some(rules) = &cell.rules else { continue };
        let mut reported = BTreeSet::new();
        for probe in ["1066G", "2133N"].iter().flat_map(|bin| probes(&cell, SpeedBin::named(bin).unwrap())) {
            let found = probe.violations(if cell.from == "TRANSFER" { 2 } else { 1 });
            let mut expected: BTreeSet<_> = rules.iter().copied().filter(|&rule| probe.applies(rule)).collect();
            if probe.accesses_after_precharge_power_down() {
                expected.insert(Rule::BankClosed);
            }
            assert_eq!(broken(&found), expected, "{probe:?}");
            reported.extend(expected);
            for violation in found.iter().filter(|violation| violation.rule.sort() == Sort::Timing) {
                assert_eq!(violation.earlier.map(|from| from.at), Some(Cycle(FROM_AT)), "{violation}");
                let distance = violation.bound.expect("a timing rule has a minimum").0;
                assert!(broken(&probe.violations(distance - 1)).contains(&violation.rule), "{violation}");
                assert!(!broken(&probe.violations(distance)).contains(&violation.rule), "{violation}");
            }
        }
        assert!(reported.is_superset(rules), "{cell:?}");
    }
}

/// An ACT of a row of another subarray breaks `FPM-subarray` where the bank is open: a copy ACT could follow `from`.
#[test]
fn an_ordinary_cell_has_no_copy_activation() {
    for cell in cells().into_iter().filter(|cell| cell.to == "copy ACT" || cell.rules.is_none()) {
        for probe in probes(&cell, planted::system().bin).filter(|probe| probe.power_down == PowerDown::AsNeeded) {
            let found = broken(&Probe { to_row: Row(512), ..probe }.violations(2));
            let awake = !found.contains(&Rule::Asleep);
            assert_eq!(cell.rules.is_some() && awake, found.contains(&Rule::FpmSubarray), "{probe:?}");
            assert!(cell.to == "copy ACT" && (cell.rules.is_some() || awake), "{probe:?}");
        }
    }
}
