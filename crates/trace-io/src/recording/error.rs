//! Errors of recordings.

use std::io;

use super::block::{BLOCK_WORDS_MAX, CONTENTS_MAX, METADATA_MAX, NUMBER_MAX, VERSION};
use super::event::EventError;
use super::word::WordError;

/// Reason why a recording cannot be read, with its place.
#[derive(Debug, thiserror::Error)]
#[error("byte {offset}{}: {fault}", block_of(*.block))]
pub struct RecordingError {
    /// Offset, uncompressed.
    pub offset: u64,
    /// Number of the block, counted from 1; 0 in the header.
    pub block: u64,
    /// Reason.
    pub fault: RecordingFault,
}

fn block_of(block: u64) -> String {
    if block == 0 { " (header)".into() } else { format!(" (block {block})") }
}

impl RecordingError {
    /// Suggested change.
    pub fn help(&self) -> String {
        self.fault.help()
    }
}

/// Reason why bytes are no recording, or words no block of one.
#[derive(Debug, thiserror::Error)]
pub enum RecordingFault {
    /// The input failed, or its compression is damaged.
    #[error("cannot be read: {0}")]
    Input(#[from] io::Error),
    /// The file ends early.
    #[error("the recording is truncated")]
    Truncated,
    /// Another kind of file.
    #[error("is no recording: it does not begin with 0x93 and RCTRACE")]
    Magic,
    /// A version that this program does not read.
    #[error("the recording has version {found}")]
    Version {
        /// The version.
        found: u32,
    },
    /// A number is beyond its range.
    #[error("{what} is {found}, but must be {expected}")]
    Value {
        /// What the number is.
        what: &'static str,
        /// The number.
        found: u64,
        /// Valid numbers.
        expected: String,
    },
    /// Bytes were changed.
    #[error("the CRC-32 of {what} is {computed:#010x}, but {stored:#010x} is stored")]
    Check {
        /// What the CRC is of.
        what: &'static str,
        /// Stored.
        stored: u32,
        /// Of the bytes.
        computed: u32,
    },
    /// The metadata are not those of the page.
    #[error("the metadata are wrong: {0}")]
    Metadata(String),
    /// A word is wrong.
    #[error(transparent)]
    Word(#[from] WordError),
    /// An event is wrong.
    #[error(transparent)]
    Event(#[from] EventError),
    /// An event has operands in the next block.
    #[error("the block ends within an event")]
    SplitEvent,
    /// An access to bytes beyond the last address.
    #[error("the access goes beyond the last address, 2^64 - 1")]
    PastTheEnd,
    /// An access in a recording of page faults.
    #[error("an access is in a recording whose `detail` is `faults`")]
    AccessAmongFaults,
    /// Words of a process that has not begun, or has ended.
    #[error("process {process} has words, but has {}", if *.ended { "ended" } else { "not begun" })]
    NotRunning {
        /// The process.
        process: u32,
        /// Whether it has ended.
        ended: bool,
    },
    /// A process begins again.
    #[error("process {process} begins a second time")]
    BeginsTwice {
        /// The process.
        process: u32,
    },
    /// A routine is called within a routine.
    #[error("a `call` follows a `call` without `return`")]
    NestedCall,
    /// A routine returns that was not called.
    #[error("a `return` has no `call`")]
    ReturnWithoutCall,
    /// A total is wrong.
    #[error("{what} is {stored}, but the words have {computed}")]
    Total {
        /// What is counted.
        what: &'static str,
        /// Stored.
        stored: u64,
        /// Of the words.
        computed: u64,
    },
    /// Contents are missing.
    #[error("a block of contents must follow a block of accesses, as the metadata have `contents`")]
    NoContents,
    /// Contents where there are none.
    #[error("a block of contents does not follow a block of accesses, or the metadata have no `contents`")]
    UnexpectedContents,
    /// The digest is wrong.
    #[error("the SHA-256 of the blocks is {computed}, but {stored} is stored")]
    Digest {
        /// Stored.
        stored: String,
        /// Of the blocks.
        computed: String,
    },
    /// Bytes follow the end.
    #[error("bytes follow the end of the recording")]
    Tail,
}

impl RecordingFault {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Input(_) | Self::Truncated | Self::Check { .. } | Self::Digest { .. } | Self::Tail => {
                "record the program again, or copy the file again: its bytes are not those that were written".into()
            }
            Self::Magic => "give a recording of a program; docs/recordings.md has the format".into(),
            Self::Version { .. } => format!("record the program again in version {VERSION}"),
            Self::NotRunning { .. } | Self::BeginsTwice { .. } => {
                "begin each process once, by `create` or `fork`, before its words; docs/recordings.md says how".into()
            }
            Self::NestedCall | Self::ReturnWithoutCall => {
                "write the words of the outer routine only, one `return` after each `call` of a thread".into()
            }
            Self::NoContents | Self::UnexpectedContents => {
                "write contents after each block that has accesses, or none at all".into()
            }
            _ => "correct the recorder; docs/recordings.md has the format and the range of each number".into(),
        }
    }

    /// A number beyond its range.
    pub(super) fn value(what: &'static str, found: impl Into<u64>, expected: impl Into<String>) -> RecordingFault {
        RecordingFault::Value { what, found: found.into(), expected: expected.into() }
    }

    /// A length beyond its limit.
    pub(super) fn length(what: &'static str, found: u32) -> RecordingFault {
        let limit = match what {
            "the length of the metadata" => METADATA_MAX,
            "the number of words" => BLOCK_WORDS_MAX as u32,
            _ => CONTENTS_MAX,
        };
        RecordingFault::value(what, found, format!("at most {limit}"))
    }

    /// A thread or process beyond its range.
    pub(super) fn number(what: &'static str, found: u32) -> RecordingFault {
        RecordingFault::value(what, found, format!("from 1 to {NUMBER_MAX}"))
    }
}
