//! Some mechanisms, the preferred one first.

use rowclone::Mechanism;

use super::CopyPolicy;

/// The first of some mechanisms that is possible, else the channel.
#[derive(Clone, Copy, Debug)]
pub struct Only {
    pub(super) name: &'static str,
    pub(super) admits: &'static [Mechanism],
}

impl CopyPolicy for Only {
    fn name(&self) -> &'static str {
        self.name
    }

    fn admits(&self) -> &'static [Mechanism] {
        self.admits
    }
}
