//! Copies of two papers, `RowClone` and LISA: published latencies and energies beside the simulated ones.

use serde::Serialize;

use crate::first_screen::COLUMNS_MAX;
use crate::table::Align::{Left, Right};
use crate::table::{Column, change, listed, or_dash, wrapped};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
const SCHEMA_VERSION: u32 = 1;

/// How the energy of an operation is counted: its dynamic energy, without background and refresh.
const ACCOUNTING: &str = "operation";

/// A latency and an energy of table 3 of the `RowClone` paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// ns.
    pub latency_ns: f64,
    /// nJ. Of FPM: the baseline divided by the published ratio, for the printed value is rounded to 10 nJ.
    pub energy_nj: f64,
}

/// Latency and energy of the simulated commands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// ns.
    pub latency_ns: f64,
    /// Clocks.
    pub latency_cycles: u64,
    /// Dynamic energy, nJ.
    pub energy_nj: f64,
}

/// A latency and an energy of the LISA paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedCopy {
    /// ns.
    pub latency_ns: f64,
    /// uJ, if it was published.
    pub energy_uj: Option<f64>,
}

/// A row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CopyRow<P> {
    /// `copy/fpm` and so on.
    pub id: &'static str,
    /// The published figures.
    pub published: P,
    /// The simulated figures.
    pub simulated: Simulated,
}

/// Sets what was simulated beside what was published, in the same order.
fn rows<P: Copy>(published: &[(&'static str, P)], simulated: impl IntoIterator<Item = Simulated>) -> Vec<CopyRow<P>> {
    let rows = published.iter().zip(simulated);
    rows.map(|(&(id, published), simulated)| CopyRow { id, published, simulated }).collect()
}

/// A table for a terminal of 80 columns: its title, the current set, the latencies with a precision of the published
/// ones, the energies, and notes.
fn text<P>(
    (title, currents, notes): (&str, &str, &[&str]),
    (latency, digits): (fn(&P) -> f64, usize),
    energies: &[Column<'_, CopyRow<P>>],
    rows: &[CopyRow<P>],
) -> String {
    let latencies: [Column<'_, CopyRow<P>>; 5] = [
        ("\nrow", Left, &|row| row.id.to_owned()),
        ("ns:\npaper", Right, &|row| format!("{:.digits$}", latency(&row.published))),
        ("\nsimulated", Right, &|row| format!("{:.2}", row.simulated.latency_ns)),
        ("\nclocks", Right, &|row| row.simulated.latency_cycles.to_string()),
        ("\noff by", Right, &|row| change(row.simulated.latency_ns / latency(&row.published))),
    ];
    let columns = [&latencies[..], energies].concat();
    let currents = format!("dynamic energy (without background and refresh) with the currents of `{currents}`");
    let lines = |text: &&str| wrapped(text, COLUMNS_MAX);
    let [head, notes] = [&[title, &currents], notes].map(|texts| texts.iter().map(lines).collect::<String>());
    format!("{head}\n{}\n{notes}", listed(&columns, rows, usize::MAX))
}

/// A share, as published and as simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The published "about 40 %".
    pub published: f64,
    /// I/O and termination of a channel copy, of its dynamic energy.
    pub simulated: f64,
}

/// Table 3 of the `RowClone` paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table3 {
    /// The version of these fields.
    pub schema_version: u32,
    /// The current set.
    pub currents: String,
    /// `operation`: dynamic energy (without background and refresh), in every row.
    pub accounting: &'static str,
    /// Ranks of the simulated channel.
    pub ranks: u8,
    /// The six rows.
    pub rows: Vec<CopyRow<Published>>,
    /// I/O share of the energy of a copy over the channel.
    pub channel_share_of_copy_energy: Share,
}

/// The published rows: `MICRO` 2013, table 3. Energy of FPM: 3600 / 74.4 and 2000 / 41.5.
#[rustfmt::skip]
pub const PUBLISHED: [(&str, Published); 6] = [
    ("copy/channel", Published { latency_ns: 1046.0, energy_nj: 3600.0 }),
    ("copy/fpm",     Published { latency_ns:   90.0, energy_nj: 3600.0 / 74.4 }),
    ("copy/psm",     Published { latency_ns:  540.0, energy_nj: 1100.0 }),
    ("copy/psm2",    Published { latency_ns: 1050.0, energy_nj: 2500.0 }),
    ("zero/channel", Published { latency_ns:  546.0, energy_nj: 2000.0 }),
    ("zero/fpm",     Published { latency_ns:   90.0, energy_nj: 2000.0 / 41.5 }),
];

/// The paper's share of the channel in copy energy: "about 40 %".
pub const PUBLISHED_CHANNEL_SHARE: f64 = 0.4;

impl Table3 {
    /// Pairs simulated with published rows, in the order of [`PUBLISHED`].
    pub fn new(currents: String, ranks: u8, simulated: [Simulated; 6], channel_share: f64) -> Table3 {
        Table3 {
            schema_version: SCHEMA_VERSION,
            currents,
            accounting: ACCOUNTING,
            ranks,
            rows: rows(&PUBLISHED, simulated),
            channel_share_of_copy_energy: Share { published: PUBLISHED_CHANNEL_SHARE, simulated: channel_share },
        }
    }

    /// The table for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let share = &self.channel_share_of_copy_energy;
        let title = format!(
            "RowClone (MICRO 2013), table 3: one 4 KB operation, DDR3-1066 8-8-8, 4 KB rows, {} rank",
            self.ranks
        );
        let share = format!(
            "I/O share of copy energy: {:.1} % simulated, about {:.0} % published",
            share.simulated * 100.0,
            share.published * 100.0
        );
        let notes = [&share, "published energy of FPM: the baseline divided by the published ratio (74.4 and 41.5)"];
        let energies: [Column<'_, CopyRow<Published>>; 3] = [
            ("nJ:\npaper", Right, &|row| format!("{:.1}", row.published.energy_nj)),
            ("\nsimulated", Right, &|row| format!("{:.1}", row.simulated.energy_nj)),
            ("\noff by", Right, &|row| change(row.simulated.energy_nj / row.published.energy_nj)),
        ];
        text((&title, &self.currents, &notes), (|it: &Published| it.latency_ns, 0), &energies, &self.rows)
    }
}

/// The table of the LISA paper.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// The current set.
    pub currents: String,
    /// `operation`: dynamic energy (without background and refresh), in every row.
    pub accounting: &'static str,
    /// The rows.
    pub rows: Vec<CopyRow<PublishedCopy>>,
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
        let rows = rows(published, simulated);
        CopyTable { schema_version: SCHEMA_VERSION, currents, accounting: ACCOUNTING, rows, title, note }
    }

    /// The table for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let energies: [Column<'_, CopyRow<PublishedCopy>>; 2] = [
            ("uJ:\npaper", Right, &|row| or_dash(row.published.energy_uj, |it| format!("{it:.2}"))),
            ("\nsimulated", Right, &|row| format!("{:.3}", row.simulated.energy_nj / 1000.0)),
        ];
        let texts = (self.title, &*self.currents, &[self.note][..]);
        text(texts, (|it: &PublishedCopy| it.latency_ns, 2), &energies, &self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of each published figure.
    #[test]
    fn table_3_fits_80_columns() {
        let half = |(_, published): (_, Published)| Simulated {
            latency_ns: published.latency_ns / 2.0,
            latency_cycles: 558,
            energy_nj: published.energy_nj / 2.0,
        };
        let text = Table3::new("2 Gb x16 early die 1066".to_owned(), 1, PUBLISHED.map(half), 0.296).to_text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let row = text.lines().find(|line| line.starts_with("copy/channel")).unwrap();
        let cells = row.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(cells, "copy/channel 1046 523.00 558 -50.0 % 3600.0 1800.0 -50.0 %");
        assert!(text.contains("I/O share of copy energy: 29.6 % simulated, about 40 % published\n"), "{text}");
    }

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
