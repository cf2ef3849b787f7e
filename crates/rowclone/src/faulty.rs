//! Addresses of rows, and faulty rows, which the chip has remapped away from their address.

use std::collections::BTreeSet;

use dram_spec::{BankId, Channel, Row};

/// Address of a row in the memory system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("channel {} {bank} row {}", channel.0, row.0)]
pub struct RowAddress {
    /// Channel.
    pub channel: Channel,
    /// Rank and bank.
    pub bank: BankId,
    /// Row of the bank.
    pub row: Row,
}

/// A row of a bank of a channel.
pub(crate) type BankRow = (BankId, Row);

/// The rows that the chip has replaced by spares outside their subarray.
///
/// They are read and written like other rows, but are neither source nor destination of copy
/// activations, so FPM does not serve them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultyRows {
    rows: BTreeSet<RowAddress>,
}

impl FaultyRows {
    /// Whether no row is faulty.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a row is faulty.
    pub fn contains(&self, row: RowAddress) -> bool {
        !self.rows.is_empty() && self.rows.contains(&row)
    }
}

impl FromIterator<(Channel, BankId, Row)> for FaultyRows {
    fn from_iter<I: IntoIterator<Item = (Channel, BankId, Row)>>(rows: I) -> FaultyRows {
        FaultyRows { rows: rows.into_iter().map(|(channel, bank, row)| RowAddress { channel, bank, row }).collect() }
    }
}
