//! `check` of the command traces of other simulators: they name no system, and some no rows.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::common::{SYSTEM, run};
use tempfile::TempDir;

/// A directory with a trace, and a system of two channels with two ranks each, DDR3-1066 8-8-8, refresh every 4160
/// clocks.
struct Case {
    directory: TempDir,
    trace: PathBuf,
}

impl Case {
    fn new(name: &str, trace: impl AsRef<[u8]>) -> Case {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, trace).unwrap();
        fs::write(directory.path().join("system.toml"), SYSTEM.replace("ranks = 1", "ranks = 2")).unwrap();
        Case { directory, trace: path }
    }

    fn check(&self, more: &[&str]) -> (i32, String, String) {
        let system = self.directory.path().join("system.toml");
        self.alone(&[&["--system", system.to_str().unwrap()], more].concat())
    }

    /// Without `--system`.
    fn alone(&self, more: &[&str]) -> (i32, String, String) {
        let (code, stdout, stderr) = run(&[&["check", self.trace.to_str().unwrap()], more].concat());
        (code, stdout, stderr.replace(&format!("{}/", self.directory.path().display()), ""))
    }
}

const NOTE: &str = "note: the trace has no rows and columns: the rules of banks, ranks and buses are checked, but not \
    whether rows, \
    columns and subarrays exist or match\n";

/// ACT, RD tRCD = 8 later or one clock too early, PRE tRAS = 20 after the ACT, ACT tRP = 8 later, in each format.
fn open_read_close(rd: u64) -> [(&'static str, String); 4] {
    let drampower = format!("10,ACT,3\n{rd},RD,3\n30,PRE,3\n38,ACT,3\n");
    let ramulator2 = format!(
        "clock,command,Channel,Rank,Bank,Row,Column,type,source\n10,ACT,0,0,3,9,4,0,0\n{rd},RD,0,0,3,9,4,0,0\n\
         30,PREpb,0,0,3,9,4,0,0\n38,ACT,0,0,3,8,4,0,0\n"
    );
    let dramsim3 = format!(
        "10    activate   0   0   0   3    0x9   0x4\n{rd}    read       0   0   0   3    0x9   0x4\n\
         30    precharge  0   0   0   3    0x9   0x4\n38    activate   0   0   0   3    0x8   0x4\n"
    );
    [
        ("t.trace", drampower.clone()),
        ("t-chan-0-rank-0.cmdtrace", drampower),
        ("t.csv.ch0", ramulator2),
        ("tch_0cmd.trace", dramsim3),
    ]
}

#[test]
fn a_legal_trace_of_each_format_is_clean() {
    for (name, trace) in open_read_close(18) {
        let note = if trace.contains("0x9") || trace.contains("clock") { "" } else { NOTE };
        let expected = (0, format!("{note}4 commands, no violation\n"), String::new());
        assert_eq!(Case::new(name, &trace).check(&[]), expected, "{name}");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(trace.as_bytes()).unwrap();
        assert_eq!(Case::new(&format!("{name}.gz"), packed.finish().unwrap()).check(&[]), expected, "{name}.gz");
    }
}

#[test]
fn a_violation_names_rows_and_columns_where_the_trace_has_them() {
    for (name, trace) in open_read_close(17) {
        let (row, column) =
            if trace.contains("clock") || trace.contains("0x9") { (" row 9", " col 4") } else { ("", "") };
        let expected = format!(
            "cycle 17, channel 0: RD r0 b3{column} breaks tRCD: 7 clocks after ACT r0 b3{row} at cycle 10, needs 8 (1 \
                short) \
             [JESD79-3: ACT to RD, WR]\n"
        );
        let (code, stdout, stderr) = Case::new(name, &trace).check(&[]);
        assert_eq!((code, stderr.as_str()), (1, ""), "{name}");
        assert!(stdout.contains(&expected) && stdout.ends_with("4 commands, 1 violation\n"), "{name}: {stdout}");
        let (code, stdout, _) = Case::new(name, &trace).check(&["--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((code, &json["violations"][0]["command"]), (1, &format!("RD r0 b3{column}").into()));
        assert_eq!((&json["dialect"], json["note"].is_null()), (&"jedec".into(), !column.is_empty()));
    }
}

#[test]
fn an_activation_of_an_open_bank_is_a_violation_of_plain_ddr3() {
    let case = Case::new("t.trace", "10,ACT,3\n38,ACT,3\n");
    let (code, stdout, _) = case.check(&[]);
    assert_eq!(code, 1);
    assert!(
        stdout.contains("cycle 38, channel 0: ACT r0 b3 breaks bank-open: after ACT r0 b3 at cycle 10"),
        "{stdout}"
    );
    assert_eq!(case.check(&["--dialect", "rowclone"]).0, 0);
}

/// REF of one rank, each 4160 clocks.
fn refreshes(line: impl Fn(u64) -> String) -> String {
    (1..=20).map(|number| line(number * 4160)).collect::<Vec<_>>().concat()
}

#[test]
fn a_file_of_one_channel_or_rank_is_checked_as_such() {
    let header = "clock,command,Channel,Rank,Bank,Row,Column,type,source\n";
    let both = refreshes(|at| format!("{at},REFab,1,0,-1,-1,-1,2,-1\n{},REFab,1,1,-1,-1,-1,2,-1\n", at + 1));
    let clean = [
        ("x.ch1", format!("{header}{both}"), ""),
        ("x-chan-1-rank-1.cmdtrace", refreshes(|at| format!("{at},REF\n")), NOTE),
        (
            "x.trace",
            refreshes(|at| format!("{at} refresh -1 1 -1 -1 -0x1 -0x1\n{} refresh 1 0 -1 -1 -0x1 -0x1\n", at + 1)),
            "",
        ),
    ];
    for (name, trace, note) in clean {
        let (code, stdout, _) = Case::new(name, trace).check(&[]);
        assert!(
            code == 0 && stdout.starts_with(note) && stdout.ends_with("0 commands, no violation\n"),
            "{name}: {stdout}"
        );
    }
    let missing = [
        ("x.ch1", format!("{header}{}", refreshes(|at| format!("{at},REFab,1,1,-1,-1,-1,2,-1\n"))), 0),
        ("x-chan-1-rank-1.cmdtrace", "83200,REF\n".to_owned(), 1),
    ];
    for (name, trace, rank) in missing {
        let (code, stdout, _) = Case::new(name, trace).check(&[]);
        assert_eq!(code, 1, "{name}");
        assert!(stdout.contains("REF-gap") && stdout.contains("channel 1: "), "{stdout}");
        assert!(
            stdout.contains(&format!("r{rank} breaks REF")) || stdout.contains(&format!("in rank {rank}")),
            "{stdout}"
        );
        assert!(!stdout.contains("channel 0: "), "{stdout}");
    }
}

#[test]
fn a_trace_needs_a_system_and_a_log_has_one() {
    let case = Case::new("t.trace", "10,ACT,3\n");
    let expected = "error: t.trace: a trace of the format `drampower` names no memory system\n\
        help: give the system that it is of, for example `--system ddr3-1600-8gb-dimm`\n";
    assert_eq!(case.alone(&[]), (2, String::new(), expected.to_owned()));

    let log = Case::new("t.csv", include_str!("../../../../fuzz/seeds/command_log/page-copy.csv"));
    let (code, _, stderr) = log.check(&[]);
    assert_eq!(code, 2);
    assert!(
        stderr
            .starts_with("error: t.csv: a command log names its system, and `--system` gives another\nhelp: leave out"),
        "{stderr}"
    );
}

#[test]
fn a_format_is_the_users_or_that_of_the_first_line_or_of_the_extension() {
    let empty = Case::new("t.trace", "");
    let expected = "error: t.trace: may be a trace of `drampower`, `dramsim3-commands`\n\
        help: name its format, for example `--input-format drampower`\n";
    assert_eq!(empty.check(&[]), (2, String::new(), expected.to_owned()));
    let clean = (0, "0 commands, no violation\n".to_owned(), String::new());
    assert_eq!(empty.check(&["--input-format", "dramsim3-commands"]), clean);

    let other = Case::new("t.txt", "0x40 R\n");
    let expected = "error: t.txt: is no command trace of a known format\n\
        help: the formats are `log`, `drampower`, `ramulator-commands`, `ramulator2-commands`, `dramsim3-commands`; \
        see docs/command-traces.md\n";
    assert_eq!(other.check(&[]), (2, String::new(), expected.to_owned()));
    let (code, _, stderr) = other.check(&["--input-format", "drampower"]);
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("error: t.txt:1: is `0x40 R`, but a line has a clock, a command and a bank"),
        "{stderr}"
    );
    let (code, _, stderr) = other.check(&["--input-format", "hdl"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("invalid value 'hdl'") && stderr.contains("ramulator2-commands"), "{stderr}");

    let list = Case::new("t.hdl", "# rowclone-sim HDL command list, version 1\n");
    let expected = "error: t.hdl: the format `hdl` is written, but not read\n\
        help: give the command log that it was written from\n";
    assert_eq!(list.check(&[]), (2, String::new(), expected.to_owned()));
}

#[test]
fn faults_of_a_trace_are_named_with_their_line() {
    for (trace, message) in [
        (
            "1,ACT,3\n2,FLY,3\n3,RFM,3\n",
            "error: t.trace:2: unknown commands `FLY`, `RFM`\nhelp: the commands of this format are ",
        ),
        (
            "1,ACT,3\n2,RD\n",
            "error: t.trace:2: `bank` is ``, but must be a whole number from 0 to 255\nhelp: correct the line",
        ),
        (
            "9,PDN_S_PRE,0\n",
            "error: t.trace:1: is `PDN_S_PRE`, but the system has `precharge_power_down = \"fast-exit\"`\nhelp: ",
        ),
        (
            "9,ACT,3\n8,END,0\n",
            "error: t.trace: `END` is 8, but a command was issued in cycle 9\nhelp: correct it, or leave it out\n",
        ),
    ] {
        let (code, stdout, stderr) = Case::new("t.trace", trace).check(&[]);
        assert_eq!((code, stdout.as_str()), (2, ""));
        assert!(stderr.starts_with(message), "{stderr}");
    }
}
