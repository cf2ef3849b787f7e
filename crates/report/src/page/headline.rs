//! Headline of a page: the ratios of each policy to its reference.

use maud::{Markup, html};

use super::data::{Runs, in_order};
use super::figures::point_name;
use crate::table::three_digits;

/// A ratio: its column, its name, and the words for values above, near and below 1.
type Measure = (&'static str, &'static str, [&'static str; 3]);

/// Of runs whose arrivals depend on completions.
const SPEEDUP: Measure = ("speedup", "speedup", ["faster", "as fast as the reference", "slower"]);
/// Of runs with fixed arrivals, which bound the makespan.
const MEAN_LATENCIES: [Measure; 2] = [
    (
        "read_latency_ratio",
        "ratio of mean read latencies",
        ["shorter mean read latency", "the mean read latency of the reference", "longer mean read latency"],
    ),
    (
        "copy_latency_ratio",
        "ratio of mean copy latencies",
        ["shorter mean copy latency", "the mean copy latency of the reference", "longer mean copy latency"],
    ),
];
const ENERGY: Measure = (
    "energy_ratio",
    "energy ratio",
    ["less dynamic energy", "the dynamic energy of the reference", "more dynamic energy"],
);

/// The rows with a ratio of a measure, each with its ratio.
fn rows(runs: &Runs, variant: &str, (column, ..): Measure) -> Vec<(usize, f64)> {
    let is_meant = |row: usize| match column {
        "energy_ratio" => true,
        "speedup" => runs.text(row, "fixed_arrivals") != "true",
        _ => runs.text(row, "fixed_arrivals") == "true",
    };
    let of_variant = (0..runs.len()).filter(|row| runs.variant(*row) == variant && is_meant(*row));
    of_variant.filter_map(|row| Some((row, runs.number(row, column)?))).collect()
}

/// The least and the greatest of some values, with their rows; of equal ones the first.
fn range(values: &[(usize, f64)]) -> Option<[(usize, f64); 2]> {
    let least = values.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = values.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some([*least, *most])
}

/// The ratios of a measure: of one run in words, of several the range with its points.
fn said(runs: &Runs, variant: &str, measure: Measure) -> Option<String> {
    let (_, name, words) = measure;
    let values = rows(runs, variant, measure);
    let [(at_least, least), (at_most, most)] = range(&values)?;
    let [low, high] = [least, most].map(three_digits);
    Some(match values[..] {
        [(_, only)] => in_words(only, words),
        _ if low == high => format!("{name} {low} in each of {} runs", values.len()),
        _ => format!("{name} {low} ({}) to {high} ({})", place(runs, at_least), place(runs, at_most)),
    })
}

/// The point of a row: `source same-bank, bytes 4,096`, with the seed where there are several.
fn place(runs: &Runs, row: usize) -> String {
    let seed = (runs.distinct("seed").len() > 1).then(|| format!("seed {}", runs.text(row, "seed")));
    [point_name(runs, row)].into_iter().chain(seed).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A ratio in words: `7.9× faster`.
fn in_words(ratio: f64, [above, equal, below]: [&str; 3]) -> String {
    if (ratio - 1.0).abs() < 0.005 {
        return equal.to_owned();
    }
    let (factor, word) = if ratio >= 1.0 { (ratio, above) } else { (ratio.recip(), below) };
    // A ratio near 1 needs a second decimal.
    let decimals = if factor < 1.1 { 2 } else { usize::from(factor < 9.95) };
    format!("{factor:.decimals$}× {word}")
}

/// The share of copies by FPM, or its range.
fn by_fpm(runs: &Runs, variant: &str) -> Option<String> {
    let rows = (0..runs.len()).filter(|row| runs.variant(*row) == variant);
    let shares: Vec<_> = rows.filter_map(|row| Some((row, runs.number(row, "copies_by_fpm_share")? * 100.0))).collect();
    let [low, high] = range(&shares)?.map(|(_, share)| format!("{share:.1}"));
    let range = if low == high { low } else { format!("{low} to {high}") };
    Some(format!("{range} % of copies by FPM"))
}

/// The policies with their ratios, without those that are the reference in all their rows.
pub(super) fn sentences(runs: &Runs) -> Vec<(String, Vec<String>)> {
    let is_compared = |row: &usize| runs.variant(*row) != runs.text(*row, "reference");
    let variants = in_order((0..runs.len()).filter(is_compared).map(|row| runs.variant(row)));
    let measures = [SPEEDUP, MEAN_LATENCIES[0], MEAN_LATENCIES[1], ENERGY];
    let of = variants.into_iter().map(|variant| {
        let ratios: Vec<String> = measures.iter().filter_map(|&measure| said(runs, &variant, measure)).collect();
        (variant, ratios)
    });
    of.filter(|(_, ratios)| !ratios.is_empty()).collect()
}

/// The headline.
pub(super) fn draw(runs: &Runs) -> Markup {
    let all = sentences(runs);
    let references = runs.distinct("reference").join(", ");
    html! {
        @if all.is_empty() {
            p { "No speedup is known: the results have no reference, or the reference alone." }
        } @else {
            ul.headline {
                @for (variant, ratios) in &all {
                    li {
                        b { (variant) } ": "
                        @for (place, ratio) in ratios.iter().enumerate() { @if place > 0 { ", " } strong { (ratio) } }
                        @if let Some(share) = by_fpm(runs, variant) { "; " (share) }
                    }
                }
            }
            p.note { "Speedup and energy ratio: time and dynamic energy of the reference, divided by those of the \
                policy. Reference: " (references) "." }
        }
    }
}
