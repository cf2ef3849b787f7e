//! Lines of the plug-in `CmdTraceRecorder` of Ramulator 2: CSV whose first line names the levels.

use dram_spec::AutoPrecharge::{No, Yes};
use dram_spec::{BankId, Channel, Column, Command, Cycle, Issued, Row};

use super::TraceError;
use super::field::{Field, unknown_command};
use super::reader::{FileChannel, Line};
use crate::line::shown;

const LEVELS: [&str; 5] = ["Channel", "Rank", "Bank", "Row", "Column"];
const COMMANDS: [&str; 12] =
    ["ACT", "PRE", "PREpb", "PREsb", "PREA", "PREab", "RD", "RDA", "WR", "WRA", "REF", "REFab"];

/// The index of each level among the cells of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels([usize; LEVELS.len()]);

/// Cells of a line: clock, command, the levels, type and source.
const CELLS: usize = LEVELS.len() + 4;

fn cut(text: &[u8]) -> Option<[&[u8]; CELLS]> {
    super::field::exactly(text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii))
}

impl Levels {
    /// Parses the first line.
    pub(super) fn parse(text: &[u8], line: u64) -> Result<Levels, TraceError> {
        let wrong = |what| Err(TraceError::Header { line, what });
        let cells: Vec<&[u8]> = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        let [b"clock", b"command", levels @ .., b"type", b"source"] = &cells[..] else {
            return wrong(format!("is `{}`, but the trace begins with the names of its columns", shown(text)));
        };
        if let Some(other) = levels.iter().find(|level| !LEVELS.iter().any(|name| name.as_bytes() == **level)) {
            return wrong(format!("`{}` is no level of DDR3", shown(other)));
        }
        let mut indices = [0; LEVELS.len()];
        for (index, name) in indices.iter_mut().zip(LEVELS) {
            let mut found = levels.iter().enumerate().filter(|(_, level)| **level == name.as_bytes());
            *index = match (found.next(), found.next()) {
                (Some((index, _)), None) => index + 2,
                (None, _) => return wrong(format!("the level `{name}` is missing")),
                (Some(_), Some(_)) => return wrong(format!("the level `{name}` occurs twice")),
            };
        }
        Ok(Levels(indices))
    }

    /// Parses a command.
    pub(super) fn command(self, text: &[u8], line: u64, file: &mut FileChannel) -> Result<Line, TraceError> {
        let shape = || TraceError::Shape { line, found: shown(text), expected: "as many cells as the first line" };
        let cells = cut(text).ok_or_else(shape)?;
        let field = |name, index: usize| Field { name, text: cells[index], line };
        let Levels([channel, rank, bank, row, column]) = self;
        let at = Cycle(field("clock", 0).number()?);
        let levels = [channel, rank, bank, row, column].into_iter().zip(LEVELS);
        for (index, name) in levels.chain([(CELLS - 2, "type"), (CELLS - 1, "source")]) {
            field(name, index).unused()?;
        }
        let channel: Channel = file.check(field("Channel", channel).number_or_none()?, line)?;
        let rank = field("Rank", rank).number()?;
        let bank = || field("Bank", bank).number().map(|bank| BankId { rank, bank });
        let column = || field("Column", column).number().map(Column);
        let command = match cells[1] {
            b"ACT" => Command::Activate { bank: bank()?, row: Row(field("Row", row).number()?) },
            b"PRE" | b"PREpb" | b"PREsb" => Command::Precharge { bank: bank()? },
            b"PREA" | b"PREab" => Command::PrechargeAll { rank },
            b"RD" => Command::Read { bank: bank()?, column: column()?, auto_precharge: No },
            b"RDA" => Command::Read { bank: bank()?, column: column()?, auto_precharge: Yes },
            b"WR" => Command::Write { bank: bank()?, column: column()?, auto_precharge: No },
            b"WRA" => Command::Write { bank: bank()?, column: column()?, auto_precharge: Yes },
            b"REF" | b"REFab" => Command::Refresh { rank },
            name => return Err(unknown_command(line, name, &COMMANDS)),
        };
        Ok(Line::Command(Issued { at, channel, command }))
    }
}
