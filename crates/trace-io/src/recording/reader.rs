//! Reader of recordings.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::block::{BlockKind, HEAD_BYTES, Head, MAGIC, METADATA_MAX, VERSION, WordBlock, check, wrong_length};
use super::checker::Checker;
use super::columns::Columns;
use super::error::{self, check_total};
use super::metadata::Metadata;
use super::writer::hexadecimal;
use crate::text::Text;
use crate::{ErrorKind, LineError};

/// Reads a recording, plain or compressed, block by block.
///
/// All blocks are checked, and their totals at the end. Memory is bounded by the limits of the format, whatever
/// lengths the recording claims.
#[derive(Debug)]
pub struct RecordingReader<R: Read> {
    input: Input<R>,
    metadata: Metadata,
    checker: Checker,
    columns: Columns,
    words: Vec<u64>,
    payload: Vec<u8>,
    /// Whether the end was read, or an error returned.
    has_ended: bool,
}

/// The bytes of a recording, with the place of the next one.
#[derive(Debug)]
struct Input<R: Read> {
    text: Text<R>,
    offset: u64,
    block: u64,
    digest: Option<Sha256>,
}

impl<R: Read> Input<R> {
    /// The error of a place of the block.
    fn error(&self, offset: u64, error: LineError) -> LineError {
        error.at_byte(offset, self.block)
    }

    /// Reads bytes, fewer only at the end of the input. Returns their number.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, LineError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.text.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let fault = match error.kind() {
                        io::ErrorKind::UnexpectedEof => error::truncated(),
                        _ => unreadable(error),
                    };
                    return Err(self.error(self.offset + filled as u64, fault));
                }
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }

    /// Fills bytes.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), LineError> {
        if self.read(bytes)? < bytes.len() {
            return Err(self.error(self.offset, error::truncated()));
        }
        if let Some(digest) = &mut self.digest {
            digest.update(bytes);
        }
        Ok(())
    }

    /// The head of the next block.
    fn head(&mut self) -> Result<Head, LineError> {
        self.block += 1;
        let start = self.offset;
        let mut bytes = [0; HEAD_BYTES];
        self.fill(&mut bytes)?;
        Head::of(&bytes).map_err(|fault| self.error(start, fault))
    }

    /// The payload of a block.
    fn payload(&mut self, bytes: usize, stored: u32, payload: &mut Vec<u8>) -> Result<(), LineError> {
        let start = self.offset;
        payload.resize(bytes, 0);
        self.fill(payload)?;
        check("the payload", payload, stored).map_err(|fault| self.error(start, fault))
    }
}

impl<R: Read> RecordingReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If the input is no recording of this version, or damaged.
    pub fn new(input: R) -> Result<Self, LineError> {
        let at = |offset: u64, error: LineError| error.at_byte(offset, 0);
        let text = Text::new(input).map_err(|error| at(0, unreadable(error)))?;
        let mut input = Input { text, offset: 0, block: 0, digest: None };
        let mut bytes = vec![0; 16];
        input.fill(&mut bytes[..8]).map_err(|error| match error.kind() {
            ErrorKind::Other => error.of_kind(ErrorKind::Unrecognized),
            _ => error,
        })?;
        if bytes[..8] != MAGIC {
            let what = "is no recording: it does not begin with 0x93 and RCTRACE";
            let error = LineError::new(what, "give a recording of a program; docs/recordings.md has the format");
            return Err(at(0, error.of_kind(ErrorKind::Unrecognized)));
        }
        input.fill(&mut bytes[8..])?;
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (version, length) = (number(&bytes[8..]), number(&bytes[12..]));
        if version != VERSION {
            let what = format!("the recording has version {version}");
            return Err(at(8, LineError::new(what, format!("record the program again in version {VERSION}"))));
        }
        if length > METADATA_MAX {
            return Err(at(12, wrong_length("the length of the metadata", length)));
        }
        bytes.resize(16 + length as usize, 0);
        input.fill(&mut bytes[16..])?;
        let mut stored = [0; 4];
        input.fill(&mut stored)?;
        check("the header", &bytes, number(&stored)).map_err(|fault| at(0, fault))?;
        let wrong = |reason: String| at(16, error::wrong(format!("the metadata are wrong: {reason}")));
        let metadata: Metadata = serde_json::from_slice(&bytes[16..]).map_err(|error| wrong(error.to_string()))?;
        if !metadata.page_bytes.is_power_of_two() {
            return Err(wrong(format!("`page_bytes` is {}, but must be a power of two", metadata.page_bytes)));
        }
        let (checker, columns) = (Checker::new(&metadata), Columns::default());
        let (words, payload) = (Vec::new(), Vec::new());
        Ok(RecordingReader { input, metadata, checker, columns, words, payload, has_ended: false })
    }

    /// Compares also the digest at the end, which takes some instructions per byte.
    #[must_use]
    pub fn with_digest(mut self) -> Self {
        self.input.digest = Some(Sha256::new());
        self
    }

    /// The metadata.
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Bytes read, uncompressed.
    pub const fn offset(&self) -> u64 {
        self.input.offset
    }

    /// The next block of words; `None` at the end, and after an error.
    ///
    /// # Errors
    /// If the recording is truncated, damaged or inconsistent.
    pub fn next_block(&mut self) -> Result<Option<WordBlock<'_>>, LineError> {
        if self.has_ended {
            return Ok(None);
        }
        self.has_ended = true;
        let start = self.input.offset;
        let head = self.input.head()?;
        match head.kind {
            BlockKind::Contents => return Err(self.input.error(start, error::unexpected_contents())),
            BlockKind::End => return self.end(start, head).map(|()| None),
            BlockKind::Words => {}
        }
        let Head { thread, process, instructions, .. } = head;
        self.input.payload(8 * head.count as usize, head.payload_check, &mut self.payload)?;
        self.columns.words_of(&self.payload, &mut self.words);
        // The first column has 2 bytes per word.
        let of_word = |index: usize| start + HEAD_BYTES as u64 + 2 * index as u64;
        let sums = self.checker.words(thread, process, &self.words);
        let sums = sums.map_err(|(index, fault)| self.input.error(of_word(index), fault))?;
        let what = "the number of instructions of the block";
        check_total(what, instructions, sums.instructions).map_err(|fault| self.input.error(start, fault))?;
        let number = self.input.block;
        let has_contents = self.metadata.contents && sums.bytes > 0;
        if has_contents {
            let start = self.input.offset;
            let head = self.input.head()?;
            if head.kind != BlockKind::Contents || (head.thread, head.process) != (thread, process) {
                return Err(self.input.error(start, error::no_contents()));
            }
            let what = "the number of bytes of contents";
            let size = check_total(what, head.count.into(), sums.bytes.into());
            size.map_err(|fault| self.input.error(start, fault))?;
            self.input.payload(head.count as usize, head.payload_check, &mut self.payload)?;
            self.checker.contents();
        }
        self.has_ended = false;
        let contents = if has_contents { &self.payload[..] } else { &[] };
        let contents = self.metadata.contents.then_some(contents);
        Ok(Some(WordBlock { number, thread, process, instructions, is_cut: false, words: &self.words, contents }))
    }

    /// Compares the totals, and reads the end of the input.
    fn end(&mut self, start: u64, head: Head) -> Result<(), LineError> {
        let totals = self.checker.totals();
        let at_end = |error: LineError| error.at_byte(start, self.input.block);
        check("the payload", &[], head.payload_check).map_err(at_end)?;
        check_total("the total of `instructions`", head.instructions, totals.instructions).map_err(at_end)?;
        if let Some((what, stored, computed)) = self.metadata.totals.difference(&totals) {
            check_total(&what, stored, computed).map_err(at_end)?;
        }
        if let Some(digest) = self.input.digest.take() {
            let computed = hexadecimal(digest);
            if computed != self.metadata.digest {
                let stored = &self.metadata.digest;
                let what = format!("the SHA-256 of the blocks is {computed}, but {stored} is stored");
                return Err(at_end(LineError::new(what, error::DAMAGED)));
            }
        }
        if self.input.read(&mut [0])? == 0 {
            return Ok(());
        }
        let tail = LineError::new("bytes follow the end of the recording", error::DAMAGED);
        Err(self.input.error(self.input.offset - 1, tail))
    }
}

/// The error of an input that failed.
fn unreadable(error: io::Error) -> LineError {
    LineError::new(format!("cannot be read: {error}"), error::DAMAGED).of_kind(ErrorKind::Io(error))
}
