//! Memory traces: what a program or a simulator asked of the memory, one record per line.
//!
//! All formats give the same [`Record`]. A format is one file here and one entry of [`FORMATS`]; `docs/formats.md` has the
//! grammars. The [`Reader`] tells plain, gzip and zstd text apart by itself, and recognises the format by the first record.

mod error;
mod fields;
mod format;
mod native;
mod ramulatorsharp_cpu;
mod ramulatorsharp_rc;
mod reader;
mod record;
mod writer;

pub use error::{Fault, TraceError};
pub use format::{Format, Timing};
pub use reader::Reader;
pub use record::{Arrival, Event, Record, RecordFault};
pub use writer::{WriteError, Writer};

/// Every format, in the order in which they are tried on the first record of a trace.
pub static FORMATS: [&Format; 3] = [&native::FORMAT, &ramulatorsharp_rc::FORMAT, &ramulatorsharp_cpu::FORMAT];
