//! An input whose beginning was read ahead.

use std::io::{self, Cursor, Read};

/// Bytes read ahead, at most.
const HEAD_BYTES: u64 = 1 << 16;

/// An input and its first 64 KiB, which stay to be read.
#[derive(Debug)]
pub struct Peeked<R> {
    head: Cursor<Vec<u8>>,
    rest: R,
    /// Error of the input within the head.
    error: Option<io::Error>,
}

impl<R: Read> Peeked<R> {
    /// Reads ahead. An error of the input is returned when it is reached by `read`.
    pub fn new(mut rest: R) -> Peeked<R> {
        let mut head = Vec::new();
        let error = rest.by_ref().take(HEAD_BYTES).read_to_end(&mut head).err();
        Peeked { head: Cursor::new(head), rest, error }
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        self.head.get_ref()
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.head.read(buffer)? {
            0 if buffer.is_empty() => Ok(0),
            0 => match self.error.take() {
                Some(error) => Err(error),
                None => self.rest.read(buffer),
            },
            read => Ok(read),
        }
    }
}
