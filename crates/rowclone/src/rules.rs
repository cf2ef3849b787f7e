//! Conditions that mechanisms share: coverage of rows, location of rows, faulty rows.

use dram_spec::{BankId, Row};

use crate::faulty::RowAddress;
use crate::mechanism::{BankRow, Copied};
use crate::planner::Shared;
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

impl Shared {
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
