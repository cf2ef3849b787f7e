//! The paper's rule.

use rowclone::{FPM, Mechanism, PSM, PSM2};

use super::CopyPolicy;

/// FPM, else PSM, else 2 x PSM, else the channel.
///
/// Source: Seshadri et al., "`RowClone`", MICRO 2013.
#[derive(Clone, Copy, Debug)]
pub struct RowCloneRule;

/// The mechanisms of the paper, the preferred one first.
pub(super) const PAPER: &[Mechanism] = &[FPM, PSM, PSM2, Mechanism::CHANNEL];

impl CopyPolicy for RowCloneRule {
    fn name(&self) -> &'static str {
        "rowclone"
    }

    fn admits(&self) -> &'static [Mechanism] {
        PAPER
    }
}
