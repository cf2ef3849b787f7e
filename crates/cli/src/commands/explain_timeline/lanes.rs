//! A drawing of a few commands: one line per bank, with time from left to right.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dram_spec::{BankId, Channel, Command, CommandEvent, CommandKind, Mark, Operands, RowChange};

use super::{Listed, place};
use rowclone_config::SystemConfig;

/// Columns for the name of a bank, with the space after it.
const NAME_WIDTH: usize = 10;

/// Minimum width of a drawing, in columns.
const WIDTH_MIN: usize = 20;

/// Maximum number of banks of a drawing.
const LANES_MOST: usize = 24;

/// The mark of several commands in one column.
const SEVERAL: Mark = Mark::of_any('*', "several");

/// The mark of the destination bank of a TRANSFER.
const DESTINATION: Mark = Mark::of_open('t', "TRANSFER in");

/// All marks, in the order of the legend.
fn marks() -> Vec<Mark> {
    let destination = |kind| (kind == CommandKind::Transfer).then_some(DESTINATION);
    let of_kinds = CommandKind::ALL.into_iter().flat_map(|kind| [Some(kind.mark()), destination(kind)]);
    let mut marks: Vec<Mark> = of_kinds.flatten().chain([SEVERAL]).collect();
    marks.dedup();
    marks
}

/// A bank of a channel.
type ChannelBank = (Channel, BankId);

/// The mark of a bank in one column, and whether a row is open after it, if the command changes that.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mark: Mark,
    is_open: Option<bool>,
}

/// The columns of each bank in which it receives a command.
#[derive(Default)]
struct Lanes(BTreeMap<ChannelBank, BTreeMap<u64, Cell>>);

impl Lanes {
    fn mark(&mut self, column: u64, bank: ChannelBank, mark: Mark, is_open: Option<bool>) {
        let cells = self.0.entry(bank).or_default();
        let earlier = cells.get(&column);
        let mark = if earlier.is_some() { SEVERAL } else { mark };
        let is_open = is_open.or(earlier.and_then(|cell| cell.is_open));
        cells.insert(column, Cell { mark, is_open });
    }

    /// Marks a command in its banks; a command to a rank, or to a bank of each group, marks those of `several`, the
    /// drawn banks.
    fn push(&mut self, column: u64, event: &CommandEvent, several: &[ChannelBank]) {
        let at = |bank: BankId| (event.channel, bank);
        let mark = event.kind().mark();
        let is_open = match event.command.row_change() {
            RowChange::Opens(_) => Some(true),
            RowChange::Closes | RowChange::Leaves => Some(false),
            RowChange::None => mark.needs_open_row.then_some(true),
        };
        match event.command.operands() {
            Operands::Row(bank, _) | Operands::Line(bank, _) | Operands::Bank(bank) => {
                self.mark(column, at(bank), mark, is_open);
            }
            Operands::Lines((src, _), (dst, _)) => {
                self.mark(column, at(src), mark, is_open);
                self.mark(column, at(dst), DESTINATION, is_open);
            }
            Operands::BankSet(_) | Operands::Rank(_) => {
                for &bank in several {
                    self.mark(column, bank, mark, is_open);
                }
            }
        }
    }

    /// Legend of the letters, in lines of at most `width` columns.
    fn legend(&self, width: usize) -> String {
        let used: BTreeSet<Mark> = self.0.values().flat_map(BTreeMap::values).map(|cell| cell.mark).collect();
        let used = marks().into_iter().filter(|mark| used.contains(mark));
        let names = used.map(|Mark { letter, meaning, .. }| format!("{letter} {meaning}, "));
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
pub(super) fn drawing(system: &SystemConfig, commands: &[Listed], width: usize) -> String {
    let events = || commands.iter().map(|listed| &listed.event);
    let (Some(first), Some(last)) = (events().next(), events().next_back()) else { return String::new() };
    let columns = width.saturating_sub(NAME_WIDTH).max(WIDTH_MIN);
    let clocks = (last.at.since(first.at).0 + 1).div_ceil(columns as u64);
    let column = |event: &CommandEvent| event.at.since(first.at).0 / clocks;
    let used: BTreeSet<ChannelBank> = events().flat_map(banks).collect();
    if used.is_empty() || used.len() > LANES_MOST {
        return String::new();
    }
    let mut lanes = Lanes::default();
    let topology = system.memory.system().geometry.topology();
    for event in events() {
        let receives = |(channel, bank): &&ChannelBank| {
            let is_in_set = match event.command.operands() {
                Operands::BankSet(named) => topology.bank_set(named).contains(topology.index(*bank)),
                _ => bank.rank == event.command.rank(),
            };
            *channel == event.channel && is_in_set
        };
        let several: Vec<ChannelBank> = used.iter().filter(receives).copied().collect();
        lanes.push(column(event), event, &several);
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
fn banks(event: &CommandEvent) -> Vec<ChannelBank> {
    let banks = match event.command.operands() {
        Operands::Lines((src, _), (dst, _)) => vec![src, dst],
        _ => event.command.bank().into_iter().collect(),
    };
    banks.into_iter().map(|bank| (event.channel, bank)).collect()
}

/// One bank, up to a column.
fn line(cells: &BTreeMap<u64, Cell>, end: u64) -> String {
    let mut is_open = cells.values().next().is_some_and(|cell| cell.mark.needs_open_row);
    let mut text = String::new();
    for column in 0..=end {
        match cells.get(&column) {
            Some(cell) => {
                text.push(cell.mark.letter);
                is_open = cell.is_open.unwrap_or(is_open);
            }
            None => text.push(if is_open { '=' } else { '.' }),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use dram_spec::Cycle;

    use super::*;

    #[test]
    fn each_letter_has_one_meaning() {
        let marks = marks();
        for mark in &marks {
            assert_eq!(marks.iter().filter(|other| other.letter == mark.letter).count(), 1, "{mark:?}");
            assert_eq!(marks.iter().filter(|other| other.meaning == mark.meaning).count(), 1, "{mark:?}");
        }
    }

    /// A bank that receives an example of each kind has the mark of the kind, and the legend its meaning.
    #[test]
    fn the_drawing_marks_and_explains_every_kind() {
        for kind in CommandKind::ALL {
            for (command, effect) in kind.examples() {
                let bank = BankId { rank: 0, bank: 0 };
                let (at, channel) = (Cycle(7), Channel(0));
                let event = CommandEvent::new(at, channel, command, effect);
                let mut lanes = Lanes::default();
                lanes.push(0, &event, &[(channel, bank)]);
                let (mark, other) = (kind.mark(), (kind == CommandKind::Transfer).then_some(DESTINATION));
                let letters: Vec<String> = lanes.0.values().map(|cells| line(cells, 0)).collect();
                let expected: Vec<String> =
                    [Some(mark), other].into_iter().flatten().map(|mark| mark.letter.to_string()).collect();
                assert_eq!(letters, expected, "{command}");
                assert!(lanes.legend(80).starts_with(&format!("{} {},", mark.letter, mark.meaning)), "{command}");
            }
        }
    }
}
