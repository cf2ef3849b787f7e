//! The program as a process: help, exit codes, and its behavior where no reader accepts its output.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Cursor};
use std::process::{Command, Stdio};

use crate::common::{Directory, program, run, send};
use dram_spec::{Dialect, Standard};
use rowclone_config::{Overrides, SystemConfig};
use trace_io::command_log::LogWriter;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["run"],
    &["check"],
    &["explain"],
    &["explain", "address"],
    &["explain", "rules"],
    &["explain", "plan"],
    &["explain", "energy"],
    &["systems"],
    &["reproduce"],
    &["reproduce", "table3"],
    &["completions"],
    &["man"],
    &["plot"],
    &["report"],
];

#[test]
fn every_help_ends_with_an_example_of_its_own() {
    for command in COMMANDS {
        let (code, help, _) = run(&[command, &["--help"][..]].concat());
        assert_eq!(code, 0);
        let (_, examples) = help.rsplit_once("\nExample").unwrap_or_else(|| panic!("{command:?} has no example"));
        let start = ["rowclone-sim"].iter().chain(*command).copied().collect::<Vec<_>>().join(" ");
        let last = examples.trim_end().lines().last().unwrap().trim();
        assert!(last.starts_with(&start), "{command:?}: {last}");
    }
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    for wrong in [&["fly"][..], &[], &["explain", "rules", "--format", "xml"]] {
        let (code, stdout, stderr) = run(wrong);
        assert_eq!((code, stdout.as_str()), (2, ""));
        assert!(!stderr.is_empty());
    }
}

#[test]
fn an_error_is_one_message_with_its_place_and_a_way_out() {
    let directory = Directory::with(("channels = 2", "channels = 3"), ("", ""));
    let path = directory.path("system.toml");
    let path = path.to_str().unwrap();
    let expected = format!(
        "error: {path}:9: `geometry.channels` is 3, but must be a power of two from 1 to 8\nhelp: try `channels = 4`\n"
    );
    assert_eq!(run(&["explain", "address", "0", "--system", path]), (2, String::new(), expected));
}

#[test]
fn files_that_are_no_text_files_say_so() {
    let directory = Directory::sound();
    let binary = directory.path("binary.toml");
    fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    let cases = [
        ("configs", "configs: cannot be read: it is a directory\nhelp: give a file in it"),
        (
            "none.toml",
            "none.toml: cannot be read: no such file or directory\nhelp: check the spelling of the path, and the \
                directory it starts from",
        ),
        (
            binary.to_str().unwrap(),
            "cannot be read: stream did not contain valid UTF-8\nhelp: give a text file in UTF-8",
        ),
    ];
    for (path, message) in cases {
        let (code, _, stderr) = run(&["explain", "address", "0", "--system", path]);
        assert_eq!(code, 2);
        assert!(stderr.ends_with(&format!("{message}\n")), "{stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_a_message() {
    for args in [&["explain", "rules"][..], &["--help"], &["--version"]] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
        let output = command.args(args).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let expected = "error: standard output: cannot be written: no space left on the device\nhelp: make room there, \
            or write elsewhere\n";
        assert_eq!((output.status.code(), stderr.as_str()), (Some(2), expected), "{args:?}");
    }
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
    let mut child = command
        .args(["explain", "rules", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The end that is read from is closed before anything is written.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// A log that comes through a pipe and never ends: only Ctrl-C can end it.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_check_with_130() {
    let directory = Directory::sound();
    let pipe = directory.path("log");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
    let child = command.arg("check").arg(&pipe).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (reading, is_reading) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        use std::io::Write;
        // Opens when the program does, which has set its trap by then.
        let mut log = OpenOptions::new().write(true).open(&pipe).unwrap();
        let system = SystemConfig::paper(&Overrides::default()).unwrap().memory.system().clone();
        let header = LogWriter::new(Cursor::new(Vec::new()), &system, Dialect::RowClone).unwrap();
        log.write_all(header.into_result().unwrap().get_ref()).unwrap();
        reading.send(()).unwrap();
        // Until the program no longer reads.
        let mut at: u64 = 0;
        while writeln!(log, "{at},PRE,0,0,0,,,,").is_ok() {
            at += 1;
        }
    });
    is_reading.recv().unwrap();
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()),
        (Some(130), "error: interrupted\n")
    );
}

#[test]
fn rules_are_listed_in_the_clocks_of_the_bin() {
    let wide = |args: &[&str]| {
        let output = program(args).env("COLUMNS", "300").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = wide(&["explain", "rules"]);
    let line = |text: &str, rule: &str| {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(rule));
        line.unwrap_or_else(|| panic!("no {rule}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(text.starts_with("DDR3-1066G (8-8-8), tCK 1.8750 ns; 2 Gb x8 chips with pages of 512 bytes; "));
    assert_eq!(line(&text, "tWTR"), "tWTR 14 26.250 CWL + BL/2 + tWTR rank WR, WRA RD, RDA JESD79-3: WR to RD");
    assert_eq!(line(&text, "tRAS-max"), "tRAS-max 37440 70200.000 9 tREFI a row open Samsung M378B5673EH1 rev 1.03");

    let text = wide(&["explain", "rules", "--bin", "1600K", "--system", "configs/ddr3-1600-8gb-dimm.toml"]);
    assert_eq!(
        line(&text, "tRRD"),
        "tRRD 5 6.250 tRRD rank ACT, ACT (copy) ACT, ACT (copy) JESD79-3: ACT to ACT of two banks"
    );
    let (code, _, stderr) = run(&["explain", "rules", "--bin", "1600"]);
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with(
            "error: invalid value '1600' for '--bin <BIN>': no such bin: for example `1600H`, `1600J`, `1600K`, \
                `DDR4-1600J`, \
             `DDR4-1600K`, `DDR4-1600L`; `rowclone-sim explain rules --help` lists all bins"
        ),
        "{stderr}"
    );
}

#[test]
fn rules_in_json_have_every_rule_once() {
    let (_, text, _) = run(&["explain", "rules", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names = |key: &str| -> Vec<String> {
        found[key].as_array().unwrap().iter().map(|rule| rule["rule"].as_str().unwrap().to_owned()).collect()
    };
    let rules = dram_core::table(Standard::Ddr3).rules;
    let mut expected: Vec<&str> = rules.iter().map(|rule| rule.name).collect();
    expected.dedup(); // tRRD and tFAW stand there once for each way to count copies
    assert_eq!(names("minima"), expected);
    let system = SystemConfig::paper(&Overrides::default()).unwrap().memory.system().clone();
    assert_eq!(names("maxima"), dram_core::maxima(&system).map(|maximum| maximum.name));
}

/// Each bin names its standard. A data rate without latencies of its own has no rules.
#[test]
fn rules_of_every_bin_name_its_standard() {
    for bin in Standard::all_bins() {
        let (code, text, stderr) = run(&["explain", "rules", "--format", "json", "--bin", bin.name]);
        if bin.cl == 0 {
            assert_eq!(code, 2, "{}", bin.name);
            assert!(stderr.contains("is a data rate without latencies of its own"), "{stderr}");
            // The bin of the help has rules.
            let example = stderr.split('\'').nth(1).unwrap();
            assert_eq!(example, bin.example_with_latencies());
            let (code, text, stderr) = run(&["explain", "rules", "--bin", example]);
            assert!(code == 0 && text.starts_with(&format!("{example} (")), "{text}{stderr}");
            continue;
        }
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&found["standard"], &found["bin"]), (&bin.standard.name().into(), &bin.name.into()));
        let minima = found["minima"].as_array().unwrap();
        let clocks = |name: &str| minima.iter().find(|rule| rule["rule"] == name).unwrap()["clocks"].as_u64().unwrap();
        assert_eq!(clocks("tRCD"), bin.clock.at_least(bin.t_rcd).0, "{}", bin.name);
    }
    let (_, text, _) = run(&["explain", "rules", "--bin", "DDR5-4800B"]);
    assert!(text.starts_with("DDR5-4800B (40-39-39), tCK 0.4167 ns; 16 Gb x8 chips"), "{text}");
    assert!(text.replace('\n', " ").contains("distances count from the last cycle of a"), "{text}");
}

#[test]
fn output_can_be_cut_after_its_first_line() {
    let mut shell = Command::new("sh");
    let line = format!("{} explain rules | head -n 1", env!("CARGO_BIN_EXE_rowclone-sim"));
    let mut child = shell.args(["-c", &line]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(first.starts_with("DDR3-1066G"));
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

/// `/dev/full` fails as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn results_and_exit_codes_do_not_depend_on_standard_error() {
    for lost in ["2>/dev/full", "2>&-"] {
        let directory = Directory::sound();
        fs::write(directory.path("sweep.toml"), "scenario = \"scenario.toml\"\n").unwrap();
        let shell = |command: &str| {
            let line = format!("exec {} {command} {lost}", env!("CARGO_BIN_EXE_rowclone-sim"));
            let output = Command::new("sh").args(["-c", &line]).current_dir(directory.path("")).output().unwrap();
            assert_eq!(output.stderr, b"", "{command} {lost}");
            (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
        };
        let (code, stdout) = shell("run scenario.toml --out run");
        assert!(code == 0 && stdout.contains("speedup"), "{code}, {stdout}");
        assert_eq!(shell("sweep sweep.toml --out swept").0, 0, "{lost}");
        assert_eq!(shell("sweep collect sweep.toml swept --out collected").0, 0, "{lost}");
        for written in ["run/results.json", "swept/results.csv", "collected/results.parquet"] {
            assert!(directory.path(written).exists(), "{written}, {lost}");
        }
        assert_eq!(shell("run nothing.toml").0, 2, "{lost}");
        assert_eq!(shell("run --no-such-flag").0, 2, "{lost}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    program(&["--version"]).assert().success().stdout(format!("rowclone-sim {}\n", env!("CARGO_PKG_VERSION")));
}

/// For each shell a script that knows every command.
#[test]
fn shells_are_told_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (code, script, stderr) = run(&["completions", shell]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{shell}");
        for command in ["run", "sweep", "check", "explain", "reproduce", "table3", "completions", "--timeline"] {
            assert!(script.contains(command.trim_start_matches('-')), "{shell} does not know `{command}`");
        }
    }
}

/// The test is no terminal: not even one who says that colors are wanted of `ls` gets them here.
#[test]
fn a_pipe_gets_no_colors() {
    let output = program(&["explain", "address", "x", "--system", "nowhere"]).env("TERM", "xterm-256color").output();
    let stderr = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(stderr.starts_with("error: ") && !stderr.contains('\u{1b}'), "{stderr:?}");
}

#[test]
fn the_manual_has_a_page_per_command() {
    let (code, page, stderr) = run(&["man"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(page.contains(".TH rowclone-sim 1"), "{page}");
    for command in ["run", "sweep", "report", "check", "explain", "reproduce", "plot", "completions", "man"] {
        assert!(page.contains(&format!(".TH rowclone-sim-{command} 1")), "no page of {command}");
    }
    assert!(page.contains("\\-\\-no\\-baseline"), "options are listed");
}

/// `--system` replaces the system of a scenario; a path is that from the current directory. `--placement` is of traces
/// only.
#[test]
fn a_scenario_runs_on_the_system_of_the_command_line() {
    for (system, shown) in
        [("ddr4-3200-16gb-dimm", "DDR4-3200AA, 16 GiB"), ("configs/ddr3-1600-8gb-dimm.toml", "DDR3-1600K, 8 GiB")]
    {
        let words = ["run", "traces/page-copies.toml", "--system", system, "--set", "workload.count=2"];
        let (code, stdout, stderr) = run(&words);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains(shown), "{stdout}");
    }
    let (code, _, stderr) = run(&["run", "traces/page-copies.toml", "--placement", "allocator"]);
    assert!(code == 2 && stderr.contains("--placement"), "{stderr}");
}
