//! Standards are data: no code of the product names one, except in the files of the standards.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and files that belong to the standards, relative to `crates`.
const OWN: &[&str] = &[
    "dram-spec/src/standard/",
    "dram-core/src/rules/",
    "protocol-check/src/standard/",
    // Current sets.
    "energy/src/shipped/",
    // A format that has the mode registers of one standard.
    "trace-io/src/commands/export/ddr3.rs",
];

/// Other files that name a standard, with the number of lines and the reason.
const EXCEPTIONS: &[(&str, usize, &str)] = &[
    ("cli/src/commands/mod.rs", 1, "help: the standards that exist"),
    ("cli/src/args/check.rs", 1, "help: an example"),
    ("cli/src/commands/report/published.rs", 2, "the published table is of one bin"),
    ("cli/src/commands/reproduce/copyengine.rs", 1, "a bin of the machine of a paper"),
    ("config/src/system.rs", 6, "descriptions of keys"),
    ("config/src/workload.rs", 1, "description of a key: an example"),
    ("dram-spec/src/units.rs", 6, "named clocks for tests"),
    ("os-alloc-sim/src/fixture.rs", 2, "unit tests"),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

/// Source files of the product below a folder, without unit tests in files of their own.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are UTF-8").to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Lines that name a standard outside comments and unit tests.
fn naming(text: &str) -> Vec<(usize, &str)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = (1..).zip(code.lines());
    lines.filter(|(_, line)| names_standard(line.split("//").next().unwrap_or_default())).collect()
}

/// Whether a line has `DDR` or `Ddr`, followed by a digit.
fn names_standard(line: &str) -> bool {
    let digit_after = |at: usize| line.as_bytes().get(at + 3).is_some_and(u8::is_ascii_digit);
    ["DDR", "Ddr"].iter().any(|name| line.match_indices(name).any(|(at, _)| digit_after(at)))
}

#[test]
fn no_code_outside_the_files_of_a_standard_names_one() {
    let mut report = Vec::new();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates()).expect("a folder") {
        sources(&entry.expect("an entry").path().join("src"), &mut files);
    }
    assert!(files.len() > 200, "{} files: the folders are missing", files.len());
    for path in files {
        let relative = path.strip_prefix(crates()).expect("a path below the crates").display().to_string();
        if OWN.iter().any(|own| relative.starts_with(own)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let found = naming(&text);
        let excepted = EXCEPTIONS.iter().find(|(file, ..)| *file == relative).map_or(0, |(_, lines, _)| *lines);
        if found.len() != excepted {
            let lines = found.iter().map(|(number, line)| format!("{relative}:{number}: {}", line.trim()));
            report.push(format!("{} lines, {excepted} excepted", found.len()));
            report.extend(lines);
        }
    }
    assert!(report.is_empty(), "names of standards:\n{}", report.join("\n"));
}

#[test]
fn names_in_comments_and_tests_are_not_code() {
    let lines = |text: &'static str| naming(text).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(lines("let a = Standard::Ddr4; // DDR4\n/// Of DDR5.\nlet b = \"DDR2-400B\";\n"), [1, 3]);
    assert_eq!(lines("fn f() {}\n#[cfg(test)]\nmod tests {\n    use Standard::Ddr3;\n}\n"), []);
    assert_eq!(lines("let standard = Standard::default(); // by definition\n"), []);
}
