//! Line reader with bounded memory.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::LineError;

/// Longest line that a reader accepts: 64 KiB without its end. Lines of all formats are far
/// shorter.
pub const LINE_BYTES_MAX: usize = 1 << 16;

/// Maximum number of bytes read ahead: more than the longest line, so that a refill moves few bytes
/// relative to those it reads.
const BUFFER_BYTES: usize = 2 * LINE_BYTES_MAX;

/// Iterator over the lines of an input, each a slice of one buffer.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Bytes read that are not yet part of a line.
    unread: Range<usize>,
    /// End of the last complete line in `unread`.
    whole: usize,
    /// The current line, trimmed.
    line: Range<usize>,
    number: u64,
    /// Bytes read from the input.
    offset: u64,
}

impl<R: Read> Lines<R> {
    /// Creates a reader at the first line.
    pub(crate) fn new(input: R) -> Self {
        // One byte more than is read, for the line feed that the last line may lack.
        Lines { input, buffer: vec![0; BUFFER_BYTES + 1], unread: 0..0, whole: 0, line: 0..0, number: 0, offset: 0 }
    }

    /// Reads more unless a line is [`Self::ahead`]; `false` at the end of the input.
    #[inline]
    pub(crate) fn look_ahead(&mut self) -> Result<bool, LineError> {
        if self.unread.start == self.whole {
            self.fill()?;
        }
        Ok(self.unread.start < self.whole)
    }

    /// The lines read ahead, each ending in a line feed.
    #[inline]
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.unread.start..self.whole]
    }

    /// Takes the first lines read ahead, whose length includes their ends.
    #[inline]
    pub(crate) fn take(&mut self, lines: u64, bytes: usize) {
        self.number += lines;
        self.unread.start += bytes;
    }

    /// Whether the input begins with bytes, after [`Self::look_ahead`] and before a line is taken.
    pub(crate) fn begins_with(&self, bytes: &[u8]) -> bool {
        self.buffer.starts_with(bytes)
    }

    /// The bytes read before a line is taken, and the rest of the input.
    pub(crate) fn into_bytes(mut self) -> (Vec<u8>, R) {
        self.buffer.truncate(self.offset as usize);
        (self.buffer, self.input)
    }

    /// Reads until the buffer contains a complete line, or the input ends.
    #[cold]
    fn fill(&mut self) -> Result<(), LineError> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        self.whole = 0;
        while self.whole == 0 {
            let (start, line) = (self.unread.end, self.number + 1);
            if start == BUFFER_BYTES {
                return Err(too_long(line));
            }
            match self.input.read(&mut self.buffer[start..BUFFER_BYTES]) {
                Ok(0) if start == 0 => break,
                Ok(0) => {
                    self.buffer[start] = b'\n';
                    self.unread.end += 1;
                    self.whole = self.unread.end;
                }
                Ok(read) => {
                    self.unread.end += read;
                    self.offset += read as u64;
                    let end = memrchr(b'\n', &self.buffer[start..self.unread.end]);
                    self.whole = end.map_or(0, |end| start + end + 1);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(LineError::reading(line, self.offset, source)),
            }
        }
        Ok(())
    }

    /// Advances to the next line that is not blank; `false` at the end of the input.
    pub(crate) fn advance(&mut self) -> Result<bool, LineError> {
        loop {
            if !self.look_ahead()? {
                self.line = 0..0;
                return Ok(false);
            }
            let start = self.unread.start;
            let end = memchr(b'\n', self.ahead()).expect("each line ahead has its end");
            self.take(1, end + 1);
            let text = &self.buffer[start..start + end];
            if is_too_long(text) {
                return Err(too_long(self.number));
            }
            let start = start + text.len() - text.trim_ascii_start().len();
            self.line = start..start + text.trim_ascii().len();
            if !self.line.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The current line, without its end and surrounding white space.
    pub(crate) fn line(&self) -> &[u8] {
        &self.buffer[self.line.clone()]
    }

    /// Number of lines taken, which is the number of the current line, counted from 1.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }
}

/// The error of a line longer than [`LINE_BYTES_MAX`].
#[cold]
pub(crate) fn too_long(line: u64) -> LineError {
    let help = "this looks like another kind of file: give one of text lines, plain, gzip or zstd";
    LineError::new(format!("longer than {LINE_BYTES_MAX} bytes"), help).in_line(line)
}

/// Whether a line is longer than [`LINE_BYTES_MAX`] without its end.
#[inline]
pub(crate) fn is_too_long(line: &[u8]) -> bool {
    line.len() > LINE_BYTES_MAX && {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        line.strip_suffix(b"\r").unwrap_or(line).len() > LINE_BYTES_MAX
    }
}

/// Bytes as printable text, truncated for messages.
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

/// The first `N` fields, empty where there are fewer, and the number of all.
pub(crate) fn first_fields<'a, const N: usize>(fields: impl Iterator<Item = &'a [u8]>) -> ([&'a [u8]; N], usize) {
    let (mut array, mut count): ([&[u8]; N], _) = ([b""; N], 0);
    for field in fields {
        if let Some(place) = array.get_mut(count) {
            *place = field;
        }
        count += 1;
    }
    (array, count)
}

/// The cells of a line, which commas separate.
pub(crate) fn cells(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An input that returns at most this number of bytes per read.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(self.1);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn lines_are_trimmed_and_counted_and_blank_ones_skipped() {
        let mut lines = Lines::new(&b"one\r\n\n  \t\n two \nlast"[..]);
        for (number, text) in [(1, "one"), (4, "two"), (5, "last")] {
            assert!(lines.advance().unwrap());
            assert_eq!((lines.number(), lines.line()), (number, text.as_bytes()));
        }
        assert!(!lines.advance().unwrap());
        assert!(!lines.advance().unwrap(), "it stays ended");
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
            assert_eq!(lines.advance().unwrap_err().to_string(), "line 2: longer than 65536 bytes");
        }
    }

    proptest! {
        /// Short and long lines, in pieces of any size, equal those of `split`.
        #[test]
        fn lines_are_those_of_the_text(
            lengths in prop::collection::vec(prop_oneof![0..40_usize, 60_000..LINE_BYTES_MAX], 1..12),
            piece in prop_oneof![1..100_usize, 1000..300_000_usize],
        ) {
            let text: Vec<String> = lengths.iter().map(|&length| "y".repeat(length)).collect();
            let text = text.join("\n");
            let mut lines = Lines::new(Slow(text.as_bytes(), piece));
            for (number, expected) in (1..).zip(text.split('\n')).filter(|(_, line)| !line.is_empty()) {
                prop_assert!(lines.advance().unwrap());
                prop_assert_eq!((lines.number(), lines.line().len()), (number, expected.len()));
            }
            prop_assert!(!lines.advance().unwrap());
        }
    }

    #[test]
    fn what_a_message_shows_is_short_and_printable() {
        assert_eq!(shown(b"a\tb\xff"), "a\\tb\u{fffd}");
        assert_eq!(shown(&[b'x'; 100]), format!("{}...", "x".repeat(48)));
    }
}
