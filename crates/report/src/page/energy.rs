//! Energy by cause: stacked bars, and a table.

use std::collections::BTreeMap;

use energy::Cause;

use super::data::{Runs, in_order};
use super::figures::{ChartValue, LINEAR, chart, named_parts, point_name, summed};
use super::sortable::{Shown, Sortable, heads};
use crate::plot::{Chart, ChartKind};
use rowclone_sim::cause_key;

/// Maximum number of runs with one bar each. If there are more, each policy has one bar.
const BARS_MAX: usize = 24;

/// The chart, or the reason why it is not drawn, and the table of the energy of each run. For many runs, the table has
/// means per policy over the points that all policies finished; none without such points.
pub(super) fn by_cause(runs: &Runs) -> Option<(Result<Chart, String>, Sortable)> {
    let columns = Cause::ALL.map(|cause| (cause.name(), format!("energy_{}_nj", cause_key(cause))));
    let spent = |row: usize, column: &str| runs.number(row, column).unwrap_or(0.0);
    let there = |column: &str| (0..runs.len()).any(|row| spent(row, column) > 0.0);
    let causes: Vec<(&str, String)> = columns.into_iter().filter(|(_, column)| there(column)).collect();
    let mut done: Vec<usize> = (0..runs.len()).filter(|&row| runs.text(row, "error").is_empty()).collect();
    let by_policy = done.len() > BARS_MAX;
    if by_policy {
        let variants = in_order(done.iter().map(|&row| runs.variant(row))).len();
        let mut finished: BTreeMap<String, usize> = BTreeMap::new();
        for row in &done {
            *finished.entry(runs.text(*row, "point")).or_default() += 1;
        }
        done.retain(|&row| finished[&runs.text(row, "point")] >= variants);
    }
    let name = |row: usize| if by_policy { runs.variant(row) } else { name(runs, row) };
    let entry = |(row, (cause, column)): (usize, &(&str, String))| (name(row), (*cause).to_owned(), spent(row, column));
    let entries: Vec<ChartValue> =
        done.iter().flat_map(|&row| causes.iter().map(move |cause| (row, cause))).map(entry).collect();
    let of = if by_policy { "mean of each policy over the points that all policies finished" } else { "of each run" };
    let title = format!("Energy by cause, {of}");
    let part = named_parts(entries.iter().map(|(_, cause, energy)| (cause.as_str(), *energy)));
    // The sum of the smaller causes of a run is one value of its bar.
    let of_run =
        |run: &[ChartValue]| summed(run.iter().map(|(bar, cause, energy)| (bar.clone(), part(cause), *energy)));
    let parts: Vec<ChartValue> = entries.chunks(causes.len().max(1)).flat_map(of_run).collect();
    let columns = [if by_policy { "policy" } else { "run" }, "energy_nj", "cause"];
    let chart = chart(ChartKind::Stacked, &title, columns, LINEAR, &parts);
    (!entries.is_empty()).then(|| (chart, table(title, &causes, &entries)))
}

fn name(runs: &Runs, row: usize) -> String {
    let seed = (runs.distinct("seed").len() > 1).then(|| format!("seed {}", runs.text(row, "seed")));
    let parts = [runs.variant(row), point_name(runs, row)].into_iter().chain(seed);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The mean of the values of each bar and cause, and their sum.
fn table(caption: String, causes: &[(&str, String)], entries: &[ChartValue]) -> Sortable {
    let names: Vec<&str> = causes.iter().map(|(cause, _)| *cause).collect();
    let heads = heads(&format!("of | {} (nJ) | total (nJ)", names.join(" (nJ) | ")));
    let mean = |bar: &String, cause: &str| {
        let of = entries.iter().filter(|(name, part, _)| name == bar && part == cause);
        let (count, sum) = of.fold((0.0, 0.0), |(count, sum), (_, _, value)| (count + 1.0, sum + value));
        sum / count
    };
    let row = |bar: String| {
        let means: Vec<f64> = names.iter().map(|cause| mean(&bar, cause)).collect();
        let total = means.iter().sum();
        [Shown::text(bar)].into_iter().chain(means.into_iter().chain([total]).map(Shown::value)).collect()
    };
    let rows = in_order(entries.iter().map(|(bar, ..)| bar.clone())).into_iter().map(row).collect();
    Sortable { id: "energy-by-cause", caption, heads, rows }
}
