//! Recordings of programs: instructions, accesses, and events of the system. `docs/recordings.md` specifies the
//! format.

mod block;
mod checker;
mod columns;
mod display;
mod error;
mod event;
#[cfg(unix)]
pub mod executable;
mod metadata;
mod reader;
pub mod request;
mod summary;
mod word;
mod writer;

pub use block::{
    BLOCK_WORDS_MAX, BlockEntries, BlockEntry, CONTENTS_MAX, MAGIC, METADATA_MAX, NUMBER_MAX, VERSION, WordBlock,
};
pub use display::EVENT_NAMES;
pub use event::{Event, FaultKind, MapFlags, OPERANDS_MAX, ObjectAddress, Routine};
pub use metadata::{BlockOrder, Detail, Metadata, Totals};
pub use reader::RecordingReader;
pub use summary::RecordingSummary;
pub use word::{INLINE_MAX, MemoryAccess, Word, WordError};
pub use writer::RecordingWriter;
