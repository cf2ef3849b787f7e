//! Command log writer.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::mem;

use dram_spec::{
    BankId, Channel, Command, CommandEvent, Cycle, Dialect, EventSink, Operands, Refresh, SpeedBin, System,
};

use super::{COLUMNS, header};
use crate::number::push_decimal;

/// Digits of the greatest cycle: the width reserved for `end_cycle`, which is known only at the
/// end.
const END_WIDTH: usize = 20;

/// Writes the command stream as it is issued.
///
/// A sink cannot return errors: the first I/O error is stored, ends the output, and is returned by
/// [`into_result`](Self::into_result). Without [`EventSink::finish`], the log contains `end_cycle =
/// unknown`.
#[derive(Debug)]
pub struct LogWriter<W: Write + Seek> {
    output: io::Result<BufWriter<W>>,
    /// Position of the value of `end_cycle` in the output.
    end_at: u64,
    /// Buffer of the current line.
    line: Vec<u8>,
}

impl<W: Write + Seek> LogWriter<W> {
    /// Writes the header at the output's current position.
    ///
    /// # Errors
    /// Errors of the output; [`io::ErrorKind::InvalidInput`] if the header cannot express the
    /// system: a bin that no [`dram_spec::Standard`] has, or a tREFI below 15 ns or above
    /// 1 s.
    pub fn new(output: W, system: &System, dialect: Dialect) -> io::Result<Self> {
        check(system)?;
        let mut output = BufWriter::new(output);
        let before_end = header::text_before_end(system, dialect);
        let end_at = output.stream_position()? + before_end.len() as u64;
        writeln!(output, "{before_end}{:END_WIDTH$}", header::END_UNKNOWN)?;
        writeln!(output, "{}", COLUMNS.join(","))?;
        Ok(LogWriter { output: Ok(output), end_at, line: Vec::new() })
    }

    /// Writes the line of a command.
    pub fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if self.output.is_err() {
            return;
        }
        let mut line = mem::take(&mut self.line);
        line.clear();
        let fits = push_line(&mut line, at, channel, command);
        self.write(|output| if fits { output.write_all(&line) } else { Err(between_ranks(at, command)) });
        self.line = line;
    }

    /// Returns the output, which contains all lines.
    ///
    /// # Errors
    /// The first error after the header: of the output, or [`io::ErrorKind::InvalidInput`] for a
    /// TRANSFER between ranks, which the format cannot express.
    pub fn into_result(self) -> io::Result<W> {
        self.output?.into_inner().map_err(io::IntoInnerError::into_error)
    }

    /// Writes, unless an error has occurred.
    fn write(&mut self, write: impl FnOnce(&mut BufWriter<W>) -> io::Result<()>) {
        let Ok(output) = &mut self.output else { return };
        if let Err(error) = write(output)
            && let Ok(output) = mem::replace(&mut self.output, Err(error))
        {
            // The buffer is discarded, because dropping it would write its contents.
            let _ = output.into_parts();
        }
    }
}

/// Refuses systems that the reader would not accept.
fn check(system: &System) -> io::Result<()> {
    let wrong = |message: String| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    if SpeedBin::named(system.bin.name) != Some(system.bin) {
        return wrong(format!(
            "a command log names its bin, and `{}` is not a name that readers know",
            system.bin.name
        ));
    }
    match system.refresh {
        Refresh::Every { t_refi_ps } if !header::T_REFI_PS.contains(&t_refi_ps) => {
            let (least, most) = (header::T_REFI_PS.start(), header::T_REFI_PS.end());
            wrong(format!("`t_refi_ps` is {t_refi_ps}, but a command log takes {least} to {most}"))
        }
        Refresh::Every { .. } | Refresh::Off => Ok(()),
    }
}

impl<W: Write + Seek> EventSink for LogWriter<W> {
    fn command(&mut self, event: &CommandEvent) {
        self.push(event.at, event.channel, &event.command);
    }

    fn finish(&mut self, end: Cycle) {
        let end_at = self.end_at;
        self.write(|output| {
            let after = output.stream_position()?;
            output.seek(SeekFrom::Start(end_at))?; // writes out what was buffered first
            write!(output, "{:<END_WIDTH$}", end.0)?;
            output.seek(SeekFrom::Start(after))?;
            Ok(())
        });
    }
}

fn between_ranks(at: Cycle, command: &Command) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("cycle {at}: a TRANSFER between ranks has no line: {command:?}"),
    )
}

/// Appends the line of a command, with its end; `false` if the format cannot express the command.
fn push_line(line: &mut Vec<u8>, at: Cycle, channel: Channel, command: &Command) -> bool {
    push_decimal(line, at.0);
    line.push(b',');
    line.extend_from_slice(command.mnemonic().as_bytes());
    line.push(b',');
    push_decimal(line, u64::from(channel.0));
    line.push(b',');
    push_decimal(line, u64::from(command.rank()));
    match command.operands() {
        Operands::Row(bank, row) => {
            push_bank(line, bank);
            line.push(b',');
            push_decimal(line, u64::from(row.0));
            line.extend_from_slice(b",,,");
        }
        Operands::Bank(bank) | Operands::BankSet(bank) => {
            push_bank(line, bank);
            line.extend_from_slice(b",,,,");
        }
        Operands::Line(bank, column) => {
            push_bank(line, bank);
            line.extend_from_slice(b",,");
            push_decimal(line, u64::from(column.0));
            line.extend_from_slice(b",,");
        }
        Operands::Lines((src, src_column), (dst, dst_column)) => {
            if src.rank != dst.rank {
                return false;
            }
            push_bank(line, src);
            line.extend_from_slice(b",,");
            push_decimal(line, u64::from(src_column.0));
            push_bank(line, dst);
            line.push(b',');
            push_decimal(line, u64::from(dst_column.0));
        }
        Operands::Rank(_) => line.extend_from_slice(b",,,,,"),
    }
    line.push(b'\n');
    true
}

fn push_bank(line: &mut Vec<u8>, bank: BankId) {
    line.push(b',');
    push_decimal(line, u64::from(bank.bank));
}
