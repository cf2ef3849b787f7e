//! Jobs that were submitted from a directory, as lines of JSON in a file of the directory.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rowclone_config::{AtomicFile, Existing, Failure};
use serde::{Deserialize, Serialize};

/// Name of the file.
const NAME: &str = "slurm-jobs";

/// A submitted job array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    /// Job number of Slurm.
    pub(super) id: u64,
    /// Tasks of the array.
    pub(super) tasks: u64,
    /// Number of shards of the sweep.
    pub(super) of: u64,
    /// Shards of the job, ascending.
    pub(super) shards: Vec<u64>,
}

impl Job {
    /// Shards of some tasks, counted from 1.
    pub(super) fn shards_of(&self, tasks: &BTreeSet<u64>) -> impl Iterator<Item = u64> {
        let dealt = (1..=self.tasks).cycle().zip(&self.shards);
        dealt.filter(|(task, _)| tasks.contains(task)).map(|(_, &shard)| shard)
    }
}

/// Jobs of a directory; none if none were submitted.
///
/// # Errors
/// The file cannot be read, or has another content.
pub(super) fn read(directory: &Path) -> Result<Vec<Job>, Failure> {
    let path = path(directory);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::reading(&path, &error)),
    };
    let jobs = (1..).zip(text.lines()).map(|(number, line)| {
        serde_json::from_str(line).map_err(|_| {
            let error = Failure::new(format!("{}:{number}: is no job: {line}", path.display()));
            error.with_help("see with `squeue` that no job of this sweep is in the queue, and remove the file")
        })
    });
    jobs.collect()
}

/// Replaces the jobs of a directory.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(directory: &Path, jobs: &[Job]) -> Result<(), Failure> {
    let line = |job| serde_json::to_string(job).expect("numbers are JSON") + "\n";
    let text: String = jobs.iter().map(line).collect();
    AtomicFile::create(&path(directory), Existing::Replace)?.complete(text.as_bytes())
}

fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job { id: 1234, tasks: 3, of: 9, shards: vec![1, 2, 3, 5, 7, 9] }
    }

    #[test]
    fn jobs_read_back_and_whatever_else_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()), Ok(Vec::new()));
        let jobs = [job(), Job { id: 7, ..job() }];
        write(directory.path(), &jobs).unwrap();
        assert_eq!(read(directory.path()).unwrap(), jobs);
        fs::write(path(directory.path()), r#"{"id":1,"tasks":2,"of":9}"#).unwrap();
        assert!(read(directory.path()).unwrap_err().to_string().contains("slurm-jobs:1: is no job: {\"id\":1"));
    }

    #[test]
    fn shards_are_dealt_to_the_tasks_in_turn() {
        let of = |tasks: &[u64]| job().shards_of(&tasks.iter().copied().collect()).collect::<Vec<_>>();
        assert_eq!(of(&[1]), [1, 5]);
        assert_eq!(of(&[2, 3]), [2, 3, 7, 9]);
        assert_eq!(of(&[]), [0; 0]);
    }
}
