//! An address map as a user writes it, the presets, and what may be wrong with it.

/// An address map as written by a user: nothing of it is checked yet.
///
/// `fields` lists the coordinates from the high to the low address bits, each `"name"` or `"name:width"` with the width
/// in bits: `["row", "rank", "bank", "column", "channel", "offset"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawAddressMap {
    /// The fields, from high to low.
    pub fields: Vec<String>,
    /// Coordinate bits that are hashed with further address bits.
    pub xor: Vec<RawXor>,
}

/// One hashed coordinate bit: its plain bit XOR the named bits of the physical address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawXor {
    /// `bank`, `channel` or `rank`.
    pub field: String,
    /// The bit of that coordinate, counted from 0.
    pub bit: u32,
    /// The bits of the physical address, counted from 0.
    pub address_bits: Vec<u32>,
}

/// The address maps that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// A row is one block of addresses. Consecutive rows go over the channels, then the banks, then the ranks.
    RowInterleaved,
    /// Consecutive lines go over the banks of a rank, then over the channels; then follows the next column.
    BankInterleaved,
    /// Consecutive lines go over the channels. The rows of all channels that share a bank number make one block.
    LineInterleaved,
}

impl Preset {
    /// All presets, in the order in which messages list them.
    pub const ALL: [Preset; 3] = [Preset::RowInterleaved, Preset::BankInterleaved, Preset::LineInterleaved];

    /// The name that a user writes.
    pub const fn name(self) -> &'static str {
        match self {
            Preset::RowInterleaved => "row-interleaved",
            Preset::BankInterleaved => "bank-interleaved",
            Preset::LineInterleaved => "line-interleaved",
        }
    }

    /// The preset of that name.
    pub fn from_name(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// The fields, from high to low.
    pub const fn fields(self) -> [&'static str; 6] {
        match self {
            Preset::RowInterleaved => ["row", "rank", "bank", "channel", "column", "offset"],
            Preset::BankInterleaved => ["row", "rank", "column", "channel", "bank", "offset"],
            Preset::LineInterleaved => ["row", "rank", "bank", "column", "channel", "offset"],
        }
    }

    /// The map as a user would have to write it.
    pub fn raw(self) -> RawAddressMap {
        RawAddressMap { fields: self.fields().map(str::to_owned).to_vec(), xor: Vec::new() }
    }
}

/// A coordinate that address bits feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The row of the bank or, where `subarray` is listed too, the row within its subarray.
    Row,
    /// The subarray within its bank: the high bits of the row number.
    Subarray,
    /// The rank of the channel.
    Rank,
    /// The bank of the rank.
    Bank,
    /// The line of the row.
    Column,
    /// The channel.
    Channel,
    /// The byte of the line.
    Offset,
}

impl Field {
    /// All fields.
    pub const ALL: [Field; 7] =
        [Field::Row, Field::Subarray, Field::Rank, Field::Bank, Field::Column, Field::Channel, Field::Offset];

    /// The name that a user writes.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Row => "row",
            Field::Subarray => "subarray",
            Field::Rank => "rank",
            Field::Bank => "bank",
            Field::Column => "column",
            Field::Channel => "channel",
            Field::Offset => "offset",
        }
    }

    /// The field of that name.
    pub fn from_name(name: &str) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// What is wrong with an address map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressMapError {
    /// A name that is none of a field.
    #[error("`fields` lists `{found}`, which is no field of an address")]
    UnknownField {
        /// What was written.
        found: String,
    },
    /// A width that is no number of bits.
    #[error("`fields` lists `{found}`, whose width is not a number of bits from 0 to 63")]
    BadWidth {
        /// What was written.
        found: String,
        /// The name before the colon.
        field: String,
    },
    /// A coordinate that needs bits, but is not listed.
    #[error("`fields` does not list `{field}`, which needs {bits} address bits in this geometry")]
    Missing {
        /// The field.
        field: &'static str,
        /// How many bits it needs.
        bits: u32,
    },
    /// Widths that do not add up.
    #[error("`fields` gives `{field}` {found} address bits, but it needs {bits} in this geometry")]
    WidthSum {
        /// The field.
        field: &'static str,
        /// The sum of the widths written.
        found: u32,
        /// How many bits it needs.
        bits: u32,
    },
    /// Two parts of one field that both would take the rest.
    #[error("`fields` lists `{field}` without a width more than once")]
    TwoOpenParts {
        /// The field.
        field: &'static str,
    },
    /// A line that is not 64 consecutive bytes.
    #[error("`fields` does not end with one whole `offset`: a line must be 64 consecutive bytes")]
    OffsetNotLast,
    /// A hashed field that cannot be hashed.
    #[error("`xor` hashes `{found}`, but only bank, channel and rank can be hashed")]
    XorField {
        /// What was written.
        found: String,
    },
    /// A hashed bit that the coordinate does not have.
    #[error("`xor` hashes bit {bit} of `{field}`, which has {bits} bits in this geometry")]
    XorBit {
        /// The field.
        field: &'static str,
        /// The bit.
        bit: u32,
        /// How many bits it has.
        bits: u32,
    },
    /// One coordinate bit that is hashed by two entries.
    #[error("`xor` hashes bit {bit} of `{field}` twice")]
    XorTwice {
        /// The field.
        field: &'static str,
        /// The bit.
        bit: u32,
    },
    /// An entry that hashes with nothing.
    #[error("`xor` hashes bit {bit} of `{field}` with no address bit")]
    XorNothing {
        /// The field.
        field: &'static str,
        /// The bit.
        bit: u32,
        /// An address bit that would work.
        row_bit: u32,
    },
    /// An address bit that is listed twice, and so cancels itself.
    #[error("`xor` lists address bit {address_bit} twice for bit {bit} of `{field}`")]
    XorRepeated {
        /// The field.
        field: &'static str,
        /// The bit.
        bit: u32,
        /// The address bit.
        address_bit: u32,
    },
    /// An address bit within the line, or past the end of the memory.
    #[error("`xor` hashes bit {bit} of `{field}` with address bit {address_bit}, but must use bits {least} to {most}")]
    XorAddressBit {
        /// The field.
        field: &'static str,
        /// The bit.
        bit: u32,
        /// The address bit.
        address_bit: u32,
        /// The lowest bit that does not lie within a line.
        least: u32,
        /// The highest bit of the memory.
        most: u32,
    },
    /// A hash that sends two addresses to the same place.
    #[error("`xor` at bit {bit} of `{field}` makes the map send different addresses to the same place")]
    Singular {
        /// The field.
        field: &'static str,
        /// The bit.
        bit: u32,
        /// An address bit that would work.
        row_bit: u32,
    },
}

impl AddressMapError {
    /// The key that is wrong: `fields` or `xor`.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::UnknownField { .. }
            | Self::BadWidth { .. }
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

    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::UnknownField { .. } => {
                "the fields are `row`, `subarray`, `rank`, `bank`, `column`, `channel` and `offset`".to_owned()
            }
            Self::BadWidth { field, .. } => format!("try `\"{field}\"`, or a width such as `\"{field}:3\"`"),
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
