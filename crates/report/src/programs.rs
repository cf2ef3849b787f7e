//! Programs on cores: a line per copy method, and a line per core.

use std::fmt::Write as _;

use rowclone_sim::{CoreRow, CoresReport, MixMetrics, Outcome, ratio};
use serde::Serialize;

use crate::run_report::RunReport;
use crate::table::Align::{Left, Right};
use crate::table::{Column, listed, or_dash, percent};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 3;

/// Results under a copy method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodRow {
    /// Copy method.
    pub method: &'static str,
    /// Sum of the instructions per cycle of all cores.
    pub ipc_sum: f64,
    /// Core cycles of the longest region.
    pub cycles: u64,
    /// Cycles under the baseline / these cycles; none without a run of the baseline, or without cycles.
    pub speedup: Option<f64>,
    /// DRAM energy of the interval that covers all regions, including background and refresh, nJ.
    pub energy_nj: f64,
    /// Energy per instruction under the baseline / this energy; none as of the speedup.
    pub energy_ratio: Option<f64>,
    /// DRAM energy per instruction of the programs, nJ; none without instructions.
    pub energy_per_instruction_nj: Option<f64>,
    /// Metrics of several programs; none of one, or if a program has no instruction.
    pub mix: Option<MixMetrics>,
    /// Report of the cores.
    pub report: CoresReport,
}

impl MethodRow {
    /// Results under a method, without ratios and metrics of a mix.
    pub fn new(method: &'static str, report: CoresReport) -> MethodRow {
        MethodRow {
            method,
            ipc_sum: report.ipc_sum(),
            cycles: report.cores.iter().map(|core| core.cycles).max().unwrap_or(0),
            speedup: None,
            energy_nj: report.energy_nj,
            energy_ratio: None,
            energy_per_instruction_nj: report.energy_per_instruction_nj,
            mix: None,
            report,
        }
    }

    /// Results of a run of a scenario, if programs ran on cores.
    pub(crate) fn of_run(run: &RunReport) -> Option<MethodRow> {
        let Outcome { policy, speedup, energy_ratio, ref cores, .. } = run.outcome;
        Some(MethodRow { speedup, energy_ratio, mix: run.mix, ..MethodRow::new(policy, cores.clone()?) })
    }

    /// Sets the ratios against the row of the baseline.
    pub fn compare(&mut self, baseline: &MethodRow) {
        // Without instructions, all of the energy.
        let energy = |row: &MethodRow| row.energy_per_instruction_nj.unwrap_or(row.energy_nj);
        (self.speedup, self.energy_ratio) =
            (ratio(baseline.cycles as f64, self.cycles as f64), ratio(energy(baseline), energy(self)));
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramsTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// What the baseline does, to which all ratios refer.
    pub baseline: String,
    /// Files of the programs, by core.
    pub programs: Vec<String>,
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
            "{} programs on machine {}; ratios refer to the baseline, {}\n",
            self.programs.len(),
            self.machine,
            self.baseline
        );
        for (core, program) in self.programs.iter().enumerate() {
            let _ = writeln!(text, "core {core}: {program}");
        }
        let _ = write!(text, "\n{}", methods(&self.methods));
        if details {
            if self.programs.len() > 1 {
                let _ = write!(text, "\n{}", mixes(&self.methods));
            }
            for row in &self.methods {
                let _ = write!(text, "\n{}\n{}", row.method, core_table(&row.report.cores));
            }
        }
        text
    }
}

/// A line per method, in at most 80 columns for the usual numbers: of several programs with the weighted speedup instead of
/// the cycles, where it is known.
pub(crate) fn methods(rows: &[MethodRow]) -> String {
    let times = |value: Option<f64>| or_dash(value, |ratio| format!("{ratio:.2}x"));
    let third: Column<'_, MethodRow> = if rows.iter().any(|row| row.mix.is_some()) {
        ("weighted\nspeedup", Right, &|row| or_dash(row.mix, |mix| format!("{:.3}", mix.weighted_speedup)))
    } else {
        ("core\ncycles", Right, &|row| row.cycles.to_string())
    };
    let columns: [Column<'_, MethodRow>; 7] = [
        ("\npolicy", Left, &|row| row.method.to_owned()),
        ("IPC\nx 1000", Right, &|row| format!("{:.2}", row.ipc_sum * 1000.0)),
        third,
        ("\nspeedup", Right, &|row| times(row.speedup)),
        ("energy\nratio", Right, &|row| times(row.energy_ratio)),
        ("nJ per\ninstruction", Right, &|row| or_dash(row.energy_per_instruction_nj, |energy| format!("{energy:.3}"))),
        ("copy share of\nchannel bytes", Right, &|row| or_dash(row.report.copy_share_of_channel_bytes, percent)),
    ];
    listed(&columns, rows, usize::MAX)
}

/// Metrics of several programs.
pub(crate) fn mixes(rows: &[MethodRow]) -> String {
    let metric = |row: &MethodRow, of: fn(MixMetrics) -> f64| or_dash(row.mix, |mix| format!("{:.3}", of(mix)));
    let columns: [Column<'_, MethodRow>; 5] = [
        ("method", Left, &|row| row.method.to_owned()),
        ("weighted speedup", Right, &|row| metric(row, |mix| mix.weighted_speedup)),
        ("instruction throughput", Right, &|row| metric(row, |mix| mix.instruction_throughput)),
        ("harmonic speedup", Right, &|row| metric(row, |mix| mix.harmonic_speedup)),
        ("maximum slowdown", Right, &|row| metric(row, |mix| mix.maximum_slowdown)),
    ];
    listed(&columns, rows, usize::MAX)
}

/// A line per core.
pub(crate) fn core_table(rows: &[CoreRow]) -> String {
    let stall = |value: f64| format!("{value:.0}");
    let known = |value: Option<f64>, factor: f64| or_dash(value, |value| format!("{:.2}", value * factor));
    let columns: [Column<'_, CoreRow>; 15] = [
        ("core", Right, &|row| row.core.to_string()),
        ("instructions", Right, &|row| row.instructions.to_string()),
        ("kernel\ninstructions", Right, &|row| row.kernel_instructions.to_string()),
        ("cycles", Right, &|row| row.cycles.to_string()),
        ("IPC x 1000", Right, &|row| format!("{:.2}", row.ipc * 1000.0)),
        ("misses per 1000\ninstructions", Right, &|row| format!("{:.1}", row.misses_per_1000_instructions)),
        ("faults", Right, &|row| row.faults.to_string()),
        ("copy share\nof bytes, %", Right, &|row| known(row.copy_share_of_channel_bytes, 100.0)),
        ("GB/s", Right, &|row| known(row.bandwidth_gb_s, 1.0)),
        ("dynamic nJ per\ninstruction", Right, &|row| known(row.dynamic_energy_per_instruction_nj, 1.0)),
        ("stalls:\nwindow", Right, &|row| stall(row.stall_cycles.window)),
        ("\nMSHR", Right, &|row| stall(row.stall_cycles.mshr)),
        ("\nstore buffer", Right, &|row| stall(row.stall_cycles.store_buffer)),
        ("\nkernel", Right, &|row| stall(row.stall_cycles.kernel)),
        ("\ncopies in DRAM", Right, &|row| stall(row.stall_cycles.coherence + row.stall_cycles.controller_copy)),
    ];
    listed(&columns, rows, usize::MAX)
}
