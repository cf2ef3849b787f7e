//! What a terminal shows of a run under several policies.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use energy::Cause;

use crate::run_report::{CheckReport, Comparison, OperationRow, RunReport, TraceReport, cause_key};
use crate::table::{Align, aligned, bytes, grouped};

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
    let _ = writeln!(text, "currents `{}`, seed {}", first.currents, first.seed);
    for warning in reports.iter().flat_map(|report| &report.warnings).collect::<BTreeSet<_>>() {
        let _ = writeln!(text, "warning: {warning}");
    }
    if reports.iter().any(|report| !report.operations.is_empty()) {
        section(&mut text, "Operations, from first command to last bank ready; energy above standby");
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
    text += &policies(reports);
    section(&mut text, "Energy by cause, nJ");
    text += &energy(reports);
    section(&mut text, "Segments: by which mechanism, and why no better one");
    text += &segments(reports);
    if let Some(trace) = &first.trace {
        section(&mut text, "Recorded trace");
        text += &recorded(trace);
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
            report.check.iter().for_each(|check| text += &checked(report.policy, check));
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
            Some((label, report.policy.to_string(), operation))
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
        + "\nfaster, saves: latency and energy of the channel copy of the same pair of addresses, divided by this one's;\n\
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

/// How a quantity of a report is written.
type Quantity<'a> = &'a dyn Fn(&RunReport) -> String;

/// One column a policy, one row a quantity.
fn by_policy(reports: &[RunReport], quantities: &[(&str, Quantity<'_>)]) -> String {
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
    let mut quantities: Vec<(&str, Quantity<'_>)> = vec![
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
            report.channel_share_of_operation_energy.map_or("-".to_string(), |share| format!("{:.1} %", share * 100.0))
        }),
        ("channel bytes", &|report| grouped(report.channel_bytes)),
    ];
    quantities.extend(commands.iter().map(|(name, of)| (name.as_str(), of as Quantity<'_>)));
    by_policy(reports, &quantities)
}

fn energy(reports: &[RunReport]) -> String {
    let spent = |cause: &Cause| reports.iter().any(|report| report.energy_by_cause_nj.contains_key(&cause_key(*cause)));
    let of = |cause: Cause| {
        let key = cause_key(cause);
        move |report: &RunReport| format!("{:.1}", report.energy_by_cause_nj.get(&key).unwrap_or(&0.0))
    };
    let rows: Vec<_> = Cause::ALL.into_iter().filter(spent).map(|cause| (cause.name(), of(cause))).collect();
    let quantities: Vec<_> = rows.iter().map(|(cause, of)| (*cause, of as Quantity<'_>)).collect();
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
    for skipped in &trace.skipped {
        let _ = writeln!(text, "  {skipped}");
    }
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
    for violation in &check.first_violations {
        let _ = writeln!(text, "  {violation}");
    }
    text
}
