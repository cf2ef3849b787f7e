//! `explain timeline`: what is said to have set the time of a command, did.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;

use dram_spec::{Cycle, Dialect, Issued};
use protocol_check::Checker;
use rowclone_config::Scenario;
use trace_io::command_log::LogReader;

use crate::common::{Directory, program, run, workspace};

/// The policy that has all mechanisms.
const RULE: &str = "policies=[\"rowclone\"]";

/// On a screen that is wide enough for one line per command.
fn explained(scenario: &str, more: &[&str]) -> String {
    let scenario = workspace().join(scenario).display().to_string();
    let output = program(&[&["explain", "timeline", &scenario], more].concat()).env("COLUMNS", "100").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of a listing: number, cycle, and what set the time.
fn listed(text: &str) -> Vec<(u64, u64, String)> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (number, cycle) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((number, cycle, line.rsplit("  ").next()?.to_owned()))
    };
    text.lines().skip(3).take_while(|line| !line.is_empty()).filter_map(line).collect()
}

#[test]
fn a_copy_by_fpm_is_drawn_with_its_three_gaps() {
    let text = explained("traces/page-copy.toml", &["--set", RULE, "--count", "3"]);
    let expected = "\
page-copy, policy rowclone, DDR3-1066G, tCK 1.875 ns: 3 commands

#  cycle     ns  bank      command                       reason for its cycle
0      0   0.00  c0 r0 b0  ACT row 32769                 arrival of the request
1     20  37.50  c0 r0 b0  ACT row 32768 (copies 32769)  FPM 20 after #0 (tRAS)
2     40  75.00  c0 r0 b0  PRE                           tRAS 20 after #1

One column is a clock, from cycle 0:
A ACT, C ACT (copy), P PRE, = row open

c0 r0 b0  A===================C===================P
";
    assert_eq!(text, expected);
}

/// The independent checker refuses a command one clock earlier by the printed rule, and accepts it where no rule is
/// printed.
#[test]
fn a_clock_earlier_breaks_the_rule_that_is_named_and_no_other_command_breaks_any() {
    let sleep = ["system.controller.power_down_after_cycles=50", "system.device.precharge_power_down=\"slow-exit\""];
    let base = [RULE, "workload.count=300", "workload.bytes=0x40_0000", "workload.copy_share=0.1"];
    let mut named = BTreeMap::<String, usize>::new();
    for more in
        [&["workload.gap_cycles=2"][..], &["workload.gap_cycles=12"], &["workload.gap_cycles=150", sleep[0], sleep[1]]]
    {
        let sets: Vec<&str> = base.iter().chain(more).flat_map(|set| ["--set", set]).collect();
        let text = explained("traces/mixed.toml", &[&["--count", "1000"], &sets[..]].concat());
        assert_eq!(text.lines().find(|line| line.len() > 100), None);
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log.csv").display().to_string();
        let scenario = workspace().join("traces/mixed.toml");
        let run = run(&[&["run", scenario.to_str().unwrap(), "--commands", &log], &sets[..]].concat());
        assert_eq!(run.0, 0, "{}", run.2);
        let commands: Vec<Issued> =
            LogReader::new(BufReader::new(fs::File::open(&log).unwrap())).unwrap().map(Result::unwrap).collect();
        let sets: Vec<String> = base.iter().chain(more).map(|&set| set.to_owned()).collect();
        let system = Scenario::read(&scenario, &sets).unwrap().system.memory.system().clone();
        let mut checker = Checker::new(&system, Dialect::RowClone);
        let lines = listed(&text);
        assert_eq!(lines.len(), 1000);
        for (issued, (number, cycle, reason)) in commands.iter().zip(&lines) {
            let Issued { at: Cycle(at), channel, command } = *issued;
            assert_eq!((at, &commands[*number as usize]), (*cycle, issued));
            let mut early = checker.clone();
            let before = early.total();
            early.push(Cycle(at.saturating_sub(1)), channel, &command);
            let broken: Vec<String> =
                early.violations()[before as usize..].iter().map(|found| found.rule.to_string()).collect();
            if let Some((rule, clocks, after)) = rule(reason) {
                assert!(at == 0 || broken.contains(&rule), "#{number} {command}: {reason}, and earlier {broken:?}");
                assert_eq!(commands[after as usize].at.0 + clocks, at, "#{number} {command}: {reason}");
                *named.entry(rule).or_default() += 1;
            } else {
                assert!(at == 0 || broken.is_empty(), "#{number} {command}: {reason}, and earlier {broken:?}");
                *named.entry(reason.split([',', '#']).next().unwrap().to_owned()).or_default() += 1;
            }
            checker.push(issued.at, channel, &command);
        }
    }
    for reason in ["tRCD", "tRP", "FPM", "tXP", "tRFC", "arrival of the request", "other commands had priority"] {
        assert!(named.contains_key(reason), "{reason} is not among {named:?}");
    }
}

/// `tRAS 20 after #1`.
fn rule(reason: &str) -> Option<(String, u64, u64)> {
    let (before, after) = reason.split_once(" after #")?;
    let (name, clocks) = before.split_once(' ')?;
    let digits = after.split(' ').next()?;
    Some((name.to_owned(), clocks.parse().ok()?, digits.parse().ok()?))
}

#[test]
fn a_command_that_no_rule_delays_has_its_reason() {
    let text = explained("traces/mixed.toml", &["--set", RULE, "--from", "7.79us", "--count", "3"]);
    let reasons: Vec<String> = listed(&text).into_iter().map(|(_, _, reason)| reason).collect();
    assert_eq!(reasons[1..], ["refresh due", "tRP-REF 8 after #1000"], "{text}");
}

/// Played to its end, it would take hours.
#[test]
fn a_long_run_is_played_only_as_far_as_it_is_shown() {
    let directory = Directory::with(("", ""), ("value = 7", "value = 7\nat_cycle = 1_000_000_000_000"));
    let scenario = directory.path("scenario.toml").display().to_string();
    let (code, stdout, stderr) = run(&["explain", "timeline", &scenario, "--count", "5"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout.matches(": 5 commands").count(), 2, "{stdout}");
    let (code, stdout, stderr) = run(&["explain", "timeline", &scenario, "--to", "41"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("policy rowclone, DDR3-1066G, tCK 1.875 ns: 3 commands"), "{stdout}");
    let (code, stdout, _) = run(&["explain", "timeline", &scenario, "--from", "41", "--to", "42", "--set", RULE]);
    assert_eq!((code, stdout.as_str()), (0, "scenario, policy rowclone, DDR3-1066G, tCK 1.875 ns: no command\n\n"));
}
