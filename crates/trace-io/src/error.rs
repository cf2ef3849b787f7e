//! Error of readers and writers.

use std::borrow::Cow;
use std::io;

/// Reason why an input cannot be read, or a record or command cannot be written, with its place and a suggested change.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct LineError(Box<Content>);

#[derive(Debug)]
struct Content {
    line: u64,
    kind: ErrorKind,
    message: Cow<'static, str>,
    help: Cow<'static, str>,
}

/// Cause of an error, as far as callers distinguish it.
#[derive(Debug)]
pub enum ErrorKind {
    /// The input or output failed: a disk, a pipe, or a compressed file that is truncated or damaged.
    Io(io::Error),
    /// The input has no record of any format of the reader.
    Unrecognized,
    /// The first record matches several formats.
    Ambiguous,
    /// The format cannot express a record or command.
    Unsupported,
    /// Others.
    Other,
}

impl LineError {
    /// An error without place.
    #[cold]
    pub fn new(message: impl Into<Cow<'static, str>>, help: impl Into<Cow<'static, str>>) -> LineError {
        let (message, help) = (message.into(), help.into());
        LineError(Box::new(Content { line: 0, kind: ErrorKind::Other, message, help }))
    }

    /// The error of an input that failed in a line, counted from 1, after a number of bytes of text.
    #[cold]
    pub fn reading(line: u64, offset: u64, source: io::Error) -> LineError {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let help = match source.kind() {
            // The kinds of errors that decompression reports.
            InvalidData | InvalidInput | UnexpectedEof => {
                "the compressed file is cut short or damaged: test it with `gzip -t` or `zstd -t`, and fetch it again"
            }
            _ => "check the disk or the pipe that the input comes from",
        };
        let message = format!("the input cannot be read any further after {offset} bytes of text: {source}");
        LineError::new(message, help).in_line(line).of_kind(ErrorKind::Io(source))
    }

    /// Adds the line, counted from 1, to the message.
    #[cold]
    pub(crate) fn in_line(mut self, line: u64) -> LineError {
        self.0.message = format!("line {line}: {}", self.0.message).into();
        self.at(line)
    }

    /// Adds the byte and the block of a recording to the message; block 0 is the header.
    #[cold]
    pub(crate) fn at_byte(mut self, offset: u64, block: u64) -> LineError {
        let place = if block == 0 { "header".to_owned() } else { format!("block {block}") };
        self.0.message = format!("byte {offset} ({place}): {}", self.0.message).into();
        self.at(block)
    }

    /// Sets the line, or the block of a recording, which the message does not name.
    pub(crate) fn at(mut self, line: u64) -> LineError {
        self.0.line = line;
        self
    }

    /// Sets the kind.
    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> LineError {
        self.0.kind = kind;
        self
    }

    /// Replaces the help.
    pub(crate) fn with_help(mut self, help: impl Into<Cow<'static, str>>) -> LineError {
        self.0.help = help.into();
        self
    }

    /// Line, counted from 1, or block of a recording; 0 without place.
    pub const fn line(&self) -> u64 {
        self.0.line
    }

    /// Cause.
    pub const fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Suggested change.
    pub fn help(&self) -> &str {
        &self.0.help
    }
}

impl From<io::Error> for LineError {
    /// The error of an output.
    fn from(error: io::Error) -> LineError {
        let help = "check that the output may be written to, and has room";
        LineError::new(format!("the output cannot be written: {error}"), help).of_kind(ErrorKind::Io(error))
    }
}
