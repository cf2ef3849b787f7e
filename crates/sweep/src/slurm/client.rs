//! Calls of the programs of Slurm, and the meaning of their errors.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::process::{Command, Output};

use rowclone_config::{Failure, overrides::quoted};

/// Value of `MaxArraySize` if the cluster does not report one: the default of Slurm.
const ARRAY_SIZE: u64 = 1001;

/// Submits a script; returns the number of its job. Environment variables that override the script are removed.
///
/// # Errors
/// `sbatch` is not installed, or refuses the job.
pub(super) fn submit(script: &Path, decided: &[&str]) -> Result<u64, Failure> {
    let mut sbatch = Command::new("sbatch");
    for variable in decided {
        sbatch.env_remove(variable);
    }
    let output = output(sbatch.arg("--parsable").arg(script))?;
    if !output.status.success() {
        return Err(refused(&said(&output), script));
    }
    let answer = String::from_utf8_lossy(&output.stdout);
    // With several clusters, the name of the cluster follows.
    let id = answer.trim().split(';').next().and_then(|id| id.parse().ok());
    id.ok_or_else(|| Failure::new(format!("sbatch answered `{}`, which is no job", answer.trim())))
}

/// Tasks of some jobs that wait or run, by job.
///
/// # Errors
/// `squeue` is not installed, or fails.
pub(super) fn queued(jobs: &BTreeSet<u64>) -> Result<BTreeMap<u64, BTreeSet<u64>>, Failure> {
    let output = output(Command::new("squeue").args(["--noheader", "--array", "--me", "--format=%F %K"]))?;
    if !output.status.success() {
        let message = format!("squeue does not say which tasks are still in the queue: {}", said(&output));
        return Err(Failure::new(message).with_help("try again when `squeue` works"));
    }
    let mut queued: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let task = line.trim().split_once(' ').and_then(|(job, task)| Some((job.parse().ok()?, task.parse().ok()?)));
        if let Some((job, task)) = task.filter(|(job, _)| jobs.contains(job)) {
            queued.entry(job).or_default().insert(task);
        }
    }
    Ok(queued)
}

/// Largest array that the cluster accepts; arrays are numbered from 1.
pub(super) fn tasks_max() -> u64 {
    let output = Command::new("scontrol").args(["show", "config"]).output();
    let size = output.ok().and_then(|output| array_size(&String::from_utf8_lossy(&output.stdout)));
    size.unwrap_or(ARRAY_SIZE).saturating_sub(1).max(1)
}

fn array_size(config: &str) -> Option<u64> {
    let line = config.lines().find(|line| line.starts_with("MaxArraySize"))?;
    line.split_once('=')?.1.trim().parse().ok()
}

/// Partitions of the cluster, if it reports them.
fn partitions() -> Option<String> {
    let output = Command::new("sinfo").args(["--noheader", "--format=%R"]).output().ok()?;
    let names = String::from_utf8_lossy(&output.stdout);
    let names: BTreeSet<&str> = names.split_ascii_whitespace().collect();
    (output.status.success() && !names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(", "))
}

fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().map(|line| line.trim_start_matches("sbatch: ").trim_start_matches("error: ").trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { output.status.to_string() } else { lines.join("; ") }
}

/// Output of a program of Slurm, or its error.
fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(|error| {
        let program = command.get_program().display();
        if error.kind() != io::ErrorKind::NotFound {
            return Failure::new(format!("`{program}` cannot be started: {error}"));
        }
        let help =
            "submit from a login node of the cluster; `--shard K/N` runs a part of a sweep under any other scheduler";
        Failure::new(format!("`{program}` cannot be found: Slurm is not installed here")).with_help(help)
    })
}

/// Help for a message of `sbatch`.
fn refused(said: &str, script: &Path) -> Failure {
    let low = said.to_ascii_lowercase();
    let about = |words: &[&str]| words.iter().any(|word| low.contains(word));
    let help = if about(&["partition"]) {
        match partitions() {
            Some(names) => format!("give another with `--partition`: {names}"),
            None => "give another with `--partition`; `sinfo` lists them".to_owned(),
        }
    } else if about(&["array"]) {
        "make the array smaller with `--max-queued`, or with `--points-per-task`".to_owned()
    } else if about(&["qos", "accounting", "limit on", "submit limit", "temporarily unable"]) {
        "where the cap is on queued jobs, give it as `--max-queued`; a QOS or an account, as \
         `--sbatch-option=--qos=NAME` or `--sbatch-option=--account=NAME`"
            .to_owned()
    } else if about(&["account"]) {
        "give yours with `--sbatch-option=--account=NAME`".to_owned()
    } else if about(&["time limit"]) {
        "give another with `--time`; `sinfo --format='%P %l'` lists the longest of each partition".to_owned()
    } else if about(&["contact slurm controller", "configuration source", "connection refused", "unable to contact"]) {
        "see with `sinfo` that the cluster is reached from here".to_owned()
    } else {
        let script = quoted(&script.display().to_string());
        format!("`sbatch --test-only {script}` tries what was to be submitted; `man sbatch` explains its options")
    };
    Failure::new(format!("sbatch refuses: {said}")).with_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_on_arrays_is_what_the_cluster_says() {
        let config = "Configuration data as of ...\nMailProg = /bin/mail\nMaxArraySize            = 501\n";
        assert_eq!(array_size(config), Some(501));
        assert_eq!(array_size(""), None);
    }
}
