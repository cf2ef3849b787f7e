//! Records to lines.

use std::io::{self, Write};

use super::format::Format;
use super::record::{Record, RecordFault};

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The record makes no sense.
    #[error(transparent)]
    Record(#[from] RecordFault),
    /// The format has no line for the record.
    #[error("{what} cannot be written in the format `{}`", format.name)]
    NotInFormat {
        /// What of the record has no place.
        what: &'static str,
        /// The format.
        format: &'static Format,
    },
    /// The output failed.
    #[error("the trace cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl WriteError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Record(fault) => fault.help(),
            Self::NotInFormat { .. } => {
                "write the trace in another format: docs/formats.md says what each can express".into()
            }
            Self::Output(_) => "check that the output exists, may be written to, and has room".into(),
        }
    }
}

/// Writes records, a line each, as plain text; an encoder as `output` compresses it. Not buffered.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    format: &'static Format,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Before the first record.
    pub const fn new(output: W, format: &'static Format) -> Self {
        Writer { output, format, line: Vec::new() }
    }

    /// Writes one record. A reader of this format gives back the same record.
    ///
    /// # Errors
    /// [`WriteError::Record`] or [`WriteError::NotInFormat`], and nothing was written; [`WriteError::Output`].
    pub fn write_record(&mut self, record: &Record) -> Result<(), WriteError> {
        record.check()?;
        self.line.clear();
        let format = self.format;
        (format.write)(record, &mut self.line).map_err(|what| WriteError::NotInFormat { what, format })?;
        self.line.push(b'\n');
        Ok(self.output.write_all(&self.line)?)
    }

    /// The output, with all lines in it.
    pub fn into_inner(self) -> W {
        self.output
    }
}
