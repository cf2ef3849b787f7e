//! Trace writer.

use std::io::Write;

use super::format::Format;
use super::record::Record;
use crate::LineError;

/// Writes records as plain text, one line each. The output is not buffered; wrap an encoder to
/// compress it.
#[derive(Debug)]
pub struct TraceWriter<W> {
    output: W,
    format: &'static Format,
    line: Vec<u8>,
}

impl<W: Write> TraceWriter<W> {
    /// Creates a writer. The format has no header.
    pub const fn new(output: W, format: &'static Format) -> Self {
        TraceWriter { output, format, line: Vec::new() }
    }

    /// Writes one record. A reader of this format returns an equal record.
    ///
    /// # Errors
    /// If the record is invalid, or the output fails. [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if
    /// the format cannot express the
    /// record.
    pub fn write_record(&mut self, record: &Record) -> Result<(), LineError> {
        record.check()?;
        self.line.clear();
        let format = self.format;
        let write = format.write.ok_or_else(|| format.lacks("a trace"))?;
        if !format.timing.admits(record.arrival) {
            return Err(format.lacks(record.arrival.what()));
        }
        write(record, &mut self.line).map_err(|what| format.lacks(what))?;
        self.line.push(b'\n');
        Ok(self.output.write_all(&self.line)?)
    }

    /// Returns the output, which contains all lines.
    pub fn into_inner(self) -> W {
        self.output
    }
}
