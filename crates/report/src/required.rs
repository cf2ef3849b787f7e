//! What must hold of simulated figures beside published ones.

use serde::Serialize;

/// Distances from a published figure, in points, within which cells are counted.
const POINTS: [f64; 2] = [6.0, 10.0];

/// Comparisons of simulated figures that a condition requires.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparisons {
    /// Number of comparisons.
    pub comparisons: usize,
    /// Those that do not hold, in words.
    pub failed: Vec<String>,
}

impl Comparisons {
    /// Adds a comparison with its words.
    pub(crate) fn add(&mut self, holds: bool, words: impl FnOnce() -> String) {
        self.comparisons += 1;
        if !holds {
            self.failed.push(words());
        }
    }

    /// `11 of 12`.
    pub(crate) fn held(&self) -> String {
        format!("{} of {}", self.comparisons - self.failed.len(), self.comparisons)
    }
}

/// A line per rule: whether it holds.
pub(crate) fn lines<R: std::fmt::Display>(rules: impl IntoIterator<Item = (R, bool)>) -> String {
    let line = |(rule, holds)| format!("{} {rule}\n", if holds { "holds:        " } else { "does not hold:" });
    rules.into_iter().map(line).collect()
}

/// The numbers of cells whose distances from the published figures, given in points, are at most 6 and at most 10
/// points.
pub(crate) fn within(distances: &[f64]) -> [usize; 2] {
    POINTS.map(|most| distances.iter().filter(|distance| distance.abs() <= most).count())
}

/// A line about cells with some distances from the published ones, as shares; none without cells.
pub(crate) fn near(shares: impl IntoIterator<Item = f64>) -> String {
    let points: Vec<f64> = shares.into_iter().map(|share| share * 100.0).collect();
    if points.is_empty() {
        return String::new();
    }
    let [within_6, within_10] = within(&points);
    format!("of {} published cells, {within_6} within 6 points, {within_10} within 10\n", points.len())
}
