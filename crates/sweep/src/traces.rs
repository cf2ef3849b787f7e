//! Files that a sweep plays: traces and programs, each read once for its digest.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use rowclone_config::library::locked;
use rowclone_config::{Failure, file};

use super::digest::Digest;

/// Files that were read.
#[derive(Debug, Default)]
pub(super) struct Traces(Mutex<BTreeMap<PathBuf, FileSlot>>);

/// The result of reading a file, once it was read.
type FileSlot = Arc<OnceLock<Result<PlayedFile, Failure>>>;

/// A file that a run reads.
#[derive(Clone, Debug)]
pub(super) struct PlayedFile {
    pub(super) digest: Digest,
    path: PathBuf,
    stamp: Stamp,
}

/// Attributes of a file that differ after a change of its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &Path) -> std::io::Result<Stamp> {
        let metadata = std::fs::metadata(path)?;
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl PlayedFile {
    /// Checks that the file still has the contents of its digest.
    ///
    /// # Errors
    /// The file has changed.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        if Stamp::of(&self.path).is_ok_and(|stamp| stamp == self.stamp) {
            return Ok(());
        }
        Err(Failure::at(&self.path, "has changed while the sweep ran")
            .with_help("start the sweep again: it goes on with the file as it is now"))
    }

    fn read(path: &Path, stop: &AtomicBool) -> Result<PlayedFile, Failure> {
        const CHUNK_BYTES: usize = 1 << 16;
        let fault = |error: std::io::Error| Failure::reading(path, &error);
        let stamp = Stamp::of(path).map_err(fault)?;
        let mut file = file::open(path).map_err(fault)?;
        let (mut hasher, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
        loop {
            Failure::if_raised(stop)?;
            match file.read(&mut chunk).map_err(fault)? {
                0 => return Ok(PlayedFile { digest: Digest::finish(hasher), path: path.to_owned(), stamp }),
                bytes => hasher.update(&chunk[..bytes]),
            }
        }
    }
}

impl Traces {
    /// The file at a path. The first caller reads it, and the others wait.
    pub(super) fn open(&self, path: &Path, stop: &AtomicBool) -> Result<PlayedFile, Failure> {
        let read = Arc::clone(locked(&self.0).entry(path.to_owned()).or_default());
        read.get_or_init(|| PlayedFile::read(path, stop)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_and_its_later_change_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let (path, traces) = (directory.path().join("a"), Traces::default());
        std::fs::write(&path, "R 0 0 1\n").unwrap();
        let open = || traces.open(&path, &AtomicBool::new(false)).unwrap();
        let first = open();
        assert_eq!(first.check_unchanged(), Ok(()));
        std::fs::write(&path, "R 0 0 1\nR 0 0 2\n").unwrap();
        assert_eq!(open().digest, first.digest);
        assert!(first.check_unchanged().unwrap_err().to_string().ends_with("has changed while the sweep ran"));
    }
}
