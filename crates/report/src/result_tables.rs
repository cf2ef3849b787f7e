//! Tables of the figures: one column per result and one row per quantity; and one row per epoch.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use energy::Cause;
use rowclone_sim::quantity::grouped;
use rowclone_sim::{Distribution, EpochReport, FiguresReport, QueueDepth, RowOutcomes, cause_key};

use crate::run_report::{NO_CURRENT_SET, RunReport};
use crate::table::Align::{Left, Right};
use crate::table::{TextColumn, fitted, listed, or_dash, percent, times};

/// Rows of a table with one column per result.
struct Rows<'a> {
    reports: &'a [RunReport],
    rows: Vec<Vec<String>>,
}

impl Rows<'_> {
    /// A row: its quantity with the unit, and what each result has there.
    fn add(&mut self, quantity: &str, of: impl Fn(&RunReport) -> String) {
        let cells = self.reports.iter().map(of);
        self.rows.push(std::iter::once(quantity.to_owned()).chain(cells).collect());
    }

    /// The same, of figures.
    fn figure(&mut self, quantity: &str, of: impl Fn(&FiguresReport) -> String) {
        self.add(quantity, |report| of(&report.outcome.figures));
    }

    /// A count; left out where no result has any.
    fn count(&mut self, quantity: &str, of: impl Fn(&FiguresReport) -> u64) {
        if self.reports.iter().any(|report| of(&report.outcome.figures) > 0) {
            self.figure(quantity, |figures| grouped(of(figures)));
        }
    }

    /// A distribution of times; left out where no result has any.
    fn times(&mut self, quantity: &str, of: impl Fn(&FiguresReport) -> Distribution<f64>) {
        if self.reports.iter().all(|report| of(&report.outcome.figures).count == 0) {
            return;
        }
        self.figure(&format!("{quantity}, mean ns"), |figures| number(of(figures).mean));
        self.figure(&format!("{quantity}, p50 ns"), |figures| number(of(figures).p50));
        self.figure(&format!("{quantity}, p99 ns"), |figures| number(of(figures).p99));
        self.figure(&format!("{quantity}, max ns"), |figures| number(of(figures).max));
    }

    fn outcomes(&mut self, quantity: &str, of: impl Fn(&FiguresReport) -> RowOutcomes) {
        if self.reports.iter().any(|report| of(&report.outcome.figures).total() > 0) {
            self.figure(&format!("{quantity}, row hits"), |figures| grouped(of(figures).row_hits));
            self.figure(&format!("{quantity}, row misses"), |figures| grouped(of(figures).row_misses));
            self.figure(&format!("{quantity}, row conflicts"), |figures| grouped(of(figures).row_conflicts));
        }
    }

    fn depth(&mut self, quantity: &str, of: impl Fn(&FiguresReport) -> QueueDepth) {
        self.figure(&format!("{quantity}, mean entries"), |figures| number(of(figures).mean_entries));
        self.figure(&format!("{quantity}, max entries"), |figures| or_dash(of(figures).max_entries, grouped));
    }

    fn to_text(&self, width: usize) -> String {
        let labels: Vec<String> = self.reports.iter().map(RunReport::label).collect();
        let columns = std::iter::once(("", Left)).chain(labels.iter().map(|label| (label.as_str(), Right)));
        fitted(&columns.collect::<Vec<_>>(), &self.rows, width)
    }
}

/// A number with two decimals.
fn number(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{value:.2}"))
}

/// An energy in nJ, with one decimal.
fn nanojoules(value: Option<f64>) -> String {
    or_dash(value, |nj| format!("{nj:.1}"))
}

/// A share of 0 to 1 in percent, with two decimals.
fn share(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{:.2} %", value * 100.0))
}

/// The quantities, one per row.
pub(crate) fn figures(reports: &[RunReport], width: usize) -> String {
    let mut rows = Rows { reports, rows: Vec::new() };
    rows.figure("requests", |figures| grouped(figures.requests));
    rows.add("makespan, clocks", |report| grouped(report.outcome.makespan_cycles));
    rows.add("makespan, ns", |report| format!("{:.2}", report.outcome.makespan_ns));
    rows.add("latency compared, ns", |report| format!("{:.2}", report.outcome.latency_ns));
    rows.add("speedup", |report| or_dash(report.outcome.speedup, times));
    rows.add("energy ratio", |report| or_dash(report.outcome.energy_ratio, times));
    if reports.iter().any(|report| report.outcome.from_cycle > 0) {
        rows.add("counted from clock", |report| grouped(report.outcome.from_cycle));
    }
    if reports.iter().any(|report| report.outcome.figures.has_demand()) {
        demand(&mut rows);
    }
    copies(&mut rows);
    rows.figure("dynamic energy, nJ", |figures| nanojoules(figures.dynamic_energy_nj));
    rows.figure("total energy, nJ", |figures| nanojoules(figures.energy_nj));
    rows.figure("I/O share of dynamic energy", |figures| or_dash(figures.io_share_of_dynamic_energy, percent));
    rows.figure("channel bytes", |figures| grouped(figures.channel_bytes));
    let kinds: BTreeSet<&str> =
        reports.iter().flat_map(|report| report.outcome.figures.commands.keys().copied()).collect();
    for kind in kinds {
        rows.count(&format!("{kind} commands"), |figures| figures.commands.get(kind).copied().unwrap_or(0));
    }
    rows.to_text(width)
}

/// Latencies, row outcomes and queues of reads and writes.
fn demand(rows: &mut Rows<'_>) {
    rows.times("read latency", |figures| figures.read_latency_ns);
    rows.times("write latency", |figures| figures.write_latency_ns);
    rows.outcomes("reads", |figures| figures.reads);
    rows.count("reads forwarded from writes", |figures| figures.forwarded);
    rows.outcomes("writes", |figures| figures.writes);
    rows.count("write drains", |figures| figures.write_drains);
    rows.count("unused ACT", |figures| figures.unused_activates);
    rows.figure("bandwidth, GB/s", |figures| number(figures.bandwidth_gb_s));
    rows.figure("data bus in use", |figures| share(figures.data_bus_share));
    rows.figure("command bus in use", |figures| share(figures.command_bus_share));
    rows.depth("read queue", |figures| figures.read_queue);
    rows.depth("write queue", |figures| figures.write_queue);
}

/// Latencies of copies and initializations, and the reads that they blocked.
fn copies(rows: &mut Rows<'_>) {
    rows.times("copy latency", |figures| figures.copy_latency_ns);
    let waits =
        |report: &RunReport| report.outcome.figures.copy_latency_cycles != report.outcome.figures.copy_response_cycles;
    if rows.reports.iter().any(waits) {
        rows.times("copy response", |figures| figures.copy_response_ns);
    }
    if rows.reports.iter().any(|report| report.outcome.figures.copy_queue.max_entries > Some(1)) {
        rows.depth("copies in progress", |figures| figures.copy_queue);
    }
    rows.count("reads blocked by copies", |figures| figures.blocked_by_copies_cycles.count);
    rows.times("read blocked by a copy", |figures| figures.blocked_by_copies_ns);
    rows.count("threads preempted for reads", |figures| figures.preempted_for_reads);
    rows.count("threads preempted for refresh", |figures| figures.preempted_for_refresh);
}

/// All energy, one row per cause.
pub(crate) fn energy(reports: &[RunReport], width: usize) -> String {
    let mut rows = Rows { reports, rows: Vec::new() };
    let known = || reports.iter().filter_map(|report| report.outcome.figures.energy_by_cause_nj.as_ref());
    if known().next().is_none() {
        return format!("{NO_CURRENT_SET}\n");
    }
    for cause in Cause::ALL {
        let key = cause_key(cause);
        if known().any(|by_cause| by_cause.contains_key(&key)) {
            rows.figure(cause.name(), |figures| {
                or_dash(figures.energy_by_cause_nj.as_ref(), |by_cause| match by_cause.get(&key) {
                    Some(None) => "not modeled".to_owned(),
                    Some(found) => nanojoules(*found),
                    None => nanojoules(Some(0.0)),
                })
            });
        }
    }
    rows.to_text(width)
}

/// More epochs of a result than this are left to JSON and CSV.
const EPOCHS_SHOWN_MOST: usize = 32;

/// One line per epoch.
pub(crate) fn epochs(reports: &[RunReport], width: usize) -> String {
    let demand = reports.iter().any(|report| report.outcome.figures.has_demand());
    let columns: [TextColumn<'_, (String, &EpochReport)>; 14] = [
        ("result", Left, &|(label, _)| label.clone()),
        ("from clock", Right, &|(_, it)| grouped(it.from_cycle)),
        ("to clock", Right, &|(_, it)| grouped(it.to_cycle)),
        ("requests", Right, &|(_, it)| grouped(it.figures.requests)),
        ("reads", Right, &|(_, it)| grouped(it.figures.read_latency_ns.count)),
        ("mean ns", Right, &|(_, it)| number(it.figures.read_latency_ns.mean)),
        ("p99 ns", Right, &|(_, it)| number(it.figures.read_latency_ns.p99)),
        ("writes", Right, &|(_, it)| grouped(it.figures.write_latency_ns.count)),
        ("mean ns", Right, &|(_, it)| number(it.figures.write_latency_ns.mean)),
        ("copies", Right, &|(_, it)| grouped(it.figures.copy_latency_ns.count)),
        ("mean ns", Right, &|(_, it)| number(it.figures.copy_latency_ns.mean)),
        ("GB/s", Right, &|(_, it)| number(it.figures.bandwidth_gb_s)),
        ("data bus", Right, &|(_, it)| share(it.figures.data_bus_share)),
        ("nJ", Right, &|(_, it)| nanojoules(it.figures.energy_nj)),
    ];
    let columns = if demand { columns.to_vec() } else { [&columns[..4], &columns[9..]].concat() };
    let rows = reports
        .iter()
        .flat_map(|report| report.outcome.epochs.iter().take(EPOCHS_SHOWN_MOST).map(|epoch| (report.label(), epoch)));
    let rows: Vec<_> = rows.collect();
    let mut text = listed(&columns, &rows, width);
    let most = reports.iter().map(|report| report.outcome.epochs.len()).max().unwrap_or(0);
    if most > EPOCHS_SHOWN_MOST {
        let _ = writeln!(text, "The first {EPOCHS_SHOWN_MOST} of {most} epochs: `--format json` and `--out` list all.");
    }
    text
}
