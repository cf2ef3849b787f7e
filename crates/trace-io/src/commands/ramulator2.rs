//! Lines of the plug-in `CmdTraceRecorder` of Ramulator 2: CSV whose first line names the levels.

use dram_spec::AutoPrecharge::{No, Yes};
use dram_spec::{BankId, BankSet, Channel, Column, Command, Cycle, Issued, Row};

use super::file_rank::FileChannel;
use super::memory::Memory;
use super::trace_line::{TraceField, TraceLine, wrong_shape};
use crate::LineError;
use crate::line::{cells, first_fields, shown};

/// The levels of a memory, of which one without bank groups lacks the third.
const LEVELS: [&str; 6] = ["Channel", "Rank", BANK_GROUP, "Bank", "Row", "Column"];
const BANK_GROUP: &str = "BankGroup";
const COMMANDS: [&str; 13] =
    ["ACT", "PRE", "PREpb", "PREsb", "PREA", "PREab", "RD", "RDA", "WR", "WRA", "REF", "REFab", "REFsb"];

/// Most cells of a line: clock, command, the levels, type and source.
const CELLS_MAX: usize = LEVELS.len() + 4;

/// The levels of a trace.
fn levels_of(memory: Memory) -> impl Iterator<Item = &'static str> {
    LEVELS.into_iter().filter(move |level| memory.has_groups() || *level != BANK_GROUP)
}

/// The error for a first line that does not name the levels of the memory.
pub(super) fn wrong_levels(memory: Memory, what: String) -> LineError {
    let (name, levels) = (memory.standard.name(), levels_of(memory).collect::<Vec<_>>().join(","));
    LineError::new(what, format!("the first line of {name} is `clock,command,{levels},type,source`"))
}

/// Parser of the lines after the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    memory: Memory,
    /// Index of each level among the cells of a line; that of a level which the memory lacks is not used.
    indices: [usize; LEVELS.len()],
    /// Number of cells of a line.
    cells: usize,
    /// Banks with an open row.
    open: BankSet,
}

impl Levels {
    /// Parses the first line.
    pub(super) fn parse(text: &[u8], memory: Memory) -> Result<Levels, LineError> {
        let wrong = |what| Err(wrong_levels(memory, what));
        let cells: Vec<&[u8]> = cells(text).collect();
        let [b"clock", b"command", levels @ .., b"type", b"source"] = &cells[..] else {
            return wrong(format!("is `{}`, but the trace begins with the names of its columns", shown(text)));
        };
        let is_level = |level: &&&[u8]| levels_of(memory).any(|name| name.as_bytes() == **level);
        if let Some(other) = levels.iter().find(|level| !is_level(level)) {
            return wrong(format!("`{}` is no level of {}", shown(other), memory.standard.name()));
        }
        let mut indices = [0; LEVELS.len()];
        for name in levels_of(memory) {
            let mut found = levels.iter().enumerate().filter(|(_, level)| **level == name.as_bytes());
            let index = match (found.next(), found.next()) {
                (Some((index, _)), None) => index + 2,
                (None, _) => return wrong(format!("the level `{name}` is missing")),
                (Some(_), Some(_)) => return wrong(format!("the level `{name}` occurs twice")),
            };
            indices[LEVELS.iter().position(|level| *level == name).expect("it is one of them")] = index;
        }
        Ok(Levels { memory, indices, cells: cells.len(), open: BankSet::EMPTY })
    }

    /// Parses a command.
    pub(super) fn command(&mut self, text: &[u8], file: &mut FileChannel) -> Result<TraceLine, LineError> {
        let (cells, count) = first_fields::<CELLS_MAX>(cells(text));
        if count != self.cells {
            return Err(wrong_shape(text, "as many cells as the first line"));
        }
        let field = |name, index: usize| TraceField { name, text: cells[index] };
        let [channel, rank, group, bank, row, column] = self.indices;
        let at = Cycle(field("clock", 0).number()?);
        let last = self.cells - 1;
        let others = [("type", last - 1), ("source", last)];
        for (name, index) in LEVELS.into_iter().zip(self.indices).chain(others).filter(|(_, index)| *index > 0) {
            field(name, index).unused()?;
        }
        let channel: Channel = file.check(field("Channel", channel).number_or_none()?)?;
        let rank = field("Rank", rank).number()?;
        let memory = self.memory;
        let group = if memory.has_groups() { field(BANK_GROUP, group).number_or_none::<u8>()? } else { Some(0) };
        let in_group = |group: u8| memory.bank(rank, group, field("Bank", bank).number()?);
        let bank = || in_group(group.map_or_else(|| field(BANK_GROUP, self.indices[2]).number(), Ok)?);
        // A command to a bank of each group names no group.
        let bank_of_any = || in_group(group.unwrap_or(0));
        let column = || field("Column", column).number().map(Column);
        let command = match cells[1] {
            b"ACT" => Command::Activate { bank: bank()?, row: Row(field("Row", row).number()?) },
            b"PRE" | b"PREpb" => Command::Precharge { bank: bank()? },
            b"PREsb" => Command::Precharge { bank: self.bank_of_set(bank_of_any()?)? },
            b"PREA" | b"PREab" => Command::PrechargeAll { rank },
            b"RD" => Command::Read { bank: bank()?, column: column()?, auto_precharge: No },
            b"RDA" => Command::Read { bank: bank()?, column: column()?, auto_precharge: Yes },
            b"WR" => Command::Write { bank: bank()?, column: column()?, auto_precharge: No },
            b"WRA" => Command::Write { bank: bank()?, column: column()?, auto_precharge: Yes },
            b"REF" | b"REFab" => Command::Refresh { rank },
            b"REFsb" => Command::RefreshSameBank { bank: self.refreshed(bank_of_any()?)? },
            name => return Ok(TraceLine::unknown(name, &COMMANDS)),
        };
        self.follow(&command);
        Ok(TraceLine::Command(Issued { at, channel, command }))
    }

    /// The bank that a PREsb closes: of its banks, the only one with an open row. Several cannot be closed by one
    /// command here.
    fn bank_of_set(&self, bank: BankId) -> Result<BankId, LineError> {
        let Memory { topology, .. } = self.memory;
        if self.memory.index(bank).is_none() {
            return Ok(bank);
        }
        let open = topology.bank_set(bank).intersection(self.open);
        let mut banks = open.into_iter().map(|index| topology.bank(index));
        match (banks.next(), banks.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => Ok(bank),
            (Some(_), Some(_)) => {
                let open = open.into_iter().count();
                Err(self.memory.lacks(format!("`PREsb` of {open} open banks; a command here closes one or all")))
            }
        }
    }

    /// Follows which banks have an open row.
    fn follow(&mut self, command: &Command) {
        let index = |bank| self.memory.index(bank);
        match *command {
            Command::Activate { bank, .. } => {
                self.open = index(bank).map_or(self.open, |at| self.open.union(BankSet::of(at)));
            }
            Command::Precharge { bank }
            | Command::Read { bank, auto_precharge: Yes, .. }
            | Command::Write { bank, auto_precharge: Yes, .. } => {
                self.open = index(bank).map_or(self.open, |at| self.open.without(BankSet::of(at)));
            }
            Command::PrechargeAll { rank } if rank < self.memory.topology.ranks => {
                self.open = self.open.without(self.memory.topology.rank(rank));
            }
            _ => {}
        }
    }

    /// The bank of a REFsb, in a standard that has them.
    fn refreshed(&self, bank: BankId) -> Result<BankId, LineError> {
        if self.memory.has_same_bank_refresh() {
            return Ok(bank);
        }
        let name = self.memory.standard.name();
        Err(self.memory.lacks(format!("`REFsb`, but {name} refreshes all banks at once")))
    }
}
