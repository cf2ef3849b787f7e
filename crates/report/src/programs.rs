//! Programs on cores: a line per copy method, and a line per core.

mod copiers;
mod slowdowns;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Write as _;

pub(crate) use self::copiers::break_even;
use rowclone_sim::quantity::counted;
use rowclone_sim::{CoreRow, CoresReport, DmaCounts, MixMetrics, Outcome, ServedRow};
use serde::Serialize;

use self::slowdowns::{dirty_lines, slowdowns, slower_in_dram};
use crate::run_report::{RunReport, memory_equal};
use crate::table::Align::{Left, Right};
use crate::table::{
    COLUMNS_MAX, TextColumn, aligned, headers, listed, or_dash, percent, three_digits, times, wrapped, wrapped_lines,
};

/// The version of the JSON fields. It rises when a field changes its name, unit, type or meaning.
pub const SCHEMA_VERSION: u32 = 5;

/// Results under a copy method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodRow {
    /// Copy method.
    pub method: &'static str,
    /// Sum of the instructions per cycle of all cores.
    pub ipc_sum: f64,
    /// Core cycles of the longest region.
    pub cycles: u64,
    /// The same in ns.
    pub latency_ns: f64,
    /// Time of the longest region under the baseline / this time; none without a run of the baseline.
    pub speedup: Option<f64>,
    /// DRAM energy of the interval that covers all regions, including background and refresh, nJ.
    pub energy_nj: Option<f64>,
    /// Energy per instruction under the baseline / this energy; none as of the speedup.
    pub energy_ratio: Option<f64>,
    /// DRAM energy per instruction of the programs, nJ; none without instructions.
    pub energy_per_instruction_nj: Option<f64>,
    /// Metrics of several programs; none of one, or if a program has no instruction.
    pub mix: Option<MixMetrics>,
    /// The size from which the device of the method copies faster than the loop of the kernel; none without a
    /// device, or if it is slower in all sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_even_bytes: Option<u64>,
    /// Report of the cores.
    pub report: CoresReport,
    /// The mechanism other than FPM that served most bytes of copies, with share and reason; none without one.
    #[serde(skip)]
    pub without_fpm: Option<String>,
    /// Copies of a copy unit in the region, where it does nothing else.
    #[serde(skip)]
    pub copies: Option<u64>,
}

impl MethodRow {
    /// Results of a run that was compared with its reference, if programs ran on cores.
    pub fn new(outcome: &Outcome, mix: Option<MixMetrics>) -> Option<MethodRow> {
        let report = outcome.cores.clone()?;
        Some(MethodRow {
            method: outcome.policy,
            ipc_sum: report.ipc_sum(),
            cycles: report.cores.iter().map(|core| core.cycles).max().unwrap_or(0),
            latency_ns: outcome.latency_ns,
            speedup: outcome.speedup,
            energy_nj: report.energy_nj,
            energy_ratio: outcome.energy_ratio,
            energy_per_instruction_nj: report.energy_per_instruction_nj,
            mix,
            break_even_bytes: None,
            without_fpm: without_fpm(&outcome.served),
            report,
            copies: None,
        })
    }

    /// Results of a run of a scenario, if programs ran on cores.
    pub(crate) fn of_run(run: &RunReport) -> Option<MethodRow> {
        let row = MethodRow::new(&run.outcome, run.mix)?;
        Some(MethodRow { copies: run.copies, break_even_bytes: run.break_even_bytes, ..row })
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramsTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// Description of the baseline, to which all ratios refer.
    pub baseline: String,
    /// Files of the programs, by core.
    pub programs: Vec<String>,
    /// Assumptions about recordings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Instructions of each program before its region.
    pub warm_up: u64,
    /// Instructions of each region; none to the end of the program.
    pub instructions: Option<u64>,
    /// Instructions per cycle of each of several programs alone under the baseline.
    pub alone_ipc: Vec<f64>,
    /// A row per method, the baseline first.
    pub methods: Vec<MethodRow>,
}

impl ProgramsTable {
    /// The tables for a terminal; with `details`, a line per core.
    pub fn to_text(&self, details: bool) -> String {
        let mut text = format!(
            "{} on machine {}\nreference: baseline, {}\n",
            counted(self.programs.len() as u64, "program"),
            self.machine,
            self.baseline
        );
        for (core, program) in self.programs.iter().enumerate() {
            let _ = writeln!(text, "core {core}: {program}");
        }
        text += &wrapped_lines(&self.assumptions.join("\n"), COLUMNS_MAX);
        let _ = write!(text, "\n{}", first(&self.methods));
        text += &causes_in_lines(&self.methods);
        text += &wrapped(&definitions(&self.methods), COLUMNS_MAX);
        text.extend(break_even(&self.methods).map(|sizes| wrapped(&sizes, COLUMNS_MAX)));
        // A failed check is an error.
        if self.methods.iter().any(|row| row.report.loads_checked.is_some()) {
            let text_of =
                format!("check: every command is legal, each load returns the last store, and {}", memory_equal(true));
            text += &wrapped(&text_of, COLUMNS_MAX);
        }
        text += "`--details` has a line per core.\n";
        if details {
            text += &all_cores(&self.methods, self.programs.len() > 1);
        }
        text
    }
}

/// The mechanism other than FPM that served most bytes of copies: `97 % of the bytes by psm (partial-row)`.
fn without_fpm(served: &[ServedRow]) -> Option<String> {
    let others = served.iter().filter(|row| row.operation == "copy" && row.mechanism != rowclone::FPM.name());
    let most = others.max_by_key(|row| row.bytes)?;
    let reason = most.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    Some(format!("{} of the bytes by {}{reason}", percent(most.share_of_bytes), most.mechanism))
}

/// The causes of all results below 1, each with its ratio.
pub(crate) fn causes(rows: &[MethodRow]) -> impl Iterator<Item = (f64, String)> {
    slowdowns(rows).into_iter().chain(slower_in_dram(rows))
}

/// The causes of all results below 1, in lines.
pub(crate) fn causes_in_lines(rows: &[MethodRow]) -> String {
    causes(rows).map(|(_, cause)| wrapped(&cause, COLUMNS_MAX)).collect()
}

/// The tables that are not on the first screen: of methods, of mixes if there are any, and of cores.
pub(crate) fn all_cores(rows: &[MethodRow], has_mixes: bool) -> String {
    let mixes = if has_mixes { format!("\n{}", mixes(rows)) } else { String::new() };
    let cores = rows.iter().map(|row| format!("\n{}\n{}", row.method, core_table(&row.report.cores)));
    format!("\n{}{mixes}{}", second(rows), cores.collect::<String>())
}

/// The table of the first screen: the cost of copies if a device copies, else the methods.
pub(crate) fn first(rows: &[MethodRow]) -> String {
    if copiers::has_device(rows) { copiers::table(rows) } else { methods(rows) }
}

/// The table of the methods that is not on the first screen, with the definitions.
fn second(rows: &[MethodRow]) -> String {
    if copiers::has_device(rows) {
        return methods(rows);
    }
    copiers::table(rows) + &wrapped(copiers::DEFINITIONS, COLUMNS_MAX)
}

/// Columns of the tables of methods.
const POLICY: TextColumn<'static, MethodRow> = ("\npolicy", Left, &|row| row.method.to_owned());
const SPEEDUP: TextColumn<'static, MethodRow> = ("\nspeedup", Right, &|row| or_dash(row.speedup, times));
const ENERGY_RATIO: TextColumn<'static, MethodRow> = ("energy\nratio", Right, &|row| or_dash(row.energy_ratio, times));
const COPY_SHARE: TextColumn<'static, MethodRow> =
    ("copy share of\nchannel bytes", Right, &|row| or_dash(row.report.copy_share_of_channel_bytes, percent));

/// A figure per copy of copies alone, else as it is.
fn per_copy(value: f64, row: &MethodRow) -> String {
    three_digits(value / row.copies.map_or(1.0, |copies| copies as f64))
}

/// A line per method, in at most 80 columns for the usual numbers: of copies alone with time and energy per copy; of
/// several programs with the weighted speedup instead of the cycles, where it is known.
fn methods(rows: &[MethodRow]) -> String {
    if rows.iter().any(|row| row.copies.is_some()) {
        let dirty = |row: &MethodRow| row.report.cores.iter().map(dirty_lines).sum::<u64>() as f64;
        let of_copies = |value: Option<f64>, row: &MethodRow| {
            or_dash(value.filter(|_| row.copies.is_some()), |it| per_copy(it, row))
        };
        let columns: [TextColumn<'_, MethodRow>; 7] = [
            POLICY,
            ("us per\ncopy", Right, &|row| of_copies(Some(row.latency_ns / 1000.0), row)),
            SPEEDUP,
            ("nJ per\ncopy", Right, &|row| of_copies(row.energy_nj, row)),
            ENERGY_RATIO,
            ("dirty lines\nper copy", Right, &|row| of_copies(Some(dirty(row)), row)),
            COPY_SHARE,
        ];
        return listed(&columns, rows, usize::MAX);
    }
    let third: TextColumn<'_, MethodRow> = if rows.iter().any(|row| row.mix.is_some()) {
        ("weighted\nspeedup", Right, &|row| or_dash(row.mix, |mix| format!("{:.3}", mix.weighted_speedup)))
    } else {
        ("core\ncycles", Right, &|row| row.cycles.to_string())
    };
    let columns: [TextColumn<'_, MethodRow>; 7] = [
        POLICY,
        ("IPC\nx 1000", Right, &|row| format!("{:.2}", row.ipc_sum * 1000.0)),
        third,
        SPEEDUP,
        ENERGY_RATIO,
        ("nJ per\ninstruction", Right, &|row| or_dash(row.energy_per_instruction_nj, |energy| format!("{energy:.3}"))),
        COPY_SHARE,
    ];
    listed(&columns, rows, usize::MAX)
}

/// The definitions of the speedups in [`methods`] and [`mixes`].
pub(crate) fn definitions(rows: &[MethodRow]) -> String {
    let speedup = "speedup: time of the longest region of a core, reference / this";
    let of_several = "; weighted speedup: sum of IPC together / IPC alone; harmonic speedup (`--details`): programs / \
        sum of IPC alone \
                      / IPC together";
    let of_several = if rows.iter().any(|row| row.mix.is_some()) { of_several } else { "" };
    let of_devices = if copiers::has_device(rows) { format!("; {}", copiers::DEFINITIONS) } else { String::new() };
    format!("{speedup}{of_several}{of_devices}")
}

/// Metrics of several programs.
fn mixes(rows: &[MethodRow]) -> String {
    let line = |row: &MethodRow| {
        let metrics = row.mix.map(|mix| {
            [mix.weighted_speedup, mix.instruction_throughput, mix.harmonic_speedup, mix.maximum_slowdown].map(Some)
        });
        let metrics = metrics.unwrap_or_default().map(|metric| or_dash(metric, |metric| format!("{metric:.3}")));
        std::iter::once(row.method.to_owned()).chain(metrics).collect()
    };
    let columns = headers("<method|weighted speedup|instruction throughput|harmonic speedup|maximum slowdown");
    aligned(&columns, &rows.iter().map(line).collect::<Vec<_>>())
}

/// Causes of stalls that most cores do not have: omitted if all cores have none.
const RARE: [&str; 5] = ["\nload/store queue", "\noperand", "\nunit", "\npending copy", "\nidle"];

/// A line per core.
pub(crate) fn core_table(rows: &[CoreRow]) -> String {
    let known = |value: Option<f64>, factor: f64| or_dash(value, |value| format!("{:.2}", value * factor));
    let line = |row: &CoreRow| {
        let counts = [row.core as u64, row.instructions, row.kernel_instructions, row.cycles];
        let figures = [
            format!("{:.2}", row.ipc * 1000.0),
            format!("{:.1}", row.misses_per_1000_instructions),
            row.faults.to_string(),
            known(row.copy_share_of_channel_bytes, 100.0),
            known(row.bandwidth_gb_s, 1.0),
            known(row.dynamic_energy_per_instruction_nj, 1.0),
        ];
        let stalls = &row.stall_cycles;
        let for_core = [stalls.window, stalls.mshr, stalls.store_buffer, stalls.load_store_queue, stalls.operand];
        let others = [stalls.unit, stalls.pending_copy, stalls.kernel, stalls.coherence + stalls.controller_copy];
        let stalls = for_core.into_iter().chain(others).chain([stalls.idle]).map(|cycles| format!("{cycles:.0}"));
        counts.iter().map(ToString::to_string).chain(figures).chain(stalls).collect()
    };
    let mut columns = headers(
        "core|instructions|kernel\ninstructions|cycles|IPC x 1000|misses per 1000\ninstructions|faults\
         |copy share\nof bytes, %|GB/s|dynamic nJ per\ninstruction|stalls:\nwindow|\nMSHR|\nstore buffer\
         |\nload/store queue|\noperand|\nunit|\npending copy|\nkernel|\ncopies in DRAM|\nidle",
    );
    let mut lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    for place in (0..columns.len()).rev() {
        if RARE.contains(&columns[place].0) && lines.iter().all(|line| line[place] == "0") {
            columns.remove(place);
            for line in &mut lines {
                line.remove(place);
            }
        }
    }
    aligned(&columns, &lines) + &device_table(rows)
}

/// A line per core with its prefetches, its work for a DMA engine and its packets, where there are any.
fn device_table(rows: &[CoreRow]) -> String {
    let (mut names, mut lines) =
        ("core".to_owned(), rows.iter().map(|row| vec![row.core.to_string()]).collect::<Vec<_>>());
    let mut add = |headers: &str, counts: &dyn Fn(&CoreRow) -> Option<Vec<u64>>| {
        if rows.iter().any(|row| counts(row).is_some()) {
            names += headers;
            for (line, row) in lines.iter_mut().zip(rows) {
                let counts = counts(row).unwrap_or_else(|| vec![0; headers.matches('|').count()]);
                line.extend(counts.iter().map(ToString::to_string));
            }
        }
    };
    add("|prefetches:\nrequested|\nuseful|\nlate|\nuseless|\ndropped", &|row| {
        row.prefetches.map(|it| vec![it.requested, it.useful, it.late, it.useless, it.dropped])
    });
    add("|DMA:\ndescriptors|\ndoorbells|\nstatus loads|\ninterrupts|\npages pinned|\nunpinned", &|row| {
        let counts = |it: DmaCounts| {
            vec![it.descriptors, it.doorbells, it.polls, it.interrupts, it.pinned_pages, it.unpinned_pages]
        };
        row.dma.map(counts)
    });
    add("|network:\npackets|\ndropped|\ninterrupts|\nsent", &|row| {
        row.network.map(|it| vec![it.packets, it.dropped, it.interrupts, it.sent])
    });
    let is_injecting = rows.iter().any(|row| row.network.is_some_and(|network| network.injected > 0));
    add("|\ninjected|\nwritten back", &|row| {
        let of_network = row.accesses.iter().filter(|row| row.purpose == "network");
        let written_back = of_network.map(|row| row.write_backs).sum::<u64>();
        is_injecting.then(|| vec![row.network.map_or(0, |network| network.injected), written_back])
    });
    if names == "core" { String::new() } else { aligned(&headers(&names), &lines) }
}
