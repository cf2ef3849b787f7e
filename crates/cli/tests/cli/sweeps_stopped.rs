//! Sweeps that are stopped from outside: what was finished is there, and the same command goes on.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{Directory, run, send};

/// Two points that are over at once, and two that last until the clock has gone far.
const SWEEP: &str = r#"scenario = "scenario.toml"
[[axis]]
key = "operation.1.at_cycle"
values = [10_000, 20_000, 1_000_000_000_000, 1_000_000_000_001]
"#;

fn endless() -> Directory {
    let directory = Directory::sound();
    fs::write(directory.path("sweep.toml"), SWEEP).unwrap();
    directory
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Starts the sweep, and waits until four runs are finished and the others are not.
fn start(directory: &Directory) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
    command.args(["sweep", text(&directory.path("sweep.toml")), "--out", text(&directory.path("out")), "--jobs", "4"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while finished(directory) < 4 {
        std::thread::yield_now();
    }
    child
}

/// How many runs are in the journal, whole.
fn finished(directory: &Directory) -> usize {
    let journal = fs::read_to_string(directory.path("out/journal.jsonl")).unwrap_or_default();
    journal.split_inclusive('\n').filter(|line| line.contains("\"cells\":") && line.ends_with('\n')).count()
}

/// The endless points are taken out: what was done before is taken as it is.
fn goes_on(directory: &Directory) {
    let (sweep, out) = (directory.path("sweep.toml"), directory.path("out"));
    fs::write(&sweep, SWEEP.replace("1_000_000_000_000, 1_000_000_000_001", "30_000")).unwrap();
    let (code, _, stderr) = run(&["sweep", text(&sweep), "--out", text(&out)]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with("sweep: 2 runs done, 4 done before\n"), "{stderr}");
    let whole = directory.path("whole");
    assert_eq!(run(&["sweep", text(&sweep), "--out", text(&whole)]).0, 0);
    for name in ["results.csv", "results.parquet"] {
        assert_eq!(fs::read(out.join(name)).unwrap(), fs::read(whole.join(name)).unwrap(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_sweep_with_its_number_and_says_how_to_go_on() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let directory = endless();
        let child = start(&directory);
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        let out = directory.path("out");
        let said = format!(
            "error: interrupted\nhelp: {} keeps the finished runs, and this command continues from them\n",
            out.display()
        );
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(code), said));
        let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["journal.jsonl"], "no table is there in part");
        goes_on(&directory);
    }
}

#[test]
fn a_sweep_that_was_killed_outright_goes_on() {
    let directory = endless();
    let mut child = start(&directory);
    child.kill().unwrap();
    child.wait().unwrap();
    goes_on(&directory);
}

/// Two shards write to one directory at once, each to its own journal, and a third process merges meanwhile.
#[test]
fn what_has_finished_can_be_collected_while_the_sweep_runs() {
    let directory = endless();
    let mut child = start(&directory);
    let (sweep, out, now) = (directory.path("sweep.toml"), directory.path("out"), directory.path("now"));
    let (code, _, stderr) = run(&["sweep", "collect", text(&sweep), text(&out), "--out", text(&now)]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(code, 3);
    assert!(stderr.starts_with("sweep: 4 runs finished; 4 missing, the first at point 2, 3\nwrote "), "{stderr}");
    assert_eq!(fs::read_to_string(now.join("results.csv")).unwrap().lines().count(), 5);
}

/// A file that may not grow beyond 64 KB stands for a full disk. The journal is filled up to 100 bytes below: that is
/// enough for the title of another writer, and less than any record, whose length varies with the digits of a time.
#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_what_was_finished_is_kept() {
    const LIMIT: usize = 65_536;
    let directory = Directory::sound();
    let (sweep, out, whole) = (directory.path("sweep.toml"), directory.path("out"), directory.path("whole"));
    fs::write(&sweep, "scenario = \"scenario.toml\"\nseeds = 2\n").unwrap();
    assert_eq!(run(&["sweep", text(&sweep), "--out", text(&out)]).0, 0);
    let journal = out.join("journal.jsonl");
    let mut filled = fs::read(&journal).unwrap();
    assert!(filled.len() < LIMIT - 100);
    filled.resize(LIMIT - 101, b'-');
    filled.push(b'\n');
    fs::write(&journal, filled).unwrap();

    fs::write(&sweep, "scenario = \"scenario.toml\"\nseeds = 20\n").unwrap();
    // In units of 512 bytes.
    let limited = "trap '' XFSZ; ulimit -f 128; exec \"$0\" sweep \"$1\" --out \"$2\" --jobs 1";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_rowclone-sim"), text(&sweep), text(&out)]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with(&format!("error: {}/journal.jsonl: cannot be written: ", out.display())), "{stderr}");
    assert!(stderr.ends_with("keeps the finished runs, and this command continues from them\n"), "{stderr}");
    let torn = fs::read(&journal).unwrap();
    assert!(torn.len() == LIMIT && !torn.ends_with(b"\n"), "a record was cut off at the limit");
    assert_eq!(finished(&directory), 4);

    let (code, _, stderr) = run(&["sweep", text(&sweep), "--out", text(&out)]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.starts_with("sweep: 36 runs done, 4 done before\n"), "{stderr}");
    assert_eq!(run(&["sweep", text(&sweep), "--out", text(&whole)]).0, 0);
    assert_eq!(fs::read(out.join("results.csv")).unwrap(), fs::read(whole.join("results.csv")).unwrap());
}
