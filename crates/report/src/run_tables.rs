//! What a terminal shows of a run under several policies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rowclone_sim::quantity::{bytes, grouped};
use rowclone_sim::{AllocatorReport, CheckReport, Comparison, OperationRow, TraceReport};

use crate::allocator_tables;
use crate::result_tables;
use crate::run_report::RunReport;
use crate::table::{Align, aligned};

use Align::{Left, Right};

/// More operations than this are left to JSON and CSV.
const SHOWN_MOST: usize = 64;

/// How many operations are shown, each under every policy.
fn shown(reports: &[RunReport]) -> usize {
    reports.iter().map(|report| report.operations.len()).max().unwrap_or(0).min(SHOWN_MOST)
}

/// Everything: operations, policies, energy by cause, decisions, findings.
pub fn text(reports: &[RunReport]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut text = format!("{}: {}\n", first.scenario, first.system);
    let _ = writeln!(text, "{}; currents `{}`, seed {}", first.controller, first.currents, first.seed);
    for warning in reports.iter().flat_map(|report| &report.warnings).collect::<BTreeSet<_>>() {
        let _ = writeln!(text, "warning: {warning}");
    }
    if reports.iter().any(|report| !report.operations.is_empty()) {
        section(&mut text, "Operations; energy above standby");
        text += &operations(reports);
        let listed = reports.iter().map(|report| report.operations.len()).max().unwrap_or(0);
        if listed > SHOWN_MOST {
            let _ =
                writeln!(text, "The first {SHOWN_MOST} of {listed} operations: `--format json` and `--out` list all.");
        }
        section(&mut text, "Why");
        text += &whys(reports);
    }
    section(&mut text, "Policies");
    text += &result_tables::figures(reports);
    section(&mut text, "Energy by cause, nJ");
    text += &result_tables::energy(reports);
    if reports.iter().any(|report| !report.served.is_empty()) {
        section(&mut text, "Segments: by which mechanism, and why no better one");
        text += &segments(reports);
    }
    if reports.iter().any(|report| !report.epochs.is_empty()) {
        section(&mut text, "Epochs");
        text += &result_tables::epochs(reports);
    }
    let allocators: BTreeMap<&str, &AllocatorReport> =
        reports.iter().rev().flat_map(|report| &report.allocator).map(|report| (report.policy, report)).collect();
    if !allocators.is_empty() {
        section(&mut text, "Allocators: how frames can go under the rule, and what is left free");
        text += &allocator_tables::text(&allocators.into_values().collect::<Vec<_>>());
    }
    if first.trace.is_some() {
        section(&mut text, "Recorded trace");
        text += &recorded(reports);
    }
    let mends: BTreeSet<&String> =
        reports.iter().flat_map(|report| &report.operations).flat_map(|operation| &operation.mend).collect();
    if !mends.is_empty() {
        section(&mut text, "What would make FPM possible");
        for mend in mends {
            let _ = writeln!(text, "- {mend}");
        }
    }
    if reports.iter().any(|report| report.check.is_some()) {
        section(&mut text, "Check");
        for report in reports {
            report.check.iter().for_each(|check| text += &checked(&report.label(), check));
        }
    }
    text
}

fn section(text: &mut String, title: &str) {
    let _ = write!(text, "\n{title}\n\n");
}

/// The operations that are shown, each under every policy in turn, with its label, which stands once, and the policy.
fn by_operation(reports: &[RunReport]) -> impl Iterator<Item = (String, String, &OperationRow)> {
    (0..shown(reports)).flat_map(move |index| {
        reports.iter().zip(0..).filter_map(move |(report, nth)| {
            let operation = report.operations.get(index)?;
            let label = if nth == 0 { operation.label.clone() } else { String::new() };
            Some((label, report.label(), operation))
        })
    })
}

fn operations(reports: &[RunReport]) -> String {
    let columns = [
        ("operation", Left),
        ("policy", Left),
        ("mechanism", Left),
        ("clocks", Right),
        ("ns", Right),
        ("faster", Right),
        ("(bank)", Right),
        ("nJ", Right),
        ("saves", Right),
        ("(bank)", Right),
        ("channel B", Right),
    ];
    let ratio = |against: &Option<Comparison>, of: fn(&Comparison) -> f64| {
        against.as_ref().map_or("-".to_string(), |against| format!("{:.2}x", of(against)))
    };
    let cells = |operation: &OperationRow| {
        [
            grouped(operation.latency_cycles),
            format!("{:.2}", operation.latency_ns),
            ratio(&operation.against_same_pair, |against| against.speedup),
            ratio(&operation.against_same_bank, |against| against.speedup),
            format!("{:.1}", operation.energy_nj),
            ratio(&operation.against_same_pair, |against| against.energy_ratio),
            ratio(&operation.against_same_bank, |against| against.energy_ratio),
            grouped(operation.channel_bytes),
        ]
    };
    let rows = by_operation(reports).map(|(label, policy, operation)| {
        [label, policy, operation.mechanism.clone()].into_iter().chain(cells(operation)).collect()
    });
    let rows: Vec<_> = rows.collect();
    aligned(&columns, &rows)
        + "\nclocks, ns: of copies and initialisations from the first command to the last bank ready, of reads and writes from arrival to the\n\
           end of the data;\n\
           faster, saves: latency and energy of the channel copy of the same pair of addresses, divided by this one's;\n\
           (bank): the same against the channel copy of a pair in one bank. Both simulated, on an idle memory.\n"
}

/// One line a reason; the operation and the policy stand at their first.
fn whys(reports: &[RunReport]) -> String {
    let columns = [("operation", Left), ("policy", Left), ("why", Left)];
    let rows = by_operation(reports).flat_map(|(label, policy, operation)| {
        let starts = std::iter::once([label, policy]).chain(std::iter::repeat([String::new(), String::new()]));
        starts.zip(&operation.reasons).map(|([label, policy], reason)| vec![label, policy, reason.clone()])
    });
    let rows: Vec<_> = rows.collect();
    aligned(&columns, &rows)
}

fn segments(reports: &[RunReport]) -> String {
    let columns = [
        ("policy", Left),
        ("of", Left),
        ("mechanism", Left),
        ("why no better one", Left),
        ("segments", Right),
        ("bytes", Right),
        ("share", Right),
    ];
    let rows: Vec<Vec<String>> = reports
        .iter()
        .flat_map(|report| {
            report.served.iter().map(|row| {
                let names = [row.operation, row.mechanism, row.reason].map(String::from);
                let share = format!("{:.1} %", row.share_of_bytes * 100.0);
                let counts = [grouped(row.count), bytes(row.bytes), share];
                std::iter::once(report.label()).chain(names).chain(counts).collect()
            })
        })
        .collect();
    aligned(&columns, &rows)
}

fn recorded(reports: &[RunReport]) -> String {
    let mut text = String::new();
    if let Some(first) = reports.iter().find_map(|report| report.trace.as_ref()) {
        let _ = writeln!(text, "{}: no last-level cache is modelled\n", first.file);
    }
    // What a trace holds is the same under every policy.
    let mut seen = BTreeSet::new();
    let traces: Vec<_> = reports
        .iter()
        .filter(|report| seen.insert(report.placement))
        .filter_map(|report| report.trace.as_ref().map(|trace| (report.placement.unwrap_or_default(), trace)))
        .collect();
    let mut columns = vec![("", Left)];
    columns.extend(traces.iter().map(|(placement, _)| (*placement, Right)));
    let rows: Vec<Vec<String>> = TRACE_ROWS
        .iter()
        .map(|(name, of)| (name, traces.iter().map(|(_, trace)| of(trace)).collect::<Vec<_>>()))
        .filter(|(_, counts)| counts.iter().any(Option::is_some))
        .map(|(name, counts)| {
            let cells = counts.into_iter().map(|count| count.map_or("-".to_string(), grouped));
            std::iter::once((*name).to_string()).chain(cells).collect()
        })
        .collect();
    text += &aligned(&columns, &rows);
    for (placement, trace) in &traces {
        for skipped in &trace.skipped {
            let _ = writeln!(text, "left out, {placement}: {skipped}");
        }
    }
    text
}

/// A row of the table about traces; nothing where it does not apply.
type TraceRow = (&'static str, fn(&TraceReport) -> Option<u64>);

#[rustfmt::skip]
const TRACE_ROWS: [TraceRow; 19] = [
    ("records",                                 |trace| Some(trace.records)),
    ("records left out, in whole or in part",   |trace| Some(trace.skipped_records)),
    ("records of accesses",                     |trace| Some(trace.accesses)),
    ("reads played, lines",                     |trace| Some(trace.reads)),
    ("writes played, lines",                    |trace| Some(trace.writes)),
    ("writebacks played, lines",                |trace| Some(trace.writebacks)),
    ("copies played",                           |trace| Some(trace.copies)),
    ("zeroings and fills played",               |trace| Some(trace.fills)),
    ("left out: accesses outside the memory",   |trace| Some(trace.accesses_outside)),
    ("left out: accesses to reserved rows",     |trace| Some(trace.accesses_reserved)),
    ("left out: copies, fills outside",         |trace| Some(trace.skipped_outside)),
    ("left out: copies, fills, reserved rows",  |trace| Some(trace.skipped_reserved)),
    ("pages placed when they appeared",         |trace| trace.pages.as_ref().map(|pages| pages.appeared)),
    ("pages placed as copies",                  |trace| trace.pages.as_ref().map(|pages| pages.copied)),
    ("pages placed as fills",                   |trace| trace.pages.as_ref().map(|pages| pages.filled)),
    ("frames freed by those",                   |trace| trace.pages.as_ref().map(|pages| pages.freed)),
    ("copies in part, not in the shares above", |trace| trace.pages.as_ref().map(|pages| pages.copies_in_part)),
    ("fills in part, likewise",                 |trace| trace.pages.as_ref().map(|pages| pages.fills_in_part)),
    ("fills of other values, likewise",         |trace| trace.pages.as_ref().map(|pages| pages.fills_of_other_values)),
];

fn checked(policy: &str, check: &CheckReport) -> String {
    let legality = match check.violations {
        0 => format!("every command is legal ({})", check.dialect),
        count => format!("{} violations ({})", grouped(count), check.dialect),
    };
    let memory = match &check.memory_mismatch {
        None => "memory is what a flat array holds",
        Some(mismatch) => mismatch,
    };
    let mut text = format!("{policy}: {legality}; {memory}\n");
    for violation in &check.first_violations {
        let _ = writeln!(text, "  {violation}");
    }
    text
}
