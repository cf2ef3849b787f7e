//! The earliest cycle of each command after each other, in DDR2, DDR4 and DDR5. The distances in the tables are sums of
//! datasheet counts and do not come from the rule table of the device.

mod ddr2;
mod ddr4;
mod ddr5;
mod table;

use dram_core::Device;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AutoPrecharge, BankId, Column, Command, Cycle, Density, Geometry, RawGeometry, Refresh, Row, SpeedBin, System,
    Width,
};
use table::{Cell, PairScope, Table};

/// Cycle after the set-up of a pair.
const QUIET: Cycle = Cycle(10_000);

/// Commands of the tables. `OUT` and `IN` are a TRANSFER out of and into the bank.
const COMMANDS: [&str; 16] =
    ["ACT", "copy-ACT", "PRE", "PREA", "RD", "RDA", "WR", "WRA", "OUT", "IN", "RBM", "REF", "PDE", "PDX", "SRE", "SRX"];

/// Two ranks of x8 chips on one channel, without refresh.
fn system(bin: &str, density: Density) -> System {
    let bin = SpeedBin::named(bin).expect("a bin");
    let width = Width::X8;
    let raw = RawGeometry {
        standard: bin.standard,
        channels: 1,
        ranks: 2,
        density,
        width,
        row_bytes: native_row_bytes(bin.standard, density, width),
        ..System::paper(1, Density::Gb2, width).geometry.raw()
    };
    System { refresh: Refresh::Off, ..System::new(bin, Geometry::try_from(raw).expect("a geometry")) }
}

/// A command of a pair, with its bank and, for a TRANSFER, the other bank.
#[derive(Clone, Copy, Debug)]
struct End {
    name: &'static str,
    bank: BankId,
    other: BankId,
    row: Row,
}

impl End {
    fn command(self) -> Command {
        let (bank, row, column, rank) = (self.bank, self.row, Column(0), self.bank.rank);
        let transfer = |src, dst| Command::Transfer { src, src_column: column, dst, dst_column: column };
        match self.name {
            "ACT" | "copy-ACT" => Command::Activate { bank, row },
            "PRE" => Command::Precharge { bank },
            "PREA" => Command::PrechargeAll { rank },
            "RD" => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
            "RDA" => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
            "WR" => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
            "WRA" => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
            "OUT" => transfer(bank, self.other),
            "IN" => transfer(self.other, bank),
            "RBM" => Command::MoveRowBuffer { bank, row },
            "REF" => Command::Refresh { rank },
            "REFsb" => Command::RefreshSameBank { bank },
            "PDE" => Command::PowerDownEnter { rank },
            "PDX" => Command::PowerDownExit { rank },
            "SRE" => Command::SelfRefreshEnter { rank },
            "SRX" => Command::SelfRefreshExit { rank },
            other => panic!("no command {other}"),
        }
    }

    /// Banks that must be open for the command, if they can be.
    fn open(self) -> Vec<BankId> {
        match self.name {
            "OUT" | "IN" => vec![self.bank, self.other],
            "copy-ACT" | "RD" | "RDA" | "WR" | "WRA" | "RBM" | "PRE" | "PREA" => vec![self.bank],
            _ => Vec::new(),
        }
    }

    /// Whether a bank must be closed for the command.
    fn closes(self, bank: BankId, banks_per_group: u8) -> bool {
        match self.name {
            "ACT" => bank == self.bank,
            "REF" | "SRE" | "SRX" => bank.rank == self.bank.rank,
            "REFsb" => bank.rank == self.bank.rank && (bank.bank - self.bank.bank).is_multiple_of(banks_per_group),
            _ => false,
        }
    }

    /// The command that enters the state which this command leaves.
    fn entry(self) -> Option<Command> {
        match self.name {
            "PDX" => Some(Command::PowerDownEnter { rank: self.bank.rank }),
            "SRX" => Some(Command::SelfRefreshEnter { rank: self.bank.rank }),
            _ => None,
        }
    }
}

/// The subarray of rows 0 to 511, and that of rows 512 to 1023.
const ROWS: [u32; 2] = [5, 600];

/// The two commands of a pair at a place. With four banks per group, banks 0 and 2 are of one group and bank 5 is of
/// another; the other banks of TRANSFERs are the last two, in a third group.
fn ends(system: &System, from: &'static str, to: &'static str, place: PairScope) -> (End, End) {
    let topology = system.geometry.topology();
    let bank = |bank| BankId { rank: 0, bank };
    let last = topology.banks_per_rank - 1;
    let (to_bank, to_other) = match place {
        PairScope::Bank => (bank(0), bank(last - 1)),
        PairScope::SameNumber => (bank(topology.banks_per_group), bank(last - 1)),
        PairScope::Group => (bank(2), bank(last - 1)),
        PairScope::Rank => (bank(5), bank(last - 1)),
        PairScope::OtherRank => (BankId { rank: 1, bank: 0 }, BankId { rank: 1, bank: last }),
    };
    // An RBM moves the row buffer to the other subarray, in which a copy activation follows.
    let moves = |name| usize::from(name == "RBM");
    let row = |end: usize| Row(ROWS[end] + 1);
    let from_end = End { name: from, bank: bank(0), other: bank(last), row: row(moves(from)) };
    let to_row = if place == PairScope::Bank && from == "RBM" { 1 - moves(to) } else { moves(to) };
    (from_end, End { name: to, bank: to_bank, other: to_other, row: row(to_row) })
}

/// The earliest distance of `to` after `from`, or the state rule that forbids it.
fn measured(system: &System, from: End, to: End) -> Result<u64, String> {
    let banks_per_group = system.geometry.topology().banks_per_group;
    let mut open = from.open();
    open.extend(to.open());
    open.retain(|&bank| !from.closes(bank, banks_per_group));
    open.sort_by_key(|bank| (bank.rank, bank.bank));
    open.dedup();
    let mut commands: Vec<Command> =
        open.into_iter().map(|bank| Command::Activate { bank, row: Row(ROWS[0]) }).collect();
    commands.extend(from.entry());
    commands.extend(to.entry().filter(|_| to.bank.rank != from.bank.rank));
    let mut device = Device::new(system, None);
    for command in &commands {
        let at = device.earliest(command).expect("the set-up is legal").until();
        device.issue(at, command);
    }
    device.issue(QUIET, &from.command());
    device.earliest(&to.command()).map(|hold| hold.until().since(QUIET).0).map_err(|refusal| refusal.to_string())
}

/// Whether a command takes two cycles on the command bus.
fn takes_two_cycles(system: &System, name: &str) -> bool {
    let is_wide = ["ACT", "copy-ACT", "RD", "RDA", "WR", "WRA"].contains(&name);
    ["OUT", "IN"].contains(&name) || is_wide && system.standard().definition().two_cycle_commands
}

/// Compares each cell of a table with the device. `shift` changes a distance by the kinds of the two commands.
fn check(system: &System, table: &Table, shift: impl Fn(u64, &str, &str) -> u64) {
    for (&(from, to), cells) in &table.pairs {
        let has_sets = [from, to].contains(&"REFsb");
        let same_number = has_sets.then_some((PairScope::SameNumber, cells[0]));
        for (place, cell) in PairScope::COLUMNS.into_iter().zip(*cells).chain(same_number) {
            let bus = if takes_two_cycles(system, from) { 2 } else { 1 };
            let expected = match cell {
                Cell::Ordinary => continue,
                Cell::State(name) => Err(name.to_owned()),
                Cell::Bus => Ok(bus),
                Cell::Clocks(clocks) => Ok(shift(clocks, from, to).max(bus)),
            };
            let (first, second) = ends(system, from, to, place);
            assert_eq!(measured(system, first, second), expected, "{} {from} to {to}, {place:?}", system.bin.name);
        }
    }
}

/// Distances as the table has them.
const fn unchanged(clocks: u64, _: &str, _: &str) -> u64 {
    clocks
}
