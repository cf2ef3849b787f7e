//! Records to lines.

use std::io::{self, Write};

use super::record::{Format, Record, RecordFault};

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The record has no line in this format.
    #[error(transparent)]
    Record(#[from] RecordFault),
    /// The output failed.
    #[error("the trace cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl WriteError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Record(fault) => fault.help(),
            Self::Output(_) => "check that the output exists, may be written to, and has room".into(),
        }
    }
}

/// Writes records, a line each, as plain text; an encoder as `output` compresses it. Not buffered.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    format: Format,
}

impl<W: Write> Writer<W> {
    /// Before the first record.
    pub const fn new(output: W, format: Format) -> Self {
        Writer { output, format }
    }

    /// Writes one record. A reader of this format gives back the same record.
    ///
    /// # Errors
    /// [`WriteError::Record`] where there is no such line, and nothing was written; [`WriteError::Output`].
    pub fn write_record(&mut self, record: &Record) -> Result<(), WriteError> {
        record.check()?;
        match self.format {
            Format::Rc => write_rc(&mut self.output, record),
            Format::Cpu => write_cpu(&mut self.output, record),
        }
    }

    /// The output, with all lines in it.
    pub fn into_inner(self) -> W {
        self.output
    }
}

fn write_rc(output: &mut impl Write, record: &Record) -> Result<(), WriteError> {
    match *record {
        Record::Access { read, writeback, instructions } => {
            let writeback = match writeback.map(|address| address.0) {
                Some(0) => return Err(RecordFault::WritebackOfZero.into()),
                Some(address) => address,
                None => 0,
            };
            writeln!(output, "R {:x} {writeback:x} {instructions}", read.0)?;
        }
        Record::Copy { dst, src, bytes, instructions } => {
            writeln!(output, "C {:x} {:x} {bytes} {instructions}", dst.0, src.0)?;
        }
        Record::Fill { dst, value, bytes, instructions } => {
            writeln!(output, "S {:x} {value} {bytes} {instructions}", dst.0)?;
        }
    }
    Ok(())
}

fn write_cpu(output: &mut impl Write, record: &Record) -> Result<(), WriteError> {
    match *record {
        Record::Access { read, writeback: None, instructions } => writeln!(output, "{instructions} {}", read.0)?,
        Record::Access { read, writeback: Some(writeback), instructions } => {
            writeln!(output, "{instructions} {} {}", read.0, writeback.0)?;
        }
        Record::Copy { .. } | Record::Fill { .. } => return Err(RecordFault::AccessesAlone.into()),
    }
    Ok(())
}
