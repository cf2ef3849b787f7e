//! Scenarios whose runs are measured in instructions.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::instructions::{callgrind, per_unit};

/// A scenario of one policy on one system, with a workload of a variable length.
pub struct Scenario<'a> {
    /// Name, from which the file names are derived.
    pub name: &'a str,
    /// The text of its system file.
    pub system: &'a str,
    /// The copy policy.
    pub policy: &'a str,
    /// The keys of `[workload]` except `count`, as TOML.
    pub workload: &'a str,
}

/// DDR3-1600 11-11-11, 4 Gb x8 chips, one channel and rank.
pub const DDR3_1600: &str = r#"
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
pub const PAPER: &str = r#"
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

impl Scenario<'_> {
    /// Writes the scenario and its system into a directory; returns the path of the scenario.
    ///
    /// # Errors
    ///
    /// A directory or file that cannot be written.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, String> {
        let Scenario { name, system, policy, workload } = self;
        let path = directory.join(format!("{name}.toml"));
        let text = format!(
            "system = \"{name}-system.toml\"\npolicies = [\"{policy}\"]\nseed = 1\nworkload = {{ {workload} }}\n"
        );
        std::fs::create_dir_all(directory)
            .and_then(|()| std::fs::write(directory.join(format!("{name}-system.toml")), system))
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

/// Instructions of one run of a scenario file with additional options.
///
/// # Errors
///
/// A run that fails, or no valgrind.
pub fn instructions(program: &Path, scenario: &Path, options: &[&str]) -> Result<u64, String> {
    callgrind(Command::new(program).args(["run", "--no-baseline"]).arg(scenario).args(options))
}

/// Instructions per unit of a workload of `count` requests or copies, each of `units` units.
///
/// # Errors
///
/// A run that fails, or no valgrind.
pub fn per_unit_of(
    program: &Path,
    scenario: &Path,
    options: &[&str],
    (count, units): (u64, u64),
) -> Result<u64, String> {
    per_unit(count, units, |count| {
        let set = format!("workload.count={count}");
        instructions(program, scenario, &[&["--set", &set], options].concat())
    })
}
