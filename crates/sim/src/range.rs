//! Ranges of numeric settings.

use std::borrow::Cow;

/// Largest time setting in cycles: 2^40, about 23 minutes at DDR3-1600.
pub const CYCLES_MAX: u64 = 1 << 40;

/// A number that is out of its range, or contradicts another setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{setting}` is {found}, but must be from {least} to {most}")]
pub struct OutOfRange {
    /// Setting.
    pub setting: Cow<'static, str>,
    /// Value found.
    pub found: u64,
    /// Least valid value, given the other settings.
    pub least: u64,
    /// Largest valid value, given the other settings.
    pub most: u64,
}

impl OutOfRange {
    /// Suggested change.
    pub fn help(&self) -> String {
        format!("try {} for `{}`", self.found.clamp(self.least, self.most), self.setting)
    }
}

/// Returns an error if a number is out of range.
pub(crate) fn within(
    setting: impl Into<Cow<'static, str>>,
    found: u64,
    least: u64,
    most: u64,
) -> Result<(), OutOfRange> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(OutOfRange { setting: setting.into(), found, least, most })
}
