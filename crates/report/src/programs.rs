//! Programs on cores: a line per copy method, and a line per core.

use std::fmt::Write as _;

use rowclone_sim::{CoreRow, CoresReport};
use serde::Serialize;

use crate::table::Align::{Left, Right};
use crate::table::{Column, listed};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Results under a copy method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodRow {
    /// Copy method.
    pub method: &'static str,
    /// Sum of the instructions per cycle of all cores.
    pub ipc_sum: f64,
    /// Core cycles until the last core has ended.
    pub cycles: u64,
    /// Cycles of the baseline per cycle.
    pub speedup: f64,
    /// DRAM energy, including background and refresh, nJ.
    pub energy_nj: f64,
    /// Energy relative to the baseline.
    pub energy_ratio: f64,
    /// DRAM energy per instruction of the programs, nJ; none without instructions.
    pub energy_per_instruction_nj: Option<f64>,
    /// Report of the cores.
    pub report: CoresReport,
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
    /// A row per method, the baseline first.
    pub methods: Vec<MethodRow>,
}

impl ProgramsTable {
    /// The tables for a terminal; with `details`, a line per core.
    pub fn to_text(&self, details: bool) -> String {
        let per_instruction = |row: &MethodRow| {
            row.energy_per_instruction_nj.map_or_else(|| "-".to_owned(), |energy| format!("{energy:.3}"))
        };
        let share = |row: &MethodRow| {
            row.report
                .copy_share_of_channel_bytes
                .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
        };
        let columns: [Column<'_, MethodRow>; 7] = [
            ("method", Left, &|row| row.method.to_owned()),
            ("IPC x 1000", Right, &|row| format!("{:.2}", row.ipc_sum * 1000.0)),
            ("core cycles", Right, &|row| row.cycles.to_string()),
            ("speedup", Right, &|row| format!("{:.2}x", row.speedup)),
            ("energy", Right, &|row| format!("{:.2}x", row.energy_ratio)),
            ("nJ per instruction", Right, &per_instruction),
            ("copy share of bytes", Right, &share),
        ];
        let mut text = format!(
            "{} programs on machine {}; ratios refer to the baseline, {}\n\n{}",
            self.programs.len(),
            self.machine,
            self.baseline,
            listed(&columns, &self.methods, usize::MAX)
        );
        if details {
            for row in &self.methods {
                let _ = write!(text, "\n{}\n{}", row.method, cores(&row.report.cores));
            }
        }
        text
    }
}

fn cores(rows: &[CoreRow]) -> String {
    let stall = |value: f64| format!("{value:.0}");
    let columns: [Column<'_, CoreRow>; 12] = [
        ("core", Right, &|row| row.core.to_string()),
        ("instructions", Right, &|row| row.instructions.to_string()),
        ("kernel\ninstructions", Right, &|row| row.kernel_instructions.to_string()),
        ("cycles", Right, &|row| row.cycles.to_string()),
        ("IPC x 1000", Right, &|row| format!("{:.2}", row.ipc * 1000.0)),
        ("misses per 1000\ninstructions", Right, &|row| format!("{:.1}", row.misses_per_1000_instructions)),
        ("faults", Right, &|row| row.faults.to_string()),
        ("stalls:\nwindow", Right, &|row| stall(row.stall_cycles.window)),
        ("\nMSHR", Right, &|row| stall(row.stall_cycles.mshr)),
        ("\nstore buffer", Right, &|row| stall(row.stall_cycles.store_buffer)),
        ("\nkernel", Right, &|row| stall(row.stall_cycles.kernel)),
        ("\ncopies in DRAM", Right, &|row| stall(row.stall_cycles.coherence + row.stall_cycles.controller_copy)),
    ];
    listed(&columns, rows, usize::MAX)
}
