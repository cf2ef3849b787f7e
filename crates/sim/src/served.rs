//! Mechanisms of copies and of initializations, which the controller counts together.

use memctrl::stats::{PartTally, Parts};
use rowclone::Mechanism;
use serde::Serialize;

use crate::figures::reason_of;

/// Parts of copies, and of initializations.
#[derive(Clone, Debug, Default)]
pub struct ServedTally {
    /// Parts of copies.
    pub copies: PartTally,
    /// Parts of initializations.
    pub inits: PartTally,
}

/// Parts of copies, or of initializations, served by a mechanism for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServedRow {
    /// `copy`, or `init`.
    pub operation: &'static str,
    /// Name of the mechanism ([`rowclone::MECHANISMS`]).
    pub mechanism: &'static str,
    /// Reason against the first mechanism that the policy admits; none where that mechanism served the parts.
    pub reason: Option<&'static str>,
    /// Number of parts.
    pub count: u64,
    /// Bytes of these parts.
    pub bytes: u64,
    /// `bytes` as a share of all bytes of copies, or of initializations, 0 to 1.
    pub share_of_bytes: f64,
}

impl ServedRow {
    /// Rows of one kind of operation.
    pub(crate) fn of(operation: &'static str, tally: &PartTally) -> Vec<ServedRow> {
        let all: u64 = tally.iter().map(|(_, _, parts)| parts.bytes).sum();
        let row = |(mechanism, reason, parts): (Mechanism, &'static str, Parts)| ServedRow {
            operation,
            mechanism: mechanism.name(),
            reason: reason_of(reason),
            count: parts.count,
            bytes: parts.bytes,
            share_of_bytes: parts.bytes as f64 / all as f64,
        };
        tally.iter().map(row).collect()
    }
}
