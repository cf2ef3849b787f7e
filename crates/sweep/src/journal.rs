//! The journal of a sweep: a file of JSON lines, one per finished run, appended when the run ends. Each shard has its
//! own.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use report::CellColumn;
use serde::{Deserialize, Serialize};

use rowclone_config::Failure;
use rowclone_config::library::locked;

use super::digest::Digest;
use super::record::Record;
use super::shard::Shard;

/// Prefix and suffix of file names of journals; the names of shards have their number between them.
const NAME: (&str, &str) = ("journal", ".jsonl");

/// Prefix of the first line of a journal, before the name of its sweep.
const TITLE: &str = "{\"sweep\":";

/// First line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Title {
    sweep: String,
}

/// The journals of some directories.
#[derive(Debug, Default)]
pub(super) struct Journals {
    paths: Vec<PathBuf>,
    known: HashMap<Digest, RecordLocation>,
    /// Open journals, by their index in `paths`. Their number is limited, because there may be more shards than a
    /// process may open files.
    open: Mutex<HashMap<u32, File>>,
}

/// Maximum number of open journals.
const OPEN_MAX: usize = 64;

/// Position of a record.
#[derive(Clone, Copy, Debug)]
struct RecordLocation {
    file: u32,
    length: u32,
    offset: u64,
    failed: bool,
}

/// The journal to which a sweep appends.
#[derive(Debug)]
pub(super) struct JournalWriter {
    path: PathBuf,
    file: File,
}

impl Journals {
    /// Reads all journals of a directory. Incomplete and unknown lines are skipped.
    ///
    /// # Errors
    /// A journal cannot be read.
    pub(super) fn read(&mut self, directory: &Path) -> Result<(), Failure> {
        for path in paths(directory)? {
            if !self.paths.contains(&path) {
                self.read_file(&path).map_err(|error| Failure::reading(&path, &error))?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, path: &Path) -> io::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, File::open(path)?);
        let (file, mut offset, mut line) = (self.paths.len() as u32, 0, Vec::new());
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            if let Some((digest, failed)) = std::str::from_utf8(&line).ok().and_then(Record::key) {
                let location = RecordLocation { file, length: length as u32, offset, failed };
                // A run that failed and later succeeded counts as succeeded.
                let known = self.known.entry(digest).or_insert(location);
                if known.failed {
                    *known = location;
                }
            }
            offset += length as u64;
        }
        self.paths.push(path.to_owned());
        Ok(())
    }

    /// Whether a run has a record and succeeded.
    pub(super) fn has_done(&self, digest: Digest) -> bool {
        self.known.get(&digest).is_some_and(|location| !location.failed)
    }

    /// Record of a run, if there is one.
    ///
    /// # Errors
    /// The journal of the record cannot be read any more.
    pub(super) fn find(&self, digest: Digest, columns: &[CellColumn]) -> Result<Option<Record>, Failure> {
        let Some(location) = self.known.get(&digest) else { return Ok(None) };
        let path = &self.paths[location.file as usize];
        let line = self.line(path, *location).map_err(|error| Failure::reading(path, &error))?;
        let record = std::str::from_utf8(&line).ok().and_then(|line| Record::parse(line, columns));
        record.map(Some).ok_or_else(|| Failure::at(path, "has changed while it was read"))
    }

    fn line(&self, path: &Path, location: RecordLocation) -> io::Result<Vec<u8>> {
        let mut open = locked(&self.open);
        if open.len() >= OPEN_MAX && !open.contains_key(&location.file) {
            open.clear();
        }
        let file = match open.entry(location.file) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(File::open(path)?),
        };
        let mut line = vec![0; location.length as usize];
        file.seek(SeekFrom::Start(location.offset))?;
        file.read_exact(&mut line)?;
        Ok(line)
    }
}

/// Journals of a directory in the order of their names; none if the directory does not exist.
fn paths(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let fault = |error: io::Error| Failure::reading(directory, &error);
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault(error)),
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<BTreeSet<_>>>().map_err(fault)?;
    let is_journal = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Only a regular file has an end.
        name.starts_with(NAME.0) && name.ends_with(NAME.1) && path.is_file()
    };
    Ok(paths.into_iter().filter(is_journal).collect())
}

/// Name of the sweep whose journals are in a directory; none without journals.
///
/// # Errors
/// A journal cannot be read.
pub fn sweep_of(directory: &Path) -> Result<Option<String>, Failure> {
    for path in paths(directory)? {
        let fault = |error: io::Error| Failure::reading(&path, &error);
        for line in BufReader::new(File::open(&path).map_err(fault)?).split(b'\n') {
            if let Ok(Title { sweep }) = serde_json::from_slice(&line.map_err(fault)?) {
                return Ok(Some(sweep));
            }
        }
    }
    Ok(None)
}

/// A file under the name of a journal that is no journal. A file that ends within the first line of a journal is
/// accepted, because a crash can leave it.
pub(super) fn foreign(directory: &Path) -> Option<PathBuf> {
    let path = directory.join(name_for(None));
    let mut begins = Vec::new();
    File::open(&path).ok()?.take(TITLE.len() as u64).read_to_end(&mut begins).ok()?;
    (!TITLE.as_bytes().starts_with(&begins)).then_some(path)
}

fn name_for(shard: Option<Shard>) -> String {
    let middle = shard.map_or(String::new(), |shard| format!("-{}-of-{}", shard.number, shard.count));
    format!("{}{middle}{}", NAME.0, NAME.1)
}

impl JournalWriter {
    /// Opens the journal of a shard, or of the whole sweep, for appending.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn open(directory: &Path, sweep: &str, shard: Option<Shard>) -> Result<JournalWriter, Failure> {
        let path = directory.join(name_for(shard));
        let open = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            // A new line follows an incomplete one. Empty lines are ignored.
            let line_end = if file.metadata()?.len() == 0 { "" } else { "\n" };
            let title = serde_json::to_string(&Title { sweep: sweep.to_owned() })?;
            file.write_all(format!("{line_end}{title}\n").as_bytes())?;
            Ok(file)
        };
        let file = open().map_err(|error| Failure::writing(&path, &error))?;
        Ok(JournalWriter { path, file })
    }

    /// Appends a record, and flushes it to the operating system.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), Failure> {
        self.file.write_all(record.line().as_bytes()).map_err(|error| Failure::writing(&self.path, &error))
    }
}
