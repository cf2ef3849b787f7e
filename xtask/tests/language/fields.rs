//! Tables of fields of `docs/output.md`, which are the doc comments of the result types.
//!
//! `UPDATE_PAGES=1 cargo test -p xtask --test language` writes them anew.

use std::fmt::Write as _;
use std::fs;

use crate::texts::{read, workspace};

/// A result type: the fields that contain it, if it is a part of another one; its file and its name.
type Part = (&'static str, &'static str, &'static str);

/// The tables of the page by their names, with the types whose fields they list.
const TABLES: &[(&str, &[Part])] = &[
    (
        "fields of a result",
        &[
            ("", "crates/report/src/run_report.rs", "RunReport"),
            ("", "crates/sim/src/outcome.rs", "Outcome"),
            ("`epochs`", "crates/sim/src/epoch_report.rs", "EpochReport"),
            ("`served`", "crates/sim/src/served.rs", "ServedRow"),
            ("`check`", "crates/sim/src/check_report.rs", "CheckReport"),
        ],
    ),
    (
        "fields of the figures",
        &[
            ("", "crates/sim/src/figures.rs", "FiguresReport"),
            ("`reads` and `writes`", "crates/sim/src/figures.rs", "RowOutcomes"),
            ("queues", "crates/sim/src/figures.rs", "QueueDepth"),
            ("`parts`", "crates/sim/src/figures.rs", "PartRow"),
        ],
    ),
    (
        "fields of an allocator",
        &[
            ("", "crates/sim/src/allocator_report.rs", "AllocatorReport"),
            ("`copies` and `zeroings`", "crates/sim/src/allocator_report.rs", "TrafficReport"),
            ("`before` and `after`", "crates/sim/src/allocator_report.rs", "MemoryState"),
        ],
    ),
    (
        "fields of a trace",
        &[
            ("", "crates/sim/src/trace_report.rs", "TraceReport"),
            ("`pages`", "crates/sim/src/trace_report.rs", "TracePages"),
        ],
    ),
    (
        "fields of an operation",
        &[
            ("", "crates/sim/src/operations.rs", "OperationRow"),
            ("`against_same_bank`", "crates/sim/src/operations.rs", "Comparison"),
        ],
    ),
];

/// Serialized fields of a struct with their doc comments, in the order of the source.
fn fields(source: &str, name: &str) -> Vec<(String, String)> {
    let (_, body) = source.split_once(&format!("pub struct {name} {{\n")).unwrap_or_else(|| panic!("no {name}"));
    let (body, _) = body.split_once("\n}\n").expect("the end of the struct");
    let mut found = Vec::new();
    let (mut comment, mut is_hidden) = (String::new(), false);
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if line.starts_with("#[") {
            is_hidden |= line.contains("serde(skip)") || line.contains("serde(flatten)");
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|field| field.split_once(':')) {
            if !is_hidden {
                let text = comment.trim().replace("[`", "`").replace("`]", "`");
                found.push((field.to_owned(), text.trim_end_matches('.').to_owned()));
            }
            (comment, is_hidden) = (String::new(), false);
        }
    }
    found
}

/// The table of some types in Markdown.
fn table(parts: &[Part]) -> String {
    let mut rows = "| field | content |\n|---|---|\n".to_owned();
    for (of, file, name) in parts {
        let of = if of.is_empty() { String::new() } else { format!(" of {of}") };
        for (field, content) in fields(&read(file), name) {
            let _ = writeln!(rows, "| `{field}`{of} | {content} |");
        }
    }
    rows
}

#[test]
fn the_page_about_output_has_the_doc_comments_of_the_fields() {
    let found = read("docs/output.md");
    let mut expected = found.clone();
    for (name, parts) in TABLES {
        let begin = format!("<!-- {name} -->\n");
        let (before, rest) = expected.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = rest.split_once("<!-- end -->").expect("the end of the table");
        expected = format!("{before}{begin}\n{}\n<!-- end -->{after}", table(parts));
    }
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(workspace().join("docs/output.md"), &expected).expect("the page can be written");
    }
    assert!(found == expected, "docs/output.md differs from the doc comments: UPDATE_PAGES=1 writes it anew");
}

#[test]
fn fields_have_their_doc_comments() {
    let first = "    /// One\n    /// [`Two`].\n    pub a: u8,\n    /// No.\n    #[serde(skip)]\n    pub b: u8,\n";
    let source = format!("pub struct A {{\n{first}    pub c: u8,\n}}\n");
    let expected = [("a", "One `Two`"), ("c", "")].map(|(field, text)| (field.to_owned(), text.to_owned()));
    assert_eq!(fields(&source, "A"), expected);
}
