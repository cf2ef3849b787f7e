//! Sweeps over recorded traces: a trace counts by what it holds, and the cache changes nothing but time.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::{Directory, run};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A trace of some accesses and copies.
fn trace(seed: u64) -> String {
    let mut trace = String::new();
    for line in 0..2000_u64 {
        let address = (line * 0x9e37 + seed * 0x7f4a) % 0x1_0000 * 64;
        match line % 50 {
            0 => writeln!(trace, "C {:x} {address:x} 4096 100", 0x80_0000 + line * 4096).unwrap(),
            _ => writeln!(trace, "R {address:x} {:x} 20", line % 3 * 4096).unwrap(),
        }
    }
    trace
}

/// Two traces, at two speeds of the CPU.
fn directory() -> Directory {
    let directory = Directory::sound();
    fs::write(
        directory.path("scenario.toml"),
        "system = \"system.toml\"\npolicies = [\"baseline\", \"rowclone\"]\nseed = 1\n[workload]\nkind = \"trace\"\n\
         file = \"a.trace\"\ninstructions_per_clock = 4.0\n",
    )
    .unwrap();
    fs::write(
        directory.path("sweep.toml"),
        "scenario = \"scenario.toml\"\n[[axis]]\nname = \"trace\"\nkey = \"workload.file\"\nvalues = [\"a.trace\", \
            \"b.trace\"]\n\
         [[axis]]\nname = \"speed\"\nkey = \"workload.instructions_per_clock\"\nvalues = [4.0, 12.0]\n",
    )
    .unwrap();
    for (seed, name) in ["a.trace", "b.trace"].iter().enumerate() {
        fs::write(directory.path(name), trace(seed as u64)).unwrap();
    }
    directory
}

fn sweep(directory: &Directory, out: &str, more: &[&str]) -> (i32, String) {
    let (file, out) = (directory.path("sweep.toml"), directory.path(out));
    let (code, _, stderr) = run(&[&["sweep", text(&file), "--out", text(&out)], more].concat());
    (code, stderr.lines().next().unwrap().to_owned())
}

#[test]
fn a_trace_counts_by_what_it_holds() {
    let directory = directory();
    assert_eq!(sweep(&directory, "out", &[]).0, 0);
    fs::rename(directory.path("a.trace"), directory.path("c.trace")).unwrap();
    let file = directory.path("sweep.toml");
    let other = fs::read_to_string(&file).unwrap().replace("\"a.trace\"", "\"c.trace\"");
    fs::write(&file, other).unwrap();
    assert_eq!(sweep(&directory, "out", &[]).1, "sweep: 0 runs done, 8 done before", "a name is not what it holds");
    fs::write(directory.path("c.trace"), trace(7)).unwrap();
    assert_eq!(sweep(&directory, "out", &[]).1, "sweep: 4 runs done, 4 done before");
}

#[test]
fn a_trace_that_cannot_be_played_fails_and_is_tried_again() {
    let directory = directory();
    let good = fs::read_to_string(directory.path("b.trace")).unwrap();
    fs::write(directory.path("b.trace"), good.clone() + "R nothing\n").unwrap();
    assert_eq!(sweep(&directory, "out", &[]), (1, "sweep: 4 runs done, 4 failed".to_owned()));
    let csv = fs::read_to_string(directory.path("out/results.csv")).unwrap();
    assert_eq!(csv.matches("b.trace:2001: ").count(), 4, "{csv}");
    assert_eq!(sweep(&directory, "out", &[]), (1, "sweep: 0 runs done, 4 done before, 4 failed".to_owned()));
    fs::write(directory.path("b.trace"), good).unwrap();
    assert_eq!(sweep(&directory, "out", &[]), (0, "sweep: 4 runs done, 4 done before".to_owned()));
}

/// The counted records decide when the table is made, so that no run is done again for the flag.
#[test]
fn a_point_that_leaves_out_more_than_5_percent_has_failed_unless_that_is_allowed() {
    let directory = directory();
    let scenario = fs::read_to_string(directory.path("scenario.toml")).unwrap() + "unusable_records = \"skip\"\n";
    fs::write(directory.path("scenario.toml"), scenario).unwrap();
    let outside = "R 10000000000 0 1\n".repeat(106);
    fs::write(directory.path("b.trace"), trace(1) + &outside).unwrap();
    assert_eq!(sweep(&directory, "out", &[]), (1, "sweep: 4 runs done, 4 failed".to_owned()));
    let csv = || fs::read_to_string(directory.path("out/results.csv")).unwrap();
    let why = "106 of 2,106 records of the trace (5.03 %) were left out, more than 5 %";
    assert_eq!(csv().matches(why).count(), 4, "{}", csv());
    let allowed = ["--allow-skipped"];
    assert_eq!(sweep(&directory, "out", &allowed), (0, "sweep: 0 runs done, 8 done before".to_owned()));
    assert_eq!((csv().matches(why).count(), csv().matches(",2106,106,0.0503").count()), (0, 4), "{}", csv());
    assert_eq!(sweep(&directory, "out", &[]), (1, "sweep: 0 runs done, 4 done before, 4 failed".to_owned()));
    let (file, out) = (directory.path("sweep.toml"), directory.path("out"));
    let collect =
        |more: &[&str]| run(&[&["sweep", "collect", text(&file), text(&out), "--out", text(&out)], more].concat());
    assert_eq!((collect(&[]).0, collect(&allowed).0), (1, 0));
}
