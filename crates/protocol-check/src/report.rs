//! The violations of a run: the first ones in full, all of them as counts.

use dram_spec::Standard;

use crate::rule::Rule;
use crate::violation::Violation;

/// The violations of a run: a bounded number in full, and exact counts per rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolationReport {
    violations: Vec<Violation>,
    counts: [u64; Rule::ALL.len()],
    total: u64,
    kept: usize,
    standard: Standard,
}

impl ViolationReport {
    /// The number of violations stored in full, unless another is set; later ones are only counted.
    pub const KEPT: usize = 1000;

    pub(crate) const fn new(kept: usize, standard: Standard) -> ViolationReport {
        ViolationReport { violations: Vec::new(), counts: [0; Rule::ALL.len()], total: 0, kept, standard }
    }

    /// The standard of the system.
    pub const fn standard(&self) -> Standard {
        self.standard
    }

    pub(crate) fn add(&mut self, violation: Violation) {
        self.counts[violation.rule as usize] += 1;
        self.total += 1;
        if self.violations.len() < self.kept {
            self.violations.push(violation);
        }
    }

    /// The first violations, [`ViolationReport::KEPT`] unless another number is set, in the order of the commands.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Converts the report into its first violations, as [`Self::violations`].
    pub fn into_violations(self) -> Vec<Violation> {
        self.violations
    }

    /// The number of all violations, including those not stored.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The number of violations of a rule.
    pub const fn count(&self, rule: Rule) -> u64 {
        self.counts[rule as usize]
    }

    /// The broken rules with their numbers of violations, in the order of [`Rule::ALL`].
    pub fn counts(&self) -> impl Iterator<Item = (Rule, u64)> {
        Rule::ALL.into_iter().zip(self.counts).filter(|&(_, count)| count > 0)
    }

    /// Whether there is no violation.
    pub fn is_clean(&self) -> bool {
        self.total() == 0
    }
}
