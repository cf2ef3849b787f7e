//! Address maps in a user's notation, presets, and errors.

use crate::geometry::Geometry;
use crate::subarrays::RowsPerSubarray;

/// An address map in a user's notation, not validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawAddressMap {
    /// Fields, from high to low.
    pub fields: Fields,
    /// Coordinate bits hashed with additional address bits.
    pub xor: Vec<RawXor>,
}

/// The fields of an address map in a user's notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Those of a preset, which depend on the geometry: subarrays of a size that is no power of two are no
    /// field of bits, and the preset then has the whole row number in the place of row and subarray.
    Preset(MapPreset),
    /// The coordinates from the high to the low address bits, each `"name"` or `"name:width"` with the width in
    /// bits: `["row", "rank", "bank", "column", "channel", "offset"]`.
    List(Vec<String>),
}

impl From<Vec<String>> for Fields {
    fn from(list: Vec<String>) -> Fields {
        Fields::List(list)
    }
}

/// A hashed coordinate bit: its plain bit XOR the listed bits of the physical address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawXor {
    /// `bank`, `channel` or `rank`.
    pub field: String,
    /// Bit of the coordinate, counted from 0.
    pub bit: u32,
    /// Bits of the physical address, counted from 0.
    pub address_bits: Vec<u32>,
}

crate::named! {
    /// Named address maps.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum MapPreset {
        /// A row is one block of addresses. Consecutive rows alternate over the channels, then the
        /// banks, then the ranks, then the subarrays.
        RowInterleaved = "row-interleaved",
        /// Consecutive lines alternate over the banks of a rank, then over the channels, then over the
        /// columns.
        BankInterleaved = "bank-interleaved",
        /// Consecutive lines alternate over the channels. The rows of all channels with equal bank and
        /// row numbers form one block.
        LineInterleaved = "line-interleaved",
        /// Consecutive lines alternate over the channels, then over the bank groups of a rank, so that
        /// tCCD_S separates their bursts and not tCCD_L.
        GroupInterleaved = "group-interleaved",
    }
}

impl MapPreset {
    /// Fields, from high to low, where all subarrays are of one size, a power of two. The row within its
    /// subarray is the highest, as in the `RowClone` paper, so that the reserved rows are the end of the
    /// memory.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            MapPreset::RowInterleaved => &["row", "subarray", "rank", "bank", "channel", "column", "offset"],
            MapPreset::BankInterleaved => &["row", "subarray", "rank", "column", "channel", "bank", "offset"],
            MapPreset::LineInterleaved => &["row", "subarray", "rank", "bank", "column", "channel", "offset"],
            MapPreset::GroupInterleaved => {
                &["row", "subarray", "rank", "bank", "column", "bank_group", "channel", "offset"]
            }
        }
    }

    /// Fields in a geometry, from high to low: without `subarray` where subarrays are no field of bits, so
    /// that `row` is the whole row number.
    pub fn fields_in(self, geometry: &Geometry) -> impl Iterator<Item = &'static str> {
        let has_subarray = geometry.subarray_row_bits().is_some();
        self.fields().iter().copied().filter(move |&name| has_subarray || name != Field::Subarray.name())
    }

    /// The map in a user's notation.
    pub const fn raw(self) -> RawAddressMap {
        RawAddressMap { fields: Fields::Preset(self), xor: Vec::new() }
    }
}

crate::named! {
    /// A coordinate of an address map.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Field {
        /// Row of the bank or, if `subarray` is also listed, the row within its subarray.
        Row = "row",
        /// Subarray of the bank: the high bits of the row number, if all subarrays are of one size, a power of two.
        Subarray = "subarray",
        /// Rank of the channel.
        Rank = "rank",
        /// Bank group of the rank: the high bits of the bank number.
        BankGroup = "bank_group",
        /// Bank of the rank or, if `bank_group` is also listed, the bank within its group.
        Bank = "bank",
        /// Line of the row.
        Column = "column",
        /// Channel.
        Channel = "channel",
        /// Byte of the line.
        Offset = "offset",
    }
}

/// Reason why an address map is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressMapError {
    /// No field has this name.
    #[error("`fields` lists `{found}`, which is no field of an address")]
    UnknownField {
        /// Text found.
        found: String,
    },
    /// The width is not a number of bits.
    #[error("`fields` lists `{found}`, whose width is not a number of bits from 0 to 63")]
    BadWidth {
        /// Text found.
        found: String,
        /// Name before the colon.
        field: String,
    },
    /// Subarrays are no field of bits.
    #[error("`fields` lists `subarray`, but with `rows_per_subarray = {rows}` no address bits select the subarray")]
    SubarrayField {
        /// Rows per subarray.
        rows: RowsPerSubarray,
    },
    /// A required field is not listed.
    #[error("`fields` does not list `{field}`, which needs {bits} address bits in this geometry")]
    Missing {
        /// Field.
        field: &'static str,
        /// Required bits.
        bits: u32,
    },
    /// The widths of a field do not add up.
    #[error("`fields` gives `{field}` {found} address bits, but it needs {bits} in this geometry")]
    WidthSum {
        /// Field.
        field: &'static str,
        /// Sum of the widths.
        found: u32,
        /// Required bits.
        bits: u32,
    },
    /// Two parts of a field have no width.
    #[error("`fields` lists `{field}` without a width more than once")]
    TwoOpenParts {
        /// Field.
        field: &'static str,
    },
    /// A line is not 64 consecutive bytes.
    #[error("`fields` does not end with one whole `offset`: a line must be 64 consecutive bytes")]
    OffsetNotLast,
    /// The field cannot be hashed.
    #[error("`xor` hashes `{found}`, but only bank, channel and rank can be hashed")]
    XorField {
        /// Text found.
        found: String,
    },
    /// The coordinate does not have the hashed bit.
    #[error("`xor` hashes bit {bit} of `{field}`, which has {bits} bits in this geometry")]
    XorBit {
        /// Field.
        field: &'static str,
        /// Bit.
        bit: u32,
        /// Bits of the coordinate.
        bits: u32,
    },
    /// Two entries hash one coordinate bit.
    #[error("`xor` hashes bit {bit} of `{field}` twice")]
    XorTwice {
        /// Field.
        field: &'static str,
        /// Bit.
        bit: u32,
    },
    /// The entry lists no address bits.
    #[error("`xor` hashes bit {bit} of `{field}` with no address bit")]
    XorNothing {
        /// Field.
        field: &'static str,
        /// Bit.
        bit: u32,
        /// A valid address bit.
        row_bit: u32,
    },
    /// An address bit is listed twice, which has no effect.
    #[error("`xor` lists address bit {address_bit} twice for bit {bit} of `{field}`")]
    XorRepeated {
        /// Field.
        field: &'static str,
        /// Bit.
        bit: u32,
        /// Address bit.
        address_bit: u32,
    },
    /// An address bit lies within the line, or past the end of the memory.
    #[error("`xor` hashes bit {bit} of `{field}` with address bit {address_bit}, but must use bits {least} to {most}")]
    XorAddressBit {
        /// Field.
        field: &'static str,
        /// Bit.
        bit: u32,
        /// Address bit.
        address_bit: u32,
        /// Lowest bit above the line offset.
        least: u32,
        /// Highest bit of the memory.
        most: u32,
    },
    /// A hash maps two addresses to one location.
    #[error("`xor` at bit {bit} of `{field}` makes the map send different addresses to the same place")]
    Singular {
        /// Field.
        field: &'static str,
        /// Bit.
        bit: u32,
        /// A valid address bit.
        row_bit: u32,
    },
}

impl AddressMapError {
    /// The key that is the cause: `fields` or `xor`.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::UnknownField { .. }
            | Self::BadWidth { .. }
            | Self::SubarrayField { .. }
            | Self::Missing { .. }
            | Self::WidthSum { .. }
            | Self::TwoOpenParts { .. }
            | Self::OffsetNotLast => "fields",
            Self::XorField { .. }
            | Self::XorBit { .. }
            | Self::XorTwice { .. }
            | Self::XorNothing { .. }
            | Self::XorRepeated { .. }
            | Self::XorAddressBit { .. }
            | Self::Singular { .. } => "xor",
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::UnknownField { .. } => {
                let [others @ .., last] = Field::ALL.map(|field| format!("`{}`", field.name()));
                format!("the fields are {} and {last}", others.join(", "))
            }
            Self::BadWidth { field, .. } => format!("try `\"{field}\"`, or a width such as `\"{field}:3\"`"),
            Self::SubarrayField { .. } => {
                "leave `subarray` out: `row` is then the whole row number; or take a power of two for \
                 `rows_per_subarray`"
                    .to_owned()
            }
            Self::Missing { field, .. } => format!("add `\"{field}\"` to `fields`"),
            Self::WidthSum { field, bits, .. } => {
                format!("try `\"{field}\"` without a width for one of its parts, or widths that add up to {bits}")
            }
            Self::TwoOpenParts { field } => format!("give all parts of `{field}` but one a width: `\"{field}:1\"`"),
            Self::OffsetNotLast => "write `\"offset\"` once, as the last of `fields`".to_owned(),
            Self::XorField { .. } => "try `field = \"bank\"`".to_owned(),
            Self::XorBit { field, bits: 0, .. } => {
                format!("leave this entry out: there is but one {field} in this geometry")
            }
            Self::XorBit { bits, .. } => format!("try a bit from 0 to {}", bits - 1),
            Self::XorTwice { .. } => "list all its address bits in one entry".to_owned(),
            Self::XorNothing { row_bit, .. } => format!("leave this entry out, or try `address_bits = [{row_bit}]`"),
            Self::XorRepeated { address_bit, .. } => format!("list {address_bit} once"),
            Self::XorAddressBit { least, most, .. } => format!("choose address bits from {least} to {most}"),
            Self::Singular { row_bit, .. } => {
                format!("hash with address bits that feed the row: try `address_bits = [{row_bit}]`")
            }
        }
    }
}
