//! Instructions of `rowclone-sim run --check` per instruction of the run without it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::instructions::{build, callgrind};

/// The most that a run with `--check` may cost, in instructions per instruction of the run without it.
const MOST: f64 = 3.0;

/// A stream of the example `streams`, as a scenario.
struct Scenario {
    name: &'static str,
    system: &'static str,
    policy: &'static str,
    /// Of the shorter of two runs; the longer one has twice as many.
    count: u64,
    /// The keys of `[workload]`, but for `count`.
    workload: &'static str,
}

/// DDR3-1600 11-11-11, 4 Gb x8 chips, one channel and rank.
const DDR3_1600: &str = r#"
[device]
bin = "1600K"
density_gb = 4
width = 8
currents = "4 Gb x8 E/J-die 1600"
copy_activations = "counted"
precharge_power_down = "fast-exit"
[geometry]
channels = 1
ranks = 1
row_bytes = 8192
rows_per_subarray = 1024
[refresh]
enabled = true
t_refi_ps = 7_800_000
postpone_max = 0
[address_map]
preset = "row-interleaved"
"#;

/// One channel of the `RowClone` paper's system.
const PAPER: &str = r#"
[device]
bin = "1066G"
density_gb = 2
width = 8
currents = "2 Gb x8 -25E"
copy_activations = "counted"
precharge_power_down = "fast-exit"
[geometry]
channels = 1
ranks = 1
row_bytes = 4096
rows_per_subarray = 512
[refresh]
enabled = true
t_refi_ps = 7_800_000
postpone_max = 0
[address_map]
preset = "row-interleaved"
"#;

const SCENARIOS: [Scenario; 5] = [
    Scenario {
        name: "sequential",
        system: DDR3_1600,
        policy: "channel",
        count: 50_000,
        workload: r#"kind = "stream""#,
    },
    Scenario {
        name: "page-copies-by-line",
        system: DDR3_1600,
        policy: "channel",
        count: 400,
        workload: r#"kind = "page-copies", bytes = 65_536_000, by = "lines""#,
    },
    Scenario {
        name: "page-copies",
        system: DDR3_1600,
        policy: "channel",
        count: 400,
        workload: r#"kind = "page-copies", bytes = 65_536_000"#,
    },
    Scenario {
        name: "random",
        system: DDR3_1600,
        policy: "channel",
        count: 50_000,
        workload: r#"kind = "random", bytes = 0x4000_0000, write_share = 0.3"#,
    },
    Scenario {
        name: "fpm-copies",
        system: PAPER,
        policy: "rule",
        count: 10_000,
        workload: r#"kind = "page-copies", bytes = 0x4000_0000, pairs = "same-subarray""#,
    },
];

/// Counts under callgrind; returns the names of the streams above the limit.
#[expect(clippy::print_stdout, reason = "a chore prints what it measured")]
pub fn check() -> Result<Vec<String>, String> {
    let program = build(&["-p", "cli"], "rowclone-sim")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let directory = target.join("check-cost");
    let mut exceeded = Vec::new();
    for scenario in &SCENARIOS {
        let path = scenario.write(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let [plain, checked] = [false, true].map(|check| scenario.cost(&program, &path, check));
        let (plain, checked) = (plain?, checked?);
        let times = checked as f64 / plain as f64;
        let per = scenario.count;
        let (plain, checked, name) = (plain / per, checked / per, scenario.name);
        println!(
            "{name:20} {plain:6} instructions per unit, {checked:6} with `--check`: {times:.2} times (at most {MOST})"
        );
        if times > MOST {
            exceeded.push(scenario.name.to_owned());
        }
    }
    Ok(exceeded)
}

impl Scenario {
    /// Writes the scenario and its system into a directory.
    fn write(&self, directory: &Path) -> std::io::Result<PathBuf> {
        let Scenario { name, system, policy, count, workload } = self;
        std::fs::create_dir_all(directory)?;
        std::fs::write(directory.join(format!("{name}-system.toml")), system)?;
        let text = format!(
            "system = \"{name}-system.toml\"\npolicies = [\"{policy}\"]\nseed = 1\nworkload = {{ count = {count}, {workload} }}\n"
        );
        let path = directory.join(format!("{name}.toml"));
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Instructions of the units by which the longer run exceeds the shorter: start and end of a run do not count.
    fn cost(&self, program: &Path, path: &Path, check: bool) -> Result<u64, String> {
        let instructions = |count: u64| {
            let mut run = Command::new(program);
            run.arg("run").arg(path).args(["--set", &format!("workload.count={count}")]);
            run.args(check.then_some("--check"));
            callgrind(&run)
        };
        Ok(instructions(2 * self.count)?.saturating_sub(instructions(self.count)?))
    }
}
