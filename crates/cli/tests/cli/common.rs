//! A directory with a sound scenario and system in it, and the program itself.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use rowclone_config::error::FailureCause;
use rowclone_config::{Failure, Overrides, Scenario, SystemConfig};
use tempfile::TempDir;

/// A sound system. Line 1 is `[device]`.
pub const SYSTEM: &str = r#"[device]
bin = "1066G"
density_gb = 2
width = 8
currents = "2 Gb x8 -25E"
copy_activations = "counted"
precharge_power_down = "fast-exit"
[geometry]
channels = 2
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

/// A sound scenario on it. Line 1 is `system`.
pub const SCENARIO: &str = r#"system = "system.toml"
policies = ["baseline", "rowclone"]
seed = 1
[[operation]]
kind = "copy"
src = "same-subarray"
dst = 0x0040_0000
bytes = 4096
[[operation]]
kind = "init"
dst = 0x0080_0000
bytes = 4096
value = 7
"#;

/// A directory of one test.
pub struct Directory(TempDir);

impl Directory {
    /// With both files in it, each with one text replaced by another.
    pub fn with(system: (&str, &str), scenario: (&str, &str)) -> Directory {
        let directory = Directory(tempfile::tempdir().unwrap());
        for (name, text, (from, to)) in [("system.toml", SYSTEM, system), ("scenario.toml", SCENARIO, scenario)] {
            assert!(text.contains(from), "{name} has no {from:?}");
            fs::write(directory.path(name), text.replacen(from, to, 1)).unwrap();
        }
        directory
    }

    pub fn sound() -> Directory {
        Directory::with(("", ""), ("", ""))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The message and the help of an error, without the directory's name.
    fn explain(&self, error: Failure) -> (String, String) {
        let Failure { cause: FailureCause::Refused, message, help } = error else { panic!("{error}") };
        let prefix = format!("{}/", self.0.path().display());
        (message.replace(&prefix, ""), help.unwrap_or_default().replace(&prefix, ""))
    }

    pub fn scenario(&self, sets: &[&str]) -> Result<Scenario, (String, String)> {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        Scenario::read(&self.path("scenario.toml"), &sets).map_err(|error| self.explain(error))
    }

    pub fn system(&self) -> Result<SystemConfig, (String, String)> {
        SystemConfig::read(&self.path("system.toml"), &Overrides::default()).map_err(|error| self.explain(error))
    }
}

/// The program, started in the directory of the workspace.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowclone-sim"));
    command.current_dir(workspace()).args(args);
    command
}

/// Exit code, standard output, standard error.
pub fn run(args: &[&str]) -> (i32, String, String) {
    let output = program(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// What a command prints as JSON.
pub fn json(args: &[&str]) -> serde_json::Value {
    let (code, stdout, stderr) = run(&[args, &["--format", "json"]].concat());
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// Sends a signal to a program, by its name without `SIG`.
#[cfg(unix)]
pub fn send(signal: &str, to: &std::process::Child) {
    let sent = std::process::Command::new("sh").args(["-c", &format!("kill -s {signal} {}", to.id())]).status();
    assert!(sent.unwrap().success());
}

pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
