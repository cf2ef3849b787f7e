//! Recordings of programs as inputs.

use std::io::Read;
use std::path::Path;

use rowclone_config::{Failure, file};
use trace_io::Text;
use trace_io::recording::{MAGIC, Reader, RecordingError};

/// Whether a file is a recording, by its first bytes.
///
/// # Errors
/// The file cannot be read.
pub fn is_recording(path: &Path) -> Result<bool, Failure> {
    let reading = |error: std::io::Error| Failure::reading(path, &error);
    let mut start = Vec::new();
    let text = Text::new(file::open(path).map_err(reading)?).map_err(reading)?;
    // A damaged file is reported by its reader.
    let read = text.take(MAGIC.len() as u64).read_to_end(&mut start);
    Ok(read.is_ok() && start == MAGIC)
}

/// Opens a recording.
///
/// # Errors
/// The file cannot be read, or is no recording.
pub fn open(path: &Path) -> Result<Reader<file::Input>, Failure> {
    let input = file::open(path).map_err(|error| Failure::reading(path, &error))?;
    Reader::new(input).map_err(|error| refused(path, &error))
}

/// The error of a reader.
pub fn refused(path: &Path, error: &RecordingError) -> Failure {
    Failure::at(path, error).with_help(error.help())
}
