//! Tables of distances as text: a row has one or more earlier commands, one or more later ones, and a cell per column.

use std::collections::BTreeMap;

/// The bank of the later command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairScope {
    /// That of the earlier command.
    Bank,
    /// The bank with the same number in another group: for pairs with REFsb, as [`PairScope::Bank`].
    SameNumber,
    /// Another bank of its group.
    Group,
    /// A bank of another group, with another number.
    Rank,
    /// A bank of another rank.
    OtherRank,
}

impl PairScope {
    /// The columns of a table.
    pub const COLUMNS: [PairScope; 4] = [PairScope::Bank, PairScope::Group, PairScope::Rank, PairScope::OtherRank];
}

/// A cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `.`: the length of the command on the command bus.
    Bus,
    /// `=`: an ACT to an open bank, or a copy activation of a closed bank, which are another pair.
    Ordinary,
    /// A distance in clocks.
    Clocks(u64),
    /// The name of a state rule.
    State(&'static str),
}

/// The cells of each pair, in the order of [`PairScope::COLUMNS`].
pub struct Table {
    pub pairs: BTreeMap<(&'static str, &'static str), [Cell; 4]>,
}

impl Table {
    /// Parses a table. `<` repeats the cell before it; `names` are distances that differ between systems.
    pub fn parse(text: &'static str, names: &[(&str, u64)]) -> Table {
        let mut pairs = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let columns: Vec<&'static str> = line.split('|').map(str::trim).collect();
            let [from, to, cells @ ..] = &columns[..] else { panic!("{line}") };
            let mut last = Cell::Bus;
            let parsed = cells[..4].iter().map(|cell| {
                last = if *cell == "<" { last } else { parse_cell(cell, names) };
                last
            });
            let cells: Vec<Cell> = parsed.collect();
            for from in from.split_whitespace() {
                for to in to.split_whitespace() {
                    let cells: [Cell; 4] = cells[..].try_into().expect("four cells");
                    assert!(pairs.insert((from, to), cells).is_none(), "{from} to {to} is listed twice");
                }
            }
        }
        Table { pairs }
    }

    /// Asserts that each pair of these commands is listed.
    pub fn assert_complete(&self, commands: &[&str]) {
        for from in commands {
            for to in commands {
                assert!(self.pairs.contains_key(&(*from, *to)), "{from} to {to} is not in the table");
            }
        }
        assert_eq!(self.pairs.len(), commands.len() * commands.len());
    }
}

fn parse_cell(cell: &'static str, names: &[(&str, u64)]) -> Cell {
    if let Some(&(_, clocks)) = names.iter().find(|(name, _)| *name == cell) {
        return Cell::Clocks(clocks);
    }
    match cell {
        "." => Cell::Bus,
        "=" => Cell::Ordinary,
        _ => cell.parse().map_or(Cell::State(cell), Cell::Clocks),
    }
}
