//! Table 3 of the `RowClone` paper: six published rows beside the simulated ones.

use serde::Serialize;

use crate::first_screen::COLUMNS_MAX;
use crate::table::Align::{Left, Right};
use crate::table::{Column, change, listed, wrapped};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// A published latency and energy.
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

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row3 {
    /// `copy/fpm` and so on.
    pub id: &'static str,
    /// The published figures.
    pub published: Published,
    /// The simulated figures.
    pub simulated: Simulated,
}

/// A share, as published and as simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The published "about 40 %".
    pub published: f64,
    /// I/O and termination of a channel copy, of its dynamic energy.
    pub simulated: f64,
}

/// The table.
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
    pub rows: Vec<Row3>,
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
        let rows = PUBLISHED.iter().zip(simulated);
        Table3 {
            schema_version: SCHEMA_VERSION,
            currents,
            accounting: "operation",
            ranks,
            rows: rows.map(|(&(id, published), simulated)| Row3 { id, published, simulated }).collect(),
            channel_share_of_copy_energy: Share { published: PUBLISHED_CHANNEL_SHARE, simulated: channel_share },
        }
    }

    /// The table for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let columns: [Column<'_, Row3>; 8] = [
            ("\nrow", Left, &|row| row.id.to_owned()),
            ("ns:\npaper", Right, &|row| format!("{:.0}", row.published.latency_ns)),
            ("\nsimulated", Right, &|row| format!("{:.2}", row.simulated.latency_ns)),
            ("\nclocks", Right, &|row| row.simulated.latency_cycles.to_string()),
            ("\noff by", Right, &|row| change(row.simulated.latency_ns / row.published.latency_ns)),
            ("nJ:\npaper", Right, &|row| format!("{:.1}", row.published.energy_nj)),
            ("\nsimulated", Right, &|row| format!("{:.1}", row.simulated.energy_nj)),
            ("\noff by", Right, &|row| change(row.simulated.energy_nj / row.published.energy_nj)),
        ];
        let share = &self.channel_share_of_copy_energy;
        let lines = |text: &str| wrapped(text, COLUMNS_MAX);
        [
            lines(&format!(
                "RowClone (MICRO 2013), table 3: one 4 KB operation, DDR3-1066 8-8-8, 4 KB rows, {} rank",
                self.ranks
            )),
            lines(&format!("dynamic energy (without background and refresh) with the currents of `{}`", self.currents)),
            "\n".to_owned(),
            listed(&columns, &self.rows, usize::MAX),
            "\n".to_owned(),
            lines(&format!(
                "I/O share of copy energy: {:.1} % simulated, about {:.0} % published",
                share.simulated * 100.0,
                share.published * 100.0
            )),
            lines("published energy of FPM: the baseline divided by the published ratio (74.4 and 41.5)"),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of each published figure.
    #[test]
    fn the_table_fits_80_columns() {
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
}
