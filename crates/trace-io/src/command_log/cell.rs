//! Parser of a command's cells.

use std::fmt::Display;

use dram_spec::{BankId, Channel, Column, Command, Constructor, Cycle, Issued, Row};

use super::COLUMNS;
use crate::LineError;
use crate::line::{cells, first_fields, shown};
use crate::number::decimal_of;

/// A line, divided at its commas.
struct Cells<'a>([&'a [u8]; COLUMNS.len()]);

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
pub(super) fn parse(text: &[u8]) -> Result<Issued, LineError> {
    let cells = Cells::cut(text)?;
    let at = Cycle(cells.number(CYCLE)?);
    let command = cells.command()?;
    let channel = Channel(cells.number(CHANNEL)?);
    Ok(Issued { at, channel, command })
}

impl<'a> Cells<'a> {
    fn cut(text: &'a [u8]) -> Result<Self, LineError> {
        let (cells, found) = first_fields(cells(text));
        if found == COLUMNS.len() {
            return Ok(Cells(cells));
        }
        let names = COLUMNS.join(",");
        let help = format!("give each of `{names}` its cell; those that a command does not use stay empty");
        Err(LineError::new(format!("has {found} cells, but a command has {}", COLUMNS.len()), help))
    }

    fn command(&self) -> Result<Command, LineError> {
        let Some(constructor) = Command::constructor(self.0[COMMAND]) else {
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
    fn bank(&self, column: usize) -> Result<BankId, LineError> {
        Ok(BankId { rank: self.number(RANK)?, bank: self.number(column)? })
    }

    fn number<T: TryFrom<u64>>(&self, column: usize) -> Result<T, LineError> {
        decimal_of(self.0[column]).map_err(|expected| self.wrong(column, expected))
    }

    fn expect_empty(&self, columns: &[usize]) -> Result<(), LineError> {
        match columns.iter().find(|&&column| !self.0[column].is_empty()) {
            Some(&column) => {
                let expected = format!("empty for {}", shown(self.0[COMMAND]));
                Err(self.wrong(column, expected).with_help("empty the cell, or correct the command"))
            }
            None => Ok(()),
        }
    }

    fn wrong(&self, column: usize, expected: impl Display) -> LineError {
        let (name, found) = (COLUMNS[column], shown(self.0[column]));
        let found = if found.is_empty() { "empty".to_owned() } else { format!("`{found}`") };
        LineError::new(
            format!("`{name}` is {found}, but must be {expected}"),
            format!("write {expected} into `{name}`"),
        )
    }
}
