//! Header and heads of blocks.

use super::error;
use super::event::Event;
use super::word::{MemoryAccess, Word};
use crate::LineError;

/// First bytes of a recording.
pub const MAGIC: [u8; 8] = *b"\x93RCTRACE";
/// Version of the format.
pub const VERSION: u32 = 1;
/// Most bytes of metadata.
pub const METADATA_MAX: u32 = 1 << 16;
/// Most words of a block.
pub const BLOCK_WORDS_MAX: usize = 1 << 16;
/// Most bytes of contents of a block.
pub const CONTENTS_MAX: u32 = 8 << 20;
/// Greatest number of a thread or process, the greatest of Linux.
pub const NUMBER_MAX: u32 = 1 << 22;
/// Bytes of the head of a block.
pub(super) const HEAD_BYTES: usize = 32;

/// What a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Words,
    Contents,
    End,
}

/// Head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub kind: BlockKind,
    pub thread: u32,
    pub process: u32,
    /// Words, or bytes of contents.
    pub count: u32,
    pub instructions: u64,
    /// CRC-32 of the payload.
    pub payload_check: u32,
}

impl Head {
    /// The bytes of the head.
    pub fn bytes(&self) -> [u8; HEAD_BYTES] {
        let kind: u32 = match self.kind {
            BlockKind::Words => 1,
            BlockKind::Contents => 2,
            BlockKind::End => 3,
        };
        let mut bytes = [0; HEAD_BYTES];
        for (field, value) in [kind, self.thread, self.process, self.count].into_iter().enumerate() {
            bytes[4 * field..][..4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[16..24].copy_from_slice(&self.instructions.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_check.to_le_bytes());
        let check = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// The head of bytes, with lengths and numbers within their limits.
    pub fn of(bytes: &[u8; HEAD_BYTES]) -> Result<Head, LineError> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        check("the head", &bytes[..28], number(28))?;
        let [thread, process, count] = [number(4), number(8), number(12)];
        let kind = match number(0) {
            1 => BlockKind::Words,
            2 => BlockKind::Contents,
            3 => BlockKind::End,
            kind => return Err(error::value("the kind of the block", kind, "1, 2 or 3")),
        };
        let instructions = u64::from(number(20)) << 32 | u64::from(number(16));
        match kind {
            BlockKind::Words if count as usize > BLOCK_WORDS_MAX => {
                return Err(wrong_length("the number of words", count));
            }
            BlockKind::Contents if count > CONTENTS_MAX => {
                return Err(wrong_length("the number of bytes of contents", count));
            }
            BlockKind::Contents if instructions != 0 => {
                return Err(error::value("the number of instructions of contents", instructions, "0"));
            }
            BlockKind::End => {
                for (what, found) in [("the thread of the end", thread), ("the process of the end", process)] {
                    if found != 0 {
                        return Err(error::value(what, found, "0"));
                    }
                }
                if count != 0 {
                    return Err(error::value("the count of the end", count, "0"));
                }
            }
            _ => {}
        }
        if kind != BlockKind::End {
            check_numbers(thread, process)?;
        }
        Ok(Head { kind, thread, process, count, instructions, payload_check: number(24) })
    }
}

/// Whether thread and process are within their range.
pub(super) fn check_numbers(thread: u32, process: u32) -> Result<(), LineError> {
    for (what, found) in [("the thread", thread), ("the process", process)] {
        if !(1..=NUMBER_MAX).contains(&found) {
            return Err(wrong_number(what, found));
        }
    }
    Ok(())
}

/// The error for a length beyond its limit.
pub(super) fn wrong_length(what: &str, found: u32) -> LineError {
    let limit = match what {
        "the length of the metadata" => METADATA_MAX,
        "the number of words" => BLOCK_WORDS_MAX as u32,
        _ => CONTENTS_MAX,
    };
    error::value(what, found, &format!("at most {limit}"))
}

/// The error for a thread or process beyond its range.
pub(super) fn wrong_number(what: &str, found: u32) -> LineError {
    error::value(what, found, &format!("from 1 to {NUMBER_MAX}"))
}

/// Whether the CRC-32 of bytes is the stored one.
pub(super) fn check(what: &str, bytes: &[u8], stored: u32) -> Result<(), LineError> {
    let computed = crc32fast::hash(bytes);
    if stored == computed {
        return Ok(());
    }
    let what = format!("the CRC-32 of {what} is {computed:#010x}, but {stored:#010x} is stored");
    Err(LineError::new(what, error::DAMAGED))
}

/// A block of words of a recording, which have been checked, with the contents of their accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordBlock<'a> {
    /// Number of the block, counted from 1.
    pub number: u64,
    /// Thread that executes the words.
    pub thread: u32,
    /// Its process.
    pub process: u32,
    /// Instructions that the words execute.
    pub instructions: u64,
    /// Whether words were left out at the end.
    pub is_cut: bool,
    /// The words.
    pub words: &'a [u64],
    /// Bytes of each access, in the order of the words, if the recording has contents.
    pub contents: Option<&'a [u8]>,
}

impl<'a> WordBlock<'a> {
    /// The longest beginning of the block that executes at most a number of instructions.
    #[must_use]
    pub fn first(self, instructions: u64) -> WordBlock<'a> {
        if self.instructions <= instructions {
            return self;
        }
        let (mut entries, mut executed, mut bytes) = (self.entries(), 0, 0);
        let mut rest = entries.words.len();
        while let Some(entry) = entries.next() {
            let (more, more_bytes) = match entry {
                BlockEntry::Access(access) => (access.instructions.into(), access.bytes() as usize),
                BlockEntry::Instructions(count) => (count, 0),
                BlockEntry::Event(_) => (0, 0),
            };
            if executed + more > instructions {
                break;
            }
            executed += more;
            bytes += more_bytes;
            rest = entries.words.len();
        }
        let words = &self.words[..self.words.len() - rest];
        let contents = self.contents.map(|contents| &contents[..bytes]);
        WordBlock { instructions: executed, is_cut: true, words, contents, ..self }
    }

    /// The decoded words.
    pub const fn entries(&self) -> BlockEntries<'a> {
        BlockEntries { words: self.words }
    }
}

/// One word, or an event with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEntry {
    /// A load or store.
    Access(MemoryAccess),
    /// Instructions without memory access.
    Instructions(u64),
    /// An event.
    Event(Event),
}

/// Iterator over the entries of a block.
#[derive(Clone, Debug)]
pub struct BlockEntries<'a> {
    words: &'a [u64],
}

impl<'a> BlockEntries<'a> {
    /// An iterator over the entries of these words.
    pub const fn new(words: &'a [u64]) -> BlockEntries<'a> {
        BlockEntries { words }
    }

    /// Number of words left.
    pub const fn words_left(&self) -> usize {
        self.words.len()
    }
}

impl BlockEntries<'_> {
    /// The event whose first word was read. Most words are accesses: the loop over them stays small without this code.
    #[inline(never)]
    fn event(&mut self, number: u8, further: u8, first: u64) -> Option<Event> {
        let (operands, rest) = self.words.split_at_checked(further.into())?;
        self.words = rest;
        Event::of(number, first, operands).ok()
    }
}

impl Iterator for BlockEntries<'_> {
    type Item = BlockEntry;

    #[inline]
    fn next(&mut self) -> Option<BlockEntry> {
        let (&bits, rest) = self.words.split_first()?;
        self.words = rest;
        // The words have been checked: they are words, and the events have their operands.
        match Word::from_bits(bits).ok()? {
            Word::Access(access) => Some(BlockEntry::Access(access)),
            Word::Instructions(count) => Some(BlockEntry::Instructions(count)),
            Word::Event { number, further, first } => self.event(number, further, first).map(BlockEntry::Event),
        }
    }
}
