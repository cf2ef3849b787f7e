//! Output files that replace their target in one step, when they are complete, and output directories.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::{NamedTempFile, PersistError};

use crate::Failure;
use crate::library::locked;

/// Treatment of an output file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error.
    Keep,
    /// The new file replaces it (`--force`).
    Replace,
}

impl Existing {
    /// The treatment for a value of the flag `--force`.
    pub const fn with_force(force: bool) -> Existing {
        if force { Existing::Replace } else { Existing::Keep }
    }
}

/// An output file under a temporary name in the directory of its target; [`AtomicFile::commit`] renames it.
///
/// Dropping it without [`AtomicFile::commit`] removes the temporary file. Writes are not buffered.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    target: PathBuf,
    existing: Existing,
    _registration: Registration,
}

/// Temporary files of the process, for [`remove_temporary_files`].
static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Entry of a temporary file in the list of the process; dropping it removes the entry.
#[derive(Debug)]
struct Registration(PathBuf);

impl Drop for Registration {
    fn drop(&mut self) {
        locked(&TEMPORARY_FILES).remove(&self.0);
    }
}

/// Removes the temporary files of all [`AtomicFile`]s. A process that exits without dropping them calls it.
pub fn remove_temporary_files() {
    for path in locked(&TEMPORARY_FILES).iter() {
        let _ = fs::remove_file(path);
    }
}

impl AtomicFile {
    /// Creates the temporary file of `target`.
    ///
    /// # Errors
    /// `target` exists and must not be replaced, or its directory cannot be written.
    pub fn create(target: &Path, existing: Existing) -> Result<AtomicFile, Failure> {
        let fault = |source: io::Error| Failure::writing(target, &source);
        let mut place = target.to_owned();
        match fs::metadata(target) {
            Ok(there) if !there.is_file() => {
                let what = if there.is_dir() { "it is a directory" } else { "it is not a regular file" };
                let error = Failure::at(target, format_args!("cannot be written: {what}"));
                return Err(error.with_help("give the name of a new file"));
            }
            Ok(_) if existing == Existing::Keep => return Err(exists(target)),
            // A target that is a symbolic link remains a link: the file that it names is replaced.
            Ok(_) => place = fs::canonicalize(target).map_err(fault)?,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(fault(source)),
        }
        let directory = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = named_like_any_other().tempfile_in(directory).map_err(fault)?;
        let registration = Registration(temporary.path().to_owned());
        locked(&TEMPORARY_FILES).insert(registration.0.clone());
        Ok(AtomicFile { temporary, target: place, existing, _registration: registration })
    }

    /// Writes the whole content and commits the file.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn complete(mut self, content: &[u8]) -> Result<String, Failure> {
        self.write_all(content).map_err(|source| Failure::writing(&self.target, &source))?;
        self.commit()
    }

    /// Writes the whole content of each file, and then commits all files; returns their names.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`].
    pub fn complete_all(files: Vec<(AtomicFile, String)>) -> Result<Vec<String>, Failure> {
        let write = |(mut file, content): (AtomicFile, String)| match file.write_all(content.as_bytes()) {
            Ok(()) => Ok(file),
            Err(source) => Err(Failure::writing(&file.target, &source)),
        };
        let files = files.into_iter().map(write).collect::<Result<Vec<AtomicFile>, Failure>>()?;
        files.into_iter().map(AtomicFile::commit).collect()
    }

    /// Renames the complete file to its target; returns the name of the target.
    ///
    /// # Errors
    /// The file cannot be written to the disk, or the target was created in the meantime and must not be replaced.
    pub fn commit(self) -> Result<String, Failure> {
        let AtomicFile { temporary, target, existing, .. } = self;
        temporary.as_file().sync_all().map_err(|source| Failure::writing(&target, &source))?;
        let renamed = match existing {
            Existing::Keep => temporary.persist_noclobber(&target),
            Existing::Replace => temporary.persist(&target),
        };
        renamed.map(|_| target.display().to_string()).map_err(|PersistError { error, .. }| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&target),
            _ => Failure::writing(&target, &error),
        })
    }

    /// Path of the target.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

/// Builder of a hidden temporary file with the permissions of a new file.
fn named_like_any_other() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rowclone-sim-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The operating system applies the umask to this mode.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

fn exists(target: &Path) -> Failure {
    Failure::at(target, "exists already").with_help("give another name, or replace it with `--force`")
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.temporary.seek(to)
    }
}

/// Creates the directory of `--out`, unless it exists.
///
/// # Errors
/// The directory cannot be created, or the path is a file.
pub fn create_directory(directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::at(directory, "is a file").with_help("give `--out` a directory"),
        _ => Failure::writing(directory, &error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.csv");
        let mut dropped = AtomicFile::create(&target, Existing::Keep).unwrap();
        dropped.write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(dropped);
        assert_eq!(names(directory.path()), Vec::<String>::new());

        let mut committed = AtomicFile::create(&target, Existing::Keep).unwrap();
        committed.write_all(b"whole").unwrap();
        assert!(!target.exists());
        committed.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"whole");
        assert_eq!(names(directory.path()), ["out.csv"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_with_force() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.csv");
        let early = AtomicFile::create(&target, Existing::Keep).unwrap();
        fs::write(&target, "old").unwrap();
        let message = format!("{}: exists already", target.display());
        assert_eq!(early.commit().unwrap_err().to_string(), message, "it came while we wrote");
        assert_eq!(AtomicFile::create(&target, Existing::Keep).unwrap_err().to_string(), message);
        assert_eq!(fs::read(&target).unwrap(), b"old");

        let mut forced = AtomicFile::create(&target, Existing::Replace).unwrap();
        forced.write_all(b"new").unwrap();
        forced.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["out.csv"]);
    }

    #[test]
    fn what_cannot_be_a_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("no/such/out.csv");
        let error = AtomicFile::create(&missing, Existing::Keep).unwrap_err();
        assert_eq!(
            error,
            Failure::new(format!("{}: cannot be written: no such file or directory", missing.display()))
                .with_help("make its directory first")
        );
        let error = AtomicFile::create(directory.path(), Existing::Replace).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: cannot be written: it is a directory", directory.path().display()));
        let device = Path::new("/dev/null");
        if device.exists() {
            let error = AtomicFile::create(device, Existing::Replace).unwrap_err();
            assert_eq!(error.to_string(), "/dev/null: cannot be written: it is not a regular file");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_default_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (plain, ours) = (directory.path().join("plain"), directory.path().join("ours"));
        fs::write(&plain, "").unwrap();
        AtomicFile::create(&ours, Existing::Keep).unwrap().commit().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
