//! What a run writes besides its standard output: all of it, or nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Directory, program, run, send};

/// The names in a directory, hidden ones too, but for the two files that it was made with.
fn names(directory: &Directory) -> Vec<String> {
    let entries = fs::read_dir(directory.path(".")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "system.toml" && name != "scenario.toml").collect();
    names.sort();
    names
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn each_policy_has_its_log_and_each_format_its_file() {
    let directory = Directory::sound();
    let (scenario, log, out) = (directory.path("scenario.toml"), directory.path("log.csv"), directory.path("out"));
    let arguments = ["run", text(&scenario), "--commands", text(&log), "--out", text(&out)];
    let (code, _, stderr) = run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(names(&directory), ["log-baseline.csv", "log-rowclone.csv", "out"]);
    assert!(stderr.contains("log-baseline.csv") && stderr.contains("results.json"), "{stderr}");
    // A terminal that is wide enough shows what the file has.
    let wide = program(&["run", text(&scenario), "--details"]).env("COLUMNS", "1000").output().unwrap();
    assert_eq!(fs::read_to_string(out.join("report.txt")).unwrap(), String::from_utf8(wide.stdout).unwrap());
    let (_, json, _) = run(&["run", text(&scenario), "--format", "json"]);
    assert_eq!(fs::read_to_string(out.join("results.json")).unwrap(), json);
    let (_, csv, _) = run(&["run", text(&scenario), "--format", "csv"]);
    assert_eq!(fs::read_to_string(out.join("results.csv")).unwrap(), csv);
    assert!(!out.join("epochs.csv").exists(), "the scenario has no epochs");
    // Two operations under two policies, and the header.
    assert_eq!(fs::read_to_string(out.join("operations.csv")).unwrap().lines().count(), 5);
    assert_eq!(run(&["check", text(&directory.path("log-rowclone.csv"))]).0, 0);

    let before = fs::read(directory.path("log-rowclone.csv")).unwrap();
    let (code, _, stderr) = run(&arguments);
    assert_eq!(code, 2);
    assert!(stderr.contains("log-baseline.csv: exists already\nhelp: "), "{stderr}");
    assert_eq!(fs::read(directory.path("log-rowclone.csv")).unwrap(), before);
    assert_eq!(run(&[&arguments[..], &["--force"]].concat()).0, 0);
}

#[test]
fn epochs_have_a_file_of_their_own() {
    let directory = Directory::sound();
    let (scenario, out) = (directory.path("scenario.toml"), directory.path("out"));
    let (code, _, stderr) = run(&["run", text(&scenario), "--out", text(&out), "--set", "epoch_cycles=500"]);
    assert_eq!(code, 0, "{stderr}");
    let lines = |name: &str| fs::read_to_string(out.join(name)).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let epochs = lines("epochs.csv");
    let columns =
        "schema_version,scenario,policy,placement,seed,currents,reference,baseline,from_cycle,to_cycle,requests,";
    assert!(epochs[0].starts_with(columns), "{}", epochs[0]);
    // 844 clocks over the channel, and 96 by FPM.
    let of = |policy: &str| epochs.iter().filter(|line| line.contains(&format!(",scenario,{policy},"))).count();
    assert_eq!((of("baseline"), of("rowclone")), (2, 1), "{epochs:#?}");
    assert_eq!(lines("results.csv").len(), 3);
}

#[test]
fn a_file_that_cannot_be_written_stops_the_run_before_it_begins() {
    let directory = Directory::sound();
    let (scenario, log) = (directory.path("scenario.toml"), directory.path("log.csv"));
    fs::write(directory.path("log-rowclone.csv"), "precious").unwrap();
    let out = directory.path("out");
    let (code, _, stderr) = run(&["run", text(&scenario), "--commands", text(&log), "--out", text(&out)]);
    assert_eq!(code, 2);
    assert!(stderr.contains("log-rowclone.csv: exists already"), "{stderr}");
    assert_eq!(names(&directory), ["log-rowclone.csv"], "the log of the first policy is not there either");
    assert_eq!(fs::read_to_string(directory.path("log-rowclone.csv")).unwrap(), "precious");
    let (code, _, stderr) = run(&["run", text(&scenario), "--commands", text(&directory.path("."))]);
    assert_eq!(code, 2);
    assert!(stderr.contains("is a directory\nhelp: give `--commands` the name of a file"), "{stderr}");
}

/// A run that lasts until the clock has gone far: only a signal can end it, and it leaves nothing.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_with_its_number_and_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        ends_with(signal, code);
    }
}

#[cfg(unix)]
fn ends_with(signal: &str, code: i32) {
    let directory = Directory::with(("", ""), ("value = 7", "value = 7\nat_cycle = 1_000_000_000_000"));
    let scenario = directory.path("scenario.toml");
    let (log, out) = (directory.path("log.csv"), directory.path("out"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
    command.args(["run", text(&scenario), "--commands", text(&log), "--out", text(&out)]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Its files are there under other names once it has set its trap.
    while !names(&directory).iter().any(|name| name == "out") {
        std::thread::yield_now();
    }
    send(signal, &child);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), stderr.as_str()),
        (Some(code), "error: interrupted\nhelp: no file was written\n")
    );
    assert_eq!(names(&directory), Vec::<String>::new());
}

/// After the first signal the run stops, and hangs at its message: standard error is a pipe that is full and that is
/// not read.
#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_a_run_that_hangs_and_leaves_no_file() {
    use std::io::Write as _;
    /// Bytes that a pipe of Linux holds.
    const PIPE: usize = 65_536;
    let directory = Directory::with(("", ""), ("value = 7", "value = 7\nat_cycle = 1_000_000_000_000"));
    let (scenario, log) = (directory.path("scenario.toml"), directory.path("log.csv"));
    let (_reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&vec![0; PIPE]).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
    command.args(["run", text(&scenario), "--commands", text(&log)]);
    let mut child = command.stdout(Stdio::null()).stderr(full).spawn().unwrap();
    while names(&directory).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it opened its files");
        std::thread::yield_now();
    }
    // Two signals in a row may arrive as one.
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        send("INT", &child);
    };
    assert_eq!(status.code(), Some(130));
    assert_eq!(names(&directory), Vec::<String>::new());
}
