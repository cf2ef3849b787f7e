//! Command log reader.

use std::io::Read;

use dram_spec::Issued;

use super::{LogHeader, cell, header};
use crate::LineError;
use crate::line::Lines;

/// Iterator over the commands of a log.
///
/// It ends with the input or after the first error. Its memory does not depend on the length of the
/// log. Commands are parsed but not checked: the protocol checker verifies order, timing, and
/// whether the geometry has the rank and row.
#[derive(Debug)]
pub struct LogReader<R> {
    lines: Lines<R>,
    header: LogHeader,
    ended: bool,
}

impl<R: Read> LogReader<R> {
    /// Reads the header. (To read a log that may be compressed, pass a [`Text`](crate::Text).)
    ///
    /// # Errors
    /// If the header cannot be read, or lacks a key, or a value is invalid.
    pub fn new(input: R) -> Result<Self, LineError> {
        let mut lines = Lines::new(input);
        let header = header::read(&mut lines)?;
        Ok(LogReader { lines, header, ended: false })
    }

    /// Header of the log.
    pub const fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Line of the last command returned, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    fn command(&mut self) -> Result<Option<Issued>, LineError> {
        while self.lines.advance()? {
            if !self.lines.line().starts_with(b"#") {
                let command = cell::parse(self.lines.line());
                return command.map(Some).map_err(|error| error.in_line(self.lines.number()));
            }
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for LogReader<R> {
    type Item = Result<Issued, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let command = self.command().transpose();
        self.ended = !matches!(command, Some(Ok(_)));
        command
    }
}

impl<R: Read> std::iter::FusedIterator for LogReader<R> {}
