//! Reads and writes every trace format, total on any bytes.
//!
//! Whatever the input holds, a reader gives records, or an error that names the line, what was found there and what
//! would work; it never panics, and its memory does not grow with the input. Nothing here opens files: a reader takes
//! what gives bytes, a writer what takes them, and file names are added by whoever opened the file.
//!
//! - [`trace`]: memory traces, with their copies and fills, in the formats of this simulator and of others.
//! - [`command_log`]: the command stream of a simulation, with all that judging it needs.
//! - [`Text`]: plain, gzip or zstd text, told apart by its first bytes.

pub mod command_log;
mod line;
mod number;
mod text;
pub mod trace;
mod zstd;

pub use line::{LINE_BYTES_MAX, LineError};
pub use text::{Compression, Text};
