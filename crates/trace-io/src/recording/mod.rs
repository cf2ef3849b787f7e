//! Recordings of programs: instructions, accesses, and events of the system. `docs/recordings.md` specifies the
//! format.

mod event;
#[cfg(unix)]
pub mod executable;
pub mod request;
mod word;

pub use event::{Event, EventError, FaultKind, MapFlags, OPERANDS_MAX, ObjectAddress, Routine};
pub use word::{Access, INLINE_MAX, Word, WordError};
