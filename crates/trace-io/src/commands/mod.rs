//! Command traces: the commands on the bus of a memory, in this simulator's format and in those of
//! others.
//!
//! `docs/command-traces.md` has the grammars. A [`CommandFormat`] names what is read and written.
//! [`CommandReader`] reads the traces of other simulators, which name no memory system;
//! [`LogReader`](crate::command_log::LogReader) reads command logs, which do. An [`Exporter`]
//! writes one file per rank, for the tools that take one.

mod drampower;
mod dramsim3;
mod export;
mod file_rank;
mod format;
mod memory;
mod peeked;
mod ramulator2;
mod reader;
mod trace_line;

pub use export::{Exporter, Inexpressible, InexpressibleCommands, ModeRegisters, Target, Unsupported};
pub use file_rank::FileRank;
pub use format::{CommandFormat, FORMATS};
pub use peeked::Peeked;
pub use reader::CommandReader;
