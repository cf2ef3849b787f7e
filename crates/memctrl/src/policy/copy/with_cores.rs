//! Policies that differ from others only where programs run on cores.

use rowclone::Mechanism;

use super::CopyPolicy;
use super::rowclone_rule::PAPER;

/// A policy with the mechanisms of another one. The machine with the cores gives the name its meaning.
#[derive(Clone, Copy, Debug)]
pub struct WithCores {
    name: &'static str,
    admits: &'static [Mechanism],
}

impl WithCores {
    /// The controller copies over the channel; with cores, the baseline is a loop of the kernel.
    pub const CONTROLLER_COPY: WithCores = WithCores { name: "controller-copy", admits: &[Mechanism::CHANNEL] };
    /// The paper's rule; the machine inserts clean zero lines into the cache (RowClone-ZI).
    pub const ROWCLONE_ZI: WithCores = WithCores { name: "rowclone-zi", admits: PAPER };
}

impl CopyPolicy for WithCores {
    fn name(&self) -> &'static str {
        self.name
    }

    fn admits(&self) -> &'static [Mechanism] {
        self.admits
    }
}
