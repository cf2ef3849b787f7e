//! The trace formats of CMU-SAFARI's `RamulatorSharp`: memory accesses of one program, one record a line.
//!
//! [`Format::Rc`] also holds the copies and fills that the program asked of its kernel; [`Format::Cpu`], the older one,
//! holds accesses alone. Both are text, as a rule compressed; the [`Reader`] tells gzip from plain text by itself.

mod error;
mod reader;
mod record;
mod writer;

pub use error::TraceError;
pub use reader::Reader;
pub use record::{Format, Record, RecordFault};
pub use writer::{WriteError, Writer};
