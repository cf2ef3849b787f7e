//! CSV files: one line per result, epoch or operation.

use rowclone::MECHANISMS;
use rowclone_sim::{
    CoreRow, CoresReport, FiguresReport, OperationRow, Outcome, PrefetchCounts, TraceReport, TraceTally, cause_key,
};

use crate::cell::Cell;
use crate::run_report::{NO_CURRENT_SET, RunReport};

/// A line: its columns with their cells, in one list so that columns and cells cannot differ in number.
pub(crate) type CsvLine = Vec<(String, Cell)>;

pub(crate) fn cell(column: impl Into<String>, value: impl Into<Cell>) -> (String, Cell) {
    (column.into(), value.into())
}

/// Cells of fields that name their columns.
macro_rules! fields {
    ($of:expr; $($field:ident),+) => { [$($crate::csv_file::cell(stringify!($field), $of.$field)),+] };
}
pub(crate) use fields;

/// One line per result: the scalars of the JSON, then energy by cause, commands by kind, parts by mechanism, the
/// records of the trace, and the warnings.
///
/// # Errors
/// The writer's.
pub fn results(reports: &[RunReport]) -> Result<String, csv::Error> {
    let line = |report: &RunReport| {
        let mut line = result(report);
        let outcome = &report.outcome;
        line.extend(times(outcome));
        line.extend(fields!(outcome; speedup, energy_ratio, read_latency_ratio, write_latency_ratio));
        line.extend(fields!(outcome; copy_latency_ratio, from_cycle));
        line.extend(figures(&outcome.figures));
        line.extend(cores(outcome));
        line.extend(mix(report));
        line.extend(remarks(outcome, &report.warnings));
        line
    };
    table(None, reports.iter().map(line))
}

/// One line per epoch.
///
/// # Errors
/// The writer's.
pub fn epochs(reports: &[RunReport]) -> Result<String, csv::Error> {
    let lines = reports.iter().flat_map(|report| {
        report.outcome.epochs.iter().map(|epoch| {
            let mut line = result(report);
            line.extend(fields!(epoch; from_cycle, to_cycle));
            line.extend(figures(&epoch.figures));
            line
        })
    });
    table(None, lines)
}

/// One line per operation and result.
///
/// # Errors
/// The writer's.
pub fn operations(reports: &[RunReport]) -> Result<String, csv::Error> {
    let lines = reports
        .iter()
        .flat_map(|report| report.outcome.operations.iter().map(|row| operation(report.outcome.policy, row)));
    table(Some(&operation("", &OperationRow::default())), lines)
}

fn operation(policy: &str, row: &OperationRow) -> CsvLine {
    let mut line = vec![
        cell("policy", policy),
        cell("operation", row.label.as_str()),
        cell("mechanism", row.mechanism.as_str()),
        cell("reasons", row.reasons.join("; ")),
    ];
    line.extend(
        fields!(row; arrival_cycle, latency_cycles, latency_ns, energy_nj, channel_bytes, speedup, energy_ratio),
    );
    let same_bank = row.against_same_bank.as_ref();
    line.push(cell("speedup_same_bank", same_bank.map(|it| it.speedup)));
    line.push(cell("energy_ratio_same_bank", same_bank.and_then(|it| it.energy_ratio)));
    line
}

/// Cells that identify the result of a line.
fn result(report: &RunReport) -> CsvLine {
    vec![
        cell("schema_version", u64::from(report.schema_version)),
        cell("scenario", report.scenario.as_str()),
        cell("policy", report.outcome.policy),
        cell("placement", report.placement.unwrap_or_default()),
        cell("seed", report.seed),
        cell("currents", report.currents.as_deref().unwrap_or(NO_CURRENT_SET)),
        cell("reference", report.reference.as_deref().unwrap_or_default()),
        cell("baseline", report.baseline.as_str()),
    ]
}

/// Cells of the times of a whole run.
pub(crate) fn times(outcome: &Outcome) -> [(String, Cell); 5] {
    fields!(outcome; fixed_arrivals, makespan_cycles, makespan_ns, latency_cycles, latency_ns)
}

/// Cells of programs on cores; empty without cores. Counts of lines are sums over the cores, empty without prefetchers
/// and without injection.
pub(crate) fn cores(outcome: &Outcome) -> [(String, Cell); 9] {
    let cores = outcome.cores.as_ref();
    let sum = |of: &dyn Fn(&CoreRow) -> Option<u64>| {
        let counts = cores.iter().flat_map(|cores| &cores.cores).filter_map(of);
        counts.reduce(|sum, count| sum + count)
    };
    let prefetches = |of: fn(PrefetchCounts) -> u64| sum(&|core| core.prefetches.map(of));
    [
        cell("ipc", cores.map(CoresReport::ipc_sum)),
        cell("energy_per_instruction_nj", cores.and_then(|cores| cores.energy_per_instruction_nj)),
        cell("copy_share_of_channel_bytes", cores.and_then(|cores| cores.copy_share_of_channel_bytes)),
        cell("prefetches_requested", prefetches(|lines| lines.requested)),
        cell("prefetches_useful", prefetches(|lines| lines.useful)),
        cell("prefetches_late", prefetches(|lines| lines.late)),
        cell("prefetches_useless", prefetches(|lines| lines.useless)),
        cell("prefetches_dropped", prefetches(|lines| lines.dropped)),
        cell("injected_lines", sum(&|core| core.network.as_ref().map(|packets| packets.injected).filter(|it| *it > 0))),
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

/// Cells of the limits of the figures: the backlog, the skipped records of a trace, and the warnings.
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
pub(crate) fn figures(figures: &FiguresReport) -> CsvLine {
    let mut line = vec![cell("requests", figures.requests)];
    for (kind, outcomes) in [("reads", figures.reads), ("writes", figures.writes)] {
        let cells = fields!(outcomes; row_hits, row_misses, row_conflicts);
        line.extend(cells.map(|(name, cell)| (format!("{kind}_{name}"), cell)));
    }
    line.push(cell("forwarded", figures.forwarded));
    for (name, times) in [
        ("read_latency", &figures.read_latency_ns),
        ("write_latency", &figures.write_latency_ns),
        ("copy_latency", &figures.copy_latency_ns),
        ("copy_response", &figures.copy_response_ns),
        ("blocked_by_copies", &figures.blocked_by_copies_ns),
    ] {
        line.push(cell(format!("{name}_count"), times.count));
        line.extend(fields!(times; mean, p50, p99, max).map(|(part, cell)| (format!("{name}_{part}_ns"), cell)));
    }
    line.extend(
        fields!(figures; preempted_for_reads, preempted_for_refresh, write_drains, unused_activates, channel_bytes),
    );
    line.extend(fields!(figures; bandwidth_gb_s, command_bus_share, data_bus_share));
    for (queue, depth) in
        [("read_queue", figures.read_queue), ("write_queue", figures.write_queue), ("copy_queue", figures.copy_queue)]
    {
        let cells = fields!(depth; mean_entries, max_entries);
        line.extend(cells.map(|(name, cell)| (format!("{queue}_{name}"), cell)));
    }
    line.extend(fields!(figures; energy_nj, dynamic_energy_nj));
    for cause in energy::Cause::ALL {
        let key = cause_key(cause);
        // A cause that is absent has no energy.
        let by_cause = figures.energy_by_cause_nj.as_ref();
        let found = by_cause.and_then(|by_cause| by_cause.get(&key).copied());
        if found.is_some() || cause.is_in_all_standards() {
            let nj = by_cause.and(found.unwrap_or(Some(0.0)));
            line.push(cell(format!("energy_{key}_nj"), nj));
        }
    }
    for (kind, count) in &figures.commands {
        line.push(cell(format!("commands_{}", kind.replace(' ', "_")), *count));
    }
    for mechanism in MECHANISMS {
        let served = figures.parts.iter().filter(|row| row.mechanism == mechanism.name());
        let count = served.map(|row| row.count).sum::<u64>();
        if count > 0 || mechanism.is_in_every_chip() {
            line.push(cell(format!("parts_{}", mechanism.name()), count));
        }
    }
    line
}

/// Writes lines under the columns of the header, if it is given, and of all lines. A line has 0 in a column that it
/// lacks: that of a command, a mechanism or a cause of energy that only some systems have.
pub(crate) fn table(header: Option<&CsvLine>, lines: impl Iterator<Item = CsvLine>) -> Result<String, csv::Error> {
    let lines: Vec<CsvLine> = lines.collect();
    let mut columns: Vec<&str> = Vec::new();
    for line in header.into_iter().chain(&lines) {
        let mut place = 0;
        for (column, _) in line {
            // The next column is tried first, because lines usually have the same order.
            let found = columns[place..].iter().position(|known| known == column);
            place += found.unwrap_or_else(|| {
                columns.insert(place, column);
                0
            });
            place += 1;
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    if !columns.is_empty() {
        writer.write_record(&columns)?;
    }
    for line in &lines {
        let mut cells = line.iter().peekable();
        let cell = |column: &&str| cells.next_if(|(own, _)| own == column).map_or("0".into(), |(_, it)| it.to_string());
        writer.write_record(columns.iter().map(cell))?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
