//! The columns of a sweep's table.

use report::{Column, Kind, run_cells};

use super::axis::Axis;

/// Before the axes.
pub(super) fn before() -> Vec<Column> {
    vec![Column::new("point", Kind::Count)]
}

/// Between the axes and what the run did.
pub(super) fn run() -> Vec<Column> {
    vec![Column::new("seed", Kind::Count), Column::new("policy", Kind::Text), Column::new("placement", Kind::Text)]
}

/// After those: the ratios against the baseline of the point.
pub(super) fn ratios() -> Vec<Column> {
    ["speedup", "energy_ratio"].map(|name| Column::new(name, Kind::Number)).into()
}

/// After what the run did.
pub(super) fn after() -> Vec<Column> {
    let kind = |name| if name == "model_version" { Kind::Count } else { Kind::Text };
    ["error", "scenario", "model_version", "digest", "rerun"].map(|name| Column::new(name, kind(name))).into()
}

/// All of a sweep's table, in no order.
pub(super) fn with_axes(axes: &[Axis]) -> Vec<Column> {
    let axes = axes.iter().flat_map(|axis| &axis.columns).filter(|column| column.name != "seed");
    let axes = axes.map(|column| Column::new(column.name.clone(), column.kind));
    before().into_iter().chain(axes).chain(run()).chain(ratios()).chain(run_cells::columns()).chain(after()).collect()
}

/// All but the axes' own.
pub(super) fn names() -> Vec<String> {
    let all = before().into_iter().chain(run()).chain(ratios()).chain(run_cells::columns()).chain(after());
    all.map(|column| column.name).collect()
}
