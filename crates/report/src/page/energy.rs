//! Energy by cause: stacked bars, and a table.

use std::collections::BTreeMap;

use energy::Cause;

use super::chart::{Chart, Stacks};
use super::data::{Runs, in_order};
use super::figures::point_name;
use super::sortable::{Head, Shown, Sortable};
use super::words::{Heading, number};
use rowclone_sim::cause_key;

/// So many bars are drawn one a run; of more runs, one a policy.
const BARS_MOST: usize = 24;

/// Energy by cause.
#[derive(Clone, Debug)]
pub(super) struct ByCause {
    /// What a bar and a row are of.
    pub(super) of: String,
    pub(super) chart: Chart,
    pub(super) table: Sortable,
}

/// Of each run, or, of many, of each policy over the points that every policy finished; nothing where there is none.
pub(super) fn by_cause(runs: &Runs) -> Option<ByCause> {
    let columns: Vec<(&'static str, String)> =
        Cause::ALL.map(|cause| (cause.name(), format!("energy_{}_nj", cause_key(cause)))).into();
    let spent = |row: usize, column: &str| runs.number(row, column).unwrap_or(0.0);
    let there = |column: &str| (0..runs.len()).any(|row| spent(row, column) > 0.0);
    let causes: Vec<(&str, String)> = columns.into_iter().filter(|(_, column)| there(column)).collect();
    if causes.is_empty() {
        return None;
    }
    let of_row = |row: usize| causes.iter().map(|(_, column)| spent(row, column)).collect::<Vec<f64>>();
    let done: Vec<usize> = (0..runs.len()).filter(|&row| runs.error(row).is_empty()).collect();
    let (of, bars) = if done.len() <= BARS_MOST {
        ("each run".to_owned(), done.iter().map(|&row| (name(runs, row), of_row(row))).collect())
    } else {
        by_policy(runs, &done, of_row)
    };
    let parts: Vec<String> = causes.iter().map(|(name, _)| (*name).to_owned()).collect();
    let table = table(&of, &parts, &bars);
    let chart = Chart::Stacks(Stacks { unit: Heading { name: "energy".to_owned(), unit: "nJ" }, parts, bars });
    Some(ByCause { of, chart, table })
}

fn name(runs: &Runs, row: usize) -> String {
    let point = point_name(runs, row);
    let seed =
        if runs.distinct("seed").len() > 1 { format!(", seed {}", runs.text(row, "seed")) } else { String::new() };
    if point.is_empty() { runs.variant(row) + &seed } else { format!("{}, {point}{seed}", runs.variant(row)) }
}

/// Sums by policy, over the points that every policy finished.
fn by_policy(runs: &Runs, done: &[usize], of_row: impl Fn(usize) -> Vec<f64>) -> (String, Vec<(String, Vec<f64>)>) {
    let variants = in_order(done.iter().map(|&row| runs.variant(row)));
    let mut finished: BTreeMap<String, usize> = BTreeMap::new();
    for &row in done {
        *finished.entry(runs.text(row, "point")).or_default() += 1;
    }
    finished.retain(|_, count| *count == variants.len());
    let mut sums: Vec<(String, Vec<f64>)> = variants.into_iter().map(|variant| (variant, Vec::new())).collect();
    for &row in done.iter().filter(|&&row| finished.contains_key(&runs.text(row, "point"))) {
        let variant = runs.variant(row);
        let (values, sum) = (of_row(row), sums.iter_mut().find(|(name, _)| *name == variant));
        if let Some((_, sum)) = sum {
            sum.resize(values.len(), 0.0);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
    }
    sums.retain(|(_, values)| !values.is_empty());
    (format!("each policy, the sum over the {} points that all policies finished", finished.len()), sums)
}

fn table(of: &str, parts: &[String], bars: &[(String, Vec<f64>)]) -> Sortable {
    let mut heads = vec![Head::text("of")];
    heads.extend(parts.iter().map(|part| Head::number(part.clone(), "nJ")));
    heads.push(Head::number("all", "nJ"));
    let row = |(name, values): &(String, Vec<f64>)| {
        let total: f64 = values.iter().sum();
        let numbers = values.iter().copied().chain([total]).map(|value| Shown::number(number(value), value));
        [Shown::text(name.clone())].into_iter().chain(numbers).collect()
    };
    let rows = bars.iter().map(row).collect();
    Sortable { id: "energy-by-cause", caption: format!("Energy by cause, of {of}"), heads, rows }
}
