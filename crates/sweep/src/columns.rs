//! Columns of the table of a sweep.

use report::Kind::{Count, Number, Text};
use report::{Column, run_cells};

use super::axis::Axis;

/// All columns of a sweep with these axes, in the order of the table.
pub(super) fn all(axes: &[Axis]) -> Vec<Column> {
    let axes = axes.iter().flat_map(|axis| &axis.columns).filter(|column| column.key != "seed");
    let axes = axes.map(|column| Column::new(&column.name, column.kind));
    let run = [("seed", Count), ("policy", Text), ("placement", Text), ("reference", Text)];
    let ratios = [("speedup", Number), ("energy_ratio", Number)];
    let means = [("read_latency_ratio", Number), ("write_latency_ratio", Number), ("copy_latency_ratio", Number)];
    let after = [("error", Text), ("scenario", Text), ("model_version", Count), ("digest", Text), ("rerun", Text)];
    let named =
        |columns: &[(&str, _)]| columns.iter().map(|(name, kind)| Column::new(*name, *kind)).collect::<Vec<_>>();
    let before = [Column::new("point", Count)]
        .into_iter()
        .chain(axes)
        .chain(named(&run))
        .chain(named(&ratios))
        .chain(named(&means));
    before.chain(run_cells::columns()).chain(named(&after)).collect()
}
