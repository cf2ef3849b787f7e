//! All tables of a run under several policies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rowclone_sim::quantity::{bytes, grouped};
use rowclone_sim::{AllocatorReport, CheckReport, Comparison, OperationRow, ServedRow, TraceReport};

use crate::allocator_tables;
use crate::programs::{self, MethodRow};
use crate::result_tables;
use crate::run_report::{RunReport, memory_equal, references};
use crate::table::Align::{Left, Right};
use crate::table::{TextColumn, fitted, in_groups, listed, or_dash, percent, wrapped};

/// Number of operations above which only JSON and CSV list them.
const SHOWN_MOST: usize = 64;

/// Maximum number of listed operations, each under every policy.
pub(crate) fn operations_most(reports: &[RunReport]) -> usize {
    reports.iter().map(|report| report.outcome.operations.len()).max().unwrap_or(0)
}

/// The controller, and those that differ from that of the first run with their policies.
fn controllers(reports: &[RunReport]) -> String {
    let known = in_groups(reports.iter().map(|report| (&*report.controller, report.label())));
    let mut texts = known.iter().map(|(controller, labels)| (*controller, labels.join(", ")));
    let first = texts.next().map_or("", |(controller, _)| controller).to_owned();
    texts.fold(first, |text, (controller, labels)| format!("{text}; {labels}: {controller}"))
}

/// All tables: operations, policies, energy by cause, decisions, findings, in lines of at most `width` characters if
/// the tables allow it.
pub fn text(reports: &[RunReport], width: usize) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut text = wrapped(&format!("{}: {}", first.scenario, first.system), width);
    text += &wrapped(&format!("{}; {}, seed {}", controllers(reports), first.energy_settings(), first.seed), width);
    text += &wrapped(&references(reports), width);
    for warning in reports.iter().flat_map(|report| &report.warnings).collect::<BTreeSet<_>>() {
        text += &wrapped(&format!("warning: {warning}"), width);
    }
    let any = |holds: fn(&RunReport) -> bool| reports.iter().any(holds);
    let has_operations = operations_most(reports) > 0;
    let methods: Vec<MethodRow> = reports.iter().filter_map(MethodRow::of_run).collect();
    let sections = [
        ("Operations", has_operations.then(|| operations(reports, width))),
        ("Why no better mechanism", has_operations.then(|| whys(reports, width))),
        ("Programs on cores", (!methods.is_empty()).then(|| cores(&methods))),
        ("Policies", Some(result_tables::figures(reports, width))),
        ("Energy by cause, nJ", Some(result_tables::energy(reports, width))),
        (
            "Parts by mechanism and reason",
            any(|report| !report.outcome.served.is_empty()).then(|| parts(reports, width)),
        ),
        ("Epochs", any(|report| !report.outcome.epochs.is_empty()).then(|| result_tables::epochs(reports, width))),
        ("Allocators: mechanisms of frames under `rowclone`, and free memory", allocators(reports, width)),
        ("Recorded trace", first.outcome.trace.is_some().then(|| recorded(reports, width))),
        ("What would make FPM possible", fixes(reports, width)),
        ("Check", any(|report| report.outcome.check.is_some()).then(|| checks(reports))),
    ];
    for (title, section) in sections {
        text.extend(section.map(|section| format!("\n{title}\n\n{section}")));
    }
    text
}

fn cores(methods: &[MethodRow]) -> String {
    let break_even = programs::break_even(methods).map_or_else(String::new, |sizes| format!("{sizes}\n"));
    let has_mixes = methods.iter().any(|row| row.mix.is_some());
    let (first, causes) = (programs::first(methods), programs::causes_in_lines(methods));
    format!("{first}{causes}{break_even}{}", programs::all_cores(methods, has_mixes))
}

/// The allocators, by name; one that placed pages under several policies once.
fn allocators(reports: &[RunReport], width: usize) -> Option<String> {
    let all = reports.iter().rev().flat_map(|report| &report.outcome.allocator);
    let all: BTreeMap<&str, &AllocatorReport> = all.map(|report| (report.policy, report)).collect();
    (!all.is_empty()).then(|| allocator_tables::text(&all.into_values().collect::<Vec<_>>(), width))
}

fn fixes(reports: &[RunReport], width: usize) -> Option<String> {
    let operations = reports.iter().flat_map(|report| &report.outcome.operations);
    let fixes: BTreeSet<&String> = operations.flat_map(|operation| &operation.fix).collect();
    (!fixes.is_empty()).then(|| fixes.into_iter().map(|fix| wrapped(&format!("- {fix}"), width)).collect())
}

fn checks(reports: &[RunReport]) -> String {
    let mut text = String::new();
    for report in reports {
        let is_virtual = report.outcome.allocator.is_some();
        text.extend(report.outcome.check.iter().map(|check| checked(&report.label(), check, is_virtual)));
        if let Some(wrong) = report.outcome.cores.as_ref().and_then(|cores| cores.wrong_load.as_ref()) {
            let _ = writeln!(text, "{}: {wrong} returned wrong data", report.label());
        }
    }
    text
}

/// The displayed operations under each policy in turn, with the policy, and the label on the first line of each
/// operation.
pub(crate) fn by_operation(
    reports: &[RunReport],
    most: usize,
) -> impl Iterator<Item = (String, String, &OperationRow)> {
    (0..operations_most(reports).min(most)).flat_map(move |index| {
        reports.iter().zip(0..).filter_map(move |(report, nth)| {
            let operation = report.outcome.operations.get(index)?;
            let label = if nth == 0 { operation.label.clone() } else { String::new() };
            Some((label, report.label(), operation))
        })
    })
}

/// Explanation of the columns of the operations.
const FOOTNOTE: &str = "clocks, ns: latency, of copies and initializations from the first command until the last bank \
    is ready, of reads and \
                        writes from their arrival to the end of their data; speedup, energy ratio: reference / this; \
                        (bank): against the channel \
                        copy of a pair in one bank of an idle memory.";

fn operations(reports: &[RunReport], width: usize) -> String {
    let ratio = |ratio: Option<f64>| or_dash(ratio, |ratio| format!("{ratio:.2}x"));
    let bank =
        |it: &OperationRow, of: fn(&Comparison) -> Option<f64>| ratio(it.against_same_bank.as_ref().and_then(of));
    let columns: [TextColumn<'_, (String, String, &OperationRow)>; 11] = [
        ("operation", Left, &|(label, ..)| label.clone()),
        ("policy", Left, &|(_, policy, _)| policy.clone()),
        ("mechanism", Left, &|(.., it)| it.mechanism.clone()),
        ("clocks", Right, &|(.., it)| grouped(it.latency_cycles)),
        ("ns", Right, &|(.., it)| format!("{:.2}", it.latency_ns)),
        ("speedup", Right, &|(.., it)| ratio(it.speedup)),
        ("speedup (bank)", Right, &|(.., it)| bank(it, |against| Some(against.speedup))),
        ("dynamic energy, nJ", Right, &|(.., it)| or_dash(it.energy_nj, |nj| format!("{nj:.1}"))),
        ("energy ratio", Right, &|(.., it)| ratio(it.energy_ratio)),
        ("energy ratio (bank)", Right, &|(.., it)| bank(it, |against| against.energy_ratio)),
        ("channel bytes", Right, &|(.., it)| grouped(it.channel_bytes)),
    ];
    let rows: Vec<_> = by_operation(reports, SHOWN_MOST).collect();
    let mut text = listed(&columns, &rows, width) + "\n" + &wrapped(FOOTNOTE, width);
    let all = operations_most(reports);
    if all > SHOWN_MOST {
        let _ = writeln!(text, "The first {SHOWN_MOST} of {all} operations: `--format json` and `--out` list all.");
    }
    text
}

/// One line per reason; the operation and the policy are in its first line.
fn whys(reports: &[RunReport], width: usize) -> String {
    let columns = [("operation", Left), ("policy", Left), ("reason", Left)];
    let rows = by_operation(reports, SHOWN_MOST).flat_map(|(label, policy, operation)| {
        let starts = std::iter::once([label, policy]).chain(std::iter::repeat([String::new(), String::new()]));
        starts.zip(&operation.reasons).map(|([label, policy], reason)| vec![label, policy, reason.clone()])
    });
    let rows: Vec<_> = rows.collect();
    fitted(&columns, &rows, width)
}

fn parts(reports: &[RunReport], width: usize) -> String {
    let columns: [TextColumn<'_, (String, &ServedRow)>; 7] = [
        ("policy", Left, &|(label, _)| label.clone()),
        ("of", Left, &|(_, row)| row.operation.to_owned()),
        ("mechanism", Left, &|(_, row)| row.mechanism.to_owned()),
        ("reason", Left, &|(_, row)| row.reason.unwrap_or("-").to_owned()),
        ("parts", Right, &|(_, row)| grouped(row.count)),
        ("bytes", Right, &|(_, row)| bytes(row.bytes)),
        ("share", Right, &|(_, row)| percent(row.share_of_bytes)),
    ];
    let rows = reports.iter().flat_map(|report| report.outcome.served.iter().map(|row| (report.label(), row)));
    listed(&columns, &rows.collect::<Vec<_>>(), width)
}

fn recorded(reports: &[RunReport], width: usize) -> String {
    let mut text = String::new();
    if let Some(first) = reports.iter().find_map(|report| report.outcome.trace.as_ref()) {
        let _ = writeln!(text, "{}: no last-level cache is modeled\n", first.file);
    }
    // The contents of a trace are equal under all policies.
    let mut seen = BTreeSet::new();
    let traces: Vec<_> = reports
        .iter()
        .filter(|report| seen.insert(report.placement))
        .filter_map(|report| report.outcome.trace.as_ref().map(|trace| (report.placement.unwrap_or_default(), trace)))
        .collect();
    let mut columns = vec![("", Left)];
    columns.extend(traces.iter().map(|(placement, _)| (*placement, Right)));
    let rows: Vec<Vec<String>> = TRACE_ROWS
        .iter()
        .map(|(name, of)| (name, traces.iter().map(|(_, trace)| of(trace)).collect::<Vec<_>>()))
        .filter(|(_, counts)| counts.iter().any(Option::is_some))
        .map(|(name, counts)| {
            let cells = counts.into_iter().map(|count| or_dash(count, grouped));
            std::iter::once((*name).to_string()).chain(cells).collect()
        })
        .collect();
    text += &fitted(&columns, &rows, width);
    for (placement, trace) in &traces {
        for skipped in &trace.skipped {
            text += &wrapped(&format!("left out, {placement}: {skipped}"), width);
        }
    }
    text
}

/// A row of the table about traces; none if it does not apply.
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
    ("fills in part, not in the shares above",                 |trace| trace.pages.as_ref().map(|pages| pages.fills_in_part)),
    ("fills of other values, not in these shares",         |trace| trace.pages.as_ref().map(|pages| pages.fills_of_other_values)),
];

fn checked(policy: &str, check: &CheckReport, is_virtual: bool) -> String {
    let legality = match check.violations {
        0 => format!("every command is legal ({})", check.dialect),
        count => format!("{} violations ({})", grouped(count), check.dialect),
    };
    let memory = match &check.memory_mismatch {
        None => memory_equal(is_virtual),
        Some(mismatch) => mismatch,
    };
    let mut text = format!("{policy}: {legality}; {memory}\n");
    for violation in &check.first_violations {
        let _ = writeln!(text, "  {violation}");
    }
    text
}
