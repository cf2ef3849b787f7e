//! Some mechanisms, the preferred one first.

use rowclone::{FPM, LISA, Mechanism, PSM, PSM2};

use super::CopyPolicy;

/// The first of some mechanisms that is possible, else the channel.
#[derive(Clone, Copy, Debug)]
pub struct Only {
    name: &'static str,
    admits: &'static [Mechanism],
}

impl Only {
    /// FPM, else the channel.
    pub const FPM: Only = Only { name: "fpm-only", admits: &[FPM, Mechanism::CHANNEL] };
    /// FPM within a subarray, LISA between subarrays of a bank, else the channel.
    pub const LISA: Only = Only { name: "lisa", admits: &[FPM, LISA, Mechanism::CHANNEL] };
    /// The paper's rule, with LISA instead of 2 x PSM between subarrays.
    pub const ROWCLONE_LISA: Only = Only { name: "rowclone+lisa", admits: &[FPM, LISA, PSM, PSM2, Mechanism::CHANNEL] };
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
