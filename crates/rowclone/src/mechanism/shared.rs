//! Data that the plans of a memory share, and the conditions that mechanisms share: coverage of rows, location of
//! rows, faulty rows.

use std::collections::BTreeSet;

use dram_spec::{AddressMap, BankId, LINE_BYTES, Location, PhysicalAddress, Row};

use super::{Chip, Copied};
use crate::check::Reserved;
use crate::faulty::{BankRow, FaultyRows, RowAddress};
use crate::reason::Reason;

/// Share of a destination row that the operation covers, with the reason if it is not the whole
/// row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coverage {
    Whole,
    /// The operation covers other rows completely; this row is at its edge.
    Ragged(Reason),
    /// The operation contains no whole block of the granularity, and does not cover this row.
    TooSmall(Reason),
}

impl Coverage {
    /// Whether the operation covers the row.
    pub(crate) fn reason(self) -> Result<(), Reason> {
        match self {
            Coverage::Whole => Ok(()),
            Coverage::Ragged(reason) | Coverage::TooSmall(reason) => Err(reason),
        }
    }

    /// Whether the operation is large enough to cover a row.
    pub(crate) fn too_small(self) -> Result<(), Reason> {
        match self {
            Coverage::Whole | Coverage::Ragged(_) => Ok(()),
            Coverage::TooSmall(reason) => Err(reason),
        }
    }
}

/// Data that clones of a planner and its blocks share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) map: AddressMap,
    pub(crate) faulty: FaultyRows,
    pub(crate) chip: Chip,
    pub(crate) spread: Spread,
    /// Runs of addresses that follow each other in rows which differ in nothing but the channel.
    pub(crate) channels_in_turn: u64,
    pub(crate) reserved: Reserved,
    /// End of the usable memory.
    pub(crate) end: PhysicalAddress,
}

/// Numbers of channels and banks in the smallest block of whole rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) channels: u32,
    /// Banks per channel, of all ranks.
    pub(crate) banks: u32,
}

impl Spread {
    pub(crate) fn new(map: &AddressMap) -> Spread {
        // The map is linear (XOR): the channels of a block are all sums of the channels of its
        // address bits, and so are the banks.
        let mut channels = BTreeSet::from([0]);
        let mut banks = BTreeSet::from([(0, 0)]);
        for bit in LINE_BYTES.trailing_zeros()..map.granularity().trailing_zeros() {
            let Some(Location { channel, bank, .. }) = map.locate(PhysicalAddress(1 << bit)) else { continue };
            channels = channels.iter().flat_map(|&other| [other, other ^ channel.0]).collect();
            banks = banks.iter().flat_map(|&(rank, b)| [(rank, b), (rank ^ bank.rank, b ^ bank.bank)]).collect();
        }
        Spread { channels: channels.len() as u32, banks: banks.len() as u32 }
    }
}

/// Runs between a run of a row and the next one, if they differ in nothing but the channel; else 1.
pub(crate) fn channels_in_turn(map: &AddressMap) -> u64 {
    let (run, stride) = (map.run_bytes(), map.stride().bytes);
    let is_of_channel = |bit: u32| {
        let location = map.locate(PhysicalAddress(1 << bit));
        location.is_some_and(|Location { channel, .. }| location == Some(Location { channel, ..Location::default() }))
    };
    if (run.trailing_zeros()..stride.trailing_zeros()).all(is_of_channel) { stride / run } else { 1 }
}

impl Shared {
    /// Reason why an operation without a block of whole rows does not cover a row.
    pub(crate) fn uncovered(&self, covered: u64, operation_bytes: u64) -> Reason {
        let (row_bytes, granularity) = (self.map.geometry().row_bytes(), self.map.granularity());
        if granularity == row_bytes {
            return Reason::PartialRow { covered, row_bytes, operation_bytes, granularity };
        }
        let Spread { channels, banks } = self.spread;
        Reason::Interleaved { covered, row_bytes, granularity, run_bytes: self.map.run_bytes(), channels, banks }
    }

    /// The zero row of the subarray of a row.
    pub(crate) fn zero_row(&self, row: Row) -> Row {
        self.map.geometry().zero_row(self.map.geometry().subarray(row))
    }

    /// Whether a TRANSFER is possible between two banks of a rank: not in one bank group, unless the chips
    /// say so, as its banks share the data lines (`decisions/0027`).
    pub(crate) fn may_transfer(&self, one: BankId, other: BankId) -> bool {
        let topology = self.map.geometry().topology();
        one != other
            && (!topology.has_groups() || self.chip.psm_within_group || topology.group(one) != topology.group(other))
    }

    /// The next bank of the rank, cyclically, to which a TRANSFER is possible and in which reserved row
    /// `row` is not remapped.
    pub(crate) fn next_bank(&self, of: RowAddress, row: Row) -> Option<BankRow> {
        let banks = self.map.geometry().banks();
        (1..banks)
            .map(|step| BankId { bank: (of.bank.bank + step) % banks, ..of.bank })
            .find(|&bank| self.may_transfer(of.bank, bank) && !self.faulty.contains(RowAddress { bank, row, ..of }))
            .map(|bank| (bank, row))
    }

    #[inline]
    pub(crate) fn same_subarray(&self, src: RowAddress, dst: RowAddress) -> Result<(), Reason> {
        if src.bank != dst.bank {
            Err(Reason::OtherBank)
        } else if !self.map.geometry().is_same_subarray(src.row, dst.row) {
            Err(Reason::OtherSubarray)
        } else {
            Ok(())
        }
    }

    pub(crate) fn other_subarray(&self, src: RowAddress, dst: RowAddress) -> Result<(), Reason> {
        match self.same_subarray(src, dst) {
            Ok(()) => Err(Reason::SameSubarray),
            Err(Reason::OtherSubarray) => Ok(()),
            Err(reason) => Err(reason),
        }
    }

    /// Whether a whole row is copied, each line to its column, and neither row is remapped.
    pub(crate) fn whole_row(&self, copied: &Copied<'_>) -> Result<(), Reason> {
        let Copied { src, dst, pieces, coverage } = *copied;
        coverage.reason()?;
        // The destination row is covered, but a source that is shifted within its row gives only some of the lines.
        // The columns are compared all the same: a copy activation cannot move a line to another column.
        let bytes: u64 = pieces.iter().map(|piece| piece.dst.total()).sum();
        if bytes < self.map.geometry().row_bytes() || pieces.iter().any(|p| p.src_column != p.dst_column) {
            return Err(Reason::ColumnsDiffer { granularity: self.map.granularity() });
        }
        self.sound(src)?;
        self.sound(dst)
    }

    /// Whether a row is not remapped.
    pub(crate) fn sound(&self, row: RowAddress) -> Result<(), Reason> {
        if self.faulty.contains(row) { Err(Reason::FaultyRow { row }) } else { Ok(()) }
    }
}

pub(crate) fn same_rank(src: RowAddress, dst: RowAddress) -> Result<(), Reason> {
    if src.channel != dst.channel {
        Err(Reason::OtherChannel)
    } else if src.bank.rank != dst.bank.rank {
        Err(Reason::OtherRank)
    } else {
        Ok(())
    }
}
