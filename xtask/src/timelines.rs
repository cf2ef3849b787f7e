//! Comparison of timelines with command logs, using the trace definitions published by Perfetto
//! (the Python package `perfetto`).

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use super::{exit_code, succeed};

/// Python packages of the definitions, and of their reader.
const PACKAGES: [&str; 2] = ["perfetto==0.59.1", "protobuf==7.36.2"];

/// Scenarios and changes to them: every mechanism; ragged lines at a clock below 1 ns; queues that
/// fill up; refresh and power-down.
const RUNS: [(&str, &[&str]); 4] = [
    ("page-copy", &[]),
    ("unaligned", &["system.device.bin=2133N"]),
    ("mixed", &["workload.count=5000", "workload.gap_cycles=5"]),
    (
        "mixed",
        &[
            "workload.count=2000",
            "workload.gap_cycles=400",
            "system.controller.power_down_after_cycles=50",
            "system.device.precharge_power_down=\"slow-exit\"",
        ],
    ),
];

/// Runs each scenario, and compares its log and its timeline.
pub fn check() -> ExitCode {
    exit_code(compare())
}

fn compare() -> Result<(), String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let directory = target.join("timelines");
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let packages = install(&directory)?;
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", packages).arg("xtask/timelines.py");
    for (index, (scenario, sets)) in RUNS.iter().enumerate() {
        let [log, timeline] = ["csv", "pftrace"].map(|kind| directory.join(format!("{index}-{scenario}.{kind}")));
        let mut run = Command::new("cargo");
        run.args([
            "run",
            "--quiet",
            "--",
            "run",
            &format!("traces/{scenario}.toml"),
            "--format",
            "csv",
            "--force",
            "--no-baseline",
        ]);
        run.args(["--set", "policies=[\"rowclone\"]"]).args(sets.iter().flat_map(|set| ["--set", set]));
        run.arg("--commands").arg(&log).arg("--timeline").arg(&timeline);
        succeed(run.stdout(Stdio::null()), "the simulator")?;
        python.arg(log).arg(timeline);
    }
    succeed(&mut python, "the comparison")
}

/// Installs the packages; returns their directory.
fn install(directory: &Path) -> Result<PathBuf, String> {
    let mut python = Command::new("python3");
    let version = python.arg("--version").output();
    version.map_err(|error| format!("`python3` cannot be started: {error}; install Python 3.10 or later"))?;
    let packages = directory.join(PACKAGES.join("-"));
    if !packages.join("perfetto").is_dir() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"])
            .arg(&packages)
            .args(PACKAGES);
        let why = "the packages (`python3 -m pip` must work, and reach the Python package index)";
        succeed(&mut pip, why)?;
    }
    Ok(packages)
}
