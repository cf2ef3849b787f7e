//! A few commands as a drawing: a line a bank, time from left to right.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dram_spec::rows::Activation;
use dram_spec::{AutoPrecharge, BankId, Channel, Command};

use super::explain_timeline::place;
use crate::binding::Bound;
use rowclone_config::SystemConfig;

/// Columns of a bank's name, with the space after it.
const NAME_WIDTH: usize = 10;

/// The narrowest drawing, in columns.
const WIDTH_MIN: usize = 20;

/// More banks than this are not drawn.
const LANES_MOST: usize = 24;

/// Marks of commands with their meanings, in the order of the legend.
const MARKS: [(char, &str); 12] = [
    ('A', "ACT"),
    ('C', "ACT (copy)"),
    ('D', "ACT (dropped)"),
    ('P', "PRE"),
    ('R', "RD"),
    ('W', "WR"),
    ('T', "TRANSFER out"),
    ('t', "TRANSFER in"),
    ('F', "REF"),
    ('Z', "to sleep"),
    ('U', "woken"),
    (SEVERAL, "several"),
];

/// The mark of several commands in one column.
const SEVERAL: char = '*';

/// Marks of commands that only a bank with an open row receives.
const OF_OPEN_ROWS: [char; 7] = ['C', 'D', 'P', 'R', 'W', 'T', 't'];

/// A bank of a channel.
type Lane = (Channel, BankId);

/// The command that a bank receives in one column, and whether a row is open after it, where that changes.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mark: char,
    is_open: Option<bool>,
}

/// The columns of each bank in which it receives a command.
#[derive(Default)]
struct Lanes(BTreeMap<Lane, BTreeMap<u64, Cell>>);

impl Lanes {
    fn mark(&mut self, column: u64, lane: Lane, mark: char, is_open: Option<bool>) {
        let cells = self.0.entry(lane).or_default();
        let earlier = cells.get(&column);
        let mark = if earlier.is_some() { SEVERAL } else { mark };
        let is_open = is_open.or(earlier.and_then(|cell| cell.is_open));
        cells.insert(column, Cell { mark, is_open });
    }

    /// A command, to its bank or its banks; one to a rank goes to each bank of it that is drawn.
    fn push(&mut self, column: u64, bound: &Bound, of_rank: &[Lane]) {
        let at = |bank: BankId| (bound.channel, bank);
        let mut to_rank = |mark, is_open| of_rank.iter().for_each(|&lane| self.mark(column, lane, mark, is_open));
        match bound.command {
            Command::Activate { bank, .. } => {
                let mark = match bound.activation {
                    Some(Activation::Copies { .. }) => 'C',
                    Some(Activation::Dropped { .. }) => 'D',
                    Some(Activation::Opens) | None => 'A',
                };
                self.mark(column, at(bank), mark, Some(true));
            }
            Command::Precharge { bank } => self.mark(column, at(bank), 'P', Some(false)),
            Command::Read { bank, auto_precharge, .. } | Command::Write { bank, auto_precharge, .. } => {
                let mark = if matches!(bound.command, Command::Read { .. }) { 'R' } else { 'W' };
                self.mark(column, at(bank), mark, Some(auto_precharge == AutoPrecharge::No));
            }
            Command::Transfer { src, dst, .. } => {
                self.mark(column, at(src), 'T', Some(true));
                self.mark(column, at(dst), 't', Some(true));
            }
            Command::PrechargeAll { .. } => to_rank('P', Some(false)),
            Command::Refresh { .. } => to_rank('F', None),
            Command::PowerDownEnter { .. } | Command::SelfRefreshEnter { .. } => to_rank('Z', None),
            Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. } => to_rank('U', None),
        }
    }

    /// Legend of the letters, in lines of at most `width` columns.
    fn legend(&self, width: usize) -> String {
        let used: BTreeSet<char> = self.0.values().flat_map(BTreeMap::values).map(|cell| cell.mark).collect();
        let used = MARKS.iter().filter(|(mark, _)| used.contains(mark));
        let names = used.map(|(mark, name)| format!("{mark} {name}, "));
        let mut lines = vec![String::new()];
        for name in names.chain(["= row open".to_owned()]) {
            match lines.last_mut() {
                Some(line) if line.len() + name.trim_end().len() <= width => line.push_str(&name),
                _ => lines.push(name),
            }
        }
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }
}

/// One line per bank of at most `width` columns; empty without banks, or with too many.
pub(super) fn drawing(system: &SystemConfig, bound: &[Bound], width: usize) -> String {
    let (Some(first), Some(last)) = (bound.first(), bound.last()) else { return String::new() };
    let columns = width.saturating_sub(NAME_WIDTH).max(WIDTH_MIN);
    let clocks = (last.at.since(first.at).0 + 1).div_ceil(columns as u64);
    let column = |bound: &Bound| bound.at.since(first.at).0 / clocks;
    let used: BTreeSet<Lane> = bound.iter().flat_map(banks).collect();
    if used.is_empty() || used.len() > LANES_MOST {
        return String::new();
    }
    let mut lanes = Lanes::default();
    for bound in bound {
        let of_rank = |(channel, bank): &&Lane| *channel == bound.channel && bank.rank == bound.command.rank();
        let of_rank: Vec<Lane> = used.iter().filter(of_rank).copied().collect();
        lanes.push(column(bound), bound, &of_rank);
    }
    let scale = if clocks == 1 { "a clock".to_owned() } else { format!("{clocks} clocks") };
    let mut text = format!("\nOne column is {scale}, from cycle {}:\n{}\n\n", first.at, lanes.legend(width));
    for (&(channel, bank), cells) in &lanes.0 {
        let place = place(system, channel, &Command::Precharge { bank });
        let _ = writeln!(text, "{place:<9} {}", line(cells, column(last)));
    }
    text
}

/// The banks that a command names.
fn banks(bound: &Bound) -> Vec<Lane> {
    let banks = match bound.command {
        Command::Transfer { src, dst, .. } => vec![src, dst],
        ref command => crate::binding::bank(command).into_iter().collect(),
    };
    banks.into_iter().map(|bank| (bound.channel, bank)).collect()
}

/// One bank, up to a column.
fn line(cells: &BTreeMap<u64, Cell>, end: u64) -> String {
    let mut is_open = cells.values().next().is_some_and(|cell| OF_OPEN_ROWS.contains(&cell.mark));
    let mut text = String::new();
    for column in 0..=end {
        match cells.get(&column) {
            Some(cell) => {
                text.push(cell.mark);
                is_open = cell.is_open.unwrap_or(is_open);
            }
            None => text.push(if is_open { '=' } else { '.' }),
        }
    }
    text
}
