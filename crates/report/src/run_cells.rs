//! Figures of a run as the cells of one row, with the same columns for every run.

use std::collections::BTreeSet;

use memctrl::stats::PartTally;
use rowclone::{MECHANISMS, Mechanism};
use rowclone_sim::{Outcome, ServedTally};

use crate::cell::{Cell, CellColumn};
use crate::csv_file::{self, CsvLine, cell};
use crate::decisions;

/// The cells of a run, in the order of [`columns`], which has no column of what some systems lack.
/// `reserved_rows_share` is the share of the memory that the reserved rows take, 0 to 1.
pub fn cells(outcome: &Outcome, reserved_rows_share: f64, warnings: &[String]) -> Vec<Cell> {
    let line = line(outcome, reserved_rows_share, warnings);
    if line.len() == columns().len() {
        return line.into_iter().map(|(_, cell)| cell).collect();
    }
    let known: BTreeSet<String> = columns().into_iter().map(|column| column.name).collect();
    line.into_iter().filter(|(column, _)| known.contains(column)).map(|(_, cell)| cell).collect()
}

/// The columns of any run.
pub fn columns() -> Vec<CellColumn> {
    let nothing = line(&Outcome::default(), 0.0, &[]);
    nothing.into_iter().map(|(name, cell)| CellColumn::new(name, cell.kind())).collect()
}

fn line(outcome: &Outcome, reserved_rows_share: f64, warnings: &[String]) -> CsvLine {
    let ServedTally { copies, inits } = &outcome.served_parts;
    let mut line = Vec::from(csv_file::times(outcome));
    line.push(cell("from_cycle", outcome.from_cycle));
    line.extend(csv_file::figures(&outcome.figures));
    line.extend(csv_file::cores(outcome));
    line.extend(shares("copies", copies));
    line.extend(shares("inits", inits));
    line.push(cell("decisions", decisions::cell(copies, inits)));
    line.push(cell("dropped_activations", outcome.dropped_activations));
    line.push(cell("reserved_rows_share", reserved_rows_share));
    line.extend(csv_file::remarks(outcome, warnings));
    line
}

/// Share of the bytes that each mechanism served, 0 to 1; undefined without bytes.
fn shares(operations: &str, tally: &PartTally) -> CsvLine {
    let bytes = |wanted: Option<Mechanism>| -> u64 {
        let of = tally.iter().filter(|(mechanism, ..)| wanted.is_none_or(|wanted| wanted == *mechanism));
        of.map(|(_, _, parts)| parts.bytes).sum()
    };
    let all = bytes(None);
    let share = |mechanism| (all > 0).then(|| bytes(Some(mechanism)) as f64 / all as f64);
    let line = MECHANISMS
        .into_iter()
        .filter(|mechanism| mechanism.is_in_every_chip())
        .map(|mechanism| cell(format!("{operations}_by_{}_share", mechanism.name()), share(mechanism)));
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
    fn shares_are_of_bytes_and_undefined_without_bytes() {
        let parts = |bytes| Parts { bytes, ..Parts::default() };
        let tally = PartTally::from_iter([
            (FPM, "fastest", parts(3)),
            (Mechanism::CHANNEL, "a", parts(4)),
            (Mechanism::CHANNEL, "b", parts(5)),
        ]);
        let cells = |tally| shares("copies", tally).into_iter().map(|(_, cell)| cell).collect::<Vec<_>>();
        assert_eq!(cells(&tally), [0.25, 0.0, 0.0, 0.75].map(Cell::from));
        assert_eq!(cells(&PartTally::default()), [const { Cell::Number(None) }; 4]);
        assert_eq!(shares("copies", &tally)[0].0, "copies_by_fpm_share");
    }
}
