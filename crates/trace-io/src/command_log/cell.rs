//! Parser of a command's cells.

use dram_spec::{BankId, Channel, Column, Command, Constructor, Cycle, Issued, Row};

use super::{COLUMNS, LogError};
use crate::line::shown;
use crate::number::{Number, decimal};

/// A line, divided at its commas.
struct Cells<'a> {
    cells: [&'a [u8]; COLUMNS.len()],
    line: u64,
}

// Indices of `COLUMNS`.
const CYCLE: usize = 0;
const COMMAND: usize = 1;
const CHANNEL: usize = 2;
const RANK: usize = 3;
const BANK: usize = 4;
const ROW: usize = 5;
const COLUMN: usize = 6;
const DST_BANK: usize = 7;
const DST_COLUMN: usize = 8;

/// Parses the command of a line.
pub(super) fn parse(text: &[u8], line: u64) -> Result<Issued, LogError> {
    let cells = Cells::cut(text, line)?;
    let at = Cycle(cells.number(CYCLE)?);
    let command = cells.command()?;
    let channel = Channel(cells.number(CHANNEL)?);
    Ok(Issued { at, channel, command })
}

impl<'a> Cells<'a> {
    fn cut(text: &'a [u8], line: u64) -> Result<Self, LogError> {
        let mut cells: [&[u8]; COLUMNS.len()] = [b""; COLUMNS.len()];
        let mut found = 0;
        for cell in text.split(|&byte| byte == b',') {
            if let Some(place) = cells.get_mut(found) {
                *place = cell.trim_ascii();
            }
            found += 1;
        }
        if found == cells.len() { Ok(Cells { cells, line }) } else { Err(LogError::CellCount { line, found }) }
    }

    fn command(&self) -> Result<Command, LogError> {
        let Some(constructor) = Command::constructor(self.cells[COMMAND]) else {
            return Err(self.wrong(COMMAND, format!("one of {}", Command::MNEMONICS.join(", "))));
        };
        match constructor {
            Constructor::Row(command) => {
                self.expect_empty(&[COLUMN, DST_BANK, DST_COLUMN])?;
                Ok(command(self.bank(BANK)?, Row(self.number(ROW)?)))
            }
            Constructor::Line(command) => {
                self.expect_empty(&[ROW, DST_BANK, DST_COLUMN])?;
                Ok(command(self.bank(BANK)?, Column(self.number(COLUMN)?)))
            }
            Constructor::Lines(command) => {
                self.expect_empty(&[ROW])?;
                let src = (self.bank(BANK)?, Column(self.number(COLUMN)?));
                Ok(command(src, (self.bank(DST_BANK)?, Column(self.number(DST_COLUMN)?))))
            }
            Constructor::Bank(command) => {
                self.expect_empty(&[ROW, COLUMN, DST_BANK, DST_COLUMN])?;
                Ok(command(self.bank(BANK)?))
            }
            Constructor::Rank(command) => {
                self.expect_empty(&[BANK, ROW, COLUMN, DST_BANK, DST_COLUMN])?;
                Ok(command(self.number(RANK)?))
            }
        }
    }

    /// The bank in a column, in the rank of the line.
    fn bank(&self, column: usize) -> Result<BankId, LogError> {
        Ok(BankId { rank: self.number(RANK)?, bank: self.number(column)? })
    }

    fn number<T: Number>(&self, column: usize) -> Result<T, LogError> {
        let number = decimal(self.cells[column]).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.wrong(column, format!("a whole number from 0 to {}", T::MOST)))
    }

    fn expect_empty(&self, columns: &[usize]) -> Result<(), LogError> {
        match columns.iter().find(|&&column| !self.cells[column].is_empty()) {
            Some(&column) => Err(self.wrong(column, format!("empty for {}", shown(self.cells[COMMAND])))),
            None => Ok(()),
        }
    }

    fn wrong(&self, column: usize, expected: String) -> LogError {
        LogError::Cell { line: self.line, column: COLUMNS[column], found: shown(self.cells[column]), expected }
    }
}
