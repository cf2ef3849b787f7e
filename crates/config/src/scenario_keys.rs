//! Dotted keys of a scenario, and of its system and machine, as `--set` and the axes of a sweep name them.

use crate::key::{self, Key};
use crate::overrides::steps;
use crate::value::Value;
use crate::{check, machine, scenario, suggestion, system};

/// Checks that a dotted key is a key of a scenario, after `system.` of a system, or after `machine.` of a machine. List
/// items are not looked up.
///
/// # Errors
/// The help text of the error.
pub fn check_key(key: &str) -> Result<(), String> {
    let Some(steps) = steps(key) else {
        return Err("write a dotted key, for example `operation.0.bytes`".to_owned());
    };
    let (prefix, steps, keys) = file_of(&steps);
    let page = if prefix == "machine." { "docs/cores.md" } else { "docs/input.md" };
    let path = key::without_indices(&steps.join("."));
    if keys.iter().any(|key| key.path == path) {
        return Ok(());
    }
    Err(match suggestion::nearest(&path, keys.iter().map(|key| key.path)) {
        Some(near) => format!("did you mean `{prefix}{}`? {page} lists every key", with_items(near, steps)),
        None => format!("{page} lists every key"),
    })
}

/// The prefix of the file that a key belongs to, the steps within that file, and the keys of the file.
fn file_of(steps: &[String]) -> (&'static str, &[String], &'static [Key]) {
    match steps.split_first() {
        Some((first, rest)) if first == "system" && !rest.is_empty() => ("system.", rest, &system::KEYS),
        Some((first, rest)) if first == "machine" && !rest.is_empty() => ("machine.", rest, machine::KEYS),
        _ => ("", steps, &scenario::KEYS),
    }
}

/// The value of a key that [`check_key`] accepts as a plain number, if it is a size or an absolute time with its unit.
///
/// A time of a key in clocks stays as it is: the clock is that of the system.
pub fn without_unit(key: &str, value: toml::Value) -> toml::Value {
    let steps = steps(key).unwrap_or_default();
    let (_, steps, keys) = file_of(&steps);
    let (Some(key), Some(text)) = (key::find(keys, &steps.join(".")), value.as_str()) else { return value };
    match check::without_unit(key.holds, text) {
        // A number that TOML cannot represent stays text, which the check of the point refuses.
        Some(Value::Integer(number)) => i64::try_from(number).map_or(value, toml::Value::Integer),
        Some(Value::Float(number)) => toml::Value::Float(number),
        _ => value,
    }
}

/// A known key, with the item numbers of the written key.
fn with_items(known: &str, written: &[String]) -> String {
    let mut steps: Vec<&str> = known.split('.').collect();
    for (place, step) in written.iter().enumerate() {
        if step.parse::<usize>().is_ok() && place < steps.len() {
            steps.insert(place, step);
        }
    }
    steps.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_with_and_without_items() {
        for key in ["seed", "operation.0.bytes", "operation.12.at_cycle", "system", "system.geometry.ranks", "workload"]
        {
            assert_eq!(check_key(key), Ok(()), "{key}");
        }
        let near = |near: &str| Err(format!("did you mean `{near}`? docs/input.md lists every key"));
        assert_eq!(check_key("operation.0.byts"), near("operation.0.bytes"));
        assert_eq!(check_key("machine.kernel.dirty_source"), Ok(()));
        let of_machine = "did you mean `machine.cores.mshrs`? docs/cores.md lists every key";
        assert_eq!(check_key("machine.cores.mshr"), Err(of_machine.to_owned()));
        assert_eq!(check_key("system.geometry.rank"), near("system.geometry.ranks"));
        assert_eq!(check_key("a b"), Err("write a dotted key, for example `operation.0.bytes`".to_owned()));
    }
}
