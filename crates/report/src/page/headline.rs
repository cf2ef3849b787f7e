//! The headline of a page: speedup and energy ratio of each policy against the baseline.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::data::{Runs, in_order};
use rowclone_sim::quantity::counted;

/// The policy that copies over the channel.
const BASELINE: &str = "baseline";

/// Ratios of one policy, and placement where there is one, against the baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ratios {
    pub(super) variant: String,
    /// Time of the baseline divided by the time of the policy, per point.
    pub(super) speedups: Vec<f64>,
    /// Dynamic energy of the baseline divided by that of the policy, per point.
    pub(super) energies: Vec<f64>,
    /// Share of copies by FPM, per run.
    fpm: Vec<f64>,
}

/// The ratios of all policies but the baseline. They are read from the columns `speedup` and `energy_ratio` where the table
/// has these, and computed from the rows of the baseline otherwise.
pub(super) fn ratios(runs: &Runs) -> Vec<Ratios> {
    let is_baseline = |row: usize| runs.text(row, "policy") == BASELINE;
    let key = |row: usize| (runs.point(row), runs.text(row, "placement"));
    let baselines: BTreeMap<(Vec<String>, String), usize> =
        (0..runs.len()).filter(|row| is_baseline(*row)).map(|row| (key(row), row)).collect();
    let ratio = |row: usize, column: &str, figure: &str| {
        let computed = || {
            let baseline = *baselines.get(&key(row))?;
            Some(runs.number(baseline, figure)? / runs.number(row, figure)?)
        };
        runs.number(row, column).or_else(computed).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
    };
    let others: Vec<usize> = (0..runs.len()).filter(|row| !is_baseline(*row)).collect();
    let mut found: Vec<Ratios> = in_order(others.iter().map(|row| runs.variant(*row)))
        .into_iter()
        .map(|variant| Ratios { variant, ..Ratios::default() })
        .collect();
    for row in others {
        let Some(ratios) = found.iter_mut().find(|ratios| ratios.variant == runs.variant(row)) else { continue };
        ratios.speedups.extend(ratio(row, "speedup", "makespan_ns"));
        ratios.energies.extend(ratio(row, "energy_ratio", "dynamic_energy_nj"));
        ratios.fpm.extend(runs.number(row, "copies_by_fpm_share"));
    }
    found.retain(|ratios| !ratios.speedups.is_empty() || !ratios.energies.is_empty());
    found
}

/// The geometric mean, the least and the greatest of some ratios.
pub(super) fn summary(ratios: &[f64]) -> Option<(f64, f64, f64)> {
    let start = (0.0, f64::INFINITY, 0.0_f64);
    let (sum, least, most) =
        ratios.iter().fold(start, |(sum, least, most), it| (sum + it.ln(), it.min(least), it.max(most)));
    (!ratios.is_empty()).then(|| ((sum / ratios.len() as f64).exp(), least, most))
}

/// A ratio in words: `7.9× faster`.
fn words(ratio: f64, [above, equal, below]: [&str; 3]) -> String {
    if (ratio - 1.0).abs() < 0.005 {
        return equal.to_owned();
    }
    let (factor, word) = if ratio >= 1.0 { (ratio, above) } else { (ratio.recip(), below) };
    // A ratio near 1 needs a second decimal.
    let decimals = if factor < 1.1 { 2 } else { usize::from(factor < 9.95) };
    format!("{factor:.decimals$}× {word}")
}

/// The headline.
pub(super) fn draw(runs: &Runs) -> Markup {
    let all = ratios(runs);
    let range = |ratios: &[f64]| {
        let (_, least, most) = summary(ratios)?;
        (ratios.len() > 1).then(|| format!("{least:.2} to {most:.2}"))
    };
    html! {
        @if all.is_empty() {
            p { "No speedup is known: the results have no run of the policy “" (BASELINE) "” beside another policy." }
        } @else {
            ul.headline {
                @for Ratios { variant, speedups, energies, fpm } in &all {
                    li {
                        b { (variant) } ": "
                        @if let Some((mean, ..)) = summary(speedups) { strong { (words(mean, ["faster", "as fast as the baseline", "slower"])) } }
                        @if !speedups.is_empty() && !energies.is_empty() { ", " }
                        @if let Some((mean, ..)) = summary(energies) { strong { (words(mean, ["less", "as much", "more"])) " dynamic energy" } }
                        @if !fpm.is_empty() { "; " (format!("{:.1}", fpm.iter().sum::<f64>() / fpm.len() as f64 * 100.0)) " % of copies by FPM" }
                        @if let Some(speedup) = range(speedups) {
                            " " span.unit { "(geometric mean of " (counted(speedups.len() as u64, "run")) ", speedup " (speedup)
                            @if let Some(range) = range(energies) { ", energy ratio " (range) } ")" }
                        }
                    }
                }
            }
            p.note { "Speedup and energy ratio: the time, and the dynamic energy, of the baseline policy, which copies over the memory channel, divided by those of the policy." }
        }
    }
}
