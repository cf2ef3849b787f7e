//! The table of the first screen.

use std::cmp::Ordering;

use rowclone_sim::{OperationRow, Outcome, ServedRow};

use crate::run_report::RunReport;
use crate::run_tables;
use crate::table::Align::{self, Left, Right};
use crate::table::{COLUMNS_MAX, Header, aligned, or_dash, three_digits, total, widths};

/// Lines of the header of the table.
pub(super) const HEADER_LINES: usize = 3;

/// Units of times, a factor of 1,000 apart.
const TIMES: [&str; 3] = ["ns", "us", "ms"];
/// Requests with mean latencies, in the order of [`Outcome::mean_latency_ratios`]; a table has the first two that it
/// can.
pub(super) const MEANS: [&str; 3] = ["read", "copy", "write"];
/// Ranks of their columns in tables whose main figures are others.
const MEAN_RANKS: [u8; 3] = [4, 3, 5];

/// The main figures of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// The latency of each listed operation.
    Operations,
    /// The makespan of a workload.
    Makespan,
    /// Mean latencies: fixed arrivals bound the makespan.
    MeanLatencies,
}

impl Lead {
    /// The main figures of these results.
    pub(super) fn of(reports: &[RunReport]) -> Lead {
        if run_tables::operations_most(reports) > 0 {
            Lead::Operations
        } else if reports.iter().any(|report| report.outcome.fixed_arrivals) {
            Lead::MeanLatencies
        } else {
            Lead::Makespan
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// Label of a listed operation; else empty.
    operation: String,
    label: String,
    mechanism: String,
    latency_ns: f64,
    speedup: Option<f64>,
    energy_nj: Option<f64>,
    energy_ratio: Option<f64>,
    /// Mean latencies of [`MEANS`], ns.
    means: [Option<f64>; 3],
    /// Their ratios against the reference.
    mean_ratios: [Option<f64>; 3],
}

/// One row per listed operation and result; the label of an operation is in its first row.
pub(super) fn by_operation(reports: &[RunReport]) -> Vec<Row> {
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

/// One row per result.
pub(super) fn by_result(reports: &[RunReport]) -> Vec<Row> {
    reports.iter().map(of_result).collect()
}

/// One row per policy: the result with the greatest ratio of the main figures.
pub(super) fn best_of_policies(reports: &[RunReport], lead: Lead) -> Vec<Row> {
    let of_lead = |outcome: &Outcome| match lead {
        Lead::MeanLatencies => outcome.mean_latency_ratios().into_iter().flatten().next(),
        Lead::Operations | Lead::Makespan => outcome.speedup,
    };
    let mut best: Vec<&RunReport> = Vec::new();
    for report in reports {
        match best.iter_mut().find(|known| known.outcome.policy == report.outcome.policy) {
            None => best.push(report),
            Some(known) => {
                let order = of_lead(&report.outcome).partial_cmp(&of_lead(&known.outcome));
                if order == Some(Ordering::Greater) {
                    *known = report;
                }
            }
        }
    }
    best.into_iter().map(of_result).collect()
}

fn of_result(report: &RunReport) -> Row {
    let outcome = &report.outcome;
    Row {
        operation: String::new(),
        label: report.label(),
        mechanism: most_used(&of_copies(&outcome.served)),
        latency_ns: outcome.latency_ns,
        speedup: outcome.speedup,
        energy_nj: outcome.figures.dynamic_energy_nj,
        energy_ratio: outcome.energy_ratio,
        means: outcome.figures.mean_latencies_ns(),
        mean_ratios: outcome.mean_latency_ratios(),
    }
}

/// Mechanisms of copies, or of initializations if there are no copies.
pub(super) fn of_copies(served: &[ServedRow]) -> Vec<&ServedRow> {
    let of = |operation: &str| -> Vec<&ServedRow> { served.iter().filter(|row| row.operation == operation).collect() };
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
pub(super) fn percent(part: u64, all: u64) -> String {
    let percent = part as f64 / all as f64 * 100.0;
    match part {
        _ if part == 0 || part == all => format!("{percent:.0} %"),
        _ if (1.0..99.0).contains(&percent) => format!("{percent:.0} %"),
        _ => format!("{:.1} %", percent.clamp(0.1, 99.9)),
    }
}

/// A column of the table.
struct ScreenColumn {
    /// The header; its last line has the unit.
    header: String,
    align: Align,
    cells: Vec<String>,
    /// Priority of the column: 0 for main figures, which all tables have. A table that is too wide omits the columns of
    /// the highest numbers first.
    rank: u8,
}

fn column(rank: u8, header: &str, align: Align, rows: &[Row], cell: impl Fn(&Row) -> String) -> ScreenColumn {
    // The last lines of all headers are aligned.
    let above = "\n".repeat((HEADER_LINES - 1).saturating_sub(header.matches('\n').count()));
    ScreenColumn { rank, header: above + header, align, cells: rows.iter().map(cell).collect() }
}

fn figure(value: Option<f64>, scale: f64) -> String {
    or_dash(value, |value| three_digits(value / scale))
}

fn ratio(ratio: Option<f64>) -> String {
    or_dash(ratio, |ratio| format!("{}x", three_digits(ratio)))
}

/// The table of some rows.
pub(super) fn text(rows: &[Row], lead: Lead) -> String {
    let mut columns = columns(rows, lead);
    while width(&columns) > COLUMNS_MAX
        && let Some((place, _)) = columns.iter().enumerate().filter(|(_, it)| it.rank > 0).max_by_key(|(_, it)| it.rank)
    {
        columns.remove(place);
    }
    let excess = width(&columns).saturating_sub(COLUMNS_MAX);
    if excess > 0 && lead == Lead::Operations {
        // Labels of operations are long if the scenario has large numbers.
        let labels = &mut columns[0].cells;
        let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        for label in labels {
            *label = cut(label, longest.saturating_sub(excess).max(1));
        }
    }
    let (headers, cells) = parts(&columns);
    aligned(&headers, &cells)
}

fn columns(rows: &[Row], lead: Lead) -> Vec<ScreenColumn> {
    let (time, time_unit) = unit(rows.iter().map(|row| Some(row.latency_ns)), TIMES);
    let (energy, energy_unit) = unit(rows.iter().map(|row| row.energy_nj), ["nJ", "uJ", "mJ"]);
    let is_listed = rows.iter().any(|row| !row.operation.is_empty());
    let mut columns = Vec::new();
    if is_listed {
        columns.push(column(0, "operation", Left, rows, |row| row.operation.clone()));
    }
    columns.push(column(0, "policy", Left, rows, |row| row.label.clone()));
    columns.push(column(if is_listed { 0 } else { 2 }, "mechanism", Left, rows, |row| row.mechanism.clone()));
    if lead == Lead::MeanLatencies {
        columns.extend(means(rows, lead));
    } else {
        let name = if lead == Lead::Operations { "latency" } else { "time" };
        columns.push(column(0, &format!("{name}\n{time_unit}"), Right, rows, |row| figure(Some(row.latency_ns), time)));
        columns.push(column(0, "speedup", Right, rows, |row| ratio(row.speedup)));
    }
    let energy_rank = u8::from(lead == Lead::MeanLatencies);
    let header = format!("dynamic\nenergy\n{energy_unit}");
    if rows.iter().any(|row| row.energy_nj.is_some()) {
        columns.push(column(energy_rank, &header, Right, rows, |row| figure(row.energy_nj, energy)));
        columns.push(column(0, "energy\nratio", Right, rows, |row| ratio(row.energy_ratio)));
    }
    if lead == Lead::Makespan {
        columns.extend(means(rows, lead));
    }
    columns
}

/// Columns of the mean latencies of the first two of [`MEANS`] that exist. As main figures, each has its ratio;
/// otherwise, those of copies are the first that a wide table omits.
fn means(rows: &[Row], lead: Lead) -> Vec<ScreenColumn> {
    let (scale, unit) = unit(rows.iter().flat_map(|row| row.means), TIMES);
    let is_answer = lead == Lead::MeanLatencies;
    let present = (0..MEANS.len()).filter(|of| rows.iter().any(|row| row.means[*of].is_some()));
    let columns = |of: usize| {
        let (kind, rank) = (MEANS[of], if is_answer { 0 } else { MEAN_RANKS[of] });
        let mean = column(rank, &format!("mean\n{kind}\n{unit}"), Right, rows, |row| figure(row.means[of], scale));
        let ratio =
            is_answer.then(|| column(rank, &format!("{kind}\nratio"), Right, rows, |row| ratio(row.mean_ratios[of])));
        [mean].into_iter().chain(ratio)
    };
    present.take(2).flat_map(columns).collect()
}

/// Headers and rows of columns.
fn parts(columns: &[ScreenColumn]) -> (Vec<Header<'_>>, Vec<Vec<String>>) {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let row = |row: usize| columns.iter().map(|column| column.cells[row].clone()).collect();
    let headers = columns.iter().map(|column| (column.header.as_str(), column.align));
    (headers.collect(), (0..rows).map(row).collect())
}

fn width(columns: &[ScreenColumn]) -> usize {
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

/// The text, cut to a number of characters.
fn cut(text: &str, most: usize) -> String {
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
    fn the_unit_is_that_of_the_smallest_value() {
        assert_eq!(unit([Some(90.0), Some(1046.25)].into_iter(), ["ns", "us", "ms"]), (1.0, "ns"));
        assert_eq!(unit([Some(0.0), None, Some(4e6)].into_iter(), ["ns", "us", "ms"]), (1e6, "ms"));
    }

    #[test]
    fn a_label_is_cut_at_its_end() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abc..");
    }

    /// A makespan of 2 us against 4, energy of 100 nJ against 400, mean latencies of 100 and 900 ns against 300 and
    /// 1,800.
    fn row(label: &str) -> Row {
        Row {
            label: label.to_owned(),
            mechanism: "fpm 100 %".to_owned(),
            latency_ns: 2000.0,
            speedup: Some(2.0),
            energy_nj: Some(100.0),
            energy_ratio: Some(4.0),
            means: [Some(100.0), Some(900.0), None],
            mean_ratios: [Some(3.0), Some(2.0), None],
            ..Row::default()
        }
    }

    #[test]
    fn the_makespan_leads_unless_arrivals_are_fixed() {
        let words = |lead| {
            let text = text(&[row("a")], lead);
            let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
            lines.collect::<Vec<_>>()
        };
        let expected = [
            "dynamic mean mean",
            "time energy energy read copy",
            "policy mechanism us speedup nJ ratio ns ns",
            "a fpm 100 % 2.00 2.00x 100 4.00x 100 900",
        ];
        assert_eq!(words(Lead::Makespan), expected);
        let expected = [
            "mean mean dynamic",
            "read read copy copy energy energy",
            "policy mechanism ns ratio ns ratio nJ ratio",
            "a fpm 100 % 100 3.00x 900 2.00x 100 4.00x",
        ];
        assert_eq!(words(Lead::MeanLatencies), expected);
    }

    /// The longest labels: `least-energy/subarray-aware` has 27 characters.
    #[test]
    fn a_wide_table_keeps_the_columns_that_carry_the_answer() {
        let wide = row("least-energy/subarray-aware-and-longer");
        let fixed = text(&[wide], Lead::MeanLatencies);
        assert!(fixed.lines().all(|line| line.chars().count() <= COLUMNS_MAX), "{fixed}");
        assert!(!fixed.contains("mechanism") && !fixed.contains("dynamic"), "{fixed}");
        assert!(["100  3.00x   900  2.00x", "4.00x"].iter().all(|cells| fixed.contains(cells)), "{fixed}");
        let makespan = text(&[row("least-energy/subarray-aware")], Lead::Makespan);
        assert!(
            !makespan.contains("read") && makespan.contains("copy") && makespan.contains("fpm 100 %"),
            "{makespan}"
        );
        assert!(["2.00x", "4.00x", "2.00 "].iter().all(|cell| makespan.contains(cell)), "{makespan}");
    }

    #[test]
    fn units_change_at_a_thousand() {
        let of = |value: f64| unit([Some(value), Some(value * 1e9)].into_iter(), TIMES);
        assert_eq!([of(999.0), of(1e3), of(999_999.0), of(1e6)], [(1.0, "ns"), (1e3, "us"), (1e3, "us"), (1e6, "ms")]);
        assert_eq!(unit([None, Some(0.0)].into_iter(), TIMES), (1.0, "ns"));
        let digits = [9.994, 9.996, 99.94, 99.96, 999.4, 1_234_567.0].map(three_digits);
        assert_eq!(digits, ["9.99", "10.0", "99.9", "100", "999", "1,234,567"]);
    }
}
