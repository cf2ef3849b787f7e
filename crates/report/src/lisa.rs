//! Table of the LISA paper: published copies of 8 KB beside the simulated ones.

use serde::Serialize;

use crate::first_screen::COLUMNS_MAX;
use crate::table::Align::{Left, Right};
use crate::table::{Column, change, listed, wrapped};
use crate::table3::Simulated;

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// A published latency and energy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedCopy {
    /// ns.
    pub latency_ns: f64,
    /// uJ, if it was published.
    pub energy_uj: Option<f64>,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LisaRow {
    /// `copy/fpm` and so on; of LISA with the hops.
    pub id: &'static str,
    /// The paper's.
    pub published: PublishedCopy,
    /// Ours.
    pub simulated: Simulated,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LisaTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// The current set.
    pub currents: String,
    /// `operation`: dynamic energy (without background and refresh), in every row.
    pub accounting: &'static str,
    /// The rows.
    pub rows: Vec<LisaRow>,
}

/// Hops of the rows of LISA, in the order of [`PUBLISHED`].
pub const HOPS: [u32; 6] = [1, 3, 7, 15, 31, 63];

/// The published rows: Chang et al., "Low-Cost Inter-Linked Subarrays (LISA)", HPCA 2016.
#[rustfmt::skip]
pub const PUBLISHED: [(&str, PublishedCopy); 4 + HOPS.len()] = [
    ("copy/channel",      PublishedCopy { latency_ns: 1366.25, energy_uj: Some(6.2) }),
    ("copy/psm2",         PublishedCopy { latency_ns: 1363.75, energy_uj: Some(4.33) }),
    ("copy/psm",          PublishedCopy { latency_ns:  701.25, energy_uj: Some(2.08) }),
    ("copy/fpm",          PublishedCopy { latency_ns:   83.75, energy_uj: Some(0.06) }),
    ("copy/lisa 1 hop",   PublishedCopy { latency_ns:  148.5,  energy_uj: Some(0.09) }),
    ("copy/lisa 3 hops",  PublishedCopy { latency_ns:  164.5,  energy_uj: None }),
    ("copy/lisa 7 hops",  PublishedCopy { latency_ns:  196.5,  energy_uj: Some(0.12) }),
    ("copy/lisa 15 hops", PublishedCopy { latency_ns:  260.5,  energy_uj: Some(0.17) }),
    ("copy/lisa 31 hops", PublishedCopy { latency_ns:  388.5,  energy_uj: None }),
    ("copy/lisa 63 hops", PublishedCopy { latency_ns:  644.5,  energy_uj: None }),
];

impl LisaTable {
    /// Sets what was simulated beside what was published, in the order of [`PUBLISHED`].
    pub fn new(currents: String, simulated: [Simulated; PUBLISHED.len()]) -> LisaTable {
        let rows = PUBLISHED.iter().zip(simulated);
        LisaTable {
            schema_version: SCHEMA_VERSION,
            currents,
            accounting: "operation",
            rows: rows.map(|(&(id, published), simulated)| LisaRow { id, published, simulated }).collect(),
        }
    }

    /// The table for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let columns: [Column<'_, LisaRow>; 7] = [
            ("\nrow", Left, &|row| row.id.to_owned()),
            ("ns:\npaper", Right, &|row| format!("{:.2}", row.published.latency_ns)),
            ("\nsimulated", Right, &|row| format!("{:.2}", row.simulated.latency_ns)),
            ("\nclocks", Right, &|row| row.simulated.latency_cycles.to_string()),
            ("\noff by", Right, &|row| change(row.simulated.latency_ns / row.published.latency_ns)),
            ("uJ:\npaper", Right, &|row| row.published.energy_uj.map_or("-".to_owned(), |it| format!("{it:.2}"))),
            ("\nsimulated", Right, &|row| format!("{:.3}", row.simulated.energy_nj / 1000.0)),
        ];
        let lines = |text: &str| wrapped(text, COLUMNS_MAX);
        [
            lines("LISA (HPCA 2016): one 8 KB copy, DDR3-1600 11-11-11, 8 KB rows, 1 rank"),
            lines(&format!("dynamic energy (without background and refresh) with the currents of `{}`", self.currents)),
            "\n".to_owned(),
            listed(&columns, &self.rows, usize::MAX),
            "\n".to_owned(),
            lines(
                "The hops take 8 ns x (hops + 1), rounded up to clocks, and 0.0057 uJ each, which is the slope of the \
                 published energies. The other energies are of the current set.",
            ),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice each published latency.
    #[test]
    fn the_table_fits_80_columns() {
        let twice = |(_, published): (_, PublishedCopy)| Simulated {
            latency_ns: published.latency_ns * 2.0,
            latency_cycles: 558,
            energy_nj: 90.0,
        };
        let text = LisaTable::new("2 Gb x16 early die 1066".to_owned(), PUBLISHED.map(twice)).to_text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let row = text.lines().find(|line| line.starts_with("copy/lisa 1 hop ")).unwrap();
        let cells = row.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(cells, "copy/lisa 1 hop 148.50 297.00 558 +100.0 % 0.09 0.090");
    }
}
