//! Tables of fields of pages, which are the doc comments of the types that are written.
//!
//! `UPDATE_PAGES=1 cargo test -p xtask --test language` writes them anew.

use std::fmt::Write as _;
use std::fs;

use crate::texts::{read, workspace};

/// A type: the fields that contain it, if it is a part of another one; its file and its name.
type Part = (&'static str, &'static str, &'static str);

/// The tables by page and name, with the types whose fields they list.
const TABLES: &[(&str, &str, &[Part])] = &[
    (
        "output.md",
        "fields of a result",
        &[
            ("", "crates/report/src/run_report.rs", "RunReport"),
            ("", "crates/sim/src/outcome.rs", "Outcome"),
            ("`epochs`", "crates/sim/src/epoch_report.rs", "EpochReport"),
            ("`served`", "crates/sim/src/served.rs", "ServedRow"),
            ("`check`", "crates/sim/src/check_report.rs", "CheckReport"),
            ("`mix`", "crates/sim/src/mix.rs", "MixMetrics"),
        ],
    ),
    (
        "output.md",
        "fields of the figures",
        &[
            ("", "crates/sim/src/figures.rs", "FiguresReport"),
            ("`reads` and `writes`", "crates/sim/src/figures.rs", "RowOutcomes"),
            ("queues", "crates/sim/src/figures.rs", "QueueDepth"),
            ("`parts`", "crates/sim/src/figures.rs", "PartRow"),
        ],
    ),
    (
        "output.md",
        "fields of an allocator",
        &[
            ("", "crates/sim/src/allocator_report.rs", "AllocatorReport"),
            ("`copies` and `zeroings`", "crates/sim/src/allocator_report.rs", "TrafficReport"),
            ("`before` and `after`", "crates/sim/src/allocator_report.rs", "MemoryState"),
        ],
    ),
    (
        "output.md",
        "fields of a trace",
        &[
            ("", "crates/sim/src/trace_report.rs", "TraceReport"),
            ("`pages`", "crates/host/src/replay/pages.rs", "PageReport"),
        ],
    ),
    (
        "output.md",
        "fields of an operation",
        &[
            ("", "crates/sim/src/operations.rs", "OperationRow"),
            ("`against_same_bank`", "crates/sim/src/operations.rs", "Comparison"),
        ],
    ),
    (
        "output.md",
        "fields of the cores",
        &[
            ("", "crates/sim/src/cores_report.rs", "CoresReport"),
            ("a core", "crates/sim/src/cores_report.rs", "CoreRow"),
            ("`accesses`", "crates/sim/src/cores_report.rs", "AccessRow"),
            ("`prefetches`", "crates/host/src/machine/counters.rs", "PrefetchCounts"),
            ("`stall_cycles`", "crates/host/src/machine/counters.rs", "StallSlots<T = u64>"),
            ("`dma`", "crates/host/src/machine/counters.rs", "DmaCounts"),
            ("`network`", "crates/host/src/machine/counters.rs", "NetworkCounts"),
        ],
    ),
    (
        "output.md",
        "fields of reproduce",
        &[
            ("`table3`, `lisa`", "crates/report/src/published_copies.rs", "CopyTable"),
            ("`apps`", "crates/report/src/apps.rs", "ApplicationTable"),
            ("`apps`", "crates/report/src/apps.rs", "PublishedApplications"),
            ("`rows` of `apps`", "crates/report/src/apps.rs", "ApplicationRow"),
            ("`copyengine`", "crates/report/src/copy_engine.rs", "CopyEngineTable"),
            ("`copyengine`", "crates/report/src/copy_engine.rs", "PublishedGains"),
            ("`rows` of `copyengine`", "crates/report/src/copy_engine.rs", "EngineRuns"),
            ("`modes` of `copyengine`", "crates/report/src/copy_engine.rs", "EngineCycles"),
            ("`bandwidths` and `latencies`", "crates/report/src/copy_engine.rs", "MemoryRuns"),
            ("`orderings`", "crates/report/src/copy_engine.rs", "Ordering"),
            ("`orderings`", "crates/report/src/required.rs", "Comparisons"),
            ("`fastcopy`", "crates/report/src/fast_copy.rs", "FastCopyTable"),
            ("`fastcopy`", "crates/report/src/fast_copy.rs", "PublishedRates"),
            ("`rates`", "crates/report/src/fast_copy.rs", "Rates"),
            ("`crossings`", "crates/report/src/fast_copy.rs", "Crossing"),
            ("`required` of `fastcopy`", "crates/report/src/fast_copy.rs", "Required"),
            ("`required` of `fastcopy`", "crates/report/src/required.rs", "Comparisons"),
            ("`copies` of `ioat`", "crates/report/src/ioat/mod.rs", "CopyCost"),
            ("`without` and `with` of `ioat`", "crates/report/src/ioat/measured.rs", "MeasuredFigures"),
            ("`clients` of `ioat`", "crates/report/src/ioat/measured.rs", "Clients"),
            ("`runs` of `injection`", "crates/report/src/injection.rs", "InjectionFigures"),
            ("`rows` of `forkbench`", "crates/report/src/forkbench.rs", "ForkRow"),
            ("a run of `forkbench`", "crates/report/src/forkbench.rs", "RunFigures"),
            ("`methods` of `zi`", "crates/report/src/zeroing.rs", "ZeroingFigures"),
            ("`rows` of `multicore`", "crates/report/src/multicore.rs", "MulticoreRow"),
            ("`methods` of `multicore`", "crates/report/src/multicore.rs", "MethodRuns"),
            ("`runs` of `multicore`", "crates/report/src/multicore.rs", "MixRun"),
        ],
    ),
    ("copiers.md", "fields of compare", &[("", "crates/report/src/compare.rs", "CompareRow")]),
    ("cores.md", "slots without dispatch", &[("", "crates/host/src/machine/counters.rs", "StallSlots<T = u64>")]),
    (
        "recordings.md",
        "metadata of a recording",
        &[
            ("", "crates/trace-io/src/recording/metadata.rs", "Metadata"),
            ("", "crates/trace-io/src/recording/metadata.rs", "Totals"),
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
fn pages_have_the_doc_comments_of_the_fields() {
    let mut differing = Vec::new();
    for (page, name, parts) in TABLES {
        let path = format!("docs/{page}");
        let found = read(&path);
        let begin = format!("<!-- {name} -->\n");
        let (before, rest) = found.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = rest.split_once("<!-- end -->").expect("the end of the table");
        let expected = format!("{before}{begin}\n{}\n<!-- end -->{after}", table(parts));
        if std::env::var_os("UPDATE_PAGES").is_some() {
            fs::write(workspace().join(&path), &expected).expect("the page can be written");
        }
        if found != expected {
            differing.push(format!("{path}: {name}"));
        }
    }
    assert!(differing.is_empty(), "{differing:?} differ from the doc comments: UPDATE_PAGES=1 writes them anew");
}

#[test]
fn fields_have_their_doc_comments() {
    let first = "    /// One\n    /// [`Two`].\n    pub a: u8,\n    /// No.\n    #[serde(skip)]\n    pub b: u8,\n";
    let source = format!("pub struct A {{\n{first}    pub c: u8,\n}}\n");
    let expected = [("a", "One `Two`"), ("c", "")].map(|(field, text)| (field.to_owned(), text.to_owned()));
    assert_eq!(fields(&source, "A"), expected);
}
