//! Zeroing of pages and their first use, by a loop, by RowClone and by RowClone-ZI.

use serde::Serialize;

use crate::table::Align::Right;
use crate::table::{Column, change, listed};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Simulated figures of a method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZeroingFigures {
    /// Copy method.
    pub method: &'static str,
    /// Core cycles of phase 1, which zeroes the pages.
    pub zero_cycles: u64,
    /// Core cycles of phase 2, which reads and writes each line.
    pub use_cycles: u64,
    /// DRAM energy of both phases, including background and refresh, nJ.
    pub energy_nj: f64,
}

/// A number of pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ZeroingRow {
    /// Pages.
    pub pages: u64,
    /// The baseline, `RowClone` and RowClone-ZI.
    pub methods: [ZeroingFigures; 3],
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ZeroingTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// Description of the baseline.
    pub baseline: String,
    /// Simulated rows.
    pub rows: Vec<ZeroingRow>,
}

impl ZeroingTable {
    /// The table for a terminal.
    pub fn to_text(&self) -> String {
        let zero = |row: &ZeroingRow, method: usize| (row.methods[method].zero_cycles / row.pages).to_string();
        let reuse = |row: &ZeroingRow, method: usize| (row.methods[method].use_cycles / row.pages).to_string();
        let energy = |row: &ZeroingRow, method: usize| change(row.methods[method].energy_nj / row.methods[0].energy_nj);
        let columns: [Column<'_, ZeroingRow>; 9] = [
            ("pages", Right, &|row| row.pages.to_string()),
            ("zero:\nbaseline", Right, &|row| zero(row, 0)),
            ("\nrowclone", Right, &|row| zero(row, 1)),
            ("\nrowclone-zi", Right, &|row| zero(row, 2)),
            ("use:\nbaseline", Right, &|row| reuse(row, 0)),
            ("\nrowclone", Right, &|row| reuse(row, 1)),
            ("\nrowclone-zi", Right, &|row| reuse(row, 2)),
            ("energy:\nrowclone", Right, &|row| energy(row, 1)),
            ("\nrowclone-zi", Right, &|row| energy(row, 2)),
        ];
        format!(
            "RowClone-ZI: N pages are zeroed; then each line is read and written. Core cycles per page\n\
             machine {}; energy relative to the baseline, {}\n\n{}",
            self.machine,
            self.baseline,
            listed(&columns, &self.rows, usize::MAX)
        )
    }
}
