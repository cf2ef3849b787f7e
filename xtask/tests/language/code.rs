//! Width of lines of code, comments and string literals.

use crate::texts::texts;

/// Maximum number of columns in a line of code.
const COLUMNS: usize = 120;

/// Numbers of the lines of a Rust file that are too wide, outside of items under `rustfmt::skip`,
/// which are tables of data.
fn wide(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // Indentation of the item under `rustfmt::skip`, and whether its first line was read.
    let mut skipped: Option<(usize, bool)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim_start();
        let indentation = line.len() - code.len();
        match skipped {
            Some((outer, false)) => {
                let is_before_item = code.starts_with("#[") || code.starts_with("//");
                let is_one_line = code.ends_with(';') || code.ends_with('}');
                skipped = (is_before_item || !is_one_line).then_some((outer, !is_before_item));
            }
            Some((outer, true)) if indentation <= outer && code.starts_with([']', ')', '}']) => skipped = None,
            None if code.starts_with("#[rustfmt::skip]") => skipped = Some((indentation, false)),
            None if line.chars().count() > COLUMNS => found.push(number),
            Some(_) | None => {}
        }
    }
    found
}

#[test]
fn code_has_lines_of_at_most_120_columns() {
    let mut report = Vec::new();
    for (path, text) in texts().into_iter().filter(|(path, _)| path.ends_with("rs")) {
        report.extend(wide(&text).into_iter().map(|line| format!("{path}:{line}")));
    }
    assert!(report.is_empty(), "lines of more than {COLUMNS} columns:\n{}", report.join("\n"));
}

#[test]
fn comments_of_configurations_have_at_most_120_columns() {
    let mut report = Vec::new();
    for (path, text) in texts().into_iter().filter(|(path, _)| path.ends_with("toml")) {
        let lines = (1..).zip(text.lines());
        let wide = lines.filter(|(_, line)| line.starts_with('#') && line.chars().count() > COLUMNS);
        report.extend(wide.map(|(number, _)| format!("{path}:{number}")));
    }
    assert!(report.is_empty(), "comments of more than {COLUMNS} columns:\n{}", report.join("\n"));
}

#[test]
fn tables_under_rustfmt_skip_may_be_wide() {
    let wide_line = "x".repeat(COLUMNS + 1);
    assert_eq!(wide(&format!("{wide_line}\nshort\n// {wide_line}")), [1, 3]);
    assert_eq!(wide(&format!("#[rustfmt::skip] // Rows.\nconst A: &[u8] = &[\n    {wide_line}\n];\n{wide_line}")), [5]);
    assert_eq!(wide(&format!("    #[rustfmt::skip]\n    let a = {wide_line};\n{wide_line}")), [3]);
}
