//! Recordings of programs on cores.

use std::fs;
use std::path::Path;

use crate::common::run;

/// Two loads and a store of an instruction each, and an instruction without access.
const LACKEY: &str = "I  00400000,3\n L 1000,8\nI  00400003,4\n S 1040,8\nI  00400007,4\n L 2000,8\nI  00400009,4\n";

/// Writes a recording; its path.
fn recording(directory: &Path) -> String {
    let (trace, recording) = (directory.join("a.lackey"), directory.join("a.rct.zst"));
    fs::write(&trace, LACKEY).unwrap();
    let (code, _, stderr) = run(&["convert", trace.to_str().unwrap(), recording.to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    recording.to_str().unwrap().to_owned()
}

/// The output of a command that must succeed.
#[track_caller]
fn ran(arguments: &[&str]) -> String {
    let (code, stdout, stderr) = run(arguments);
    assert_eq!(code, 0, "{stderr}");
    stdout
}

#[test]
fn commands_run_a_recording_under_each_policy() {
    let directory = tempfile::tempdir().unwrap();
    let file = recording(directory.path());
    let assumed = "a.rct.zst: pages of files are in the page cache from the start";
    let first = ran(&["run", &file, "--check", "--copies", "all"]);
    assert!(first.contains(assumed) && first.contains("check: every command is legal"), "{first}");
    assert_eq!(ran(&["run", "--trace", &file, "--check", "--copies", "all"]), first);
    let scenario = directory.path().join("a.toml");
    let text = "machine = \"paper\"\nseed = 1\nworkload.kind = \"programs\"\nworkload.files = \
        [\"a.rct.zst\"]\nworkload.copies = \"all\"\n\
                policies = [\"baseline\", \"rowclone\"]\n";
    fs::write(&scenario, text).unwrap();
    for printed in [ran(&["run", scenario.to_str().unwrap()]), ran(&["programs", &file, "--copies", "library"])] {
        assert!(printed.contains(assumed), "{printed}");
    }
    let copiers = ["--copiers", "loop-cached,rowclone"];
    let compared = ran(&[&["compare", &file, "--copies", "all"], &copiers[..]].concat());
    assert!(compared.contains("a.rct.zst"), "{compared}");
    for line in [&first, &ran(&["programs", &file])] {
        for policy in ["baseline", "controller-copy", "psm-only", "rowclone", "rowclone-zi"] {
            assert!(line.lines().any(|line| line.starts_with(policy)), "{policy}: {line}");
        }
    }
}

#[test]
fn recordings_that_cannot_run_on_cores_are_refused_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let file = recording(directory.path());
    let cut = directory.path().join("cut.rct.zst");
    fs::write(&cut, &fs::read(&file).unwrap()[..100]).unwrap();
    let cut = cut.to_str().unwrap();
    for (arguments, message) in [
        (vec!["run", cut], "cut.rct.zst: byte "),
        (vec!["programs", cut], "the recording is truncated"),
        (vec!["run", &file, "--system", "paper"], "a recording runs on cores, and has no `--system` or `--placement`"),
        (vec!["run", &file, "--set", "workload.copies=none"], "workload.copies"),
    ] {
        let (code, _, stderr) = run(&arguments);
        assert!(code == 2 && stderr.contains(message) && stderr.contains("help: "), "{arguments:?}: {stderr}");
    }
}
