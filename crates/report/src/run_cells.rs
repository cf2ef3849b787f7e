//! Figures of a run as the cells of one row, with the same columns for every run.

use memctrl::stats::PartTally;
use rowclone::{MECHANISMS, Mechanism};
use rowclone_sim::{Outcome, ServedTally, TraceReport};

use crate::cell::{Cell, Column};
use crate::csv_file::{self, Line};
use crate::decisions;

/// Input data of the row of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunCells<'a> {
    /// The run.
    pub outcome: &'a Outcome,
    /// The share of the memory that the reserved rows take, 0 to 1.
    pub reserved_rows_share: f64,
    /// Limits of the numbers of the run.
    pub warnings: &'a [String],
}

impl RunCells<'_> {
    /// Cells, in the order of [`columns`].
    pub fn cells(&self) -> Vec<Cell> {
        self.line().into_iter().map(|(_, cell)| cell).collect()
    }

    fn line(&self) -> Line {
        let RunCells { outcome, reserved_rows_share, warnings } = *self;
        let ServedTally { copies, inits } = &outcome.served_parts;
        let mut line: Line = vec![
            ("makespan_cycles".to_owned(), outcome.makespan_cycles.into()),
            ("makespan_ns".to_owned(), outcome.makespan_ns.into()),
            ("latency_cycles".to_owned(), outcome.latency_cycles.into()),
            ("latency_ns".to_owned(), outcome.latency_ns.into()),
            ("from_cycle".to_owned(), outcome.from_cycle.into()),
        ];
        line.extend(csv_file::figures(&outcome.figures));
        line.extend(shares("copies", copies));
        line.extend(shares("inits", inits));
        line.push(("decisions".to_owned(), decisions::cell(copies, inits).into()));
        line.push(("dropped_activations".to_owned(), outcome.dropped_activations.into()));
        line.push(("reserved_rows_share".to_owned(), reserved_rows_share.into()));
        line.push(("backlog_requests".to_owned(), outcome.backlog_requests.into()));
        line.push(("backlog_wait_ns".to_owned(), outcome.backlog_wait_ns.into()));
        line.extend(csv_file::trace(outcome.trace.as_ref().map(TraceReport::tally)));
        line.push(("warnings".to_owned(), warnings.join("; ").into()));
        line
    }
}

/// The columns of any run.
pub fn columns() -> Vec<Column> {
    let nothing = RunCells { outcome: &Outcome::default(), reserved_rows_share: 0.0, warnings: &[] };
    nothing.line().into_iter().map(|(name, cell)| Column::new(name, cell.kind())).collect()
}

/// Share of the bytes that each mechanism served, 0 to 1; undefined without bytes.
fn shares(operations: &str, tally: &PartTally) -> Line {
    let bytes = |wanted: Option<Mechanism>| -> u64 {
        let of = tally.iter().filter(|(mechanism, ..)| wanted.is_none_or(|wanted| wanted == *mechanism));
        of.map(|(_, _, segments)| segments.bytes).sum()
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
        let tally = PartTally::from_iter([
            (FPM, "fastest", segments(3)),
            (Mechanism::CHANNEL, "a", segments(4)),
            (Mechanism::CHANNEL, "b", segments(5)),
        ]);
        let cells = |tally| shares("copies", tally).into_iter().map(|(_, cell)| cell).collect::<Vec<_>>();
        assert_eq!(cells(&tally), [0.25, 0.0, 0.0, 0.75].map(Cell::from));
        assert_eq!(cells(&PartTally::default()), [const { Cell::Number(None) }; 4]);
        assert_eq!(shares("copies", &tally)[0].0, "copies_by_fpm_share");
    }
}
