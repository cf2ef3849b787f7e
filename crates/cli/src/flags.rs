//! Errors of commands that are configured by flags: messages name flags instead of keys.

use rowclone_config::{Failure, scenario};

/// Replacement of a key and its value in a message.
pub type FlagOf = fn(&str, &str) -> Option<String>;

/// Flag of `run --trace` for a key: its own flag, or `--set`.
pub fn of_trace_run(key: &str, value: &str) -> Option<String> {
    match key {
        "placement" | "workload.placement" => return Some(format!("--placement {value}")),
        "workload.file" => return Some(format!("--trace {value}")),
        _ => {}
    }
    let ends_in = |path: &str| path == key || path.rsplit_once('.').is_some_and(|(_, last)| last == key);
    let of_trace = |path: &&str| path.starts_with("workload.") || path.starts_with("allocator.");
    let path = scenario::KEYS.iter().map(|key| key.path).filter(of_trace).find(|path| ends_in(path))?;
    Some(format!("--set {path}={value}"))
}

/// Flag of `trace info` and `trace find-copies` for a key.
pub fn of_input_format(key: &str, value: &str) -> Option<String> {
    (key == "format").then(|| format!("--input-format {value}"))
}

/// Flag of `convert` for a key.
pub fn of_from(key: &str, value: &str) -> Option<String> {
    (key == "format").then(|| format!("--from {value}"))
}

/// The error with flags instead of keys.
pub fn in_flags(mut error: Failure, flag: FlagOf) -> Failure {
    error.message = replaced(&error.message, flag);
    error.help = error.help.map(|help| replaced(&help, flag));
    error
}

/// A text in which flags replace `` `key = "value"` `` and a `` `"value"` `` after it.
pub fn replaced(text: &str, flag: FlagOf) -> String {
    let mut key = None;
    let part = |(index, part): (usize, &str)| {
        // Every second part is between backticks.
        if index % 2 == 0 {
            return part.to_owned();
        }
        let value = |value: &str| value.trim_matches('"').to_owned();
        let of = match part.split_once(" = ") {
            Some((name, written)) => {
                key = Some(name.to_owned());
                flag(name, &value(written))
            }
            None if part.starts_with('"') => key.as_deref().and_then(|key| flag(key, &value(part))),
            None => flag(part, "").map(|flag| flag.trim_end_matches(['=', ' ']).to_owned()),
        };
        of.unwrap_or_else(|| part.to_owned())
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_flags_of_the_command() {
        for (text, expected) in [
            ("write `placement = \"allocator\"`", "write `--placement allocator`"),
            ("or `unusable_records = \"skip\"`", "or `--set workload.unusable_records=skip`"),
            (
                "`timing = \"instructions\"`, `\"back-to-back\"` or `\"window\"`",
                "`--set workload.timing=instructions`, `--set workload.timing=back-to-back` or `--set \
                    workload.timing=window`",
            ),
            ("`workload.placement`: a trace of the format `lackey`", "`--placement`: a trace of the format `lackey`"),
            ("no `placement` is given", "no `--placement` is given"),
            ("`instructions_per_clock = 4.0`", "`--set workload.instructions_per_clock=4.0`"),
            ("`X` stays, `--x = 1` too", "`X` stays, `--x = 1` too"),
        ] {
            assert_eq!(replaced(text, of_trace_run), expected);
        }
        assert_eq!(replaced("give `format = \"stl\"`", of_input_format), "give `--input-format stl`");
        assert_eq!(replaced("give `format = \"stl\"`", of_from), "give `--from stl`");
    }
}
