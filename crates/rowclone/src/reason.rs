//! Reasons why a mechanism is not possible for a part.

use dram_spec::LINE_BYTES;
use dram_spec::address::FRAME_BYTES;
use strum::VariantNames;

use crate::faulty::RowAddress;

/// Maximum number of destination bytes planned at a time, 16 MiB.
///
/// Practical maps have a smaller granularity (32 KB rows over 8 channels, 4 ranks and 8 banks: 8
/// MiB). Under a map with a larger granularity (such as with the column above the row), FPM is
/// impossible.
pub const MAX_WINDOW_BYTES: u64 = 16 << 20;

/// Reason why a mechanism is impossible for a part of an operation. Formats a sentence without its full stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Reason {
    /// A read or a write: its data cross the channel by definition.
    #[error("the data of a read or a write cross the channel by definition")]
    NotACopy,
    /// Source and destination overlap at less than the minimum copy granularity.
    #[error(
        "source and destination overlap and are only {distance} bytes apart, less than the granularity of \
            {granularity}"
    )]
    Overlap {
        /// Distance in bytes.
        distance: u64,
        /// Minimum copy granularity.
        granularity: u64,
    },
    /// Source and destination are misaligned within a line.
    #[error("source and destination differ by a part of a line ({by} of {LINE_BYTES} bytes)")]
    LineMisaligned {
        /// Difference of their offsets, 1 to 63 bytes.
        by: u64,
    },
    /// The operation covers only a part of the line.
    #[error("the operation covers only a part of the line")]
    PartialLine,
    /// Source and destination are in different channels.
    #[error("source and destination lie in different channels")]
    OtherChannel,
    /// Source and destination are in different ranks of a channel.
    #[error("source and destination lie in different ranks")]
    OtherRank,
    /// Source and destination are in different banks of a rank.
    #[error("source and destination lie in different banks")]
    OtherBank,
    /// Source and destination are in different subarrays of a bank.
    #[error("source and destination lie in different subarrays of a bank")]
    OtherSubarray,
    /// Source and destination are in one bank.
    #[error("source and destination lie in the same bank")]
    SameBank,
    /// Source and destination are in one bank group.
    #[error("source and destination lie in the same bank group")]
    #[strum(to_string = "same-bank-group")]
    SameGroup,
    /// Source and destination are in one subarray.
    #[error("source and destination lie in the same subarray")]
    SameSubarray,
    /// Source and destination are in one row.
    #[error("source and destination lie in the same row")]
    SameRow,
    /// The operation covers only a part of the row, although a row is one block of addresses or the
    /// operation is long enough to cover others.
    #[error(
        "the row is {row_bytes} bytes and the operation covers {covered} of it: {}",
        without_a_row(*operation_bytes, *row_bytes)
    )]
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
    #[error(
        "{} spreads each row over {}: the rows fill {granularity} bytes together, and the operation covers {covered} \
            of this row's {row_bytes}",
        if *run_bytes == LINE_BYTES { "line interleaving" } else { "interleaving" },
        spread(*channels, *banks)
    )]
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
    #[error("source and destination lie at different columns: both must begin at the same place of a row")]
    ColumnsDiffer {
        /// Minimum copy granularity.
        granularity: u64,
    },
    /// A row involved was remapped.
    #[error("{row} was remapped")]
    FaultyRow {
        /// Row.
        row: RowAddress,
    },
    /// The temporary rows of all other banks of the rank were remapped.
    #[error("the temporary rows of all other banks of the rank were remapped")]
    NoTemporaryRow,
    /// The zero rows of this number in all other banks of the rank were remapped.
    #[error("the zero rows of all other banks of the rank were remapped")]
    NoZeroRow,
    /// PSM from another bank's zero row does it in one step.
    #[error("the zeros come from another bank by one PSM")]
    PsmSuffices,
    /// The first whole row of its rank that is set to a value other than zero: no row to copy from
    /// exists.
    #[error("the first row of a value must be written in each rank: nothing there holds it yet")]
    FirstRowIsWritten,
    /// No usable row of this subarray contains the value.
    #[error("no sound row of the subarray holds the value yet")]
    NoSource,
    /// The chips do not offer the mechanism.
    #[error("the chips do not offer it (`copy.mechanisms`)")]
    NotOffered,
}

impl Reason {
    /// Names of all reasons.
    pub const NAMES: &[&str] = <Reason as VariantNames>::VARIANTS;

    /// Name in JSON; stable.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Minimum copy granularity, if the reason is that the operation does not cover a row from the
    /// same columns of one row.
    pub const fn uncovered_granularity(&self) -> Option<u64> {
        match *self {
            Reason::PartialRow { granularity, .. }
            | Reason::Interleaved { granularity, .. }
            | Reason::ColumnsDiffer { granularity } => Some(granularity),
            _ => None,
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

/// Why an operation that covers a part of a row does not cover all of it.
fn without_a_row(operation_bytes: u64, row_bytes: u64) -> &'static str {
    if operation_bytes == FRAME_BYTES && row_bytes > FRAME_BYTES {
        "a page is smaller than the row"
    } else if operation_bytes < row_bytes {
        "the operation is smaller than the row"
    } else {
        "it begins or ends within the row"
    }
}

/// Places over which a map spreads a row, by the channels and the banks per channel of a block of whole rows.
fn spread(channels: u32, banks: u32) -> String {
    match (channels, banks) {
        (1, 1) => "other rows of its bank".to_owned(),
        (channels, 1) => count(channels, "channel"),
        (1, banks) => count(banks, "bank"),
        (channels, banks) => format!("{} of {} each", count(channels, "channel"), count(banks, "bank")),
    }
}
