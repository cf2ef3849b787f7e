//! Check of the licenses of all dependencies.

use std::process::{Command, ExitCode};

use serde_json::Value;

/// Permitted licenses, which require no more than a notice.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "CC0-1.0",
    "Unicode-3.0",
    "BSL-1.0",
];

/// Lists all packages with cargo, and reports those whose license is not permitted.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn check() -> ExitCode {
    let packages = match packages() {
        Ok(packages) => packages,
        Err(why) => {
            eprintln!("cargo metadata: {why}");
            return ExitCode::FAILURE;
        }
    };
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or("none").to_string();
    let refused: Vec<&Value> = packages.iter().filter(|package| !is_allowed(&text(package, "license"))).collect();
    for package in &refused {
        eprintln!("{} {}: license {}", text(package, "name"), text(package, "version"), text(package, "license"));
    }
    if refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn packages() -> Result<Vec<Value>, String> {
    let output = Command::new("cargo").args(["metadata", "--format-version", "1", "--locked"]).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    metadata["packages"].as_array().cloned().ok_or_else(|| "no list of packages".to_string())
}

/// Whether an SPDX expression is permitted. `MIT OR Apache-2.0`: one choice suffices. `(MIT OR
/// Apache-2.0) AND Unicode-3.0`: every part is required.
fn is_allowed(expression: &str) -> bool {
    let allowed = |license: &str| ALLOWED.contains(&license.trim().trim_matches(['(', ')']));
    expression.split(" AND ").all(|part| part.replace('/', " OR ").split(" OR ").any(allowed))
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, is_allowed};

    /// `cargo deny` and this command accept the same licenses.
    #[test]
    fn deny_toml_allows_the_same_licenses() {
        let file = include_str!("../../deny.toml");
        let list = file.split("\nallow = [").nth(1).and_then(|rest| rest.split(']').next()).expect("the list");
        let listed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(listed, ALLOWED);
    }

    #[test]
    fn one_choice_is_enough_and_every_part_is_needed() {
        assert!(is_allowed("GPL-3.0-only OR MIT"));
        assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(is_allowed("Unlicense/MIT"));
        assert!(!is_allowed("MIT AND GPL-3.0-only"));
        assert!(!is_allowed("none"));
    }
}
