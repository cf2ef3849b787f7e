//! `convert`: exported traces, read back by independent readers, have the commands of the log that they are of.

mod readers;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use dram_spec::{AutoPrecharge, Command, Cycle, Issued, PrechargePowerDown, System};
use tempfile::TempDir;
use trace_io::command_log::LogReader;

use crate::common::run;
use readers::{Read, drampower, hdl};

const LOG: &str = "\
# rowclone-sim command log, version 1
# bin = 1066G
# density_gb = 2
# width = 8
# channels = 1
# ranks = 1
# row_bytes = 8192
# rows_per_subarray = 512
# t_refi_ps = 7800000
# copy_activations = counted
# precharge_power_down = fast-exit
# dialect = rowclone
# start = idle
# end_cycle = 48
cycle,command,channel,rank,bank,row,column,dst_bank,dst_column
0,ACT,0,0,3,45,,,
8,RD,0,0,3,,17,,
28,PRE,0,0,3,,,,
";

/// A directory in which conversions run.
struct Case(TempDir);

impl Case {
    fn new() -> Case {
        Case(tempfile::tempdir().unwrap())
    }

    fn with(name: &str, text: &str) -> Case {
        let case = Case::new();
        fs::write(case.path(name), text).unwrap();
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn convert(&self, from: &str, to: &str, more: &[&str]) -> (i32, String) {
        let (from, to) = (self.path(from), self.path(to));
        let (code, stdout, stderr) = run(&[&["convert", from.to_str().unwrap(), to.to_str().unwrap()], more].concat());
        assert_eq!(stdout, "");
        (code, stderr.replace(&format!("{}/", self.0.path().display()), ""))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A log, read.
struct Log {
    system: System,
    end: Cycle,
    commands: Vec<Issued>,
}

fn log(path: &Path) -> Log {
    let mut reader = LogReader::new(File::open(path).unwrap()).unwrap();
    let commands = reader.by_ref().map(Result::unwrap).collect();
    let header = reader.header().clone();
    Log { system: header.system, end: header.end.unwrap(), commands }
}

/// The commands of a rank; with each ACT, whether its bank is open.
fn of_rank(log: &Log, channel: u8, rank: u8) -> Vec<(u64, Command, bool)> {
    let mut open = [false; 8];
    let mut commands = Vec::new();
    let of_rank = |issued: &&Issued| issued.channel.0 == channel && issued.command.rank() == rank;
    for Issued { at, command, .. } in log.commands.iter().filter(of_rank) {
        let mut is_copy = false;
        match *command {
            Command::Activate { bank, .. } => {
                is_copy = std::mem::replace(&mut open[usize::from(bank.bank)], true);
            }
            Command::Precharge { bank }
            | Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. }
            | Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. } => open[usize::from(bank.bank)] = false,
            Command::PrechargeAll { .. } => open = [false; 8],
            _ => {}
        }
        commands.push((at.0, *command, is_copy));
    }
    commands
}

/// Whether a bank of the rank is open at a cycle, from the intervals of all its rows: from ACT to PRE, or to the start
/// of the auto-precharge.
fn is_active(system: &System, commands: &[(u64, Command, bool)], now: u64) -> bool {
    let n = |min| system.clock().at_least(min).0;
    let bin = system.bin;
    (0..8).any(|number| {
        let (mut opened, mut closes) = (None, 0);
        for &(at, command, _) in commands.iter().filter(|(at, ..)| *at <= now) {
            let auto = |delay: u64| opened.map_or(0, |opened: u64| (at + delay).max(opened + n(bin.t_ras)));
            match command {
                Command::Activate { bank, .. } if bank.bank == number => (opened, closes) = (Some(at), u64::MAX),
                Command::Precharge { bank } if bank.bank == number => closes = closes.min(at),
                Command::PrechargeAll { .. } => closes = closes.min(at),
                Command::Read { bank, auto_precharge: AutoPrecharge::Yes, .. } if bank.bank == number => {
                    closes = auto(n(bin.t_rtp));
                }
                Command::Write { bank, auto_precharge: AutoPrecharge::Yes, .. } if bank.bank == number => {
                    closes = auto(bin.cwl + 4 + n(bin.t_wr));
                }
                _ => {}
            }
        }
        closes > now
    })
}

/// What a DRAMPower trace of a rank must hold.
fn expected_drampower(log: &Log, commands: &[(u64, Command, bool)]) -> Vec<Read> {
    let precharged = match log.system.precharge_power_down {
        PrechargePowerDown::FastExit => "PDN_F_PRE",
        PrechargePowerDown::SlowExit => "PDN_S_PRE",
    };
    let mut active = false;
    let mut expected = Vec::new();
    for &(cycle, command, is_copy) in commands {
        let name = match command {
            Command::Transfer { .. } => continue,
            Command::PowerDownEnter { .. } => {
                active = is_active(&log.system, commands, cycle);
                if active { "PDN_F_ACT" } else { precharged }
            }
            Command::PowerDownExit { .. } => {
                if active {
                    "PUP_ACT"
                } else {
                    "PUP_PRE"
                }
            }
            Command::SelfRefreshEnter { .. } => "SREN",
            Command::SelfRefreshExit { .. } => "SREX",
            _ => command.mnemonic(),
        };
        if !is_copy {
            expected.push(Read { cycle, name: name.into(), bank: bank(&command), row: None, column: None });
        }
    }
    expected
}

fn expected_hdl(commands: &[(u64, Command, bool)]) -> Vec<Read> {
    let read = |&(cycle, command, _): &(u64, Command, bool)| {
        let (row, column) = match command {
            Command::Transfer { .. } => return None,
            Command::Activate { row, .. } => (Some(row.0), None),
            Command::Read { column, .. } | Command::Write { column, .. } => (None, Some(column.0)),
            _ => (None, None),
        };
        Some(Read { cycle, name: command.mnemonic().into(), bank: bank(&command), row, column })
    };
    commands.iter().filter_map(read).collect()
}

fn bank(command: &Command) -> Option<u8> {
    match command {
        Command::Activate { bank, .. }
        | Command::Precharge { bank }
        | Command::Read { bank, .. }
        | Command::Write { bank, .. } => Some(bank.bank),
        _ => None,
    }
}

/// Runs a scenario, converts its log to each format, and compares; the names in all DRAMPower traces.
fn round_trip(scenario: &str, sets: &[&str]) -> Vec<String> {
    let case = Case::new();
    let path = case.path("run.csv");
    let sets: Vec<&str> = sets.iter().flat_map(|&set| ["--set", set]).collect();
    let args = [&["run", scenario, "--quiet", "--no-baseline", "--commands", path.to_str().unwrap()], &sets[..]];
    let (code, _, stderr) = run(&args.concat());
    assert_eq!(code, 0, "{stderr}");
    let log = log(&path);
    for output in ["run.trace", "run.cmdtrace", "run.hdl"] {
        assert_eq!(case.convert("run.csv", output, &["--drop-unsupported"]).0, 0);
    }
    let (channels, ranks) = (log.system.geometry.channels(), log.system.geometry.ranks());
    let mut names = Vec::new();
    for (channel, rank) in (0..channels).flat_map(|channel| (0..ranks).map(move |rank| (channel, rank))) {
        let part = if channels * ranks == 1 { String::new() } else { format!("-chan-{channel}-rank-{rank}") };
        let commands = of_rank(&log, channel, rank);
        let expected = expected_drampower(&log, &commands);
        assert_eq!(drampower(&case.read(&format!("run{part}.trace"))), (expected.clone(), Some(log.end.0)));
        assert_eq!(drampower(&case.read(&format!("run{part}.cmdtrace"))), (expected.clone(), None));
        let list = hdl(&case.read(&format!("run{part}.hdl")));
        assert_eq!(list.commands, expected_hdl(&commands));
        let transfers = commands.iter().filter(|(_, command, _)| matches!(command, Command::Transfer { .. })).count();
        assert_eq!(list.transfers, transfers);
        names.extend(expected.into_iter().map(|read| read.name));
        names.extend((transfers > 0).then(|| "TRANSFER".to_owned()));
        names.extend(commands.iter().any(|(.., is_copy)| *is_copy).then(|| "copy".to_owned()));
    }
    assert_eq!(case.files().len(), 1 + 3 * usize::from(channels * ranks));
    names.sort();
    names.dedup();
    names
}

const MIXED: [&str; 9] = [
    "policies=[\"rowclone\"]",
    "workload.count=300",
    "warm_up_cycles=0",
    "epoch_cycles=1000",
    "workload.gap_cycles=400",
    "workload.copy_share=0.05",
    "system.device.currents=\"2 Gb x8 D-die 1066\"",
    "system.controller.power_down_after_cycles=60",
    "system.controller.self_refresh_after_cycles=800",
];

#[test]
fn a_run_over_channels_and_ranks_with_closed_rows_and_sleep_is_exported() {
    let sets = ["system.geometry.channels=2", "system.geometry.ranks=2", "system.controller.row_policy=\"closed\""];
    let names = round_trip("traces/mixed.toml", &[&MIXED[..], &sets].concat());
    let expected =
        ["ACT", "PDN_F_PRE", "PRE", "PUP_PRE", "RD", "RDA", "REF", "SREN", "SREX", "TRANSFER", "WR", "WRA", "copy"];
    assert_eq!(names, expected);
}

#[test]
fn a_run_with_open_rows_and_slow_exit_is_exported() {
    let sets =
        ["system.device.precharge_power_down=\"slow-exit\"", "system.geometry.ranks=2", "workload.gap_cycles=150"];
    let names = round_trip("traces/mixed.toml", &[&MIXED[..], &sets].concat());
    for name in ["PDN_F_ACT", "PUP_ACT", "PDN_S_PRE", "PUP_PRE", "PREA", "TRANSFER"] {
        assert!(names.iter().any(|found| found == name), "no {name} in {names:?}");
    }
}

#[test]
fn copies_by_fpm_and_by_psm_and_over_the_channel_are_exported() {
    let fpm = round_trip("traces/page-copy.toml", &["policies=[\"fpm-only\"]"]);
    assert!(fpm.contains(&"copy".to_owned()), "{fpm:?}");
    let baseline = round_trip("traces/page-copy.toml", &["policies=[\"baseline\"]"]);
    assert_eq!(baseline, ["ACT", "PRE", "RD", "WR"]);
}

#[test]
fn the_header_of_a_list_programs_the_chips() {
    for (bin, values) in [
        ("1066G", ["1.875", "8", "6", "8", "8", "0x1940", "0x0000", "0x0008", "0x0000"]),
        ("1600K", ["1.25", "11", "8", "12", "8", "0x1d70", "0x0000", "0x0018", "0x0000"]),
    ] {
        let case = Case::with("log.csv", &LOG.replace("1066G", bin));
        assert_eq!(case.convert("log.csv", "log.hdl", &[]).0, 0);
        let list = hdl(&case.read("log.hdl"));
        let keys = ["tCK_ns", "CL", "CWL", "WR", "BL", "MR0", "MR1", "MR2", "MR3"];
        assert_eq!(keys.map(|key| list.value(key)), values);
    }
}

const COPY: &str = "0,ACT,0,0,3,45,,,\n20,ACT,0,0,3,46,,,\n40,PRE,0,0,3,,,,\n";

/// The header of the log, and other commands.
fn with_commands(commands: &str) -> String {
    let (header, _) = LOG.split_once("dst_column\n").unwrap();
    format!("{header}dst_column\n{commands}")
}

#[test]
fn what_a_format_lacks_is_refused_with_its_line_or_left_out_and_counted() {
    let case = Case::with("log.csv", &with_commands(COPY));
    let line = LOG.lines().position(|line| line.starts_with("cycle,")).unwrap() + 3;
    for output in ["x.trace", "x.cmdtrace"] {
        let (code, stderr) = case.convert("log.csv", output, &[]);
        let expected = format!(
            "error: log.csv:{line}: cycle 20: ACT r0 b3 row 46, to an open bank, is a command of RowClone, which the \
                format cannot \
             express\nhelp: leave such commands out with `--drop-unsupported`, or write an HDL list: `--to hdl`\n"
        );
        assert_eq!((code, stderr), (2, expected));
        assert_eq!(case.files(), ["log.csv"], "nothing is written in part");
        let (code, stderr) = case.convert("log.csv", output, &["--drop-unsupported"]);
        assert_eq!((code, stderr), (0, format!("wrote {output}\nwarning: 1 copy activation left out\n")));
        assert!(case.read(output).starts_with("0,ACT,3\n40,PRE,3\n"));
        fs::remove_file(case.path(output)).unwrap();
    }
    let (code, stderr) = case.convert("log.csv", "x.hdl", &[]);
    assert_eq!((code, stderr.as_str()), (0, "wrote x.hdl\nwarning: 1 copy activation written as ACT\n"));

    let transfers = "0,ACT,0,0,3,45,,,\n8,ACT,0,0,4,45,,,\n16,TRANSFER,0,0,3,,0,4,0\n20,TRANSFER,0,0,3,,1,4,1\n";
    let case = Case::with("log.csv", &with_commands(transfers));
    assert_eq!(
        case.convert("log.csv", "x.hdl", &[]),
        (0, "wrote x.hdl\nwarning: 2 TRANSFERs written as comments\n".into())
    );
    let (code, stderr) = case.convert("log.csv", "x.trace", &[]);
    assert!(code == 2 && stderr.contains(": cycle 16: TRANSFER r0 b3 col 0 -> b4 col 0 is a command of"), "{stderr}");
}

#[test]
fn files_are_replaced_only_with_force() {
    let case = Case::with("log.csv", LOG);
    assert_eq!(case.convert("log.csv", "x.hdl", &[]).0, 0);
    let (code, stderr) = case.convert("log.csv", "x.hdl", &[]);
    assert_eq!(code, 2);
    assert_eq!(stderr, "error: x.hdl: exists already\nhelp: give another name, or replace it with `--force`\n");
    assert_eq!(case.convert("log.csv", "x.hdl", &["--force"]).0, 0);
    // A file per rank is named after the output, whose name stays free.
    let two = Case::with("log.csv", &LOG.replace("ranks = 1", "ranks = 2"));
    fs::write(two.path("x-chan-0-rank-1.hdl"), "").unwrap();
    assert_eq!(two.convert("log.csv", "x.hdl", &[]).0, 2);
    assert_eq!(two.files(), ["log.csv", "x-chan-0-rank-1.hdl"]);
    let (code, stderr) = two.convert("log.csv", "x", &["--to", "hdl"]);
    assert_eq!((code, stderr.lines().next()), (0, Some("wrote x-chan-0-rank-0, x-chan-0-rank-1")));
}

#[test]
fn pairs_of_families_and_unknown_formats_are_refused() {
    let case = Case::with("log.csv", LOG);
    fs::write(case.path("memory.txt"), "R 0x40 @5\n").unwrap();
    let refused = |from: &str, to: &str, message: &str, help: &str| {
        assert_eq!(case.convert(from, to, &[]), (2, format!("error: {message}\nhelp: {help}\n")));
    };
    refused(
        "log.csv",
        "x.native",
        "log.csv: a command trace (`log`) cannot be written as a memory trace (`native`)",
        "a command trace can be written as `log`, `drampower`, `ramulator-commands`, `hdl`",
    );
    refused(
        "memory.txt",
        "x.hdl",
        "memory.txt: a memory trace (`native`) cannot be written as a command trace (`hdl`)",
        "a memory trace can be written as `native`, `rc`, `cpu`, `ramulator-dram`, `ramulator2-ls`, `ramulator2-rw`, \
         `dramsim3`, `stl`, `rstl`, `lackey`, `recording`",
    );
    let (code, stderr) = case.convert("log.csv", "x.foo", &[]);
    assert!(
        code == 2 && stderr.starts_with("error: x.foo: the format is not known\nhelp: name it with `--to`: "),
        "{stderr}"
    );
    fs::write(case.path("empty.trace"), "").unwrap();
    let (code, stderr) = case.convert("empty.trace", "x.trace", &[]);
    let message = "error: empty.trace: may have the format `drampower`, `dramsim3-commands`\nhelp: name it, for \
        example `--from drampower`\n";
    assert_eq!((code, stderr.as_str()), (2, message));
    assert_eq!(case.convert("absent", "x.trace", &[]).0, 2);
}

const SYSTEM: &str = "configs/ddr3-1600-8gb-dimm.toml";

#[test]
fn traces_of_other_simulators_are_converted() {
    let case = Case::new();
    let dramsim3 = "20 activate 0 1 0 3 0x11 0x5\n31 read_p 0 1 0 3 0x11 0x5\n6240 refresh -1 1 -1 -1 -0x1 -0x1\n";
    fs::write(case.path("t.trace"), dramsim3).unwrap();
    let (code, stderr) = case.convert("t.trace", "log.csv", &["--system", SYSTEM]);
    assert_eq!((code, stderr.as_str()), (0, "wrote log.csv\n"));
    let written = case.read("log.csv");
    assert!(written.contains("# bin = 1600K\n") && written.contains("# dialect = jedec\n"), "{written}");
    assert!(written.ends_with("dst_column\n20,ACT,0,1,3,17,,,\n31,RDA,0,1,3,,5,,\n6240,REF,0,1,,,,,\n"), "{written}");
    assert_eq!(run(&["check", case.path("log.csv").to_str().unwrap()]).0, 0);
    assert_eq!(case.convert("t.trace", "x.cmdtrace", &["--system", SYSTEM]).0, 0);
    assert_eq!(case.read("x-chan-0-rank-1.cmdtrace"), "20,ACT,3\n31,RDA,3\n6240,REF,0\n");

    // Without rows: to a format without rows alone. A file of one rank becomes one file.
    let (code, stderr) = case.convert("x-chan-0-rank-1.cmdtrace", "y.trace", &["--system", SYSTEM]);
    assert_eq!((code, stderr.as_str()), (0, "wrote y.trace\n"));
    assert_eq!(case.read("y.trace"), case.read("x-chan-0-rank-1.cmdtrace"));
    let (code, stderr) = case.convert("x-chan-0-rank-1.cmdtrace", "y.csv", &["--system", SYSTEM]);
    let message = "error: x-chan-0-rank-1.cmdtrace: `log` has rows and columns, and `ramulator-commands` has none\n\
        help: convert the trace that it was written from\n";
    assert_eq!((code, stderr.as_str()), (2, message));
    let (code, stderr) = case.convert("t.trace", "z.csv", &[]);
    assert!(code == 2 && stderr.contains("names no memory system"), "{stderr}");
}
