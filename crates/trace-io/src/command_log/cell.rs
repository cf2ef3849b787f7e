//! Parser of a command's cells.

use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, Cycle, Issued, Row};

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
        use AutoPrecharge::{No, Yes};
        match self.cells[COMMAND] {
            b"ACT" => self.of_row(|bank, row| Command::Activate { bank, row }),
            b"RBM" => self.of_row(|bank, row| Command::MoveRowBuffer { bank, row }),
            b"PRE" => {
                self.expect_empty(&[ROW, COLUMN, DST_BANK, DST_COLUMN])?;
                Ok(Command::Precharge { bank: self.bank(BANK)? })
            }
            b"RD" => self.access(|bank, column| Command::Read { bank, column, auto_precharge: No }),
            b"RDA" => self.access(|bank, column| Command::Read { bank, column, auto_precharge: Yes }),
            b"WR" => self.access(|bank, column| Command::Write { bank, column, auto_precharge: No }),
            b"WRA" => self.access(|bank, column| Command::Write { bank, column, auto_precharge: Yes }),
            b"TRANSFER" => {
                self.expect_empty(&[ROW])?;
                Ok(Command::Transfer {
                    src: self.bank(BANK)?,
                    src_column: Column(self.number(COLUMN)?),
                    dst: self.bank(DST_BANK)?,
                    dst_column: Column(self.number(DST_COLUMN)?),
                })
            }
            b"PREA" => self.rank_wide(|rank| Command::PrechargeAll { rank }),
            b"REF" => self.rank_wide(|rank| Command::Refresh { rank }),
            b"REFsb" => {
                self.expect_empty(&[ROW, COLUMN, DST_BANK, DST_COLUMN])?;
                Ok(Command::RefreshSameBank { bank: self.bank(BANK)? })
            }
            b"PDE" => self.rank_wide(|rank| Command::PowerDownEnter { rank }),
            b"PDX" => self.rank_wide(|rank| Command::PowerDownExit { rank }),
            b"SRE" => self.rank_wide(|rank| Command::SelfRefreshEnter { rank }),
            b"SRX" => self.rank_wide(|rank| Command::SelfRefreshExit { rank }),
            _ => Err(self.wrong(COMMAND, format!("one of {}", Command::MNEMONICS.join(", ")))),
        }
    }

    fn of_row(&self, command: impl FnOnce(BankId, Row) -> Command) -> Result<Command, LogError> {
        self.expect_empty(&[COLUMN, DST_BANK, DST_COLUMN])?;
        Ok(command(self.bank(BANK)?, Row(self.number(ROW)?)))
    }

    fn access(&self, command: impl FnOnce(BankId, Column) -> Command) -> Result<Command, LogError> {
        self.expect_empty(&[ROW, DST_BANK, DST_COLUMN])?;
        Ok(command(self.bank(BANK)?, Column(self.number(COLUMN)?)))
    }

    fn rank_wide(&self, command: impl FnOnce(u8) -> Command) -> Result<Command, LogError> {
        self.expect_empty(&[BANK, ROW, COLUMN, DST_BANK, DST_COLUMN])?;
        Ok(command(self.number(RANK)?))
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
