//! Reasons why a mechanism is not possible for a part.

use std::fmt;

use dram_spec::LINE_BYTES;
use dram_spec::address::FRAME_BYTES;

use crate::faulty::RowAddress;

/// Maximum number of destination bytes planned at a time, 16 MiB.
///
/// Practical maps have a smaller granularity (32 KB rows over 8 channels, 4 ranks and 8 banks: 8
/// MiB). Under a map with a larger granularity (such as with the column above the row), FPM is
/// impossible.
pub const MAX_WINDOW_BYTES: u64 = 16 << 20;

/// Reason why a mechanism is impossible for a part of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A read or a write: its data cross the channel by definition.
    NotACopy,
    /// Source and destination overlap at less than the minimum copy granularity.
    Overlap {
        /// Distance in bytes.
        distance: u64,
        /// Minimum copy granularity.
        granularity: u64,
    },
    /// Source and destination are misaligned within a line.
    LineMisaligned {
        /// Difference of their offsets, 1 to 63 bytes.
        by: u64,
    },
    /// The operation covers only a part of the line.
    PartialLine,
    /// Source and destination are in different channels.
    OtherChannel,
    /// Source and destination are in different ranks of a channel.
    OtherRank,
    /// Source and destination are in different banks of a rank.
    OtherBank,
    /// Source and destination are in different subarrays of a bank.
    OtherSubarray,
    /// Source and destination are in one bank.
    SameBank,
    /// Source and destination are in one bank group.
    SameGroup,
    /// Source and destination are in one subarray.
    SameSubarray,
    /// Source and destination are in one row.
    SameRow,
    /// The operation covers only a part of the row, although a row is one block of addresses or the
    /// operation is long enough to cover others.
    PartialRow {
        /// Bytes of this row that the operation covers.
        covered: u64,
        /// Bytes per row.
        row_bytes: u64,
        /// Bytes of the operation.
        operation_bytes: u64,
        /// Minimum copy granularity.
        granularity: u64,
    },
    /// The map interleaves below the row, and the operation contains no whole block of the
    /// granularity.
    Interleaved {
        /// Bytes of this row that the operation covers.
        covered: u64,
        /// Bytes per row.
        row_bytes: u64,
        /// Minimum copy granularity: bytes of the smallest block of whole rows.
        granularity: u64,
        /// Consecutive bytes in one row.
        run_bytes: u64,
        /// Channels of such a block.
        channels: u32,
        /// Banks per channel of such a block, in all ranks.
        banks: u32,
    },
    /// The operation covers the row, but from other columns, or from two rows.
    ColumnsDiffer {
        /// Minimum copy granularity.
        granularity: u64,
    },
    /// A row involved was remapped.
    FaultyRow {
        /// Row.
        row: RowAddress,
    },
    /// The temporary rows of all other banks of the rank were remapped.
    NoTemporaryRow,
    /// The zero rows of this number in all other banks of the rank were remapped.
    NoZeroRow,
    /// PSM from another bank's zero row does it in one step.
    PsmSuffices,
    /// The first whole row of its rank that is set to a value other than zero: no row to copy from
    /// exists.
    FirstRowIsWritten,
    /// No usable row of this subarray contains the value.
    NoSource,
    /// The chips do not offer the mechanism.
    NotOffered,
}

macro_rules! names {
    ($($reason:pat => $name:literal,)*) => {
        impl Reason {
            /// Names of all reasons.
            pub const NAMES: [&'static str; [$($name),*].len()] = [$($name),*];

            /// Name in JSON; stable.
            pub const fn name(&self) -> &'static str {
                match self {
                    $($reason => $name,)*
                }
            }
        }
    };
}

names! {
    Reason::NotACopy => "not-a-copy",
    Reason::Overlap { .. } => "overlap",
    Reason::LineMisaligned { .. } => "line-misaligned",
    Reason::PartialLine => "partial-line",
    Reason::OtherChannel => "other-channel",
    Reason::OtherRank => "other-rank",
    Reason::OtherBank => "other-bank",
    Reason::OtherSubarray => "other-subarray",
    Reason::SameBank => "same-bank",
    Reason::SameGroup => "same-bank-group",
    Reason::SameSubarray => "same-subarray",
    Reason::SameRow => "same-row",
    Reason::PartialRow { .. } => "partial-row",
    Reason::Interleaved { .. } => "interleaved",
    Reason::ColumnsDiffer { .. } => "columns-differ",
    Reason::FaultyRow { .. } => "faulty-row",
    Reason::NoTemporaryRow => "no-temporary-row",
    Reason::NoZeroRow => "no-zero-row",
    Reason::PsmSuffices => "psm-suffices",
    Reason::FirstRowIsWritten => "first-row-is-written",
    Reason::NoSource => "no-source",
    Reason::NotOffered => "not-offered",
}

impl Reason {
    /// Minimum copy granularity, if the reason is that the operation does not cover a row from the
    /// same columns of one row.
    pub const fn uncovered_granularity(&self) -> Option<u64> {
        match *self {
            Reason::PartialRow { granularity, .. }
            | Reason::Interleaved { granularity, .. }
            | Reason::ColumnsDiffer { granularity } => Some(granularity),
            Reason::NotACopy
            | Reason::Overlap { .. }
            | Reason::LineMisaligned { .. }
            | Reason::PartialLine
            | Reason::OtherChannel
            | Reason::OtherRank
            | Reason::OtherBank
            | Reason::OtherSubarray
            | Reason::SameBank
            | Reason::SameGroup
            | Reason::SameSubarray
            | Reason::SameRow
            | Reason::FaultyRow { .. }
            | Reason::NoTemporaryRow
            | Reason::NoZeroRow
            | Reason::PsmSuffices
            | Reason::FirstRowIsWritten
            | Reason::NoSource
            | Reason::NotOffered => None,
        }
    }

    /// Suggested change that makes the mechanism possible, if there is one.
    pub fn help(&self) -> Option<String> {
        match *self {
            Reason::PartialRow { row_bytes, operation_bytes, .. } if operation_bytes < row_bytes => Some(format!(
                "copy {row_bytes}-byte blocks aligned to {row_bytes}, or use a system whose row is one page"
            )),
            Reason::PartialRow { granularity, .. } => {
                Some(format!("begin and end the operation at multiples of {granularity} bytes"))
            }
            Reason::Interleaved { granularity, .. } if granularity > MAX_WINDOW_BYTES => {
                Some("use row interleaving".to_owned())
            }
            Reason::Interleaved { granularity, .. } => {
                Some(format!("copy blocks of {granularity} bytes aligned to {granularity}, or use row interleaving"))
            }
            Reason::ColumnsDiffer { granularity } => {
                Some(format!("let source and destination differ by a multiple of {granularity} bytes"))
            }
            Reason::Overlap { granularity, .. } => Some(format!("move the bytes by at least {granularity}")),
            Reason::LineMisaligned { .. } => {
                Some(format!("let source and destination differ by a multiple of {LINE_BYTES} bytes"))
            }
            Reason::OtherChannel | Reason::OtherRank | Reason::OtherBank | Reason::OtherSubarray => {
                Some("let the allocator take the destination from the source's subarray".to_owned())
            }
            Reason::NotACopy
            | Reason::SameBank
            | Reason::SameGroup
            | Reason::SameSubarray
            | Reason::SameRow
            | Reason::PartialLine
            | Reason::FaultyRow { .. }
            | Reason::NoTemporaryRow
            | Reason::NoZeroRow
            | Reason::PsmSuffices
            | Reason::FirstRowIsWritten
            | Reason::NoSource
            | Reason::NotOffered => None,
        }
    }
}

/// Formats `2 channels`, `1 channel`.
fn count(number: u32, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Formats a sentence without its full stop.
impl std::error::Error for Reason {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reason::NotACopy => write!(f, "the data of a read or a write cross the channel by definition"),
            Reason::Overlap { distance, granularity } => write!(
                f,
                "source and destination overlap and are only {distance} bytes apart, less than the granularity of \
                    {granularity}"
            ),
            Reason::LineMisaligned { by } => {
                write!(f, "source and destination differ by a part of a line ({by} of {LINE_BYTES} bytes)")
            }
            Reason::PartialLine => write!(f, "the operation covers only a part of the line"),
            Reason::OtherChannel => write!(f, "source and destination lie in different channels"),
            Reason::OtherRank => write!(f, "source and destination lie in different ranks"),
            Reason::OtherBank => write!(f, "source and destination lie in different banks"),
            Reason::OtherSubarray => write!(f, "source and destination lie in different subarrays of a bank"),
            Reason::SameBank => write!(f, "source and destination lie in the same bank"),
            Reason::SameGroup => write!(f, "source and destination lie in the same bank group"),
            Reason::SameSubarray => write!(f, "source and destination lie in the same subarray"),
            Reason::SameRow => write!(f, "source and destination lie in the same row"),
            Reason::PartialRow { covered, row_bytes, operation_bytes, .. } => {
                write!(f, "the row is {row_bytes} bytes and the operation covers {covered} of it: ")?;
                if operation_bytes == FRAME_BYTES && row_bytes > FRAME_BYTES {
                    write!(f, "a page is smaller than the row")
                } else if operation_bytes < row_bytes {
                    write!(f, "the operation is smaller than the row")
                } else {
                    write!(f, "it begins or ends within the row")
                }
            }
            Reason::Interleaved { covered, row_bytes, granularity, run_bytes, channels, banks } => {
                let kind = if run_bytes == LINE_BYTES { "line interleaving" } else { "interleaving" };
                let over = match (channels, banks) {
                    (1, 1) => "other rows of its bank".to_owned(),
                    (channels, 1) => count(channels, "channel"),
                    (1, banks) => count(banks, "bank"),
                    (channels, banks) => format!("{} of {} each", count(channels, "channel"), count(banks, "bank")),
                };
                write!(f, "{kind} spreads each row over {over}: ")?;
                write!(f, "the rows fill {granularity} bytes together, and the operation covers {covered} ")?;
                write!(f, "of this row's {row_bytes}")
            }
            Reason::ColumnsDiffer { .. } => {
                write!(f, "source and destination lie at different columns: both must begin at the same place of a row")
            }
            Reason::FaultyRow { row } => write!(f, "{row} was remapped"),
            Reason::NoTemporaryRow => write!(f, "the temporary rows of all other banks of the rank were remapped"),
            Reason::NoZeroRow => write!(f, "the zero rows of all other banks of the rank were remapped"),
            Reason::PsmSuffices => write!(f, "the zeros come from another bank by one PSM"),
            Reason::FirstRowIsWritten => {
                write!(f, "the first row of a value must be written in each rank: nothing there holds it yet")
            }
            Reason::NoSource => write!(f, "no sound row of the subarray holds the value yet"),
            Reason::NotOffered => write!(f, "the chips do not offer it (`copy.mechanisms`)"),
        }
    }
}
