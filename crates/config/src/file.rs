//! Opening and reading of input files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Maximum size of a TOML file, in bytes.
pub const TOML_BYTES_MAX: u64 = 16 << 20;

/// Opens a regular file. Other kinds are refused before they are opened: a named pipe would block, and a device has no end.
///
/// # Errors
/// The file does not exist, is not readable, or is not regular.
pub fn open(path: &Path) -> io::Result<File> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Adds the file to the message of a reader that gives only the line: `line 5: …` becomes `PATH:5: …`.
pub fn located(path: &Path, message: &str) -> String {
    match message.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((line, what)) => format!("{}:{line}: {what}", path.display()),
        None => format!("{}: {message}", path.display()),
    }
}

/// Reads a TOML file.
///
/// # Errors
/// Those of [`open`]; the file is larger than [`TOML_BYTES_MAX`], or not UTF-8.
pub fn read_toml(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = open(path)?.take(TOML_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > TOML_BYTES_MAX {
        let what = format!("it is larger than {} MiB, the most that a TOML file may be", TOML_BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}
