//! Geometry of a memory: channels, ranks, banks, subarrays, rows, lines, and reserved rows.

mod raw;

use std::ops::Range;

pub use raw::{GeometryError, RawGeometry, native_row_bytes};

use crate::command::Command;
use crate::coordinates::{BankId, Channel, Column, Row};
use crate::properties::Operands;
use crate::standard::{Chip, Standard};
use crate::standard::{Density, Width};
use crate::subarrays::{RowsPerSubarray, Subarrays};
use crate::topology::Topology;

/// Bytes per line: one burst, of eight transfers on 64 pins or of sixteen on 32.
pub const LINE_BYTES: u64 = 64;

/// Row of the `RowClone` paper's system: 4 KB per rank, one page.
pub const PAPER_ROW_BYTES: u64 = 4096;

/// A validated geometry: every count is available in chips, and but for the rows per subarray a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    channels: u8,
    ranks: u8,
    standard: Standard,
    chip: &'static Chip,
    row_bytes: u64,
    subarrays: Subarrays,
}

/// A subarray of a bank, counted from 0: rows that share sense amplifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubarrayId {
    /// Channel.
    pub channel: Channel,
    /// Bank.
    pub bank: BankId,
    /// Subarray within its bank.
    pub subarray: u32,
}

impl Geometry {
    /// Channels, 1 to 8.
    pub const fn channels(&self) -> u8 {
        self.channels
    }
    /// Ranks per channel, 1 to 4.
    #[inline]
    pub const fn ranks(&self) -> u8 {
        self.ranks
    }
    /// Banks per rank.
    pub const fn banks(&self) -> u8 {
        self.chip.banks()
    }
    /// Channels, ranks, bank groups and banks.
    #[inline]
    pub const fn topology(&self) -> Topology {
        Topology {
            channels: self.channels,
            ranks: self.ranks,
            banks_per_rank: self.banks(),
            banks_per_group: self.chip.banks_per_group,
        }
    }
    /// Standard of the chips.
    pub const fn standard(&self) -> Standard {
        self.standard
    }
    /// The chips.
    pub const fn chip(&self) -> &'static Chip {
        self.chip
    }
    /// Chips per rank.
    pub const fn chips(&self) -> u64 {
        self.standard.definition().channel_pins / self.chip.width.pins()
    }
    /// Density of a chip.
    pub const fn density(&self) -> Density {
        self.chip.density
    }
    /// Data pins of a chip.
    pub const fn width(&self) -> Width {
        self.chip.width
    }
    /// Bytes per row of a rank.
    pub const fn row_bytes(&self) -> u64 {
        self.row_bytes
    }
    /// Bytes per row of one chip, which determine tRRD and tFAW.
    #[inline]
    pub const fn page_bytes(&self) -> u64 {
        self.row_bytes / self.chips()
    }
    /// Rows per bank.
    #[inline]
    pub const fn rows_per_bank(&self) -> u32 {
        self.subarrays.rows_per_bank()
    }
    /// Rows per subarray, in the shortest notation.
    pub fn rows_per_subarray(&self) -> RowsPerSubarray {
        self.subarrays.raw()
    }
    /// Bits of the row number within its subarray; `None` unless all subarrays are of one size, a power
    /// of two.
    pub const fn subarray_row_bits(&self) -> Option<u32> {
        self.subarrays.row_bits()
    }
    /// Subarrays per bank.
    #[inline]
    pub const fn subarrays_per_bank(&self) -> u32 {
        self.subarrays.per_bank()
    }
    /// Lines (bursts) per row.
    pub const fn columns(&self) -> u16 {
        (self.row_bytes / LINE_BYTES) as u16
    }
    /// Bytes of the whole memory.
    pub const fn bytes(&self) -> u64 {
        self.channels as u64 * self.ranks as u64 * self.banks() as u64 * self.rows_per_bank() as u64 * self.row_bytes
    }
    /// The geometry in a user's notation.
    pub fn raw(&self) -> RawGeometry {
        RawGeometry {
            standard: self.standard,
            channels: self.channels.into(),
            ranks: self.ranks.into(),
            density: self.chip.density,
            width: self.chip.width,
            row_bytes: self.row_bytes,
            rows_per_subarray: self.rows_per_subarray(),
        }
    }

    /// Index of a row's subarray within the bank.
    #[inline]
    pub const fn subarray(&self, row: Row) -> u32 {
        self.subarrays.of(row.0)
    }

    /// Rows of a subarray of a bank.
    #[inline]
    pub const fn rows_of_subarray(&self, subarray: u32) -> Range<u32> {
        self.subarrays.rows(subarray)
    }

    /// Subarrays from that of one row of a bank to that of another; 0 within a subarray.
    #[inline]
    pub const fn subarray_distance(&self, from: Row, to: Row) -> u16 {
        self.subarrays.distance(from.0, to.0)
    }

    /// Whether two rows of a bank share sense amplifiers.
    #[inline]
    pub const fn is_same_subarray(&self, one: Row, other: Row) -> bool {
        self.subarrays.is_same(one.0, other.0)
    }

    /// The reserved row of zeros of a subarray: its last row.
    #[inline]
    pub const fn zero_row(&self, subarray: u32) -> Row {
        Row(self.subarrays.rows(subarray).end - 1)
    }

    /// The reserved temporary row of each bank for 2 x PSM: the row before the last subarray's zero
    /// row.
    pub const fn temporary_row(&self) -> Row {
        Row(self.rows_per_bank() - 2)
    }

    /// The use of a reserved row; `None` if the row is not reserved. Reserved rows contain no
    /// addressable data.
    pub const fn reserved(&self, row: Row) -> Option<ReservedRow> {
        if self.subarrays.is_last(row.0) {
            Some(ReservedRow::Zero)
        } else if row.0 == self.temporary_row().0 {
            Some(ReservedRow::Temporary)
        } else {
            None
        }
    }

    /// Bytes of the reserved rows.
    pub const fn reserved_bytes(&self) -> u64 {
        let rows = self.subarrays_per_bank() as u64 + 1;
        self.channels as u64 * self.ranks as u64 * self.banks() as u64 * rows * self.row_bytes
    }

    /// Usable capacity: bytes of the memory without the reserved rows.
    pub const fn usable_bytes(&self) -> u64 {
        self.bytes() - self.reserved_bytes()
    }

    /// Whether a bank, row and column exist.
    #[inline]
    pub const fn holds(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> bool {
        channel.0 < self.channels
            && bank.rank < self.ranks
            && bank.bank < self.banks()
            && row.0 < self.rows_per_bank()
            && column.0 < self.columns()
    }

    /// Whether the banks, row and columns of a command exist.
    pub fn holds_command(&self, channel: Channel, command: &Command) -> bool {
        let holds = |bank, row, column| self.holds(channel, bank, row, column);
        match command.operands() {
            Operands::Row(bank, row) => holds(bank, row, Column(0)),
            Operands::Line(bank, column) => holds(bank, Row(0), column),
            Operands::Lines((src, src_column), (dst, dst_column)) => {
                holds(src, Row(0), src_column) && holds(dst, Row(0), dst_column)
            }
            Operands::Bank(bank) | Operands::BankSet(bank) => holds(bank, Row(0), Column(0)),
            Operands::Rank(rank) => holds(BankId { rank, bank: 0 }, Row(0), Column(0)),
        }
    }
}

/// Use of a reserved row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReservedRow {
    /// Source of zeroing; never written.
    Zero,
    /// Intermediate row of 2 x PSM.
    Temporary,
}

#[cfg(test)]
mod tests;
