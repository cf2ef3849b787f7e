//! Policies that differ from others only where programs run on cores.

use rowclone::Mechanism;

use super::rowclone_rule::PAPER;
use super::{BASELINE, CopyPolicy, ROWCLONE};

/// A policy with the mechanisms of another one. The machine with the cores gives the name its meaning.
#[derive(Clone, Copy, Debug)]
pub struct WithCores {
    name: &'static str,
    admits: &'static [Mechanism],
    without_cores: &'static dyn CopyPolicy,
}

impl WithCores {
    /// A policy whose copies go over the channel.
    pub const fn over_channel(name: &'static str) -> WithCores {
        WithCores { name, admits: &[Mechanism::CHANNEL], without_cores: BASELINE }
    }

    /// A policy whose copies follow the paper's rule.
    pub const fn in_dram(name: &'static str) -> WithCores {
        WithCores { name, admits: PAPER, without_cores: ROWCLONE }
    }
}

impl CopyPolicy for WithCores {
    fn name(&self) -> &'static str {
        self.name
    }

    fn admits(&self) -> &'static [Mechanism] {
        self.admits
    }

    fn without_cores(&self) -> Option<&'static dyn CopyPolicy> {
        Some(self.without_cores)
    }
}
