//! `check`: 0 for a clean log, 1 for violations, 2 for what is no log.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use crate::common::run;
use dram_spec::{BankId, Channel, Column, Command, Cycle, Dialect, EventSink, Refresh, Row, System};
use rowclone_config::{Overrides, SystemConfig};
use tempfile::TempDir;
use trace_io::command_log::LogWriter;

const BANK: BankId = BankId { rank: 0, bank: 3 };

/// FPM from row 9 to row 10 of bank 3: ACT, ACT tRAS later, PRE tRAS later; `early` clocks too early at its second
/// step.
fn fpm(early: u64) -> Vec<(u64, Command)> {
    vec![
        (10, Command::Activate { bank: BANK, row: Row(9) }),
        (30 - early, Command::Activate { bank: BANK, row: Row(10) }),
        (50, Command::Precharge { bank: BANK }),
    ]
}

fn log(commands: &[(u64, Command)], end: Option<u64>) -> (TempDir, PathBuf) {
    let paper = SystemConfig::paper(&Overrides::default()).unwrap().memory.system().clone();
    let system = System { refresh: Refresh::Off, ..paper };
    let mut writer = LogWriter::new(Cursor::new(Vec::new()), &system, Dialect::RowClone).unwrap();
    for (at, command) in commands {
        writer.push(Cycle(*at), Channel(0), command);
    }
    if let Some(end) = end {
        writer.finish(Cycle(end));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.csv");
    fs::write(&path, writer.into_result().unwrap().into_inner()).unwrap();
    (directory, path)
}

fn check(path: &std::path::Path, more: &[&str]) -> (i32, String, String) {
    run(&[&["check", path.to_str().unwrap()], more].concat())
}

#[test]
fn a_clean_log_ends_with_0() {
    let (_directory, path) = log(&fpm(0), Some(58));
    assert_eq!(check(&path, &[]), (0, "3 commands, no violation\n".to_owned(), String::new()));
    let (_directory, path) = log(&fpm(0)[..0], None);
    assert_eq!(check(&path, &[]), (0, "0 commands, no violation\n".to_owned(), String::new()));
}

#[test]
fn violations_end_with_1_and_are_named_with_both_commands_and_the_source() {
    let (_directory, path) = log(&fpm(1), None);
    let (code, stdout, stderr) = check(&path, &[]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    let expected = "\
cycle 29, channel 0: ACT r0 b3 row 10 breaks FPM: 19 clocks after ACT r0 b3 row 9 at cycle 10, needs 20 (1 short) \
[RowClone: the source row is restored first: ACT to copy activation]

rule  violations  source
FPM            1  RowClone: the source row is restored first

3 commands, 1 violation
";
    assert_eq!(stdout, expected);
}

#[test]
fn the_dialect_is_the_logs_unless_another_is_asked_for() {
    let (_directory, path) = log(&fpm(0), Some(58));
    let (code, stdout, _) = check(&path, &["--dialect", "jedec"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("ACT r0 b3 row 10 breaks bank-open"), "{stdout}");
    assert_eq!(check(&path, &["--dialect", "rowclone"]).0, 0);
}

#[test]
fn json_has_every_number() {
    let (_directory, path) = log(&fpm(1), Some(58));
    let (code, stdout, _) = check(&path, &["--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 1);
    assert_eq!(found["commands"], 3);
    assert_eq!(found["end_cycle"], 58);
    assert_eq!(found["dialect"], "rowclone");
    assert_eq!((&found["format"], &found["note"]), (&"log".into(), &serde_json::Value::Null));
    assert_eq!(found["violations_by_rule"], serde_json::json!({ "FPM": 1 }));
    let expected = serde_json::json!({
        "rule": "FPM", "cycle": 29, "channel": 0, "rank": 0, "command": "ACT r0 b3 row 10",
        "earlier": { "cycle": 10, "command": "ACT r0 b3 row 9" },
        "bound_clocks": 20, "found_clocks": 19, "clocks_short": 1,
        "source": "RowClone: the source row is restored first",
    });
    assert_eq!(found["violations"], serde_json::json!([expected]));
}

#[test]
fn more_violations_than_can_be_named_are_counted() {
    let read = Command::Read { bank: BANK, column: Column(0), auto_precharge: dram_spec::AutoPrecharge::No };
    let reads: Vec<(u64, Command)> = (0..1500).map(|index| (index * 4, read)).collect();
    let (_directory, path) = log(&reads, None);
    let (code, stdout, _) = check(&path, &[]);
    assert_eq!(code, 1);
    assert_eq!(stdout.matches("breaks bank-closed").count(), 1000);
    assert!(stdout.contains("\n... and 500 more, in the counts below; `--limit` lists more\n"));
    assert!(stdout.ends_with("1500 commands, 1500 violations\n"));
}

#[test]
fn what_is_no_log_ends_with_2() {
    let (directory, path) = log(&fpm(0), Some(40));
    let name = path.to_str().unwrap();
    let expected = format!(
        "error: {name}: `end_cycle` is 40, but a command was issued in cycle 50\nhelp: correct it, or write \
            `# end_cycle = unknown`\n"
    );
    assert_eq!(check(&path, &[]), (2, String::new(), expected));

    let broken = directory.path().join("broken.csv");
    fs::write(&broken, fs::read_to_string(&path).unwrap().replace("30,ACT", "30,ACTIVATE")).unwrap();
    let (code, stdout, stderr) = check(&broken, &[]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(
        stderr.starts_with(&format!("error: {}:17: `command` is `ACTIVATE`, but must be one of ACT", broken.display())),
        "{stderr}"
    );

    fs::write(&broken, "cycle,command\n").unwrap();
    let (code, _, stderr) = check(&broken, &[]);
    assert_eq!(code, 2);
    assert!(
        stderr
            .starts_with(&format!("error: {}:1: is `cycle,command`, but a command log begins with", broken.display())),
        "{stderr}"
    );

    let (code, _, stderr) = check(directory.path(), &[]);
    assert_eq!((code, stderr.starts_with("error: ")), (2, true), "{stderr}");
    let (code, _, stderr) = check(&directory.path().join("none"), &[]);
    assert_eq!(code, 2);
    assert!(stderr.contains("none: cannot be read: no such file or directory\nhelp: check the spelling"), "{stderr}");
}

/// Three ACTs to open banks, in the dialect without copy activations.
#[test]
fn the_limit_changes_the_list_and_no_count() {
    let commands: Vec<(u64, Command)> =
        (0..4).map(|n| (10 + 40 * n, Command::Activate { bank: BANK, row: Row(9) })).collect();
    let (_directory, path) = log(&commands, None);
    for (limit, listed) in [("0", 0), ("2", 2), ("9", 3)] {
        let (code, stdout, _) = check(&path, &["--dialect", "jedec", "--limit", limit, "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((code, &found["violations_total"], &found["violations_listed"]), (1, &3.into(), &listed.into()));
        assert_eq!(found["violations"].as_array().map(Vec::len), Some(listed));
        let (_, stdout, _) = check(&path, &["--dialect", "jedec", "--limit", limit]);
        assert_eq!(stdout.matches("cycle ").count() - stdout.matches("at cycle ").count(), listed, "{stdout}");
        assert!(
            stdout.contains("3 violations") && (listed == 3) != stdout.contains("`--limit` lists more"),
            "{stdout}"
        );
    }
}
