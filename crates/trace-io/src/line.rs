//! Lines of bytes, one at a time, in bounded memory.

use std::io::{self, BufRead, Read};

/// The longest line that a reader takes, in bytes and without its end. No format here comes near it.
pub const LINE_BYTES_MAX: usize = 4096;

/// Why the next line could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The input itself failed: a disk, a pipe, or a compressed file that is cut short or damaged.
    #[error("line {line}: the input cannot be read any further: {source}")]
    Read {
        /// The line that was being read, counted from 1.
        line: u64,
        /// What the input said.
        source: io::Error,
    },
    /// A line longer than [`LINE_BYTES_MAX`].
    #[error("line {line}: longer than {LINE_BYTES_MAX} bytes")]
    TooLong {
        /// The line, counted from 1.
        line: u64,
    },
}

impl LineError {
    /// The line that was being read, counted from 1.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Read { line, .. } | Self::TooLong { line } => *line,
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match self {
            // The three kinds that gzip decoding reports.
            Self::Read { source, .. } if matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof) => {
                "the compressed file is cut short or damaged: test it with `gzip -t`, and fetch it again".into()
            }
            Self::Read { .. } => "check the disk or the pipe that the input comes from".into(),
            Self::TooLong { .. } => {
                "this looks like another kind of file: give one of text lines, plain or gzip".into()
            }
        }
    }
}

/// The lines of an input, in one buffer that is used again for each.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Before the first line.
    pub(crate) const fn new(input: R) -> Self {
        Lines { input, buffer: Vec::new(), number: 0 }
    }

    /// Goes to the next line that is not blank. `false`: there is none.
    pub(crate) fn advance(&mut self) -> Result<bool, LineError> {
        loop {
            self.buffer.clear();
            self.number += 1;
            let line = self.number;
            // Two bytes more for the line's end, so that a line of just the limit passes.
            let mut limited = self.input.by_ref().take(LINE_BYTES_MAX as u64 + 2);
            let read = limited.read_until(b'\n', &mut self.buffer);
            if read.map_err(|source| LineError::Read { line, source })? == 0 {
                return Ok(false);
            }
            let text = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
            if text.strip_suffix(b"\r").unwrap_or(text).len() > LINE_BYTES_MAX {
                return Err(LineError::TooLong { line });
            }
            if !self.line().is_empty() {
                return Ok(true);
            }
        }
    }

    /// The current line, without its end and without white space around it.
    pub(crate) fn line(&self) -> &[u8] {
        self.buffer.trim_ascii()
    }

    /// The number of the current line, counted from 1; at the end of the input, one more than it has.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }
}

/// Bytes as an error message shows them: printable, and not longer than a message can bear.
pub(crate) fn shown(found: &[u8]) -> String {
    const MOST: usize = 48;
    let text = String::from_utf8_lossy(&found[..found.len().min(MOST)]);
    let mut shown = String::new();
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    if found.len() > MOST {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_trimmed_and_counted_and_blank_ones_passed_over() {
        let mut lines = Lines::new(&b"one\r\n\n  \t\n two \nlast"[..]);
        for (number, text) in [(1, "one"), (4, "two"), (5, "last")] {
            assert!(lines.advance().unwrap());
            assert_eq!((lines.number(), lines.line()), (number, text.as_bytes()));
        }
        assert!(!lines.advance().unwrap());
    }

    #[test]
    fn a_line_of_the_limit_passes_and_one_byte_more_does_not() {
        for end in ["\n", "\r\n", ""] {
            let just = format!("first\n{}{end}", "x".repeat(LINE_BYTES_MAX));
            let mut lines = Lines::new(just.as_bytes());
            assert!(lines.advance().unwrap() && lines.advance().unwrap());
            assert_eq!((lines.number(), lines.line().len()), (2, LINE_BYTES_MAX));
            assert!(!lines.advance().unwrap());

            let more = format!("first\n{}{end}", "x".repeat(LINE_BYTES_MAX + 1));
            let mut lines = Lines::new(more.as_bytes());
            assert!(lines.advance().unwrap());
            assert_eq!(lines.advance().unwrap_err().to_string(), "line 2: longer than 4096 bytes");
        }
    }

    #[test]
    fn what_a_message_shows_is_short_and_printable() {
        assert_eq!(shown(b"a\tb\xff"), "a\\tb\u{fffd}");
        assert_eq!(shown(&[b'x'; 100]), format!("{}...", "x".repeat(48)));
    }
}
