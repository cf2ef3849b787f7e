//! Memory traces of a program or a simulator, with one record per line.
//!
//! All formats produce [`Record`]s. A format is one file of this module and one entry of
//! [`FORMATS`]; `docs/formats.md` has the grammars. The [`TraceReader`] detects plain, gzip and zstd
//! text, and the format by the first record and the extension of the file name. It reads recordings of page faults,
//! too.

mod batch;
mod convert;
pub mod copies;
mod dramsim3;
mod dramsys;
mod format;
mod lackey;
mod native;
mod perf;
mod ramulator2_ls;
mod ramulator2_rw;
mod ramulator_dram;
mod ramulatorsharp_cpu;
mod ramulatorsharp_rc;
mod reader;
mod record;
mod recorded_faults;
mod summary;
mod writer;

pub use convert::{ConvertSystem, Converter, place_of};
pub use format::{Addresses, Format, RecordTiming, Recorded};
pub use reader::TraceReader;
pub use record::{AccessKind, Arrival, Event, OsEvent, Record, in_rank};
pub use summary::TraceSummary;
pub use writer::TraceWriter;

pub use crate::recording::FaultKind;

/// All formats. A line matches at most one of them, or both formats of `DRAMSys`.
pub static FORMATS: [&Format; 11] = [
    &native::FORMAT,
    &ramulatorsharp_rc::FORMAT,
    &ramulatorsharp_cpu::FORMAT,
    &ramulator_dram::FORMAT,
    &ramulator2_ls::FORMAT,
    &ramulator2_rw::FORMAT,
    &dramsim3::FORMAT,
    &dramsys::ABSOLUTE,
    &dramsys::RELATIVE,
    &lackey::FORMAT,
    &perf::FORMAT,
];
