//! Memory traces of a program or a simulator, with one record per line.
//!
//! All formats produce [`Record`]s. A format is one file of this module and one entry of
//! [`FORMATS`]; `docs/formats.md` has the grammars. The [`Reader`] detects plain, gzip and zstd
//! text, and the format by the first record.

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

/// All formats, in the order in which they are compared with the first record of a trace.
pub static FORMATS: [&Format; 3] = [&native::FORMAT, &ramulatorsharp_rc::FORMAT, &ramulatorsharp_cpu::FORMAT];
