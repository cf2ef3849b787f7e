//! Energy of the operations of the paper's table 3 with a current set, by formula.

use std::fmt::Write as _;

use dram_spec::CommandKind::{Activate, CopyActivate, Read, Transfer, Write};
use dram_spec::{CommandCounts, Standard, System};
use energy::{Currents, Prices};

/// An operation on 4 KB: its commands, and its published energy.
pub struct Operation {
    /// Operation and mechanism.
    pub name: &'static str,
    /// Commands.
    pub counts: CommandCounts,
    /// Published energy, nJ. For FPM, from the published ratio to the baseline, as 0.04 and 0.05 uJ
    /// are rounded.
    pub published_nj: f64,
}

const NONE: CommandCounts = CommandCounts::new(0);
const FPM: CommandCounts = NONE.with(Activate, 1).with(CopyActivate, 1);

/// Table 3 of the paper.
#[rustfmt::skip] // One operation per line: read it beside the paper.
pub const OPERATIONS: [Operation; 6] = [
    Operation { name: "copy/channel", counts: NONE.with(Activate, 2).with(Read, 64).with(Write, 64), published_nj: 3600.0 },
    Operation { name: "copy/fpm",     counts: FPM,                                                    published_nj: 3600.0 / 74.4 },
    Operation { name: "copy/psm",     counts: NONE.with(Activate, 2).with(Transfer, 64), published_nj: 1100.0 },
    Operation { name: "copy/psm2",    counts: NONE.with(Activate, 3).with(Transfer, 128), published_nj: 2500.0 },
    Operation { name: "zero/channel", counts: NONE.with(Activate, 1).with(Write, 64), published_nj: 2000.0 },
    Operation { name: "zero/fpm",     counts: FPM,                                                    published_nj: 2000.0 / 41.5 },
];

/// Row of a set.
pub struct Row {
    /// Name of the set.
    pub name: String,
    /// Energy of each operation, nJ.
    pub nj: [f64; 6],
    /// I/O share of the energy of a copy over the channel, 0 to 1.
    pub channel_share: f64,
}

impl Row {
    /// The paper's memory with these chips: 1066G, one rank, 4 KB rows.
    pub fn new(currents: &Currents) -> Row {
        let system = System::paper(1, currents.density(), currents.width());
        let prices = Prices::new(&system, currents).expect("the system was made for the set");
        let report = |operation: &Operation| prices.operation(&operation.counts);
        Row {
            name: currents.name().to_owned(),
            nj: OPERATIONS.each_ref().map(|operation| report(operation).operation().nj()),
            channel_share: report(&OPERATIONS[0]).channel_share().expect("a copy takes energy"),
        }
    }

    /// Deviation of each operation from the published energy, %.
    pub fn deviations(&self) -> [f64; 6] {
        let mut index = 0..;
        self.nj.map(|nj| {
            let published = OPERATIONS[index.next().expect("it has no end")].published_nj;
            (nj / published - 1.0) * 100.0
        })
    }

    /// Largest absolute deviation, %.
    pub fn largest_deviation(&self) -> f64 {
        self.deviations().into_iter().map(f64::abs).fold(0.0, f64::max)
    }
}

/// Rows of all sets of DDR3, the nearest to the published energies first.
pub fn rows<'a>(sets: impl IntoIterator<Item = &'a Currents>) -> Vec<Row> {
    // The paper's memory is DDR3.
    let sets = sets.into_iter().filter(|set| set.standard() == Standard::default());
    let mut rows: Vec<_> = sets.map(Row::new).collect();
    rows.sort_by(|one, other| {
        one.largest_deviation().total_cmp(&other.largest_deviation()).then_with(|| one.name.cmp(&other.name))
    });
    rows
}

/// The table in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = String::from("| current set |");
    let mut rule = String::from("|---|");
    for operation in &OPERATIONS {
        let _ = write!(text, " {} |", operation.name);
        rule.push_str("---:|");
    }
    let _ = write!(text, " largest | channel |\n{rule}---:|---:|\n| *published* |");
    for operation in &OPERATIONS {
        let _ = write!(text, " *{:.1}* |", operation.published_nj);
    }
    text.push_str(" | *about 40 %* |\n");
    for row in rows {
        let _ = write!(text, "| `{}` |", row.name);
        for (nj, deviation) in row.nj.into_iter().zip(row.deviations()) {
            let _ = write!(text, " {nj:.1} ({deviation:+.1} %) |");
        }
        let _ = writeln!(text, " {:.1} % | {:.1} % |", row.largest_deviation(), row.channel_share * 100.0);
    }
    text
}
