//! Instructions of `rowclone-sim run --check` per instruction of the run without it.

use super::instructions::{build, directory};
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

/// Counts instructions with callgrind; returns the names of the streams above the limit.
#[expect(clippy::print_stdout, reason = "the task prints its measurements")]
pub fn check() -> Result<Vec<String>, String> {
    let program = build(&["-p", "rowclone-cli"], "rowclone-sim")?;
    let directory = directory()?.join("check");
    let mut exceeded = Vec::new();
    for (scenario, count, most) in &SCENARIOS {
        let (name, path) = (scenario.name, scenario.write(&directory)?);
        let cost = |options: &[&str]| per_unit_of(&program, &path, options, (*count, 1));
        let (plain, checked) = (cost(&[])?, cost(&["--check"])?);
        let times = checked as f64 / plain as f64;
        println!(
            "{name:20} {plain:6} instructions per unit, {checked:6} with `--check`: {times:.2} times (at most {most})"
        );
        if times > *most {
            exceeded.push(name.to_owned());
        }
    }
    Ok(exceeded)
}
