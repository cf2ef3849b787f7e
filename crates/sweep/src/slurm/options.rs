//! Options of a job array.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use rowclone_config::Failure;

/// Maximum number of tasks if the user gives no number of points per task. Slurm takes one to two seconds per task.
const TASKS: u64 = 100;
/// Maximum number of shards. A directory with more files is slow to list.
const SHARDS_MAX: u64 = 100_000;

/// Options of a job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum number of points per shard.
    pub points_per_task: Option<NonZeroU64>,
    /// Maximum number of tasks in the queue, waiting or running.
    pub max_queued: Option<NonZeroU64>,
    /// Maximum number of tasks that run at once.
    pub max_running: Option<NonZeroU64>,
    /// Partition; none for the default of the cluster.
    pub partition: Option<String>,
    /// Time limit per task, as of `sbatch --time`.
    pub time: Option<String>,
    /// Further options of `sbatch`, one word each.
    pub more: Vec<String>,
    /// Processors per task.
    pub jobs: NonZeroUsize,
    /// Arguments that each task adds to the command line of its sweep.
    pub arguments: Vec<String>,
    /// Path of the sweep file, as given by the user.
    pub sweep: PathBuf,
    /// Directory of the results, as given by the user.
    pub directory: PathBuf,
}

impl Options {
    /// Number of shards of a sweep with `points` points.
    ///
    /// # Errors
    /// The number exceeds the maximum.
    pub(super) fn shards(&self, points: u64) -> Result<u64, Failure> {
        let each = self.points_per_task.map_or(points.div_ceil(TASKS).max(1), NonZeroU64::get);
        let shards = points.div_ceil(each);
        if shards <= SHARDS_MAX {
            return Ok(shards);
        }
        let enough = points.div_ceil(SHARDS_MAX);
        let message = format!("{points} points are {shards} shards of {each}, but {SHARDS_MAX} are the most");
        Err(Failure::new(message).with_help(format!("try `--points-per-task {enough}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(points_per_task: Option<u64>) -> Options {
        Options {
            points_per_task: points_per_task.and_then(NonZeroU64::new),
            max_queued: None,
            max_running: None,
            partition: None,
            time: None,
            more: Vec::new(),
            jobs: NonZeroUsize::MIN,
            arguments: Vec::new(),
            sweep: PathBuf::from("a.toml"),
            directory: PathBuf::from("a"),
        }
    }

    #[test]
    fn a_task_has_many_points_where_there_are_many() {
        let shards = |points| options(None).shards(points).unwrap();
        assert_eq!([1, 99, 100, 101, 10_000].map(shards), [1, 99, 100, 51, 100]);
    }

    #[test]
    fn a_shard_has_as_many_points_as_it_may() {
        let shards = |points| options(Some(7)).shards(points).unwrap();
        assert_eq!([1, 7, 8, 700, 701].map(shards), [1, 1, 2, 100, 101]);
    }

    #[test]
    fn too_many_shards_are_refused_with_what_would_do() {
        let error = options(Some(1)).shards(1_000_000).unwrap_err();
        assert_eq!(error, {
            let message = "1000000 points are 1000000 shards of 1, but 100000 are the most";
            Failure::new(message).with_help("try `--points-per-task 10`")
        });
        assert_eq!(options(Some(10)).shards(1_000_000), Ok(100_000));
    }
}
