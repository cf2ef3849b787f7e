//! The paper's rules: possible mechanisms of a part.

use dram_spec::{BankId, Row};

use crate::block::{BankRow, Piece, Routes};
use crate::faulty::RowAddress;
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
    fn reason(self) -> Result<(), Reason> {
        match self {
            Coverage::Whole => Ok(()),
            Coverage::Ragged(reason) | Coverage::TooSmall(reason) => Err(reason),
        }
    }

    fn too_small(self) -> Result<(), Reason> {
        match self {
            Coverage::Whole | Coverage::Ragged(_) => Ok(()),
            Coverage::TooSmall(reason) => Err(reason),
        }
    }
}

impl Shared {
    /// Routes of whole lines copied from `src` to `dst`.
    pub(crate) fn copy_routes(&self, src: RowAddress, dst: RowAddress, pieces: &[Piece], coverage: Coverage) -> Routes {
        let rank = same_rank(src, dst);
        let fpm = || {
            coverage.too_small()?;
            rank?;
            self.same_subarray(src, dst)?;
            coverage.reason()?;
            // The destination row is covered, but a source that is shifted within its row gives only some of the lines.
            // The columns are compared all the same: a copy activation cannot move a line to another column.
            let bytes: u64 = pieces.iter().map(|piece| piece.dst.total()).sum();
            if bytes < self.map.geometry().row_bytes() || pieces.iter().any(|p| p.src_column != p.dst_column) {
                return Err(Reason::ColumnsDiffer { granularity: self.map.granularity() });
            }
            self.sound(src)?;
            self.sound(dst)?;
            Ok(src.row)
        };
        let psm = || {
            rank?;
            if src == dst {
                Err(Reason::SameRow)
            } else if src.bank == dst.bank {
                Err(Reason::SameBank)
            } else {
                Ok((src.bank, src.row))
            }
        };
        Routes { fpm: fpm(), psm: psm(), psm2: self.psm2(src, dst) }
    }

    /// Routes of whole lines of `dst` set to zero.
    pub(crate) fn zero_routes(&self, dst: RowAddress, coverage: Coverage) -> Routes {
        let zero = self.map.geometry().zero_row(self.map.geometry().subarray(dst.row));
        let fpm = || {
            coverage.reason()?;
            self.sound(dst)?;
            self.sound(RowAddress { row: zero, ..dst })?;
            Ok(zero)
        };
        Routes { fpm: fpm(), psm: self.next_bank(dst, zero).ok_or(Reason::NoZeroRow), psm2: Err(Reason::PsmSuffices) }
    }

    /// Routes of a whole row `dst` set to the value that two rows hold already: `first`, the first
    /// whole row of the operation in the rank, and row `near` of the same subarray, if there is
    /// one.
    pub(crate) fn value_routes(&self, first: RowAddress, near: Option<Row>, dst: RowAddress) -> Routes {
        let fpm = || {
            self.sound(dst)?;
            near.ok_or(Reason::NoSource)
        };
        let psm = || {
            if first.bank == dst.bank { Err(Reason::SameBank) } else { Ok((first.bank, first.row)) }
        };
        Routes { fpm: fpm(), psm: psm(), psm2: self.psm2(first, dst) }
    }

    /// Source row and temporary row of PSM2, which copies between two rows of one bank.
    fn psm2(&self, src: RowAddress, dst: RowAddress) -> Result<(BankRow, BankRow), Reason> {
        same_rank(src, dst)?;
        if src.bank != dst.bank {
            return Err(Reason::OtherBank);
        }
        if src == dst {
            return Err(Reason::SameRow);
        }
        let temporary = self.next_bank(dst, self.map.geometry().temporary_row()).ok_or(Reason::NoTemporaryRow)?;
        Ok(((src.bank, src.row), temporary))
    }

    /// The next bank of the rank, cyclically, in which reserved row `row` is not remapped.
    fn next_bank(&self, of: RowAddress, row: Row) -> Option<BankRow> {
        let banks = self.map.geometry().banks();
        (1..banks)
            .map(|step| BankId { bank: (of.bank.bank + step) % banks, ..of.bank })
            .find(|&bank| !self.faulty.contains(RowAddress { bank, row, ..of }))
            .map(|bank| (bank, row))
    }

    fn same_subarray(&self, src: RowAddress, dst: RowAddress) -> Result<(), Reason> {
        let subarray = |at: RowAddress| self.map.geometry().subarray(at.row);
        if src.bank != dst.bank {
            Err(Reason::OtherBank)
        } else if subarray(src) != subarray(dst) {
            Err(Reason::OtherSubarray)
        } else {
            Ok(())
        }
    }

    fn sound(&self, row: RowAddress) -> Result<(), Reason> {
        if self.faulty.contains(row) { Err(Reason::FaultyRow { row }) } else { Ok(()) }
    }
}

fn same_rank(src: RowAddress, dst: RowAddress) -> Result<(), Reason> {
    if src.channel != dst.channel {
        Err(Reason::OtherChannel)
    } else if src.bank.rank != dst.bank.rank {
        Err(Reason::OtherRank)
    } else {
        Ok(())
    }
}
