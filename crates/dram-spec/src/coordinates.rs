//! Coordinates of a memory: channel, bank, row and column.

use derive_more::{BitXor, Display};

/// A memory channel, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BitXor)]
pub struct Channel(pub u8);

/// A bank of one rank of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BitXor, Display)]
#[display("rank {rank} bank {bank}")]
pub struct BankId {
    /// Rank within its channel, counted from 0.
    pub rank: u8,
    /// Bank within its rank, counted from 0 over all bank groups.
    pub bank: u8,
}

/// A row of a bank, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BitXor)]
pub struct Row(pub u32);

/// A column of a row, counted in bursts: column 3 is the fourth 64-byte line of the row.
///
/// A burst is eight of JEDEC's columns, and sixteen in DDR5: JEDEC's column address is this one times 8 or 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BitXor)]
pub struct Column(pub u16);
