//! What a terminal shows of a run under several policies.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::run_report::{CheckReport, Comparison, OperationRow, RunReport, TraceReport};
use crate::table::{Align, aligned, bytes, grouped};

use Align::{Left, Right};

/// Everything: operations, policies, energy by cause, decisions, findings.
pub fn text(reports: &[RunReport]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut text = format!("{}: {}\n", first.scenario, first.system);
    let _ = writeln!(text, "currents `{}`, seed {}", first.currents, first.seed);
    for warning in reports.iter().flat_map(|report| &report.warnings).collect::<BTreeSet<_>>() {
        let _ = writeln!(text, "warning: {warning}");
    }
    if reports.iter().any(|report| !report.operations.is_empty()) {
        section(&mut text, "Operations, from first command to last bank ready; energy above standby");
        text += &operations(reports);
    }
    section(&mut text, "Policies");
    text += &policies(reports);
    section(&mut text, "Energy by cause, nJ");
    text += &energy(reports);
    section(&mut text, "Segments: by which mechanism, and why no better one");
    text += &segments(reports);
    for trace in first.trace.iter() {
        section(&mut text, "Recorded trace");
        text += &recorded(trace);
    }
    let mends: BTreeSet<&String> =
        reports.iter().flat_map(|report| &report.operations).flat_map(|operation| &operation.mend).collect();
    if !mends.is_empty() {
        section(&mut text, "What would make FPM possible");
        mends.iter().for_each(|mend| {
            let _ = writeln!(text, "- {mend}");
        });
    }
    if reports.iter().any(|report| report.check.is_some()) {
        section(&mut text, "Check");
        for report in reports {
            report.check.iter().for_each(|check| text += &checked(report.policy, check));
        }
    }
    text
}

fn section(text: &mut String, title: &str) {
    let _ = write!(text, "\n{title}\n\n");
}

fn operations(reports: &[RunReport]) -> String {
    let columns = [
        ("operation", Left),
        ("policy", Left),
        ("mechanism", Left),
        ("clocks", Right),
        ("ns", Right),
        ("speed-up", Right),
        ("vs same bank", Right),
        ("nJ", Right),
        ("less energy", Right),
        ("vs same bank", Right),
        ("channel bytes", Right),
        ("why", Left),
    ];
    let count = reports.iter().map(|report| report.operations.len()).max().unwrap_or(0);
    let mut rows = Vec::new();
    for index in 0..count {
        for (report, nth) in reports.iter().zip(0..) {
            let Some(operation) = report.operations.get(index) else { continue };
            let label = if nth == 0 { operation.label.clone() } else { String::new() };
            rows.push(operation_cells(label, report.policy, operation));
        }
    }
    aligned(&columns, &rows)
        + "\nspeed-up, less energy: against the channel copy of the same pair of addresses; vs same bank: against the channel\n\
           copy of a pair in one bank. Both on an idle memory, and simulated.\n"
}

fn operation_cells(label: String, policy: &str, operation: &OperationRow) -> Vec<String> {
    let ratio = |against: &Option<Comparison>, of: fn(&Comparison) -> f64| {
        against.as_ref().map_or("-".to_string(), |against| format!("{:.2}x", of(against)))
    };
    vec![
        label,
        policy.to_string(),
        operation.mechanism.clone(),
        grouped(operation.latency_cycles),
        format!("{:.2}", operation.latency_ns),
        ratio(&operation.against_same_pair, |against| against.speedup),
        ratio(&operation.against_same_bank, |against| against.speedup),
        format!("{:.1}", operation.energy_nj),
        ratio(&operation.against_same_pair, |against| against.energy_ratio),
        ratio(&operation.against_same_bank, |against| against.energy_ratio),
        grouped(operation.channel_bytes),
        operation.reasons.join("; "),
    ]
}

/// One column a policy, one row a quantity.
fn by_policy(reports: &[RunReport], quantities: &[(&str, &dyn Fn(&RunReport) -> String)]) -> String {
    let columns: Vec<_> =
        std::iter::once(("", Left)).chain(reports.iter().map(|report| (report.policy, Right))).collect();
    let rows: Vec<Vec<String>> = quantities
        .iter()
        .map(|(name, quantity)| std::iter::once((*name).to_string()).chain(reports.iter().map(quantity)).collect())
        .collect();
    aligned(&columns, &rows)
}

fn policies(reports: &[RunReport]) -> String {
    let kinds: BTreeSet<&str> = reports.iter().flat_map(|report| report.commands.keys().copied()).collect();
    let used = kinds.into_iter().filter(|kind| reports.iter().any(|report| report.commands[kind] > 0));
    let count = |kind: &'static str| move |report: &RunReport| grouped(report.commands[kind]);
    let commands: Vec<_> = used.map(|kind| (format!("{kind} commands"), count(kind))).collect();
    let mut quantities: Vec<(&str, &dyn Fn(&RunReport) -> String)> = vec![
        ("operations", &|report| grouped(report.operations_done)),
        ("makespan, clocks", &|report| grouped(report.makespan_cycles)),
        ("makespan, ns", &|report| format!("{:.2}", report.makespan_ns)),
        ("copy latency, mean ns", &|report| format!("{:.2}", report.copy_latency_ns.mean)),
        ("copy latency, p50 ns", &|report| format!("{:.2}", report.copy_latency_ns.p50)),
        ("copy latency, p99 ns", &|report| format!("{:.2}", report.copy_latency_ns.p99)),
        ("copy latency, max ns", &|report| format!("{:.2}", report.copy_latency_ns.max)),
        ("energy above standby, nJ", &|report| format!("{:.1}", report.energy_operation_nj)),
        ("energy, total, nJ", &|report| format!("{:.1}", report.energy_nj)),
        ("channel's share of it above standby", &|report| {
            format!("{:.1} %", report.channel_share_of_operation_energy * 100.0)
        }),
        ("channel bytes", &|report| grouped(report.channel_bytes)),
    ];
    quantities.extend(commands.iter().map(|(name, of)| (name.as_str(), of as &dyn Fn(&RunReport) -> String)));
    by_policy(reports, &quantities)
}

fn energy(reports: &[RunReport]) -> String {
    let causes: BTreeSet<&str> = reports.iter().flat_map(|report| report.energy_by_cause_nj.keys().copied()).collect();
    let of = |cause: &'static str| {
        move |report: &RunReport| format!("{:.1}", report.energy_by_cause_nj.get(cause).unwrap_or(&0.0))
    };
    let columns: Vec<_> = causes.into_iter().map(|cause| (cause, of(cause))).collect();
    let quantities: Vec<_> =
        columns.iter().map(|(cause, of)| (*cause, of as &dyn Fn(&RunReport) -> String)).collect();
    by_policy(reports, &quantities)
}

fn segments(reports: &[RunReport]) -> String {
    let columns =
        [("policy", Left), ("mechanism", Left), ("why no better one", Left), ("segments", Right), ("bytes", Right)];
    let rows: Vec<Vec<String>> = reports
        .iter()
        .flat_map(|report| {
            report.segments.iter().map(|row| {
                let names = [report.policy, row.mechanism, row.reason].map(String::from);
                names.into_iter().chain([grouped(row.count), bytes(row.bytes)]).collect()
            })
        })
        .collect();
    aligned(&columns, &rows)
}

fn recorded(trace: &TraceReport) -> String {
    let mut text = format!(
        "{}: {} copies and {} zeroings or fills played, one after another, at their recorded addresses\n\
         {} reads counted, not played ({} outside the memory); no cache is modelled\n",
        trace.file,
        grouped(trace.copies),
        grouped(trace.fills),
        grouped(trace.accesses),
        grouped(trace.accesses_outside)
    );
    let (outside, reserved) = (grouped(trace.skipped_outside), grouped(trace.skipped_reserved));
    let _ = writeln!(text, "left out: {outside} outside the memory, {reserved} on a reserved row");
    trace.skipped.iter().for_each(|skipped| {
        let _ = writeln!(text, "  {skipped}");
    });
    text
}

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
    check.first_violations.iter().for_each(|violation| {
        let _ = writeln!(text, "  {violation}");
    });
    text
}
