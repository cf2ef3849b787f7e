//! Project tasks: `cargo xtask check` is CI, `cargo xtask full` adds the slow checks.

mod browser;
mod check_cost;
mod gallery;
mod instructions;
mod lines;
mod mutants;
mod recordings;
mod run_cost;
mod scenario;
mod timelines;

use std::process::{Command, ExitCode};
use std::time::Instant;

/// A step of a task: its name, its command line, and additional environment variables.
type Step = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

/// Checks the dependencies by `deny.toml`. Installs cargo-deny if it is missing, without optimization, which would take
/// longer than it saves.
const DEPENDENCIES: &str = "cargo deny --version >/dev/null 2>&1 || cargo install --locked --debug cargo-deny && \
    cargo deny --locked --log-level error check bans licenses sources";

/// Steps of CI.
const CHECK: &[Step] = &[
    ("formatting", &["cargo", "fmt", "--all", "--check"], &[]),
    ("lints", &["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &[]),
    ("licenses and sources of all dependencies", &["sh", "-c", DEPENDENCIES], &[("CARGO_PROFILE_DEV_DEBUG", "0")]),
    ("tests, as the README runs them", &["cargo", "test", "--workspace"], &[("INSTA_UPDATE", "no")]),
    ("documentation", &["cargo", "doc", "--workspace", "--no-deps", "--locked"], &[("RUSTDOCFLAGS", "-D warnings")]),
    ("the README's run", &["cargo", "run", "--release", "--", "run", "traces/page-copy.toml"], &[]),
];

/// The fuzzer's sanitizer is not yet available in stable Rust.
const SANITIZER: &[(&str, &str)] = &[("RUSTC_BOOTSTRAP", "1")];

/// Runs each fuzz target from its seeds.
const FUZZ: &str = "for target in $(cargo fuzz list); do mkdir -p fuzz/corpus/$target && \
    cargo fuzz run $target fuzz/corpus/$target fuzz/seeds/$target -- -max_total_time=60 || exit 1; done";

/// Runs a sweep, and reads its table with pyarrow.
const PARQUET: &str = "python3 -m venv target/python && target/python/bin/pip install --quiet pyarrow && \
    rm -rf target/sweep && cargo run --release -- sweep sweeps/copy-size.toml --out target/sweep && \
    target/python/bin/python xtask/read_parquet.py target/sweep";

/// Runs a sweep as a job array of a Slurm cluster that the script starts and stops.
const SLURM: &str =
    "cargo build --release -p rowclone-cli && xtask/slurm.sh \"${CARGO_TARGET_DIR:-target}/release/rowclone-sim\"";

/// Runs the recorded programs; fails where a required order does not hold.
const APPLICATIONS: &str = "mkdir -p target && cargo run --release -- reproduce apps --cache-sizes 1MiB \
    >target/applications.txt && cat target/applications.txt && ! grep -q ^fails target/applications.txt";

/// Steps that are too slow for CI.
const FULL: &[Step] = &[
    (
        "the properties of the memory, on many random systems",
        &["cargo", "test", "--release", "-p", "rowclone-host"],
        &[("PROPTEST_CASES", "500")],
    ),
    (
        "the controller with its reference model, on many more random systems",
        &["cargo", "test", "--release", "-p", "rowclone-memctrl", "--test", "model_comparison"],
        &[("PROPTEST_CASES", "3000")],
    ),
    (
        "the planner's properties, with many cases",
        &["cargo", "test", "--release", "-p", "rowclone"],
        &[("PROPTEST_CASES", "5000")],
    ),
    (
        "the kernel and its allocators, with many random operations",
        &["cargo", "test", "--release", "-p", "rowclone-os-alloc-sim"],
        &[("PROPTEST_CASES", "1000")],
    ),
    (
        "arbitrary bytes for the trace readers, arbitrary commands for the device and the checker",
        &[
            "cargo",
            "test",
            "--release",
            "-p",
            "rowclone-trace-io",
            "-p",
            "rowclone-protocol-check",
            "-p",
            "rowclone-dram-core",
        ],
        &[("PROPTEST_CASES", "50000")],
    ),
    ("installation of the fuzzer", &["cargo", "install", "--locked", "cargo-fuzz"], &[]),
    ("a minute of arbitrary bytes for each reader", &["sh", "-c", FUZZ], SANITIZER),
    (
        "published orders and whole recordings, which need long runs",
        &[
            "cargo",
            "test",
            "--release",
            "-p",
            "rowclone-cli",
            "-p",
            "rowclone-host",
            "--test",
            "cli",
            "--test",
            "replay",
            "--",
            "--ignored",
        ],
        &[],
    ),
    ("the required orders of recorded programs", &["sh", "-c", APPLICATIONS], &[]),
    ("the table of a sweep, read by another implementation of Parquet", &["sh", "-c", PARQUET], &[]),
    ("a sweep on a Slurm cluster, with one task killed", &["sh", "-c", SLURM], &[]),
    ("the pictures of the gallery, drawn anew", &["cargo", "xtask", "gallery"], &[]),
    ("reports in a real browser", &["cargo", "xtask", "browser"], &[]),
    ("ten million random requests", &["cargo", "run", "--release", "-p", "rowclone-host", "--example", "soak"], &[]),
    ("the fork benchmark by two recorders, and a guest", &["cargo", "xtask", "recordings"], &[]),
    ("timelines, read by Perfetto's own definitions", &["cargo", "xtask", "timelines"], &[]),
    ("benches", &["cargo", "bench", "--workspace"], &[]),
    ("instructions of runs, of trace readers, and of `--check`", &["cargo", "xtask", "instructions"], &[]),
];

#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("check") => exit_code(CHECK.iter().try_for_each(run)),
        Some("full") => full(&std::env::args().nth(2).unwrap_or_default()),
        Some("browser") => browser::check(),
        Some("gallery") => gallery::draw(),
        Some("instructions") => instructions::check(),
        Some("lines") => lines::count(),
        Some("recordings") => recordings::check(),
        Some("recorded") => recordings::table(),
        Some("mutants") => mutants::run(std::env::args().skip(2)),
        Some("timelines") => timelines::check(),
        _ => {
            eprintln!(
                "usage: cargo xtask browser | check | full [PART OF A STEP'S NAME] | gallery | instructions | lines | \
                 mutants | recorded | recordings | timelines"
            );
            ExitCode::from(2)
        }
    }
}

/// Runs the steps with this text in their name, also after one that fails, and lists the results: all steps take hours,
/// and each is of interest.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
fn full(part: &str) -> ExitCode {
    let steps: Vec<&Step> = CHECK.iter().chain(FULL).filter(|step| step.0.contains(part)).collect();
    if steps.is_empty() {
        eprintln!("no step has `{part}` in its name; the steps are:");
        CHECK.iter().chain(FULL).for_each(|step| eprintln!("  {}", step.0));
        return ExitCode::from(2);
    }
    let mut results = Vec::new();
    for step in steps {
        let start = Instant::now();
        let result = run(step);
        results.push((step.0, result, start.elapsed().as_secs()));
    }
    eprintln!();
    for (name, result, seconds) in &results {
        eprintln!("{seconds:6} s  {name}{}", if result.is_ok() { "" } else { ": FAILED" });
    }
    exit_code(results.into_iter().try_for_each(|(_, result, _)| result))
}

/// Runs a step, after a line with its name and command line.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
fn run((name, words, environment): &Step) -> Result<(), String> {
    eprintln!("\n== {name}: {}", words.join(" "));
    succeed(Command::new(words[0]).args(&words[1..]).envs(environment.iter().copied()), name)
}

/// The exit code of a task; prints why it failed.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
fn exit_code(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command to its end.
fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {} cannot be started: {error}", command.get_program().display())),
    }
}
