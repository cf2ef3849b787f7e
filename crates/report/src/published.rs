//! Published values, in `published.toml`.

use std::sync::LazyLock;

use serde::de::DeserializeOwned;

use crate::plot::{Across, Axis, Chart, ChartKind, Joined, Series, Spacing, Unit};

/// The published values of a table of `reproduce`.
///
/// # Panics
/// If `published.toml` has no such values, which is a defect of this crate.
pub fn published<T: DeserializeOwned>(table: &str) -> T {
    static TABLES: LazyLock<toml::Table> =
        LazyLock::new(|| toml::from_str(include_str!("published.toml")).expect("the file is TOML"));
    let values = TABLES.get(table).expect("each table has published values");
    values.clone().try_into().unwrap_or_else(|error| panic!("published.toml, {table}: {error}"))
}

/// A published value; none if it was not published.
pub(crate) fn known(value: f64) -> Option<f64> {
    Some(value).filter(|value| !value.is_nan())
}

/// An axis with its label.
pub(crate) fn axis(label: &str, unit: Unit, spacing: Spacing) -> Axis {
    Axis { label: label.to_owned(), unit, spacing }
}

/// A chart of lines over numbers, without published values.
pub(crate) fn line_chart(title: String, x: Axis, y: Axis, series: Vec<Series>) -> Chart {
    Chart {
        title,
        kind: ChartKind::Lines,
        x: Across::Numbers(x),
        y,
        rows: None,
        series,
        published: Vec::new(),
        joined: Joined::Series,
        crossovers: Vec::new(),
        reach: Vec::new(),
    }
}
