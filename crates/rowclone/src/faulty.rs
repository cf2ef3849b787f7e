//! Rows that were remapped in the chip, so that they do not lie where their address says.

use std::collections::BTreeSet;
use std::fmt;

use dram_spec::{BankId, Channel, Row};

/// A row of the memory system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowAddress {
    /// The channel.
    pub channel: Channel,
    /// The rank and the bank.
    pub bank: BankId,
    /// The row of the bank.
    pub row: Row,
}

/// As a message prints it: `channel 0 rank 0 bank 3 row 511`.
impl fmt::Display for RowAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "channel {} {} row {}", self.channel.0, self.bank, self.row.0)
    }
}

/// The rows that the chip has replaced by spares outside their subarray.
///
/// They read and write like any other, but no copy activation can reach them or leave them: they lose FPM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultyRows {
    rows: BTreeSet<RowAddress>,
}

impl FaultyRows {
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
