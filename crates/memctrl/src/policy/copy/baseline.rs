//! The baseline.

use rowclone::Mechanism;

use super::CopyPolicy;

/// Every copy goes over the memory channel.
#[derive(Clone, Copy, Debug)]
pub struct Baseline;

impl CopyPolicy for Baseline {
    fn name(&self) -> &'static str {
        "baseline"
    }

    fn admits(&self) -> &'static [Mechanism] {
        &[Mechanism::CHANNEL]
    }
}
