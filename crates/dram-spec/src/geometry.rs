//! Geometry of a memory: channels, ranks, banks, subarrays, rows, lines, and reserved rows.

use std::ops::Range;

use crate::command::Command;
use crate::coordinates::{BankId, Channel, Column, Row};
use crate::datasheet::{Density, Width};
use crate::properties::Operands;
use crate::standard::{Chip, Standard};
use crate::subarrays::{self, RowsPerSubarray, Subarrays, SubarraysError};
use crate::topology::{BankSet, Topology};

/// Bytes per line: one burst, of eight transfers on 64 pins or of sixteen on 32.
pub const LINE_BYTES: u64 = 64;

/// Row of the `RowClone` paper's system: 4 KB per rank, one page.
pub const PAPER_ROW_BYTES: u64 = 4096;

/// A geometry in a user's notation, not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawGeometry {
    /// Standard of the chips.
    pub standard: Standard,
    /// Channels, 1 to 8, a power of two.
    pub channels: u64,
    /// Ranks per channel, 1 to 4, a power of two.
    pub ranks: u64,
    /// Density of a chip.
    pub density: Density,
    /// Data pins of a chip.
    pub width: Width,
    /// Bytes per row of a rank: as in the chips' datasheets (8, 16 or 32 KB), or the paper's 4 KB.
    pub row_bytes: u64,
    /// Rows per subarray: 128 to 1024, or 1 to 8 such numbers that repeat from row 0 of each bank.
    pub rows_per_subarray: RowsPerSubarray,
}

/// Reason why a geometry is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// A count is not a power of two in range.
    #[error("`{key}` is {found}, but must be a power of two from {least} to {most}")]
    Count {
        /// Key.
        key: &'static str,
        /// Value found.
        found: u64,
        /// Least valid value.
        least: u64,
        /// Largest valid value.
        most: u64,
    },
    /// A number of rows per subarray, or the count of numbers, is out of range.
    #[error("`rows_per_subarray` is {found}, but must be a whole number from 128 to 1024, or a list of 1 to 8 of them")]
    RowsPerSubarray {
        /// Value found.
        found: RowsPerSubarray,
    },
    /// The last subarray of a bank would have too few rows.
    #[error(
        "`rows_per_subarray` is {found}, which leaves {last} of the {rows_per_bank} rows of a bank for its last \
         subarray, but that needs 2: the zero row and the temporary row"
    )]
    LastSubarray {
        /// Value found.
        found: RowsPerSubarray,
        /// Rows left.
        last: u32,
        /// Rows per bank.
        rows_per_bank: u32,
    },
    /// The standard has no such chip.
    #[error("{} has no {density} {width} chip", .standard.name())]
    Chip {
        /// Standard.
        standard: Standard,
        /// Density.
        density: Density,
        /// Width.
        width: Width,
    },
    /// The chips do not have this row length.
    #[error("`row_bytes` is {found}, but a rank of {density} {width} chips has rows of {native} bytes")]
    RowBytes {
        /// Value found.
        found: u64,
        /// Row length of the chips.
        native: u64,
        /// Density.
        density: Density,
        /// Width.
        width: Width,
    },
}

impl GeometryError {
    /// The key that is the cause.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Count { key, .. } => key,
            Self::RowsPerSubarray { .. } | Self::LastSubarray { .. } => "rows_per_subarray",
            Self::RowBytes { .. } => "row_bytes",
            Self::Chip { .. } => "density_gb",
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match *self {
            Self::Count { key, found, least, most } => {
                let near = if found >= most { most } else { found.next_power_of_two().clamp(least, most) };
                format!("try `{key} = {near}`")
            }
            Self::RowsPerSubarray { found } => subarrays::help(&found, None),
            Self::LastSubarray { found, rows_per_bank, .. } => subarrays::help(&found, Some(rows_per_bank)),
            Self::Chip { standard, .. } => {
                let densities = standard.definition().densities().iter().map(Density::to_string).collect::<Vec<_>>();
                format!("{} chips have {}, each x4, x8 and x16", standard.name(), densities.join(", "))
            }
            Self::RowBytes { native, .. } => {
                format!("try `row_bytes = {native}`, or the RowClone paper's `row_bytes = {PAPER_ROW_BYTES}`")
            }
        }
    }
}

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

impl TryFrom<RawGeometry> for Geometry {
    type Error = GeometryError;

    fn try_from(raw: RawGeometry) -> Result<Self, GeometryError> {
        let RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray } = raw;
        let chip = standard.chip(density, width).ok_or(GeometryError::Chip { standard, density, width })?;
        let ranks_most = (BankSet::CAPACITY as u64 / u64::from(standard.definition().rank_banks_max)).min(4);
        for (key, found, least, most) in [("channels", channels, 1, 8), ("ranks", ranks, 1, ranks_most)] {
            if !found.is_power_of_two() || found < least || found > most {
                return Err(GeometryError::Count { key, found, least, most });
            }
        }
        let chips = standard.definition().channel_pins / width.pins();
        let native = native_row_bytes(standard, density, width);
        if row_bytes != native && row_bytes != PAPER_ROW_BYTES {
            return Err(GeometryError::RowBytes { found: row_bytes, native, density, width });
        }
        let rows_per_bank = (density.bits() / 8 * chips / u64::from(chip.banks()) / row_bytes) as u32;
        let found = rows_per_subarray;
        let subarrays = Subarrays::new(&found, rows_per_bank).map_err(|error| match error {
            SubarraysError::Range => GeometryError::RowsPerSubarray { found },
            SubarraysError::LastRows(last) => GeometryError::LastSubarray { found, last, rows_per_bank },
        })?;
        Ok(Geometry { channels: channels as u8, ranks: ranks as u8, standard, chip, row_bytes, subarrays })
    }
}

/// Row length of a rank of these chips: 8 KB for DDR3 x8 with a 1 KB page.
///
/// # Panics
/// If the standard has no such chip.
pub fn native_row_bytes(standard: Standard, density: Density, width: Width) -> u64 {
    let chip = standard.chip(density, width).expect("the standard has the chip");
    chip.page_bytes * (standard.definition().channel_pins / width.pins())
}

impl Geometry {
    /// Channels, 1 to 8.
    pub const fn channels(&self) -> u8 {
        self.channels
    }
    /// Ranks per channel, 1 to 4.
    pub const fn ranks(&self) -> u8 {
        self.ranks
    }
    /// Banks per rank.
    pub const fn banks(&self) -> u8 {
        self.chip.banks()
    }
    /// Channels, ranks, bank groups and banks.
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
    pub const fn page_bytes(&self) -> u64 {
        self.row_bytes / self.chips()
    }
    /// Rows per bank.
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
mod tests {
    use super::*;

    fn raw() -> RawGeometry {
        RawGeometry {
            standard: Standard::Ddr3,
            channels: 2,
            ranks: 1,
            density: Density::Gb2,
            width: Width::X8,
            row_bytes: 4096,
            rows_per_subarray: 512.into(),
        }
    }

    #[test]
    fn the_papers_system_is_four_gibibytes() {
        let geometry = Geometry::try_from(raw()).unwrap();
        assert_eq!(geometry.bytes(), 4 << 30);
        assert_eq!((geometry.rows_per_bank(), geometry.subarrays_per_bank()), (65_536, 128));
        assert_eq!((geometry.columns(), geometry.page_bytes()), (64, 512));
    }

    /// Row lengths from Ramulator 1's organization table.
    #[test]
    fn chips_have_the_rows_and_pages_of_their_datasheets() {
        use Density::{Gb1, Gb2, Gb4, Gb8};
        use Width::{X4, X8, X16};
        let cases = [
            (Gb1, X4, 16, 14),
            (Gb2, X4, 16, 15),
            (Gb4, X4, 16, 16),
            (Gb8, X4, 32, 16),
            (Gb1, X8, 8, 14),
            (Gb2, X8, 8, 15),
            (Gb4, X8, 8, 16),
            (Gb8, X8, 16, 16),
            (Gb1, X16, 8, 13),
            (Gb2, X16, 8, 14),
            (Gb4, X16, 8, 15),
            (Gb8, X16, 8, 16),
        ];
        for (density, width, kib, row_bits) in cases {
            let row_bytes = native_row_bytes(Standard::Ddr3, density, width);
            let geometry = Geometry::try_from(RawGeometry { density, width, row_bytes, ..raw() }).unwrap();
            assert_eq!((row_bytes, geometry.rows_per_bank()), (kib << 10, 1 << row_bits), "{density} {width}");
        }
    }

    #[test]
    fn an_impossible_geometry_says_what_would_work() {
        let check = |raw: RawGeometry, message: &str, help: &str| {
            let error = Geometry::try_from(raw).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
        };
        check(
            RawGeometry { channels: 3, ..raw() },
            "`channels` is 3, but must be a power of two from 1 to 8",
            "try `channels = 4`",
        );
        check(
            RawGeometry { ranks: 0, ..raw() },
            "`ranks` is 0, but must be a power of two from 1 to 4",
            "try `ranks = 1`",
        );
        check(
            RawGeometry { row_bytes: 2048, ..raw() },
            "`row_bytes` is 2048, but a rank of 2 Gb x8 chips has rows of 8192 bytes",
            "try `row_bytes = 8192`, or the RowClone paper's `row_bytes = 4096`",
        );
        check(
            RawGeometry { rows_per_subarray: [640, 127].into(), ..raw() },
            "`rows_per_subarray` is [640, 127], but must be a whole number from 128 to 1024, or a list of 1 to 8 of them",
            "try `rows_per_subarray = [640, 128]`",
        );
        check(
            RawGeometry { rows_per_subarray: 257.into(), ..raw() },
            "`rows_per_subarray` is 257, which leaves 1 of the 65536 rows of a bank for its last subarray, but that \
             needs 2: the zero row and the temporary row",
            "try `rows_per_subarray = 258`",
        );
    }

    #[test]
    fn each_subarray_reserves_one_row_and_each_bank_one_more() {
        let geometry = Geometry::try_from(raw()).unwrap();
        let reserved = (0..geometry.rows_per_bank()).filter(|&row| geometry.reserved(Row(row)).is_some()).count();
        assert_eq!(reserved, 129);
        assert_eq!(geometry.reserved_bytes(), 129 * 4096 * 16);
        assert_eq!(geometry.reserved(geometry.zero_row(7)), Some(ReservedRow::Zero));
        assert_eq!(geometry.reserved(geometry.temporary_row()), Some(ReservedRow::Temporary));
        assert_eq!(geometry.reserved(Row(0)), None);
    }

    /// 32 times 640, 640 and 768 rows: 96 zero rows, and the temporary row of the bank.
    #[test]
    fn subarrays_of_a_pattern_have_their_zero_rows_and_hops() {
        let geometry = Geometry::try_from(RawGeometry { rows_per_subarray: [640, 640, 768].into(), ..raw() }).unwrap();
        assert_eq!((geometry.subarrays_per_bank(), geometry.subarray_row_bits()), (96, None));
        assert_eq!([0, 1, 2, 95].map(|subarray| geometry.zero_row(subarray).0), [639, 1279, 2047, 65_535]);
        assert_eq!(geometry.temporary_row(), Row(65_534));
        let hops = |from, to| geometry.subarray_distance(Row(from), Row(to));
        assert_eq!((hops(0, 639), hops(639, 640), hops(1279, 2048), hops(2048, 0)), (0, 1, 2, 3));
        let reserved = (0..geometry.rows_per_bank()).filter(|&row| geometry.reserved(Row(row)).is_some()).count();
        assert_eq!((reserved, geometry.reserved_bytes()), (97, 97 * 4096 * 16));
        let at = [511, 639, 640, 1279, 65_534].map(|row| geometry.reserved(Row(row)));
        let zero = Some(ReservedRow::Zero);
        assert_eq!(at, [None, zero, None, zero, Some(ReservedRow::Temporary)]);
    }

    /// 113 x 576 rows, and a last subarray of 448.
    #[test]
    fn a_cut_last_subarray_has_its_zero_row_and_the_temporary_row() {
        let geometry = Geometry::try_from(RawGeometry { rows_per_subarray: 576.into(), ..raw() }).unwrap();
        assert_eq!((geometry.subarrays_per_bank(), geometry.rows_of_subarray(113)), (114, 65_088..65_536));
        assert_eq!((geometry.zero_row(112), geometry.zero_row(113)), (Row(65_087), Row(65_535)));
        assert_eq!(geometry.reserved(Row(65_534)), Some(ReservedRow::Temporary));
        assert_eq!(geometry.reserved_bytes(), 115 * 4096 * 16);
    }
}
