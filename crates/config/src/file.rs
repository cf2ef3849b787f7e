//! Files that are read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The largest TOML file that is read.
pub const TOML_BYTES_MAX: u64 = 16 << 20;

/// Opens a regular file. Anything else is refused before it is opened: to open a named pipe would block, and a device never ends.
///
/// # Errors
/// It is not there, not readable, or no regular file.
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

/// The message of a reader, which knows the line and not the file: `line 5: …` becomes `PATH:5: …`.
pub fn located(path: &Path, message: &str) -> String {
    match message.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
        Some((line, what)) => format!("{}:{line}: {what}", path.display()),
        None => format!("{}: {message}", path.display()),
    }
}

/// Reads a TOML file.
///
/// # Errors
/// As [`open`]; it is larger than [`TOML_BYTES_MAX`], or not UTF-8.
pub fn read_toml(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = open(path)?.take(TOML_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read as u64 > TOML_BYTES_MAX {
        let what = format!("it is larger than {} MiB, the most that a TOML file may be", TOML_BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}
