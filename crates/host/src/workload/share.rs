//! Shares of the requests.

use super::error::WorkloadError;

/// A share from 0 to 1, stored as the bound below which this share of all 64-bit numbers lies;
/// exact for 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Share(u128);

impl Share {
    /// Creates a share from a setting.
    #[expect(clippy::cast_sign_loss, reason = "a share is not below 0")]
    pub(super) fn new(key: &'static str, found: f64) -> Result<Share, WorkloadError> {
        if !(0.0..=1.0).contains(&found) {
            return Err(WorkloadError::NotAShare { key, found });
        }
        Ok(Share((found * (1_u128 << 64) as f64) as u128))
    }

    /// Whether a uniformly distributed number falls within the share.
    pub(super) fn holds(self, number: u64) -> bool {
        u128::from(number) < self.0
    }
}
