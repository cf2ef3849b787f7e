//! Copies of two papers, `RowClone` and LISA: published latencies and energies beside the simulated ones.

use serde::{Deserialize, Serialize};

use crate::published::{known, published};
use crate::table::Align::{Left, Right};
use crate::table::{COLUMNS_MAX, TextColumn, change, listed, or_dash, wrapped};

/// A published latency, and a published energy in nJ or in uJ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedCopy {
    /// ns.
    pub latency_ns: f64,
    /// nJ; none in a table in uJ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_nj: Option<f64>,
    /// uJ, not a number if it was not published; none in a table in nJ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_uj: Option<f64>,
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

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyRow {
    /// `copy/fpm` and so on.
    pub id: String,
    /// The published figures.
    pub published: PublishedCopy,
    /// The simulated figures.
    pub simulated: Simulated,
}

/// A published row.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedRow {
    /// `copy/fpm` and so on.
    pub id: String,
    /// The published figures.
    #[serde(flatten)]
    pub figures: PublishedCopy,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PublishedCopies {
    /// The paper and the system.
    title: String,
    /// What the figures depend on.
    note: String,
    /// I/O and termination of a channel copy, of its dynamic energy.
    channel_share_of_copy_energy: Option<f64>,
    /// The rows.
    pub rows: Vec<PublishedRow>,
}

impl PublishedCopies {
    /// Table 3 of the `RowClone` paper.
    pub fn table3() -> PublishedCopies {
        published("table3")
    }

    /// The table of the LISA paper.
    pub fn lisa() -> PublishedCopies {
        published("lisa")
    }
}

/// A share, as published and as simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The published "about 40 %".
    pub published: f64,
    /// I/O and termination of a channel copy, of its dynamic energy.
    pub simulated: f64,
}

/// The comparison with a published table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyTable {
    /// The version of these fields. It rises when a field changes its name, unit or meaning.
    pub schema_version: u32,
    /// The current set.
    pub currents: String,
    /// `operation`: dynamic energy (without background and refresh), in every row.
    pub accounting: &'static str,
    /// Ranks of the simulated channel; only in table 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u8>,
    /// The rows, in the order of the published table.
    pub rows: Vec<CopyRow>,
    /// I/O share of the energy of a copy over the channel; only in table 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_share_of_copy_energy: Option<Share>,
    #[serde(skip)]
    title: String,
    #[serde(skip)]
    note: String,
}

impl CopyTable {
    /// Sets simulated rows beside the published ones, in the same order: with the number of ranks and the simulated
    /// share of the channel, which the table has if it was published.
    pub fn new(
        table: PublishedCopies,
        currents: String,
        simulated: impl IntoIterator<Item = Simulated>,
        (ranks, channel_share): (u8, f64),
    ) -> CopyTable {
        let PublishedCopies { title, note, channel_share_of_copy_energy: share, rows } = table;
        let row = |(PublishedRow { id, figures: published }, simulated)| CopyRow { id, published, simulated };
        CopyTable {
            schema_version: 1,
            currents,
            accounting: "operation",
            ranks: share.map(|_| ranks),
            rows: rows.into_iter().zip(simulated).map(row).collect(),
            channel_share_of_copy_energy: share.map(|published| Share { published, simulated: channel_share }),
            title,
            note,
        }
    }

    /// The table for a terminal of 80 columns: the latencies have the precision of the published ones.
    pub fn to_text(&self) -> String {
        let is_in_nj = self.rows.iter().any(|row| row.published.energy_nj.is_some());
        let digits = if is_in_nj { 0 } else { 2 };
        let nj = |row: &CopyRow| row.published.energy_nj.unwrap_or(f64::NAN);
        let uj = |row: &CopyRow| row.published.energy_uj.and_then(known);
        let columns: [TextColumn<'_, CopyRow>; 10] = [
            ("\nrow", Left, &|row| row.id.clone()),
            ("ns:\npaper", Right, &|row| format!("{:.digits$}", row.published.latency_ns)),
            ("\nsimulated", Right, &|row| format!("{:.2}", row.simulated.latency_ns)),
            ("\nclocks", Right, &|row| row.simulated.latency_cycles.to_string()),
            ("\noff by", Right, &|row| change(row.simulated.latency_ns / row.published.latency_ns)),
            ("nJ:\npaper", Right, &|row| format!("{:.1}", nj(row))),
            ("\nsimulated", Right, &|row| format!("{:.1}", row.simulated.energy_nj)),
            ("\noff by", Right, &|row| change(row.simulated.energy_nj / nj(row))),
            ("uJ:\npaper", Right, &|row| or_dash(uj(row), |it| format!("{it:.2}"))),
            ("\nsimulated", Right, &|row| format!("{:.3}", row.simulated.energy_nj / 1000.0)),
        ];
        let columns = if is_in_nj { columns[..8].to_vec() } else { [&columns[..5], &columns[8..]].concat() };
        let share = self.channel_share_of_copy_energy.map_or_else(String::new, |Share { published, simulated }| {
            let [simulated, published] = [simulated * 100.0, published * 100.0];
            format!("I/O share of copy energy: {simulated:.1} % simulated, about {published:.0} % published\n")
        });
        let currents = &self.currents;
        let currents = format!("dynamic energy (without background and refresh) with the currents of `{currents}`");
        let [title, currents, note] = [&self.title, &currents, &self.note].map(|text| wrapped(text, COLUMNS_MAX));
        format!("{title}{currents}\n{}\n{share}{note}", listed(&columns, &self.rows, usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of the row that begins so, of a table whose figures are half and twice the published ones.
    fn row(known: PublishedCopies, (latency, energy): (f64, f64), start: &str) -> String {
        let simulated = |PublishedRow { figures, .. }: &PublishedRow| Simulated {
            latency_ns: figures.latency_ns * latency,
            latency_cycles: 558,
            energy_nj: figures.energy_nj.or(figures.energy_uj.map(|uj| uj * 1000.0)).unwrap() * energy,
        };
        let simulated: Vec<_> = known.rows.iter().map(simulated).collect();
        let text = CopyTable::new(known, "2 Gb x16 early die 1066".to_owned(), simulated, (1, 0.296)).to_text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let share = "I/O share of copy energy: 29.6 % simulated, about 40 % published\n";
        assert_eq!(text.contains(share), text.contains("RowClone (MICRO 2013)"), "{text}");
        let row = text.lines().find(|line| line.starts_with(start)).unwrap();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_tables_fit_80_columns_and_have_deviations_from_the_published_figures() {
        let table3 = row(PublishedCopies::table3(), (0.5, 0.5), "copy/channel ");
        assert_eq!(table3, "copy/channel 1046 523.00 558 -50.0 % 3600.0 1800.0 -50.0 %");
        let lisa = row(PublishedCopies::lisa(), (2.0, 1.0), "copy/lisa 1 hop ");
        assert_eq!(lisa, "copy/lisa 1 hop 148.50 297.00 558 +100.0 % 0.09 0.090");
        let unpublished = row(PublishedCopies::lisa(), (2.0, 1.0), "copy/lisa 3 hops ");
        assert!(unpublished.starts_with("copy/lisa 3 hops 164.50 329.00 558 +100.0 % - "), "{unpublished}");
    }
}
