//! First screen of `run`: the main figures in at most [`LINES_MAX`] lines of [`COLUMNS_MAX`] columns, and all warnings.

mod sentence;
mod table;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use memctrl::policy::copy::BASELINE;
use rowclone_sim::quantity::grouped;

use crate::programs::{self, MethodRow};
use crate::run_report::{NO_CURRENT_SET, RunReport, memory_equal, references};
use crate::table::{COLUMNS_MAX, three_digits, wrapped};
use table::Lead;

/// Maximum number of lines, without those of warnings.
pub const LINES_MAX: usize = 20;

/// Writes the system, the warnings, the main figures with their ratios to the reference, the cause, and the command for
/// details. Warnings are never shortened.
pub fn text(reports: &[RunReport]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut lines: Vec<String> = first.brief.lines().flat_map(in_lines).collect();
    let warnings: BTreeSet<&String> = reports.iter().flat_map(|report| &report.warnings).collect();
    let warnings: Vec<String> = warnings.into_iter().flat_map(|text| in_lines(&format!("warning: {text}"))).collect();
    let mut above: Vec<String> = checks(reports).iter().flat_map(|verdict| in_lines(verdict)).collect();
    above.extend(in_lines(&references(reports)));
    if first.currents.is_none() {
        above.push(format!("{NO_CURRENT_SET}: no energy is computed"));
    } else if first.background_rho.is_some() {
        above.extend(in_lines(&format!("energy: {}", first.energy_settings())));
    }
    let lead = Lead::of(reports);
    if lead == Lead::MeanLatencies {
        above.push("arrivals are fixed: mean latencies are compared, and not the makespan".to_owned());
    }
    above.push(String::new());
    let room = LINES_MAX.saturating_sub(lines.len() + above.len());
    let methods: Vec<MethodRow> = reports.iter().filter_map(MethodRow::of_run).collect();
    let body = if methods.is_empty() { results(reports, lead, room) } else { cores(&methods, room) };
    lines.extend([warnings, above, body].concat());
    lines.join("\n") + "\n"
}

/// The lines of a text on the screen.
fn in_lines(text: &str) -> Vec<String> {
    wrapped(text, COLUMNS_MAX).lines().map(str::to_owned).collect()
}

/// Result of `--check`.
fn checks(reports: &[RunReport]) -> Option<String> {
    let checked = || reports.iter().filter_map(|report| Some((report, report.outcome.check.as_ref()?)));
    checked().next()?;
    let failed: Vec<String> =
        checked().filter(|(report, _)| !report.outcome.passed_checks()).map(|(report, _)| report.label()).collect();
    Some(match failed.as_slice() {
        [] => {
            let is_virtual = checked().any(|(report, _)| report.outcome.allocator.is_some());
            format!("check: every command is legal, and {}", memory_equal(is_virtual))
        }
        failed => format!("check FAILED (see `--details`): {}", failed.join(", ")),
    })
}

/// The table of operations or results, and a sentence per result of a workload.
fn results(reports: &[RunReport], lead: Lead, room: usize) -> Vec<String> {
    let is_listed = lead == Lead::Operations;
    let all = if is_listed { table::by_operation(reports) } else { table::by_result(reports) };
    let (count, sentences_min) = (grouped(all.len() as u64), if is_listed { 0 } else { 2 });
    let (rows, more) = if all.len() + table::HEADER_LINES + sentences_min < room {
        (all, "`--details` prints all tables; `explain plan` gives the reasons.".to_owned())
    } else if is_listed {
        let what = format!("Summed per policy: `--details` has the {count} rows of operations, and all tables.");
        (table::by_result(reports), what)
    } else {
        let what = format!("The best placement of each policy: `--details` has all {count} results.");
        (table::best_of_policies(reports, lead), what)
    };
    let mut lines: Vec<String> = table::text(&rows, lead).lines().map(str::to_owned).collect();
    lines.extend(page_faults(reports).iter().flat_map(|text| in_lines(text)));
    if !is_listed {
        let others = reports.iter().filter(|report| report.outcome.policy != BASELINE.name());
        let sentences = others.map(|report| (report.outcome.speedup, sentence::of(report, lead)));
        lines.extend(fitting(sentences.collect(), room.saturating_sub(lines.len() + 1)));
    }
    lines.push(more);
    lines
}

/// The time of all page faults with their copies and zeroings, where a trace has page faults.
fn page_faults(reports: &[RunReport]) -> Option<String> {
    let trace = reports.first()?.outcome.trace.as_ref()?;
    if trace.page_faults == 0 {
        return None;
    }
    let us = |report: &RunReport| {
        let copies = &report.outcome.figures.copy_latency_ns;
        let ns = trace.page_fault_ns + copies.count as f64 * copies.mean.unwrap_or_default();
        format!("{} us under {}", three_digits(ns / 1000.0), report.label())
    };
    let all: Vec<String> = reports.iter().map(us).collect();
    let (count, each) = (grouped(trace.page_faults), three_digits(trace.page_fault_ns / trace.page_faults as f64));
    Some(format!("{count} page faults, {each} ns each and their copies and zeroings: {}", all.join(", ")))
}

/// The table of programs on cores, and the causes of results below 1.
fn cores(methods: &[MethodRow], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = programs::first(methods).lines().map(str::to_owned).collect();
    let mut more = in_lines(&programs::definitions(methods));
    more.push("`--details` prints all tables, with a line per core.".to_owned());
    let causes = programs::causes(methods).map(|(speedup, text)| (Some(-speedup), text));
    lines.extend(fitting(causes.collect(), room.saturating_sub(lines.len() + more.len())));
    lines.extend(more);
    lines
}

/// The lines of some sentences. If they exceed the available lines, those of the greatest values are kept.
fn fitting(sentences: Vec<(Option<f64>, String)>, room: usize) -> Vec<String> {
    let mut of: Vec<(usize, Option<f64>, Vec<String>)> =
        sentences.into_iter().enumerate().map(|(place, (value, text))| (place, value, in_lines(&text))).collect();
    of.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal));
    let mut used = 0;
    of.retain(|(.., lines)| {
        let fits = used + lines.len() <= room;
        used += if fits { lines.len() } else { 0 };
        fits
    });
    of.sort_by_key(|(place, ..)| *place);
    of.into_iter().flat_map(|(.., lines)| lines).collect()
}

#[cfg(test)]
mod by_hand;
