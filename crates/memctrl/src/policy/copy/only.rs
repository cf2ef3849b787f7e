//! One mechanism of the paper alone.

use rowclone::{FPM, Mechanism, PSM, PSM2};

use super::CopyPolicy;

/// FPM alone, or PSM (2 x PSM within a bank) alone; where it is impossible, the channel.
#[derive(Clone, Copy, Debug)]
pub struct Only {
    name: &'static str,
    admits: &'static [Mechanism],
}

impl Only {
    /// FPM, else the channel.
    pub const FPM: Only = Only { name: "fpm-only", admits: &[FPM, Mechanism::CHANNEL] };
    /// PSM or 2 x PSM, else the channel.
    pub const PSM: Only = Only { name: "psm-only", admits: &[PSM, PSM2, Mechanism::CHANNEL] };
}

impl CopyPolicy for Only {
    fn name(&self) -> &'static str {
        self.name
    }

    fn admits(&self) -> &'static [Mechanism] {
        self.admits
    }
}
