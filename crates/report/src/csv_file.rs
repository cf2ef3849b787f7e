//! CSV: one line a result, one an epoch, and one an operation.

use rowclone::MECHANISMS;
use rowclone_sim::{
    Comparison, CoresReport, Distribution, FiguresReport, OperationRow, Outcome, QueueDepth, RowOutcomes, TraceReport,
    TraceTally, cause_key,
};

use crate::cell::Cell;
use crate::run_report::RunReport;

/// A line: its columns and their cells, in one list so that none gets out of step.
pub(crate) type Line = Vec<(String, Cell)>;

/// One line per result: the scalars of the JSON, then energy by cause, commands by kind, segments by mechanism, the records of the
/// trace, and the warnings.
///
/// # Errors
/// The writer's.
pub fn results(reports: &[RunReport]) -> Result<String, csv::Error> {
    table(reports.iter().map(|report| {
        let mut line = result(report);
        let outcome = &report.outcome;
        line.extend(times(outcome));
        line.extend([cell("speedup", outcome.speedup), cell("energy_ratio", outcome.energy_ratio)]);
        line.push(cell("from_cycle", outcome.from_cycle));
        line.extend(figures(&outcome.figures));
        line.extend(cores(outcome));
        line.extend(mix(report));
        line.extend(remarks(outcome, &report.warnings));
        line
    }))
}

/// One line per epoch.
///
/// # Errors
/// The writer's.
pub fn epochs(reports: &[RunReport]) -> Result<String, csv::Error> {
    table(reports.iter().flat_map(|report| {
        report.outcome.epochs.iter().map(|epoch| {
            let mut line = result(report);
            line.extend([cell("from_cycle", epoch.from_cycle), cell("to_cycle", epoch.to_cycle)]);
            line.extend(figures(&epoch.figures));
            line
        })
    }))
}

/// One line per operation and result.
///
/// # Errors
/// The writer's.
pub fn operations(reports: &[RunReport]) -> Result<String, csv::Error> {
    let against = |against: &Option<Comparison>, of: fn(&Comparison) -> f64| against.as_ref().map(of).into();
    let columns: [OperationColumn<'_>; 15] = [
        ("policy", &|report, _| report.outcome.policy.into()),
        ("operation", &|_, row| row.label.as_str().into()),
        ("mechanism", &|_, row| row.mechanism.as_str().into()),
        ("reasons", &|_, row| row.reasons.join("; ").into()),
        ("arrival_cycle", &|_, row| row.arrival_cycle.into()),
        ("latency_cycles", &|_, row| row.latency_cycles.into()),
        ("latency_ns", &|_, row| row.latency_ns.into()),
        ("energy_nj", &|_, row| row.energy_nj.into()),
        ("channel_bytes", &|_, row| row.channel_bytes.into()),
        ("speedup", &|_, row| row.speedup.into()),
        ("energy_ratio", &|_, row| row.energy_ratio.into()),
        ("speedup_same_pair", &|_, row| against(&row.against_same_pair, |it| it.speedup)),
        ("energy_ratio_same_pair", &|_, row| against(&row.against_same_pair, |it| it.energy_ratio)),
        ("speedup_same_bank", &|_, row| against(&row.against_same_bank, |it| it.speedup)),
        ("energy_ratio_same_bank", &|_, row| against(&row.against_same_bank, |it| it.energy_ratio)),
    ];
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.map(|(name, _)| name))?;
    for (report, row) in
        reports.iter().flat_map(|report| report.outcome.operations.iter().map(move |row| (report, row)))
    {
        writer.write_record(columns.map(|(_, cell)| cell(report, row).to_string()))?;
    }
    text(writer)
}

/// A column of the operations: its name, and the cell of an operation of a result.
type OperationColumn<'a> = (&'static str, &'a dyn Fn(&RunReport, &OperationRow) -> Cell);

pub(crate) fn cell(column: impl Into<String>, value: impl Into<Cell>) -> (String, Cell) {
    (column.into(), value.into())
}

/// Cells that identify the result of a line.
fn result(report: &RunReport) -> Line {
    vec![
        cell("schema_version", u64::from(report.schema_version)),
        cell("scenario", report.scenario.as_str()),
        cell("policy", report.outcome.policy),
        cell("placement", report.placement.unwrap_or_default()),
        cell("seed", report.seed),
        cell("currents", report.currents.as_str()),
        cell("baseline", report.baseline.as_str()),
    ]
}

/// Cells of the times of a whole run.
pub(crate) fn times(outcome: &Outcome) -> [(String, Cell); 4] {
    [
        cell("makespan_cycles", outcome.makespan_cycles),
        cell("makespan_ns", outcome.makespan_ns),
        cell("latency_cycles", outcome.latency_cycles),
        cell("latency_ns", outcome.latency_ns),
    ]
}

/// Cells of programs on cores; empty without cores.
pub(crate) fn cores(outcome: &Outcome) -> [(String, Cell); 3] {
    let cores = outcome.cores.as_ref();
    [
        cell("ipc", cores.map(CoresReport::ipc_sum)),
        cell("energy_per_instruction_nj", cores.and_then(|cores| cores.energy_per_instruction_nj)),
        cell("copy_share_of_channel_bytes", cores.and_then(|cores| cores.copy_share_of_channel_bytes)),
    ]
}

/// Cells of several programs on cores, relative to runs of each alone; empty without these.
fn mix(report: &RunReport) -> [(String, Cell); 3] {
    [
        cell("weighted_speedup", report.mix.map(|mix| mix.weighted_speedup)),
        cell("harmonic_speedup", report.mix.map(|mix| mix.harmonic_speedup)),
        cell("maximum_slowdown", report.mix.map(|mix| mix.maximum_slowdown)),
    ]
}

/// Cells of what limits the figures: the backlog, the records of a trace that were left out, the warnings.
pub(crate) fn remarks(outcome: &Outcome, warnings: &[String]) -> [(String, Cell); 6] {
    let tally = outcome.trace.as_ref().map(TraceReport::tally);
    [
        cell("backlog_requests", outcome.backlog_requests),
        cell("backlog_wait_ns", outcome.backlog_wait_ns),
        cell("trace_records", tally.map(|tally| tally.records)),
        cell("trace_skipped_records", tally.map(|tally| tally.skipped_records)),
        cell("trace_skipped_share", tally.map(TraceTally::skipped_share)),
        cell("warnings", warnings.join("; ")),
    ]
}

/// Cells of the figures of an interval; all intervals have the same columns.
pub(crate) fn figures(figures: &FiguresReport) -> Line {
    let mut line = vec![cell("requests", figures.requests)];
    for (kind, outcomes) in [("reads", figures.reads), ("writes", figures.writes)] {
        let RowOutcomes { row_hits, row_misses, row_conflicts } = outcomes;
        line.push(cell(format!("{kind}_row_hits"), row_hits));
        line.push(cell(format!("{kind}_row_misses"), row_misses));
        line.push(cell(format!("{kind}_row_conflicts"), row_conflicts));
    }
    line.push(cell("forwarded", figures.forwarded));
    for (name, times) in [
        ("read_latency", &figures.read_latency_ns),
        ("write_latency", &figures.write_latency_ns),
        ("copy_latency", &figures.copy_latency_ns),
        ("copy_response", &figures.copy_response_ns),
        ("blocked_by_copies", &figures.blocked_by_copies_ns),
    ] {
        let Distribution { count, mean, p50, p99, max } = *times;
        line.push(cell(format!("{name}_count"), count));
        let parts = [("mean", mean), ("p50", p50), ("p99", p99), ("max", max)];
        line.extend(parts.map(|(part, ns)| cell(format!("{name}_{part}_ns"), ns)));
    }
    line.extend([
        cell("preempted_for_reads", figures.preempted_for_reads),
        cell("preempted_for_refresh", figures.preempted_for_refresh),
        cell("write_drains", figures.write_drains),
        cell("unused_activates", figures.unused_activates),
        cell("channel_bytes", figures.channel_bytes),
        cell("bandwidth_gb_s", figures.bandwidth_gb_s),
        cell("command_bus_share", figures.command_bus_share),
        cell("data_bus_share", figures.data_bus_share),
    ]);
    for (queue, depth) in
        [("read_queue", figures.read_queue), ("write_queue", figures.write_queue), ("copy_queue", figures.copy_queue)]
    {
        let QueueDepth { mean_entries, max_entries } = depth;
        line.push(cell(format!("{queue}_mean_entries"), mean_entries));
        line.push(cell(format!("{queue}_max_entries"), max_entries));
    }
    line.extend([cell("energy_nj", figures.energy_nj), cell("dynamic_energy_nj", figures.dynamic_energy_nj)]);
    for cause in energy::Cause::ALL.map(cause_key) {
        let nj = *figures.energy_by_cause_nj.get(&cause).unwrap_or(&0.0);
        line.push(cell(format!("energy_{cause}_nj"), nj));
    }
    for (kind, count) in &figures.commands {
        line.push(cell(format!("commands_{}", kind.replace(' ', "_")), *count));
    }
    for mechanism in MECHANISMS.map(rowclone::Mechanism::name) {
        let served = figures.segments.iter().filter(|row| row.mechanism == mechanism);
        line.push(cell(format!("segments_{mechanism}"), served.map(|row| row.count).sum::<u64>()));
    }
    line
}

/// All lines have the same columns.
fn table(lines: impl Iterator<Item = Line>) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (index, line) in lines.enumerate() {
        let (columns, cells): (Vec<String>, Vec<Cell>) = line.into_iter().unzip();
        if index == 0 {
            writer.write_record(columns)?;
        }
        writer.write_record(cells.iter().map(ToString::to_string))?;
    }
    text(writer)
}

fn text(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
