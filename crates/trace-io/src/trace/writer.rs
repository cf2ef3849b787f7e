//! Trace writer.

use std::io::{self, Write};

use super::format::Format;
use super::record::{Record, RecordFault};

/// Reason why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The record is invalid.
    #[error(transparent)]
    Record(#[from] RecordFault),
    /// The format cannot express the record.
    #[error("{what} cannot be written in the format `{}`", format.name)]
    NotInFormat {
        /// Content that the format cannot express.
        what: &'static str,
        /// Format.
        format: &'static Format,
    },
    /// The output failed.
    #[error("the trace cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl WriteError {
    /// Suggested change.
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

/// Writes records as plain text, one line each. The output is not buffered; wrap an encoder to
/// compress it.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    format: &'static Format,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Creates a writer. The format has no header.
    pub const fn new(output: W, format: &'static Format) -> Self {
        Writer { output, format, line: Vec::new() }
    }

    /// Writes one record. A reader of this format returns an equal record.
    ///
    /// # Errors
    /// [`WriteError::Record`] or [`WriteError::NotInFormat`], before any output;
    /// [`WriteError::Output`].
    pub fn write_record(&mut self, record: &Record) -> Result<(), WriteError> {
        record.check()?;
        self.line.clear();
        let format = self.format;
        let not_in_format = |what| WriteError::NotInFormat { what, format };
        let write = format.write.ok_or_else(|| not_in_format("a trace"))?;
        if !format.timing.admits(record.arrival) {
            return Err(not_in_format(record.arrival.what()));
        }
        write(record, &mut self.line).map_err(not_in_format)?;
        self.line.push(b'\n');
        Ok(self.output.write_all(&self.line)?)
    }

    /// Returns the output, which contains all lines.
    pub fn into_inner(self) -> W {
        self.output
    }
}
