//! Opening and reading of input files.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum size of a TOML file, in bytes.
pub const TOML_BYTES_MAX: u64 = 16 << 20;

/// Maximum size of a trace from standard input or a pipe, in bytes as they arrive.
pub const SPOOL_BYTES_MAX: u64 = 64 << 30;

/// Inputs that can be read once only, with the temporary files that hold what they gave. A
/// temporary file has no name, and ends with the program.
static SPOOLED: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());

fn spooled() -> MutexGuard<'static, Vec<(PathBuf, File)>> {
    SPOOLED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An input file that is being read.
#[derive(Debug)]
pub struct Input {
    file: File,
    /// Index of a spooled file, and the next byte to read.
    spooled: Option<(usize, u64)>,
    bytes: u64,
}

impl Input {
    /// Size of the file; 0 of a pipe.
    pub const fn size(&self) -> u64 {
        self.bytes
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((index, at)) = &mut self.spooled else { return self.file.read(buffer) };
        // Readers of one spooled file share its position.
        let files = spooled();
        let mut file = &files[*index].1;
        file.seek(SeekFrom::Start(*at))?;
        let read = file.read(buffer)?;
        *at += read as u64;
        Ok(read)
    }
}

/// Opens a regular file, or an input that was [spooled](spool). Other kinds are refused before they are opened: a named
/// pipe would block, and a device has no end.
///
/// # Errors
/// The file does not exist, is not readable, or is not regular.
pub fn open(path: &Path) -> io::Result<Input> {
    if let Some(input) = open_spooled(path)? {
        return Ok(input);
    }
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(Input { file: File::open(path)?, spooled: None, bytes: metadata.len() })
}

/// Opens what was [spooled](spool) from a path, if anything was.
fn open_spooled(path: &Path) -> io::Result<Option<Input>> {
    let (files, path) = (spooled(), std::path::absolute(path)?);
    let Some(index) = files.iter().position(|(known, _)| *known == path) else { return Ok(None) };
    let file = files[index].1.try_clone()?;
    let bytes = file.metadata()?.len();
    Ok(Some(Input { file, spooled: Some((index, 0)), bytes }))
}

/// The path that an argument of the command line names: `-` is standard input.
pub fn of_argument(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("/dev/stdin") } else { path }
}

/// Opens an argument of the command line for one reading: a regular file, standard input, or a named pipe.
///
/// # Errors
/// It cannot be opened.
pub fn stream(path: &Path) -> io::Result<Input> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() || open_spooled(path)?.is_some() {
        return open(path);
    }
    Ok(Input { file: File::open(path)?, spooled: None, bytes: 0 })
}

/// Reads an argument of the command line that is no regular file, such as standard input or a named pipe, to its end
/// into a temporary file, from which [`open`] reads it any number of times. Returns the path for [`open`].
///
/// # Errors
/// It cannot be read, has more than [`SPOOL_BYTES_MAX`] bytes, or the temporary file cannot be written.
pub fn spool(path: &Path) -> io::Result<PathBuf> {
    let path = of_argument(path);
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() || open_spooled(path)?.is_some() {
        return Ok(path.to_owned());
    }
    let mut file = tempfile::tempfile()?;
    let copied = io::copy(&mut File::open(path)?.take(SPOOL_BYTES_MAX + 1), &mut file)?;
    if copied > SPOOL_BYTES_MAX {
        let what = format!("it gives more than {} GiB, the most of a pipe", SPOOL_BYTES_MAX >> 30);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    spooled().push((std::path::absolute(path)?, file));
    Ok(path.to_owned())
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
