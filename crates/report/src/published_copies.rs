//! Table of a paper: published copies beside the simulated ones.

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
pub struct CopyRow {
    /// `copy/fpm` and so on.
    pub id: &'static str,
    /// The paper's.
    pub published: PublishedCopy,
    /// Ours.
    pub simulated: Simulated,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// The current set.
    pub currents: String,
    /// `operation`: dynamic energy (without background and refresh), in every row.
    pub accounting: &'static str,
    /// The rows.
    pub rows: Vec<CopyRow>,
    /// The paper and the system.
    #[serde(skip)]
    pub title: &'static str,
    /// What the figures depend on.
    #[serde(skip)]
    pub note: &'static str,
}

impl CopyTable {
    /// Sets what was simulated beside what was published, in the same order.
    pub fn new(
        (title, note): (&'static str, &'static str),
        currents: String,
        published: &[(&'static str, PublishedCopy)],
        simulated: impl IntoIterator<Item = Simulated>,
    ) -> CopyTable {
        let rows = published.iter().zip(simulated);
        let rows = rows.map(|(&(id, published), simulated)| CopyRow { id, published, simulated }).collect();
        CopyTable { schema_version: SCHEMA_VERSION, currents, accounting: "operation", rows, title, note }
    }

    /// The table for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let columns: [Column<'_, CopyRow>; 7] = [
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
            lines(self.title),
            lines(&format!("dynamic energy (without background and refresh) with the currents of `{}`", self.currents)),
            "\n".to_owned(),
            listed(&columns, &self.rows, usize::MAX),
            "\n".to_owned(),
            lines(self.note),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_fits_80_columns() {
        let published = [("copy/of a long name", PublishedCopy { latency_ns: 148.5, energy_uj: Some(0.09) })];
        let simulated = [Simulated { latency_ns: 297.0, latency_cycles: 558, energy_nj: 90.0 }];
        let texts = ("A paper", "A note of many words, ".repeat(9).leak() as &str);
        let text = CopyTable::new(texts, "2 Gb x16 early die 1066".to_owned(), &published, simulated).to_text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let row = text.lines().find(|line| line.starts_with("copy/of a long name ")).unwrap();
        let cells = row.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(cells, "copy/of a long name 148.50 297.00 558 +100.0 % 0.09 0.090");
    }
}
