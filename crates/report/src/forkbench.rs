//! The forkbench of the `RowClone` paper: published figures beside simulated ones.

use serde::Serialize;

use crate::table::Align::{Left, Right};
use crate::table::{Column, aligned, change, listed, percent};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Simulated figures of a copy method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodFigures {
    /// Copy method.
    pub method: &'static str,
    /// Instructions of the program per core cycle.
    pub ipc: f64,
    /// DRAM energy of the run, including background and refresh, nJ.
    pub energy_nj: f64,
    /// Share of copies and zeroings in the bytes over the memory channels, 0 to 1.
    pub copy_share_of_channel_bytes: f64,
    /// IPC relative to the baseline.
    pub ipc_ratio: f64,
    /// Energy relative to the baseline.
    pub energy_ratio: f64,
}

/// A size and a number of updates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkRow {
    /// Memory of the parent, bytes (the paper's S).
    pub bytes: u64,
    /// Updates of the child (the paper's N).
    pub updates: u64,
    /// The baseline, FPM and PSM.
    pub methods: [MethodFigures; 3],
}

/// Places of the methods in [`ForkRow::methods`].
const BASELINE: usize = 0;
const FPM: usize = 1;
const PSM: usize = 2;

/// Published figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedForkbench {
    /// Share of copies in channel traffic, at N = 2 and at N = 16k.
    pub copy_share: [f64; 2],
    /// IPC of FPM relative to the baseline, at N = 16k.
    pub fpm_ipc_ratio_max: f64,
    /// Energy of FPM relative to the baseline, least.
    pub fpm_energy_ratio_min: f64,
    /// Energy of PSM relative to the baseline, least.
    pub psm_energy_ratio_min: f64,
}

/// `MICRO` 2013, section 7.2.
pub const PUBLISHED: PublishedForkbench = PublishedForkbench {
    copy_share: [0.14, 0.66],
    fpm_ipc_ratio_max: 2.2,
    fpm_energy_ratio_min: 0.2,
    psm_energy_ratio_min: 0.91,
};

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkbenchTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// What the baseline does, to which all ratios refer.
    pub baseline: String,
    /// Published figures.
    pub published: PublishedForkbench,
    /// Simulated rows.
    pub rows: Vec<ForkRow>,
}

impl ForkbenchTable {
    /// The table for a terminal.
    pub fn to_text(&self) -> String {
        let share_of = |row: &ForkRow| row.methods[BASELINE].copy_share_of_channel_bytes;
        let columns: [Column<'_, ForkRow>; 8] = [
            ("S, MiB", Right, &|row| format!("{}", row.bytes >> 20)),
            ("N", Right, &|row| row.updates.to_string()),
            ("copy share", Right, &|row| percent(share_of(row))),
            ("baseline IPC x 1000", Right, &|row| format!("{:.3}", row.methods[BASELINE].ipc * 1000.0)),
            ("FPM IPC", Right, &|row| format!("{:.2}x", row.methods[FPM].ipc_ratio)),
            ("PSM IPC", Right, &|row| format!("{:.2}x", row.methods[PSM].ipc_ratio)),
            ("FPM energy", Right, &|row| change(row.methods[FPM].energy_ratio)),
            ("PSM energy", Right, &|row| change(row.methods[PSM].energy_ratio)),
        ];
        let least = |of: &dyn Fn(&ForkRow) -> f64| self.rows.iter().map(of).fold(f64::INFINITY, f64::min);
        let greatest = |of: &dyn Fn(&ForkRow) -> f64| self.rows.iter().map(of).fold(0.0, f64::max);
        let (known, share) = (&self.published, |share: f64| format!("{:.0} %", share * 100.0));
        let ipc = |row: &ForkRow| row.methods[FPM].ipc_ratio;
        let energy = |method: usize| move |row: &ForkRow| row.methods[method].energy_ratio;
        let figures = [
            ("copy share, least N", [share(known.copy_share[0]), share(least(&share_of))]),
            ("copy share, greatest N", [share(known.copy_share[1]), share(greatest(&share_of))]),
            ("FPM IPC, greatest", [format!("{:.1}x", known.fpm_ipc_ratio_max), format!("{:.2}x", greatest(&ipc))]),
            ("FPM energy, least", [change(known.fpm_energy_ratio_min), change(least(&energy(FPM)))]),
            ("PSM energy, least", [change(known.psm_energy_ratio_min), change(least(&energy(PSM)))]),
        ];
        let published = figures.map(|(figure, values)| [vec![figure.to_owned()], values.to_vec()].concat());
        format!(
            "RowClone (MICRO 2013), forkbench: S bytes fork, the child updates a line of N random pages\n\
             machine {}; ratios refer to the baseline, {}\nenergy of the DRAM, with background and refresh\n\n{}\n{}",
            self.machine,
            self.baseline,
            listed(&columns, &self.rows, usize::MAX),
            aligned(&[("figure", Left), ("published", Right), ("simulated", Right)], &published)
        )
    }
}
