//! Where a line lies, in one word: it is compared and handed on at every turn.

use dram_spec::{BankId, Channel, Column, Location, Row};

/// A column of a row of a bank: from high to low the channel, the bank's place in masks, the row, the column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot(u64);

/// A row of a bank: a [`Spot`] without its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowKey(u64);

const COLUMN_BITS: u32 = 16;
const BANK_AT: u32 = COLUMN_BITS + 32;
const CHANNEL_AT: u32 = BANK_AT + 8;

/// The banks that a channel may have: a bit each of a mask.
pub(crate) const MOST_BANKS: usize = 32;

/// A bank's place in masks of a channel.
#[inline]
pub(crate) fn index(bank: BankId) -> usize {
    (usize::from(bank.rank) * 8 + usize::from(bank.bank)) % MOST_BANKS
}

/// The bank of that place.
#[inline]
pub(crate) fn bank_at(index: usize) -> BankId {
    BankId { rank: (index / 8) as u8, bank: (index % 8) as u8 }
}

impl From<Location> for Spot {
    fn from(location: Location) -> Spot {
        let Location { channel, bank, row, column, offset: _ } = location;
        let row = RowKey::new(channel, index(bank), row);
        Spot(row.0 << COLUMN_BITS | u64::from(column.0))
    }
}

impl Spot {
    /// So many columns further on in the row.
    #[inline]
    pub(crate) fn further(self, columns: u16) -> Spot {
        Spot(self.0 + u64::from(columns))
    }

    #[inline]
    pub(crate) fn channel(self) -> Channel {
        Channel((self.0 >> CHANNEL_AT) as u8)
    }

    /// The bank's place in masks.
    #[inline]
    pub(crate) fn bank_index(self) -> usize {
        (self.0 >> BANK_AT) as usize % MOST_BANKS
    }

    #[inline]
    pub(crate) fn bank(self) -> BankId {
        bank_at(self.bank_index())
    }

    #[inline]
    pub(crate) fn row(self) -> Row {
        Row((self.0 >> COLUMN_BITS) as u32)
    }

    #[inline]
    pub(crate) fn column(self) -> Column {
        Column(self.0 as u16)
    }

    #[inline]
    pub(crate) fn row_key(self) -> RowKey {
        RowKey(self.0 >> COLUMN_BITS)
    }
}

impl RowKey {
    /// Of no row.
    pub(crate) const NONE: RowKey = RowKey(u64::MAX);

    #[inline]
    pub(crate) fn new(channel: Channel, bank_index: usize, row: Row) -> RowKey {
        let bank = (bank_index as u64) << (BANK_AT - COLUMN_BITS);
        RowKey(u64::from(channel.0) << (CHANNEL_AT - COLUMN_BITS) | bank | u64::from(row.0))
    }

    /// Well mixed: rows that lie at any step from each other differ in its low bits.
    #[inline]
    pub(crate) fn hash(self) -> usize {
        (self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
    }
}
