//! The first screen of `run`: the answer in at most [`LINES_MAX`] lines of [`COLUMNS_MAX`] columns.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use memctrl::policy::copy::BASELINE;
use rowclone_sim::quantity::{bytes, grouped};
use rowclone_sim::{OperationRow, ServedRow};

use crate::page::reason_sentence;
use crate::programs::{self, MethodRow};
use crate::run_report::{RunReport, references};
use crate::run_tables;
use crate::table::Align::{self, Left, Right};
use crate::table::{Header, aligned, or_dash, total, widths, wrapped};

/// The most lines.
pub const LINES_MAX: usize = 20;
/// The most columns.
pub const COLUMNS_MAX: usize = 80;
/// The most lines of warnings; where they need more, each is cut to one line.
const WARNING_LINES_MAX: usize = 6;
/// Lines of the header of the table.
const HEADER_LINES: usize = 3;
/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// Units of times, a factor of 1,000 apart.
const TIMES: [&str; 3] = ["ns", "us", "ms"];
/// Requests whose mean latencies have a column.
const MEANS: [&str; 2] = ["copy", "read"];

/// A row of the table.
#[derive(Clone, Debug, Default)]
struct Row {
    /// Label of a listed operation; else empty.
    operation: String,
    label: String,
    mechanism: String,
    latency_ns: f64,
    speedup: Option<f64>,
    energy_nj: f64,
    energy_ratio: Option<f64>,
    /// Mean latencies of [`MEANS`], ns.
    means: [Option<f64>; 2],
}

/// System, warnings, latency, energy and their ratios against the reference, the cause, and how to see more.
pub fn text(reports: &[RunReport]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut lines: Vec<String> = first.brief.lines().map(cut).collect();
    lines.extend(warnings(reports));
    lines.extend(checks(reports));
    lines.extend(wrapped(&references(reports), COLUMNS_MAX).lines().map(str::to_owned));
    let methods: Vec<MethodRow> = reports.iter().filter_map(MethodRow::of_run).collect();
    if !methods.is_empty() {
        lines.push(String::new());
        lines.extend(programs::methods(&methods).lines().map(str::to_owned));
        lines.push("`--details` prints all tables, with a line per core.".to_owned());
        lines.truncate(LINES_MAX);
        return lines.join("\n") + "\n";
    }
    lines.push(String::new());
    let room = LINES_MAX - lines.len() - 1;
    let listed = by_operation(reports);
    let is_listed = !listed.is_empty();
    let all = if is_listed { listed } else { reports.iter().map(of_result).collect() };
    let sentences_min = if is_listed { 0 } else { 2 };
    let (rows, more) = if all.len() + HEADER_LINES + sentences_min <= room {
        (all, "`--details` prints all tables; `explain plan` gives the reasons.".to_owned())
    } else {
        let what = if is_listed { "operations" } else { "results" };
        let count = grouped(all.len() as u64);
        (by_policy(reports), format!("Summed per policy: `--details` has the {count} rows of {what}, and all tables."))
    };
    lines.extend(table(&rows).lines().map(str::to_owned));
    if !is_listed {
        let room = LINES_MAX - lines.len() - 1;
        lines.extend(sentences(reports, room));
    }
    lines.push(more);
    lines.join("\n") + "\n"
}

/// A sentence per result of another policy than the baseline; where they need more lines than there are, those of the largest speedups.
fn sentences(reports: &[RunReport], room: usize) -> Vec<String> {
    let others = reports.iter().filter(|report| report.outcome.policy != BASELINE.name());
    let mut of: Vec<(usize, Option<f64>, String)> = others
        .enumerate()
        .map(|(place, report)| (place, report.outcome.speedup, wrapped(&sentence(report), COLUMNS_MAX)))
        .collect();
    of.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal));
    let mut used = 0;
    of.retain(|(_, _, text)| {
        let lines = text.lines().count();
        let fits = used + lines <= room;
        used += if fits { lines } else { 0 };
        fits
    });
    of.sort_by_key(|(place, ..)| *place);
    of.iter().flat_map(|(_, _, text)| text.lines().map(str::to_owned)).collect()
}

fn warnings(reports: &[RunReport]) -> Vec<String> {
    let texts: BTreeSet<&String> = reports.iter().flat_map(|report| &report.warnings).collect();
    let texts: Vec<String> = texts.into_iter().map(|text| format!("warning: {text}")).collect();
    let whole: String = texts.iter().map(|text| wrapped(text, COLUMNS_MAX)).collect();
    let whole: Vec<String> = whole.lines().map(str::to_owned).collect();
    if whole.len() <= WARNING_LINES_MAX {
        return whole;
    }
    // One line for the results of one warning: `LABEL: what: numbers` differs in its label and its numbers.
    let mut labels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for text in reports.iter().flat_map(|report| &report.warnings) {
        let (label, rest) = text.split_once(": ").unwrap_or(("", text));
        let of = labels.entry(rest.split(": ").next().unwrap_or(rest)).or_default();
        if !of.contains(&label) {
            of.push(label);
        }
    }
    let merged = labels.into_iter().map(|(what, labels)| cut(&format!("warning: {what} ({})", labels.join(", "))));
    let mut lines: Vec<String> = merged.collect();
    if lines.len() > WARNING_LINES_MAX {
        let left = lines.len() - (WARNING_LINES_MAX - 1);
        lines.truncate(WARNING_LINES_MAX - 1);
        lines.push(format!("warning: {left} more warnings: see `--details`"));
    }
    lines
}

/// The verdict of `--check` in a line.
fn checks(reports: &[RunReport]) -> Option<String> {
    let checked = || reports.iter().filter_map(|report| Some((report, report.outcome.check.as_ref()?)));
    checked().next()?;
    let failed: Vec<String> =
        checked().filter(|(report, _)| !report.outcome.passed_checks()).map(|(report, _)| report.label()).collect();
    Some(match failed.as_slice() {
        [] => "check: every command is legal, and memory equals that of a plain memcpy".to_owned(),
        failed => cut(&format!("check FAILED (see `--details`): {}", failed.join(", "))),
    })
}

/// One row per listed operation and result; the label of an operation is in its first row.
fn by_operation(reports: &[RunReport]) -> Vec<Row> {
    let row = |(operation, label, it): (String, String, &OperationRow)| Row {
        operation: operation.replace(", ", " "),
        label,
        mechanism: if it.mechanism.is_empty() { "-".to_owned() } else { it.mechanism.clone() },
        latency_ns: it.latency_ns,
        speedup: it.speedup,
        energy_nj: it.energy_nj,
        energy_ratio: it.energy_ratio,
        ..Row::default()
    };
    run_tables::by_operation(reports, usize::MAX).map(row).collect()
}

fn of_result(report: &RunReport) -> Row {
    let outcome = &report.outcome;
    Row {
        label: report.label(),
        mechanism: most_used(&of_copies(&[report])),
        latency_ns: outcome.latency_ns,
        speedup: outcome.speedup,
        energy_nj: outcome.figures.dynamic_energy_nj,
        energy_ratio: outcome.energy_ratio,
        means: [outcome.figures.copy_latency_ns.mean, outcome.figures.read_latency_ns.mean],
        ..Row::default()
    }
}

/// One row per policy: sums over its results, and the ratios of these sums.
fn by_policy(reports: &[RunReport]) -> Vec<Row> {
    let mut policies: Vec<&str> = reports.iter().map(|report| report.outcome.policy).collect();
    policies.dedup();
    let sum_of = |policy: &str| {
        let of: Vec<&RunReport> = reports.iter().filter(|report| report.outcome.policy == policy).collect();
        let sum = |value: fn(&RunReport) -> f64| of.iter().map(|report| value(report)).sum::<f64>();
        // The sum of the references is that of each value times its ratio.
        let ratio = |value: fn(&RunReport) -> f64, ratio: fn(&RunReport) -> Option<f64>| {
            let products = of.iter().map(|report| ratio(report).map(|ratio| value(report) * ratio));
            products.sum::<Option<f64>>().filter(|_| sum(value) > 0.0).map(|reference| reference / sum(value))
        };
        let latency = |report: &RunReport| report.outcome.latency_ns;
        let energy = |report: &RunReport| report.outcome.figures.dynamic_energy_nj;
        Row {
            label: policy.to_owned(),
            mechanism: most_used(&of_copies(&of)),
            latency_ns: sum(latency),
            speedup: ratio(latency, |report| report.outcome.speedup),
            energy_nj: sum(energy),
            energy_ratio: ratio(energy, |report| report.outcome.energy_ratio),
            ..Row::default()
        }
    };
    policies.into_iter().map(sum_of).collect()
}

/// How copies were served, or without copies initializations.
fn of_copies<'a>(reports: &[&'a RunReport]) -> Vec<&'a ServedRow> {
    let of = |operation: &str| -> Vec<&'a ServedRow> {
        reports.iter().flat_map(|report| &report.outcome.served).filter(|row| row.operation == operation).collect()
    };
    let copies = of("copy");
    if copies.is_empty() { of("init") } else { copies }
}

/// The mechanism that served the most bytes, with its share: `fpm 97 %`.
fn most_used(served: &[&ServedRow]) -> String {
    let bytes =
        |mechanism: &str| served.iter().filter(|row| row.mechanism == mechanism).map(|row| row.bytes).sum::<u64>();
    let all: u64 = served.iter().map(|row| row.bytes).sum();
    let most = served.iter().map(|row| row.mechanism).max_by_key(|mechanism| bytes(mechanism));
    or_dash(most, |mechanism| format!("{mechanism} {}", percent(bytes(mechanism), all)))
}

/// A share; 0 % and 100 % are exact.
fn percent(part: u64, all: u64) -> String {
    let percent = part as f64 / all as f64 * 100.0;
    match part {
        _ if part == 0 || part == all => format!("{percent:.0} %"),
        _ if (1.0..99.0).contains(&percent) => format!("{percent:.0} %"),
        _ => format!("{:.1} %", percent.clamp(0.1, 99.9)),
    }
}

/// A column of the table: its header, with the unit in the last line, its alignment, and its cells.
type Column = (String, Align, Vec<String>);

fn column(header: &str, align: Align, rows: &[Row], cell: impl Fn(&Row) -> String) -> Column {
    // The last lines of all headers stand beside each other.
    let above = "\n".repeat((HEADER_LINES - 1).saturating_sub(header.matches('\n').count()));
    (above + header, align, rows.iter().map(cell).collect())
}

fn table(rows: &[Row]) -> String {
    let (time, time_unit) = unit(rows.iter().map(|row| Some(row.latency_ns)), TIMES);
    let (mean, mean_unit) = unit(rows.iter().flat_map(|row| row.means), TIMES);
    let (energy, energy_unit) = unit(rows.iter().map(|row| Some(row.energy_nj)), ["nJ", "uJ", "mJ"]);
    let figure = |value: Option<f64>, scale: f64| or_dash(value, |value| three_digits(value / scale));
    let ratio = |ratio: Option<f64>| or_dash(ratio, |ratio| format!("{}x", three_digits(ratio)));
    let mut columns = vec![
        column("policy", Left, rows, |row| row.label.clone()),
        column("mechanism", Left, rows, |row| row.mechanism.clone()),
        column(&format!("latency\n{time_unit}"), Right, rows, |row| figure(Some(row.latency_ns), time)),
        column("speedup", Right, rows, |row| ratio(row.speedup)),
        column(&format!("dynamic\nenergy\n{energy_unit}"), Right, rows, |row| figure(Some(row.energy_nj), energy)),
        column("energy\nratio", Right, rows, |row| ratio(row.energy_ratio)),
    ];
    if rows.iter().any(|row| !row.operation.is_empty()) {
        columns.insert(0, column("operation", Left, rows, |row| row.operation.clone()));
    }
    for (of, kind) in MEANS.iter().enumerate().filter(|(of, _)| rows.iter().any(|row| row.means[*of].is_some())) {
        columns.push(column(&format!("mean\n{kind}\n{mean_unit}"), Right, rows, |row| figure(row.means[of], mean)));
        if width(&columns) > COLUMNS_MAX {
            columns.pop();
        }
    }
    let excess = width(&columns).saturating_sub(COLUMNS_MAX);
    if excess > 0 {
        let (.., labels) = &mut columns[0];
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        for label in labels {
            *label = cut_to(label, longest.saturating_sub(excess).max(1));
        }
    }
    let (headers, cells) = parts(&columns);
    aligned(&headers, &cells)
}

/// Headers and rows of columns.
fn parts(columns: &[Column]) -> (Vec<Header<'_>>, Vec<Vec<String>>) {
    let rows = columns.first().map_or(0, |(.., cells)| cells.len());
    let row = |row: usize| columns.iter().map(|(.., cells)| cells[row].clone()).collect();
    let headers = columns.iter().map(|(header, align, _)| (header.as_str(), *align));
    (headers.collect(), (0..rows).map(row).collect())
}

fn width(columns: &[Column]) -> usize {
    let (headers, cells) = parts(columns);
    total(&widths(&headers, &cells))
}

/// The unit in which the smallest value is at least 1: how many of the first unit it has, and its name.
fn unit(values: impl Iterator<Item = Option<f64>>, names: [&'static str; 3]) -> (f64, &'static str) {
    let least = values.flatten().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    match least {
        _ if least.is_infinite() || least < 1e3 => (1.0, names[0]),
        _ if least < 1e6 => (1e3, names[1]),
        _ => (1e6, names[2]),
    }
}

/// A number of at least 0, rounded to a whole one.
fn whole(value: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "ratios, times and energies are not negative")]
    grouped(value.round() as u64)
}

/// At least three significant digits: 7.95, 66.4, 558, 3,288.
fn three_digits(value: f64) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => whole(value),
    }
}

/// `rowclone, subarray-aware: 7.9x faster, 31x less dynamic energy; 100 % of copies by FPM`.
fn sentence(report: &RunReport) -> String {
    let outcome = &report.outcome;
    let latency = outcome.speedup.map(|speedup| factor(speedup, "faster", "slower", "as fast"));
    let energy = outcome.energy_ratio.map(|ratio| {
        factor(ratio, "less dynamic energy", "more dynamic energy", "the dynamic energy of the reference")
    });
    let ratios = latency.into_iter().chain(energy).collect::<Vec<_>>().join(", ");
    let parts: Vec<String> = [ratios, cause(report)].into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}: {}", report.label().replace('/', ", "), parts.join("; "))
}

fn factor(ratio: f64, more: &str, less: &str, equal: &str) -> String {
    let times = |ratio: f64| if ratio < 9.95 { format!("{ratio:.1}x") } else { format!("{}x", whole(ratio)) };
    match ratio {
        _ if ratio >= 1.05 => format!("{} {more}", times(ratio)),
        _ if ratio <= 1.0 / 1.05 => format!("{} {less}", times(1.0 / ratio)),
        _ => equal.to_owned(),
    }
}

/// Share of copies by FPM, and the most frequent reason against it.
fn cause(report: &RunReport) -> String {
    let served = of_copies(&[report]);
    let noun = if served.iter().any(|row| row.operation == "copy") { "copies" } else { "initializations" };
    let all: u64 = served.iter().map(|row| row.bytes).sum();
    if all == 0 {
        return "no copies".to_owned();
    }
    let (fpm, others): (Vec<_>, Vec<_>) = served.into_iter().partition(|row| row.mechanism == rowclone::FPM.name());
    let share = percent(fpm.iter().map(|row| row.bytes).sum(), all);
    match others.iter().max_by_key(|row| row.bytes).and_then(|row| row.reason) {
        None => format!("{share} of {noun} by FPM"),
        Some(reason) => format!("{share} of {noun} by FPM: {}; see `explain plan`", why(reason, report)),
    }
}

/// A reason in words; of pages that are smaller than a row, with both sizes.
fn why(reason: &str, report: &RunReport) -> String {
    let shares = report.outcome.allocator.is_some() && report.row_bytes > PAGE_BYTES;
    if shares && ["partial-row", "columns-differ", "same-row"].contains(&reason) {
        return format!("a {} page shares a row of {}", bytes(PAGE_BYTES), bytes(report.row_bytes));
    }
    reason_sentence(reason).to_owned()
}

/// The text, cut to the width of a line.
fn cut(text: &str) -> String {
    cut_to(text, COLUMNS_MAX)
}

fn cut_to(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(2)).collect();
    format!("{}..", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_at_their_ends() {
        assert_eq!([percent(0, 9), percent(9, 9), percent(1, 2)], ["0 %", "100 %", "50 %"]);
        assert_eq!([percent(1, 1_000_000), percent(999_999, 1_000_000)], ["0.1 %", "99.9 %"]);
    }

    #[test]
    fn ratios_are_written_in_words() {
        let said = |ratio| factor(ratio, "faster", "slower", "as fast");
        assert_eq!(
            [said(7.94), said(31.2), said(0.5), said(1.01)],
            ["7.9x faster", "31x faster", "2.0x slower", "as fast"]
        );
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!([0.994, 7.951, 66.43, 558.0, 3288.2].map(three_digits), ["0.99", "7.95", "66.4", "558", "3,288"]);
        assert_eq!(unit([Some(90.0), Some(1046.25)].into_iter(), ["ns", "us", "ms"]), (1.0, "ns"));
        assert_eq!(unit([Some(0.0), None, Some(4e6)].into_iter(), ["ns", "us", "ms"]), (1e6, "ms"));
    }

    #[test]
    fn a_line_is_cut_at_its_end() {
        assert_eq!(cut_to("abcdef", 6), "abcdef");
        assert_eq!(cut_to("abcdef", 5), "abc..");
    }
}
