//! Parts of all requests.

use super::error::WorkloadError;

/// A share from 0 to 1, as the number that so many of all 64-bit numbers are below; exact at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Share(u128);

impl Share {
    /// The share that a setting says.
    #[expect(clippy::cast_sign_loss, reason = "a share is not below 0")]
    pub(super) fn new(key: &'static str, found: f64) -> Result<Share, WorkloadError> {
        if !(0.0..=1.0).contains(&found) {
            return Err(WorkloadError::NotAShare { key, found });
        }
        Ok(Share((found * (1_u128 << 64) as f64) as u128))
    }

    /// Whether a number drawn from all of them falls into the share.
    pub(super) fn holds(self, number: u64) -> bool {
        u128::from(number) < self.0
    }
}
