//! Instructions of `rowclone-sim run --check` per instruction of the run without it.

use super::instructions::{Cost, build, directory};
use super::scenario::{DDR3_1600, PAPER, Scenario, per_unit_of};

/// A scenario, the count of the shorter of its two runs (the longer one has twice the count), and the
/// maximum ratio of the instructions of a run with `--check` to those of a run without it.
type Measured = (Scenario<'static>, u64, f64);

const SCENARIOS: [Measured; 5] = [
    (
        Scenario { name: "sequential", system: DDR3_1600, policy: "baseline", workload: r#"kind = "stream""# },
        50_000,
        2.0,
    ),
    (
        Scenario {
            name: "page-copies-by-line",
            system: DDR3_1600,
            policy: "baseline",
            workload: r#"kind = "page-copies", bytes = 65_536_000, by = "lines""#,
        },
        400,
        2.0,
    ),
    (
        Scenario {
            name: "page-copies",
            system: DDR3_1600,
            policy: "baseline",
            workload: r#"kind = "page-copies", bytes = 65_536_000"#,
        },
        400,
        2.6,
    ),
    (
        Scenario {
            name: "random",
            system: DDR3_1600,
            policy: "baseline",
            workload: r#"kind = "random", bytes = 0x4000_0000, write_share = 0.3"#,
        },
        50_000,
        2.0,
    ),
    (
        Scenario {
            name: "fpm-copies",
            system: PAPER,
            policy: "rowclone",
            workload: r#"kind = "page-copies", bytes = 0x4000_0000, pairs = "same-subarray""#,
        },
        10_000,
        2.0,
    ),
];

/// Ratios of the instructions of runs with `--check` to those without.
///
/// # Errors
///
/// A run that fails, a file that cannot be written, or no valgrind.
pub fn measure() -> Result<Vec<Cost>, String> {
    let program = build(&["-p", "rowclone-cli"], "rowclone-sim")?;
    let directory = directory()?.join("check");
    let ratio = |(scenario, count, most): &Measured| {
        let path = scenario.write(&directory)?;
        let cost = |options: &[&str]| per_unit_of(&program, &path, options, (*count, 1));
        let times = cost(&["--check"])? as f64 / cost(&[])? as f64;
        let name = format!("{} with `--check`", scenario.name);
        Ok(Cost {
            name,
            unit: "times the instructions without",
            value: (times * 100.0).round() / 100.0,
            limit: Some(*most),
        })
    };
    SCENARIOS.iter().map(ratio).collect()
}
