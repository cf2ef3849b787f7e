//! Recordings of programs as inputs and outputs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rowclone_config::{AtomicFile, Existing, Failure, file};
use trace_io::recording::{MAGIC, Metadata, RecordingReader, RecordingWriter};
use trace_io::{ErrorKind, LineError, Text};

use crate::output::message;

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
pub fn open(path: &Path) -> Result<RecordingReader<file::Input>, Failure> {
    let input = file::open(path).map_err(|error| Failure::reading(path, &error))?;
    RecordingReader::new(input).map_err(|error| refused(path, &error))
}

/// The error of a reader.
pub fn refused(path: &Path, error: &LineError) -> Failure {
    Failure::at(path, error).with_help(error.help())
}

/// Default level of zstd for recordings.
pub const LEVEL: i32 = 3;

/// Writer of a recording to a file that appears under its name when it is complete.
pub struct RecordingFile {
    writer: RecordingWriter<File>,
    file: AtomicFile,
    path: PathBuf,
}

impl RecordingFile {
    /// Begins a recording, compressed if the name of its file ends in `.zst`.
    ///
    /// # Errors
    /// The file exists and may not be replaced, or cannot be created; a plain recording has a level.
    pub fn create(
        path: &Path,
        level: Option<i32>,
        is_forced: bool,
        metadata: Metadata,
    ) -> Result<RecordingFile, Failure> {
        let level = match (is_packed(path), level) {
            (true, level) => level.unwrap_or(LEVEL),
            (false, None) => 0,
            (false, Some(_)) => {
                let error = Failure::at(path, "is a plain recording, which has no `--level`");
                return Err(error.with_help("end its name in `.rct.zst`, or leave the level out"));
            }
        };
        let fault = |error: std::io::Error| Failure::writing(path, &error);
        let file = AtomicFile::create(path, Existing::with_force(is_forced))?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let body = tempfile::tempfile_in(directory).map_err(fault)?;
        let writer = RecordingWriter::new(body, metadata, level).map_err(fault)?;
        Ok(RecordingFile { writer, file, path: path.to_owned() })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.file.target()
    }

    /// Sets what the recorder could not observe.
    pub fn set_unseen(&mut self, unseen: Vec<String>) {
        self.writer.set_unseen(unseen);
    }

    /// Writes a block of words, and the contents of its accesses if there are any.
    ///
    /// # Errors
    /// The words are wrong, or the output fails.
    pub fn block(&mut self, thread: u32, process: u32, words: &[u64], contents: Option<&[u8]>) -> Result<(), Failure> {
        let written = self.writer.block(thread, process, words).and_then(|()| {
            match contents.filter(|contents| !contents.is_empty()) {
                Some(contents) => self.writer.contents(contents),
                None => Ok(()),
            }
        });
        written.map_err(|error| unwritable(&self.path, &error))
    }

    /// Completes the file; returns its metadata with totals and digest.
    ///
    /// # Errors
    /// The output fails.
    pub fn finish(mut self) -> Result<Metadata, Failure> {
        let metadata = self.writer.finish(&mut self.file).map_err(|error| unwritable(&self.path, &error))?;
        self.file.commit()?;
        Ok(metadata)
    }
}

/// Completes a recording, and prints its name.
///
/// # Errors
/// The output fails.
pub fn written(output: RecordingFile) -> Result<(), Failure> {
    let path = output.path().display().to_string();
    output.finish()?;
    message(&format!("wrote {path}"));
    Ok(())
}

/// Whether a recording of this name is compressed.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// The failure to write a recording.
fn unwritable(path: &Path, error: &LineError) -> Failure {
    match error.kind() {
        ErrorKind::Io(error) => Failure::writing(path, error),
        _ => Failure::at(path, error).with_help(error.help()),
    }
}
