//! Readers and writers of trace and command-log formats.
//!
//! For any input bytes, a reader returns records or an error with the line, what was found and what
//! would be valid. It never panics, and its memory is bounded independently of the input. The crate
//! opens no files except executables: readers take `Read`, writers take `Write`, and the caller adds file names to
//! errors.
//!
//! - [`trace`]: memory traces with copies and fills, in the formats of this simulator and of
//!   others.
//! - [`command_log`]: the command stream of a simulation, with all parameters needed to check
//!   it.
//! - [`commands`]: command traces, in the format of this simulator and of others.
//! - [`program`]: steps of programs, with their requests to the kernel.
//! - [`recording`]: recorded programs, with accesses and events of the system.
//! - [`Text`]: plain, gzip or zstd text, detected by its first bytes.

pub mod command_log;
pub mod commands;
mod error;
mod fields;
mod line;
mod number;
mod number_field;
pub mod program;
pub mod recording;
mod text;
pub mod trace;
mod zstd;

pub use error::{ErrorKind, LineError};
pub use line::LINE_BYTES_MAX;
pub use text::Text;
