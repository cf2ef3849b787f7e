//! The checker against the tables "Every ordered pair" and "Pairs in other standards" of `docs/rules.md`: each pair of
//! commands in each column, in each standard.
//!
//! A probe is a log of a set-up, `from`, and `to` at some distance after it. The set-up ends longer before `from` than
//! any minimum, so that only `from` and the state of the banks and ranks can make `to` illegal.

mod common;

use std::collections::BTreeSet;

use common::{log, other_standards, planted};
use dram_spec::{
    AutoPrecharge, BankId, Column, Command, Cycle, Dialect, PrechargePowerDown, Row, SpeedBin, Standard, System,
};
use protocol_check::{Rule, Sort, Violation, audit};

const COMMANDS: [&str; 15] =
    ["ACT", "copy ACT", "PRE", "PREA", "RD", "RDA", "WR", "WRA", "TRANSFER", "RBM", "REF", "PDE", "PDX", "SRE", "SRX"];

/// The column of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    OneBank,
    TwoBanks,
    TwoRanks,
}

/// A pair of commands in one column, and the rules that `to` can break; none where the table says "ordinary".
#[derive(Clone, Debug)]
struct Cell {
    from: &'static str,
    to: &'static str,
    scope: Scope,
    rules: Option<BTreeSet<Rule>>,
    /// The rules that apply where the two commands use one bank group.
    in_group: BTreeSet<Rule>,
}

/// The rows of the tables of a section, without the headings of their columns, as cells of text.
fn rows(section: &str, columns: usize) -> Vec<Vec<&'static str>> {
    let page = include_str!("../../../docs/rules.md");
    let section = page.split("\n## ").find(|text| text.starts_with(section)).expect("the section");
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let is_heading = |row: &Vec<_>| ["from", "pair", "standard"].contains(&row[0]);
    rows.filter(|row| row.len() == columns && !is_heading(row)).collect()
}

/// The cells of DDR3.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for row in rows("Every ordered pair", 6) {
        let [froms, tos, one_bank, two_banks, two_ranks, _] = row[..] else { panic!("{row:?}") };
        let scopes = [(Scope::OneBank, one_bank), (Scope::TwoBanks, two_banks), (Scope::TwoRanks, two_ranks)];
        for from in froms.split(", ") {
            for to in tos.split(", ") {
                cells.extend(scopes.map(|(scope, text)| Cell {
                    from,
                    to,
                    scope,
                    rules: rules(text),
                    in_group: BTreeSet::new(),
                }));
            }
        }
    }
    cells
}

/// A row of the first table of "Pairs in other standards", for one standard.
#[derive(Debug)]
struct Renamed {
    to: Vec<&'static str>,
    in_group: bool,
    ddr3: Rule,
    other: BTreeSet<Rule>,
}

fn renamed(system: &System) -> Vec<Renamed> {
    let standard = system.bin.standard;
    let columns = [Standard::Ddr2, Standard::Ddr4, Standard::Ddr5];
    let column = 3 + columns.iter().position(|of| *of == standard).expect("another standard than DDR3");
    let width = system.geometry.width().to_string();
    let mut found = Vec::new();
    for row in rows("Pairs in other standards", 6).into_iter().filter(|row| ["rank", "bank group"].contains(&row[1])) {
        let to = row[0].split_once(" → ").expect("a pair").1;
        let names: Vec<_> = to.split(", ").filter(|name| !name.starts_with('x')).collect();
        if names.len() < to.split(", ").count() && !to.split(", ").any(|name| name == width) {
            continue;
        }
        let ddr3 = rules(row[2]).expect("rules").into_iter().next().expect("one rule");
        let to = names.into_iter().flat_map(forms).copied().collect();
        let other = rules(row[column]).expect("rules");
        found.push(Renamed { to, in_group: row[1] == "bank group", ddr3, other });
    }
    found
}

/// The commands that a command stands for.
fn forms(name: &'static str) -> &'static [&'static str] {
    match name {
        "ACT" => &["ACT", "copy ACT"],
        "PRE" => &["PRE", "PREA"],
        "RD" => &["RD", "RDA"],
        "WR" => &["WR", "WRA"],
        "REF" => &["REF"],
        "TRANSFER" => &["TRANSFER"],
        "RBM" => &["RBM"],
        "PDE" => &["PDE"],
        "SRE" => &["SRE"],
        "SRX" => &["SRX"],
        _ => panic!("{name}"),
    }
}

/// The cells of another standard than DDR3.
fn cells_of(system: &System) -> Vec<Cell> {
    let (standard, renamed) = (system.bin.standard, renamed(system));
    let mut cells: Vec<_> = cells().into_iter().map(|cell| rename(cell, &renamed)).collect();
    for row in rows("Pairs in other standards", 6).into_iter().filter(|row| row[0] == standard.name()) {
        let [_, froms, tos, one_bank, two_banks, _] = row[..] else { panic!("{row:?}") };
        let scopes = [(Scope::OneBank, one_bank), (Scope::TwoBanks, two_banks), (Scope::TwoRanks, "none")];
        for (from, to) in froms.split(", ").flat_map(|from| tos.split(", ").map(move |to| (from, to))) {
            for (scope, text) in scopes {
                let more = rules(text);
                match cells.iter_mut().find(|cell| (cell.from, cell.to, cell.scope) == (from, to, scope)) {
                    Some(cell) => cell.rules.as_mut().expect("not ordinary").extend(more.expect("not ordinary")),
                    None => cells.push(Cell { from, to, scope, rules: more, in_group: BTreeSet::new() }),
                }
            }
        }
    }
    cells
}

/// A cell of DDR3 in another standard.
fn rename(cell: Cell, renamed: &[Renamed]) -> Cell {
    let Some(ddr3) = cell.rules.clone() else { return cell };
    let (mut rank, mut in_group) = (BTreeSet::new(), BTreeSet::new());
    for rule in ddr3 {
        let rows: Vec<_> = renamed.iter().filter(|row| row.ddr3 == rule && row.to.contains(&cell.to)).collect();
        if rows.is_empty() {
            rank.insert(rule);
        }
        for row in rows {
            if row.in_group { &mut in_group } else { &mut rank }.extend(&row.other);
        }
    }
    Cell { rules: Some(rank), in_group, ..cell }
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
    system: &'a System,
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
        "RBM" => Command::MoveRowBuffer { bank, row },
        "REF" => Command::Refresh { rank },
        "REFsb" => Command::RefreshSameBank { bank },
        "PDE" => Command::PowerDownEnter { rank },
        "PDX" => Command::PowerDownExit { rank },
        "SRE" => Command::SelfRefreshEnter { rank },
        "SRX" => Command::SelfRefreshExit { rank },
        _ => panic!("{name} is no command"),
    }
}

/// Every arrangement of a cell: each role of the banks, and each power-down before a PDX.
fn probes<'a>(cell: &'a Cell, system: &'a System) -> impl Iterator<Item = Probe<'a>> {
    let rank = u8::from(cell.scope == Scope::TwoRanks);
    // With bank groups of four banks: three banks of one group, and two of another.
    let banks_of_to = if has_groups(system) { vec![0, 1, 2, 4, 5] } else { vec![0, 1, 2, 3] };
    let others = banks_of_to.clone();
    let roles = banks_of_to.into_iter().flat_map(move |one| others.clone().into_iter().map(move |other| [one, other]));
    let roles = roles.filter(|[one, other]| match cell.to {
        "TRANSFER" => one != other,
        _ => *other == 0,
    });
    let arranged = roles.map(move |banks| banks.map(|bank| BankId { rank, bank })).filter(|to| {
        let is_same_bank_refresh = [cell.from, cell.to].contains(&"REFsb");
        let number = |bank: &BankId| if is_same_bank_refresh { bank.bank % 4 } else { bank.bank };
        let from: Vec<_> = banks(cell.from, &FROM).iter().map(number).collect();
        let shared = banks(cell.to, to).iter().any(|bank| from.contains(&number(bank)));
        cell.scope == Scope::TwoRanks || shared == (cell.scope == Scope::OneBank)
    });
    let power_downs = [
        PowerDown::AsNeeded,
        PowerDown::Precharge(PrechargePowerDown::FastExit),
        PowerDown::Precharge(PrechargePowerDown::SlowExit),
    ];
    let power_downs = if cell.from == "PDX" { &power_downs[..] } else { &power_downs[..1] }.to_vec();
    // An ACT goes to another subarray than the open row, so that it is no copy ACT where its bank is open; an RBM too.
    let to_row = Row(if ["ACT", "RBM"].contains(&cell.to) { 512 } else { 2 });
    arranged.flat_map(move |to| {
        power_downs.clone().into_iter().map(move |power_down| Probe { cell, system, to, to_row, power_down })
    })
}

fn has_groups(system: &System) -> bool {
    system.geometry.topology().has_groups()
}

impl Probe<'_> {
    /// The commands that put the banks and ranks into the states that `from` and `to` need.
    fn set_up(&self) -> Vec<Command> {
        let Cell { from, to, .. } = *self.cell;
        let mut open: BTreeSet<BankId> = BTreeSet::new();
        if ["copy ACT", "RD", "RDA", "WR", "WRA", "TRANSFER", "RBM"].contains(&to) {
            open.extend(banks(to, &self.to));
        }
        match from {
            "copy ACT" | "PRE" | "PREA" | "RD" | "RDA" | "WR" | "WRA" | "TRANSFER" | "RBM" => {
                open.extend(banks(from, &FROM));
            }
            "ACT" => open.retain(|bank| *bank != FROM[0]),
            "REFsb" => open.retain(|bank| bank.rank != 0 || bank.bank % 4 != FROM[0].bank),
            "PDX" if self.power_down == PowerDown::AsNeeded => {}
            "REF" | "SRE" | "SRX" | "PDX" => open.retain(|bank| bank.rank != 0),
            _ => {}
        }
        // An RBM moves the row buffer to the subarray of row 1.
        let row = |bank| Row(if from == "RBM" && bank == FROM[0] { 1024 } else { 0 });
        let mut commands: Vec<_> = open.into_iter().map(|bank| command("ACT", [bank; 2], row(bank))).collect();
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
        let system = System { precharge_power_down, ..self.system.clone() };
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
        let accesses = ["RD", "RDA", "WR", "WRA", "TRANSFER", "RBM"];
        self.power_down != PowerDown::AsNeeded && self.cell.scope != Scope::TwoRanks && accesses.contains(&self.cell.to)
    }

    /// Whether the two commands use banks of one group.
    fn is_in_group(&self) -> bool {
        self.cell.scope != Scope::TwoRanks && self.to[0].bank / 4 == FROM[0].bank / 4
    }

    /// The rules of the cell that apply to this arrangement; none where the table says "ordinary".
    fn expected(&self) -> Option<BTreeSet<Rule>> {
        let mut rules = self.cell.rules.clone()?;
        if self.is_in_group() {
            rules.extend(&self.cell.in_group);
        }
        rules.retain(|rule| self.applies(*rule));
        if self.accesses_after_precharge_power_down() {
            rules.insert(Rule::BankClosed);
        }
        Some(rules)
    }

    /// The first distance that the command bus allows.
    fn bus_distance(&self) -> u64 {
        let is_wide = ["ACT", "copy ACT", "RD", "RDA", "WR", "WRA"].contains(&self.cell.from);
        if self.cell.from == "TRANSFER" || is_wide && self.system.bin.standard == Standard::Ddr5 { 2 } else { 1 }
    }

    /// Whether a rule of the cell applies to this arrangement.
    fn applies(&self, rule: Rule) -> bool {
        let Cell { from, to, .. } = *self.cell;
        match rule {
            // One clock, as the command bus requires, up to DDR3-1866.
            Rule::TActpden | Rule::TPrpden | Rule::TRefpden => self.system.bin.t_pden.ck > 1,
            Rule::TXards => self.power_down == PowerDown::AsNeeded,
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
        Rule::RbmJedec,
        Rule::TransferBanks,
    ];
    let listed: BTreeSet<_> = cells().into_iter().filter_map(|cell| cell.rules).flatten().collect();
    let ddr3 = Rule::ALL.into_iter().filter(|rule| rule.is_in(Standard::Ddr3));
    let expected = ddr3.filter(|rule| rule.sort() != Sort::Maximum && !others.contains(rule));
    assert_eq!(listed, expected.collect());
}

/// The DDR3 system at two bins.
fn ddr3() -> [System; 2] {
    ["1066G", "2133N"].map(|bin| System { bin: SpeedBin::named(bin).expect("a bin of DDR3"), ..planted::system() })
}

/// `to` on the first cycle that the command bus allows breaks exactly the rules of the cell that apply to the probe,
/// and each timing rule until its own distance. Returns the rules that were broken.
fn check<'a>(probes: impl Iterator<Item = Probe<'a>>) -> BTreeSet<Rule> {
    let mut reported = BTreeSet::new();
    for probe in probes {
        let Some(expected) = probe.expected() else { continue };
        let found = probe.violations(probe.bus_distance());
        assert_eq!(broken(&found), expected, "{probe:?}");
        reported.extend(expected);
        for violation in found.iter().filter(|violation| violation.rule.sort() == Sort::Timing) {
            assert_eq!(violation.earlier.map(|from| from.at), Some(Cycle(FROM_AT)), "{violation}");
            let distance = violation.bound.expect("a timing rule has a minimum").0;
            assert!(broken(&probe.violations(distance - 1)).contains(&violation.rule), "{violation}");
            assert!(!broken(&probe.violations(distance)).contains(&violation.rule), "{violation}");
        }
    }
    reported
}

/// Each rule of a cell applies to some probe.
#[test]
fn the_checker_reports_the_rules_of_every_cell() {
    let systems = ddr3();
    for cell in cells() {
        let reported = check(systems.iter().flat_map(|system| probes(&cell, system)));
        assert!(reported.is_superset(cell.rules.as_ref().unwrap_or(&BTreeSet::new())), "{cell:?}");
    }
}

#[test]
fn the_checker_reports_the_rules_of_every_cell_of_other_standards() {
    for system in other_standards() {
        let mut reported = BTreeSet::new();
        for cell in cells_of(&system) {
            let of_cell = check(probes(&cell, &system));
            let all = cell.rules.iter().flatten().chain(&cell.in_group);
            let mut one_clock = [Rule::TActpden, Rule::TPrpden, Rule::TRefpden].into_iter();
            let never = |rule: &Rule| system.bin.t_pden.ck == 1 && one_clock.any(|other| other == *rule);
            let missing: Vec<_> = all.filter(|rule| !of_cell.contains(rule)).copied().collect();
            assert!(missing.iter().all(never), "{} {cell:?}: {missing:?}", system.bin.name);
            reported.extend(of_cell);
        }
        let is_between_two = |rule: &Rule| !MORE_THAN_TWO_COMMANDS.contains(rule) && rule.sort() == Sort::Timing;
        for rule in Rule::ALL.into_iter().filter(|rule| rule.is_in(system.bin.standard) && is_between_two(rule)) {
            let other_chips = [Rule::TCcdLWr, Rule::TCcdLWr2, Rule::WrWrTWpre].contains(&rule);
            let one_clock =
                [Rule::TActpden, Rule::TPrpden, Rule::TRefpden].contains(&rule) && system.bin.t_pden.ck == 1;
            assert!(reported.contains(&rule) || other_chips || one_clock, "{} {rule}", system.bin.name);
        }
    }
}

/// The timing rules of the command bus, and those of more than two commands.
const MORE_THAN_TWO_COMMANDS: [Rule; 7] =
    [Rule::Bus, Rule::BusTransfer, Rule::BusTwoCycles, Rule::TFaw, Rule::RefWindow, Rule::PdxRefPde, Rule::RefPdxPde];

/// An ACT of a row of another subarray breaks `FPM-subarray` where the bank is open: a copy ACT could follow `from`.
#[test]
fn an_ordinary_cell_has_no_copy_activation() {
    let system = planted::system();
    for cell in cells().into_iter().filter(|cell| cell.to == "copy ACT" || cell.rules.is_none()) {
        for probe in probes(&cell, &system).filter(|probe| probe.power_down == PowerDown::AsNeeded) {
            let found = broken(&Probe { to_row: Row(512), ..probe }.violations(2));
            let awake = !found.contains(&Rule::Asleep);
            let is_elsewhere = found.contains(&Rule::FpmSubarray) || found.contains(&Rule::RbmSubarray);
            assert_eq!(cell.rules.is_some() && awake, is_elsewhere, "{probe:?}");
            assert!(cell.to == "copy ACT" && (cell.rules.is_some() || awake), "{probe:?}");
        }
    }
}
