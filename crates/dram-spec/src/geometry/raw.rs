//! Geometries in a user's notation, errors, and validation.

use super::{Geometry, PAPER_ROW_BYTES};
use crate::standard::Standard;
use crate::standard::{Density, Width};
use crate::subarrays::{self, RowsPerSubarray, Subarrays, SubarraysError};
use crate::topology::BankSet;

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
