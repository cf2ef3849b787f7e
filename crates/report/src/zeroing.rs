//! Zeroing of pages and their first use, by a loop, by RowClone and by RowClone-ZI.

use serde::Serialize;

use crate::table::{aligned, change, headers};

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
    pub methods: Vec<ZeroingFigures>,
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
        let line = |row: &ZeroingRow| {
            let per_page =
                |of: fn(&ZeroingFigures) -> u64| row.methods.iter().map(move |it| (of(it) / row.pages).to_string());
            let energy = |method: usize| change(row.methods[method].energy_nj / row.methods[0].energy_nj);
            let cycles = per_page(|method| method.zero_cycles).chain(per_page(|method| method.use_cycles));
            std::iter::once(row.pages.to_string()).chain(cycles).chain([1, 2].map(energy)).collect()
        };
        let columns = headers(
            "pages|zero:\nbaseline|\nrowclone|\nrowclone-zi|use:\nbaseline|\nrowclone|\nrowclone-zi|energy:\nrowclone\
             |\nrowclone-zi",
        );
        format!(
            "RowClone-ZI: N pages are zeroed; then each line is read and written. Core cycles per page\n\
             machine {}; energy relative to the baseline, {}\n\n{}",
            self.machine,
            self.baseline,
            aligned(&columns, &self.rows.iter().map(line).collect::<Vec<_>>())
        )
    }
}
