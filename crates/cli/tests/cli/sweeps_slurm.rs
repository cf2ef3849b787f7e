//! Sweeps as job arrays, with programs in place of Slurm's that follow a script: the submitted tasks, and those that
//! are submitted again after a failure. `xtask/slurm.sh` does the same with a real Slurm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Directory, run};

/// Nine points, two policies each.
const SWEEP: &str = r#"scenario = "scenario.toml"
seeds = 3
[[axis]]
key = "operation.0.bytes"
values = [64, 128, 4096]
"#;

/// Keeps the script as `job-ID.sh`, or refuses with what `refusal` says.
const SBATCH: &str = r#"for script in "$@"; do :; done
[ -f "$fake/refusal" ] && { cat "$fake/refusal" >&2; exit 1; }
id=$(($(ls "$fake" | grep -c '^job-') + 101))
cp "$script" "$fake/job-$id.sh"
echo "$1 $3" >"$fake/called"
echo "$id"
"#;

/// The line of a script with the tasks of its array.
const ARRAY: &str = "#SBATCH --array";

/// A directory with a sweep in it, and a cluster.
struct Cluster {
    directory: Directory,
}

impl Cluster {
    fn new(sweep: &str) -> Cluster {
        let cluster = Cluster { directory: Directory::sound() };
        fs::write(cluster.path("sweep.toml"), sweep).unwrap();
        fs::create_dir(cluster.path("fake")).unwrap();
        let queue = "[ -f \"$fake/queue\" ] && cat \"$fake/queue\"; exit 0\n";
        for (name, text) in [("sbatch", SBATCH), ("squeue", queue)] {
            let path = cluster.path("fake").join(name);
            fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\nfake=${{0%/*}}\n{text}")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path(name)
    }

    /// The program, from the directory of the sweep: exit code, standard output, standard error.
    fn sweep(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
        command.current_dir(self.path("")).env("PATH", self.path("fake")).env("SBATCH_ARRAY_INX", "1-9999");
        let output = command.env("SBATCH_PARTITION", "mine").arg("sweep").args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// Submits; standard output and error.
    fn submit(&self, more: &[&str]) -> (String, String) {
        let (code, stdout, stderr) = self.sweep(&[&["sweep.toml", "--out", "out", "--slurm"], more].concat());
        assert_eq!(code, 0, "{stderr}");
        (stdout.trim().to_owned(), stderr)
    }

    fn refuses(&self, more: &[&str]) -> String {
        let (code, stdout, stderr) = self.sweep(&[&["sweep.toml", "--out", "out", "--slurm"], more].concat());
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        stderr
    }

    fn script(&self, job: &str) -> String {
        fs::read_to_string(self.path("fake").join(format!("job-{job}.sh"))).unwrap()
    }

    /// A line of a job's script.
    fn line(&self, job: &str, start: &str) -> String {
        let script = self.script(job);
        script.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {script}")).to_owned()
    }

    /// Runs a task as Slurm would; its exit code, and the shards that it ran.
    fn task(&self, job: &str, task: u64) -> (i32, Vec<u64>) {
        let before = self.journals();
        let mut command = Command::new("/bin/sh");
        command.arg(self.path("fake").join(format!("job-{job}.sh"))).current_dir("/");
        command.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_CPUS_PER_TASK", "1");
        let output = command.output().unwrap();
        let new = self.journals().into_iter().filter(|shard| !before.contains(shard)).collect();
        (output.status.code().unwrap(), new)
    }

    /// The shards that have a journal.
    fn journals(&self) -> Vec<u64> {
        let names = fs::read_dir(self.path("out")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let number = |name: String| name.strip_prefix("journal-")?.split_once("-of-")?.0.parse().ok();
        let mut shards: Vec<u64> = names.filter_map(number).collect();
        shards.sort_unstable();
        shards
    }

    /// What `squeue` lists from now on.
    fn queue(&self, lines: &str) {
        fs::write(self.path("fake/queue"), lines).unwrap();
    }

    /// That what was merged is what one piece writes.
    fn merges_to_the_local_table(&self) {
        let (code, _, stderr) = self.sweep(&["collect", "sweep.toml", "out", "--out", "merged"]);
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(self.sweep(&["sweep.toml", "--out", "whole"]).0, 0);
        for name in ["results.csv", "results.parquet"] {
            let read = |directory: &str| fs::read(self.path(directory).join(name)).unwrap();
            assert!(read("merged") == read("whole"), "{name}");
        }
    }
}

#[test]
fn a_script_says_what_slurm_is_asked_for_and_what_a_task_does() {
    let cluster = Cluster::new(SWEEP);
    let more = [
        "--points-per-task=2",
        "--max-running=2",
        "--partition=long",
        "--time=1-00:00:00",
        "--sbatch-option=--mem=4G",
        "--sbatch-option",
        "--comment=two words",
        "--jobs=4",
        "--dry-run",
    ];
    let (script, stderr) = cluster.submit(&more);
    assert_eq!(stderr, "");
    assert!(!cluster.path("out").exists() && !cluster.path("fake/called").exists(), "a dry run leaves nothing");
    let here = fs::canonicalize(cluster.path("")).unwrap();
    let script = script.replace(here.to_str().unwrap(), "HERE").replace(env!("CARGO_BIN_EXE_rowclone-sim"), "PROGRAM");
    insta::assert_snapshot!("slurm_script", script);
}

#[test]
fn each_shard_is_run_by_one_task_and_the_merged_table_is_the_local_one() {
    let cluster = Cluster::new(SWEEP);
    let (job, said) = cluster.submit(&["--points-per-task", "1", "--jobs", "2", "--partition", "long"]);
    assert_eq!(job, "101");
    assert!(said.starts_with("sweep: 9 shards submitted as job 101\n"), "{said}");
    assert!(said.contains("\nto watch it: squeue --job 101\n"), "{said}");
    let collect = "rowclone-sim sweep collect sweep.toml out --out out\n";
    assert!(said.ends_with(&format!("to merge what has finished, at any time: {collect}")), "{said}");
    let called = fs::read_to_string(cluster.path("fake/called")).unwrap();
    assert_eq!(called, "--parsable --array=1-9\n", "the environment does not undo the options");
    assert_eq!(cluster.line(&job, ARRAY), "#SBATCH --array=1-9");
    for shard in 1..=9 {
        assert_eq!(cluster.task(&job, shard), (0, vec![shard]));
    }
    cluster.merges_to_the_local_table();

    let (none, said) = cluster.submit(&["--points-per-task", "1"]);
    assert_eq!(none, "");
    assert!(said.starts_with("sweep: nothing to submit: every run is done\nto merge"), "{said}");
}

#[test]
fn after_a_failure_what_is_neither_finished_nor_in_the_queue_is_submitted() {
    let cluster = Cluster::new(SWEEP);
    let cut = ["--points-per-task", "2"];
    let (first, _) = cluster.submit(&cut);
    // Of five shards, the first is done; the third was killed in the middle; the others are in the queue.
    assert_eq!(cluster.task(&first, 1), (0, vec![1]));
    assert_eq!(cluster.task(&first, 3), (0, vec![3]));
    let journal = cluster.path("out/journal-3-of-5.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.len() / 2]).unwrap();
    cluster.queue("101 2\n101 4\n101 5\n77 3\n");
    let (second, said) = cluster.submit(&cut);
    assert!(said.starts_with("sweep: 1 shard submitted as job 102\n"), "{said}");
    assert_eq!(cluster.line(&second, ARRAY), "#SBATCH --array=3");

    // The first job's last tasks are gone, and so is the second job; nothing else is known of them.
    cluster.queue("101 2\n");
    let (third, _) = cluster.submit(&cut);
    assert_eq!(cluster.line(&third, ARRAY), "#SBATCH --array=3-5");
    cluster.queue("101 2\n103 3\n103 4\n103 5\n");
    let (none, said) = cluster.submit(&cut);
    assert_eq!(none, "");
    assert!(
        said.starts_with("sweep: nothing to submit: 4 shards are in the queue, every other run is done\n"),
        "{said}"
    );
    assert_eq!([3, 4, 5].map(|shard| cluster.task(&third, shard).0), [0; 3]);
    assert_eq!(cluster.task(&first, 2).0, 0);
    cluster.queue("");
    assert!(cluster.submit(&cut).1.contains("every run is done"));
    cluster.merges_to_the_local_table();
}

/// The point has a run under each of two policies. A task was killed between them.
#[test]
fn a_point_with_one_of_two_runs_is_submitted_again() {
    let cluster = Cluster::new(&SWEEP.replace("seeds = 3\n", "").replace("64, 128, 4096", "64"));
    let (first, said) = cluster.submit(&[]);
    assert!(said.starts_with("sweep: 1 shard submitted as job 101\n"), "{said}");
    assert_eq!(cluster.task(&first, 1), (0, vec![1]));
    let journal = cluster.path("out/journal-1-of-1.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let runs: Vec<usize> = text.match_indices("\"digest\"").map(|(at, _)| at).collect();
    assert_eq!(runs.len(), 2, "{text}");
    let second = text[..runs[1]].rfind('\n').unwrap() + 1;
    fs::write(&journal, &text[..second]).unwrap();
    let (code, _, said) = cluster.sweep(&["collect", "sweep.toml", "out", "--out", "merged"]);
    assert!(code == 3 && said.starts_with("sweep: 1 run finished; 1 missing"), "{said}");
    let rows = fs::read_to_string(cluster.path("merged/results.csv")).unwrap();
    assert_eq!(rows.lines().count(), 2, "the names and one run: {rows}");
    let (again, said) = cluster.submit(&[]);
    assert!(said.starts_with("sweep: 1 shard submitted as job 102\n"), "{said}");
    assert_eq!(cluster.line(&again, ARRAY), "#SBATCH --array=1");
    assert_eq!(cluster.task(&again, 1).0, 0);
    cluster.merges_to_the_local_table();
    assert!(cluster.submit(&[]).1.contains("every run is done"));
}

#[test]
fn shards_of_another_cut_are_not_run_beside_those_in_the_queue() {
    let cluster = Cluster::new(SWEEP);
    cluster.submit(&["--points-per-task", "2"]);
    cluster.queue("101 1\n");
    assert_eq!(
        cluster.refuses(&["--points-per-task", "3"]),
        "error: job 101 is in the queue, and runs 5 shards of this sweep, not 3\n\
         help: give the `--points-per-task` of this job, wait until it has ended, or cancel it: `scancel 101`\n"
    );
    cluster.queue("");
    let (job, _) = cluster.submit(&["--points-per-task", "3"]);
    assert_eq!(cluster.line(&job, ARRAY), "#SBATCH --array=1-3");
}

#[test]
fn points_that_cannot_be_run_are_said_and_not_submitted() {
    // No 64 KiB lie in another bank.
    let source = "\n[[axis]]\nkey = \"operation.0.src\"\nvalues = [\"other-bank\", \"same-bank\"]\n";
    let cluster = Cluster::new(&(SWEEP.replace("64, 128, 4096", "64, 65536") + source));
    let (code, job, said) = cluster.sweep(&["sweep.toml", "--out", "out", "--slurm", "--points-per-task", "1"]);
    assert_eq!((code, job.as_str()), (1, "101\n"));
    assert!(said.starts_with("3 points cannot be run, the first is point 6: "), "{said}");
    assert_eq!(cluster.line("101", ARRAY), "#SBATCH --array=1-6,10-12");
}

#[test]
fn a_task_whose_sweep_cannot_be_done_exits_with_2() {
    let cluster = Cluster::new(SWEEP);
    let (job, _) = cluster.submit(&["--points-per-task", "1"]);
    fs::create_dir(cluster.path("out/journal-1-of-9.jsonl")).unwrap();
    assert_eq!(cluster.task(&job, 1), (2, vec![]));
}

#[test]
fn paths_may_have_any_characters_that_a_script_can_hold() {
    let cluster = Cluster::new(SWEEP);
    fs::rename(cluster.path("sweep.toml"), cluster.path("it's 5% \"$(x)\".toml")).unwrap();
    let submit = ["it's 5% \"$(x)\".toml", "--out", "o 5%", "--slurm", "--points-per-task=9"];
    assert_eq!(cluster.sweep(&submit).0, 0);
    let output = cluster.line("101", "#SBATCH \"--output");
    assert!(output.ends_with("/o 5%%/slurm-logs/%A_%a.log\""), "{output}");
    fs::create_dir(cluster.path("out")).unwrap();
    assert_eq!(cluster.task("101", 1).0, 0);
    assert!(cluster.path("o 5%/journal-1-of-1.jsonl").exists());
    let (code, _, stderr) = cluster.sweep(&["it's 5% \"$(x)\".toml", "--out", "a\\b", "--slurm"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("this path cannot be written in a job script\nhelp: use a path without backslashes"),
        "{stderr}"
    );
}

#[test]
fn what_sbatch_refuses_is_said_with_what_would_work() {
    let cluster = Cluster::new(SWEEP);
    fs::write(cluster.path("fake/refusal"), "sbatch: error: invalid partition specified: x\n").unwrap();
    let stderr = cluster.refuses(&[]);
    assert!(
        stderr.starts_with("error: sbatch refuses: invalid partition specified: x\nhelp: `sinfo` lists"),
        "{stderr}"
    );
    assert!(stderr.ends_with("`sbatch --test-only out/slurm.sh` tries what was to be submitted\n"), "{stderr}");
    assert!(!cluster.path("out/slurm-jobs").exists());
    fs::remove_file(cluster.path("fake/sbatch")).unwrap();
    assert!(cluster.refuses(&[]).starts_with("error: `sbatch` cannot be found: Slurm is not installed here\nhelp: "));
}

#[test]
fn options_of_a_job_array_are_for_slurm() {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let cluster = Cluster::new(SWEEP);
    let sweep = text(&cluster.path("sweep.toml"));
    let cases: [&[&str]; 6] = [
        &["--max-running", "3"],
        &["--slurm", "--shard", "1/2"],
        &["--slurm", "--max-running", "0"],
        &["--slurm", "--sbatch-option", "--array=1-3"],
        &["--slurm", "--sbatch-option", "mem=4G"],
        &["--slurm", "--partition", "a\nb"],
    ];
    for wrong in cases {
        let (code, stdout, _) = run(&[&["sweep", &sweep], wrong].concat());
        assert_eq!((code, stdout.as_str()), (2, ""), "{wrong:?}");
    }
}
