//! The tables of keys of `docs/input.md`.

use crate::key::Key;
use crate::workload::{KindDescription, kinds};

/// The table of these keys, in Markdown.
pub fn keys(keys: &[Key]) -> String {
    let rows: String = keys.iter().map(Key::row).collect();
    format!("| key | sets | values | default |\n|---|---|---|---|\n{rows}")
}

/// The table of the kinds of workload, in Markdown.
pub fn workload_kinds() -> String {
    let listed = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" ");
    let row = |kind: &KindDescription| {
        format!("| `{}` | {} | {} | {} |\n", kind.name, kind.about, listed(kind.needs), listed(kind.may_have))
    };
    let rows: String = kinds().map(row).collect();
    format!("| `kind` | what happens | keys that it needs | keys that it may have |\n|---|---|---|---|\n{rows}")
}
