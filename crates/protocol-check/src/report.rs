//! What a run is charged with: the first violations in full, all of them as counts.

use crate::rule::Rule;
use crate::violation::Violation;

/// The verdict on a run: a bounded number of violations, and exact counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    violations: Vec<Violation>,
    counts: [u64; Rule::ALL.len()],
}

impl Report {
    /// How many violations are kept in full: the first so many.
    pub const KEPT: usize = 1000;

    pub(crate) const fn new() -> Report {
        Report { violations: Vec::new(), counts: [0; Rule::ALL.len()] }
    }

    pub(crate) fn add(&mut self, violation: Violation) {
        self.counts[violation.rule as usize] += 1;
        if self.violations.len() < Report::KEPT {
            self.violations.push(violation);
        }
    }

    /// The first [`Report::KEPT`] violations, in the order in which they were found.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The same, for keeps.
    pub fn into_violations(self) -> Vec<Violation> {
        self.violations
    }

    /// All violations, also those not kept.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How often a rule was broken.
    pub const fn count(&self, rule: Rule) -> u64 {
        self.counts[rule as usize]
    }

    /// The rules that were broken and how often, in the order of [`Rule::ALL`].
    pub fn counts(&self) -> impl Iterator<Item = (Rule, u64)> {
        Rule::ALL.into_iter().zip(self.counts).filter(|&(_, count)| count > 0)
    }

    /// Whether no rule was broken.
    pub fn is_clean(&self) -> bool {
        self.total() == 0
    }
}
