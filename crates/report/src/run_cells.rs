//! What a run did, as the cells of one row: the same columns for every run.

use dram_spec::{Clock, Cycles};
use memctrl::stats::{PartTally, Stats};
use rowclone::{MECHANISMS, Mechanism};

use crate::cell::{Cell, Column};
use crate::csv_file::{self, Line};
use crate::decisions;
use crate::figures::{FiguresReport, Measured, Stretch};
use crate::run_report::{Backlog, TraceTally};

/// All that the row of a run is made from.
#[derive(Clone, Copy, Debug)]
pub struct RunCells<'a> {
    /// What the controller counted.
    pub stats: &'a Stats,
    /// Energy and bus use, from where the figures begin.
    pub measured: &'a Measured,
    /// How copies were served.
    pub copies: &'a PartTally,
    /// How initialisations were served.
    pub inits: &'a PartTally,
    /// Copy activations that the chips dropped.
    pub dropped_activations: u64,
    /// The simulated clock.
    pub clock: Clock,
    /// Channels of the system.
    pub channels: u8,
    /// The share of the memory that the reserved rows take, 0 to 1.
    pub reserved_rows_share: f64,
    /// The requests that were waiting when the last one arrived.
    pub backlog: Backlog,
    /// The records of the trace, where there is one.
    pub trace: Option<TraceTally>,
    /// What a reader should know before believing a number.
    pub warnings: &'a [String],
}

impl RunCells<'_> {
    /// Its cells, in the order of [`columns`].
    pub fn cells(&self) -> Vec<Cell> {
        self.line().into_iter().map(|(_, cell)| cell).collect()
    }

    fn line(&self) -> Line {
        let RunCells {
            stats,
            measured,
            copies,
            inits,
            dropped_activations,
            clock,
            channels,
            reserved_rows_share,
            backlog,
            trace,
            warnings,
        } = *self;
        let end = Cycles(stats.end.0);
        let stretch = Stretch { cycles: stats.end.since(stats.from), clock, channels };
        let mut line: Line = vec![
            ("makespan_cycles".to_owned(), end.0.into()),
            ("makespan_ns".to_owned(), clock.ns(end).into()),
            ("from_cycle".to_owned(), stats.from.0.into()),
        ];
        line.extend(csv_file::figures(&FiguresReport::new(&stats.whole, measured, stretch)));
        line.extend(shares("copies", copies));
        line.extend(shares("inits", inits));
        line.push(("decisions".to_owned(), decisions::cell(copies, inits).into()));
        line.push(("dropped_activations".to_owned(), dropped_activations.into()));
        line.push(("reserved_rows_share".to_owned(), reserved_rows_share.into()));
        line.extend(csv_file::backlog(backlog, clock));
        line.extend(csv_file::trace(trace));
        line.push(("warnings".to_owned(), warnings.join("; ").into()));
        line
    }
}

/// The columns of any run.
pub fn columns() -> Vec<Column> {
    let (stats, measured, none) = (Stats::default(), Measured::none(), PartTally::default());
    let nothing = RunCells {
        stats: &stats,
        measured: &measured,
        copies: &none,
        inits: &none,
        dropped_activations: 0,
        clock: Clock::DDR3_1066,
        channels: 1,
        reserved_rows_share: 0.0,
        backlog: Backlog::default(),
        trace: None,
        warnings: &[],
    };
    nothing.line().into_iter().map(|(name, cell)| Column::new(name, cell.kind())).collect()
}

/// How much of their bytes each mechanism served, 0 to 1; nothing of none.
fn shares(operations: &str, tally: &PartTally) -> Line {
    let bytes = |wanted: Option<Mechanism>| -> u64 {
        let of = tally.0.iter().filter(|((mechanism, _), _)| wanted.is_none_or(|wanted| wanted == *mechanism));
        of.map(|(_, segments)| segments.bytes).sum()
    };
    let all = bytes(None);
    let share = |mechanism| (all > 0).then(|| bytes(Some(mechanism)) as f64 / all as f64);
    let line = MECHANISMS.into_iter().map(|mechanism| {
        let name = format!("{operations}_by_{}_share", mechanism.name());
        (name, Cell::Number(share(mechanism)))
    });
    line.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use memctrl::stats::Parts;
    use rowclone::FPM;

    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let mut names: Vec<String> = columns().into_iter().map(|column| column.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn shares_are_of_bytes_and_there_are_none_of_nothing() {
        let segments = |bytes| Parts { bytes, ..Parts::default() };
        let tally = PartTally(BTreeMap::from([
            ((FPM, "fastest"), segments(3)),
            ((Mechanism::CHANNEL, "a"), segments(4)),
            ((Mechanism::CHANNEL, "b"), segments(5)),
        ]));
        let cells = |tally| shares("copies", tally).into_iter().map(|(_, cell)| cell).collect::<Vec<_>>();
        assert_eq!(cells(&tally), [0.75, 0.0, 0.0, 0.25].map(Cell::from));
        assert_eq!(cells(&PartTally::default()), [const { Cell::Number(None) }; 4]);
        assert_eq!(shares("copies", &tally)[3].0, "copies_by_fpm_share");
    }
}
