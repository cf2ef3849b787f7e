//! Planner of one memory system: checks operations and divides them into blocks.

use std::sync::Arc;

use dram_spec::address::AddressMap;
use dram_spec::{Column, Mechanism, Operation, PhysicalAddress};

use crate::block::{Part, PartKind, Sources};
use crate::blocks::Blocks;
use crate::check::{PlanError, Reserved};
use crate::faulty::{FaultyRows, RowAddress};
use crate::mechanism::{CopySupport, FPM, IN_DRAM, MECHANISMS};
use crate::mechanism::{Coverage, Shared, Spread, channels_in_turn};
use crate::reason::Reason;
use crate::stripe::{Piece, Stripe};

/// Share of a destination row that an operation covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole row, from the same columns of one source row.
    WholeRow,
    /// The whole row, from other columns or from several rows.
    OtherColumns,
    /// Less than the row.
    PartOfRow {
        /// Covered bytes of the row.
        covered: u64,
        /// Bytes of the operation.
        operation_bytes: u64,
    },
}

/// Result of the paper's rule for a pair of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classification {
    /// Selected mechanism.
    pub mechanism: Mechanism,
    /// Whether FPM is possible; if not, the reason.
    pub fpm: Result<(), Reason>,
}

/// Copy planner of one memory system. Clones share their data.
#[derive(Clone, Debug)]
pub struct Planner {
    pub(crate) shared: Arc<Shared>,
}

impl Planner {
    /// Planner of a memory with this address map and these remapped rows, of chips as in the paper.
    pub fn new(map: AddressMap, faulty: FaultyRows) -> Planner {
        Planner::of_chips(map, faulty, CopySupport::ROWCLONE)
    }

    /// Planner of a memory with these chips.
    pub fn of_chips(map: AddressMap, faulty: FaultyRows, support: CopySupport) -> Planner {
        let (spread, reserved) = (Spread::new(&map), Reserved::new(&map));
        let end = map.usable_end();
        // Rows that differ in the channel are no longer equal if one of them is remapped.
        let channels_in_turn = if faulty.is_empty() { channels_in_turn(&map) } else { 1 };
        Planner { shared: Arc::new(Shared { map, faulty, support, spread, channels_in_turn, reserved, end }) }
    }

    /// Whether it plans for the same memory as its clone.
    pub fn is_of_memory(&self, other: &Planner) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The address map.
    pub fn map(&self) -> &AddressMap {
        &self.shared.map
    }

    /// The mechanisms of which reports speak: those of every chip, and those that these chips offer, by
    /// rank.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        let offers = |index| index < IN_DRAM.len() && self.shared.support.offers(index);
        let known = move |&(index, mechanism): &(usize, Mechanism)| mechanism.is_in_every_chip() || offers(index);
        MECHANISMS.into_iter().enumerate().filter(known).map(|(_, mechanism)| mechanism)
    }

    /// Checks that an operation can be planned: that it has bytes, lies in the usable memory, and
    /// touches no reserved row.
    ///
    /// The time does not depend on the size of the operation.
    ///
    /// # Errors
    ///
    /// The first check that fails, source before destination.
    #[inline]
    pub fn check(&self, operation: &Operation) -> Result<(), PlanError> {
        match *operation {
            Operation::Read { address, bytes } | Operation::Write { address, bytes } => {
                self.check_range("address", address, bytes)
            }
            Operation::Init { dst, bytes, .. } => self.check_range("dst", dst, bytes),
            Operation::Copy { src, dst, bytes } => {
                self.check_range("src", src, bytes)?;
                self.check_range("dst", dst, bytes)
            }
        }
    }

    /// Whether an aligned line lies in the memory and in no reserved row. All bytes of a line lie in
    /// one row.
    #[inline]
    pub fn is_usable_line(&self, line: PhysicalAddress) -> bool {
        line < self.shared.end && !self.shared.reserved.holds_line(line.0)
    }

    /// Checks that a range has bytes, lies in the memory, and touches no reserved row.
    #[inline]
    fn check_range(&self, operand: &'static str, address: PhysicalAddress, bytes: u64) -> Result<(), PlanError> {
        let last = address.0.checked_add(bytes);
        let is_inside = bytes > 0 && last.is_some_and(|last| last <= self.shared.end.0);
        if is_inside && !self.shared.reserved.may_cover(address.0, bytes) {
            return Ok(());
        }
        self.check_rows(operand, address, bytes)
    }

    /// [`Self::check_range`] of a range that may be wrong.
    #[inline(never)]
    fn check_rows(&self, operand: &'static str, address: PhysicalAddress, bytes: u64) -> Result<(), PlanError> {
        if bytes == 0 {
            return Err(PlanError::ZeroBytes);
        }
        let end = self.shared.end;
        if address.0.checked_add(bytes).is_none_or(|last| last > end.0) {
            return Err(PlanError::PastEnd { operand, address, bytes, end });
        }
        if let Some(address) = self.shared.reserved.first_in(address.0, bytes)
            && let Some(location) = self.shared.map.locate(address)
            && let Some(reserved) = self.shared.map.geometry().reserved(location.row)
        {
            return Err(PlanError::Reserved { operand, address, location, reserved });
        }
        Ok(())
    }

    /// Iterator over the blocks of an operation, which holds the plan of at most
    /// [`MAX_WINDOW_BYTES`](crate::reason::MAX_WINDOW_BYTES) at a time.
    ///
    /// A copy onto itself has no blocks.
    ///
    /// The operation must be one that [`Planner::check`] permits.
    pub fn blocks(&self, operation: &Operation) -> Blocks {
        Blocks::new(Arc::clone(&self.shared), *operation)
    }

    /// Applies the paper's rule to whole lines of row `src` that are copied to row `dst`. The
    /// mechanism is that of their part in a plan.
    pub fn classify_copy(&self, src: RowAddress, dst: RowAddress, extent: Extent) -> Classification {
        self.classify(dst, Sources::Row { src, coverage: self.coverage(extent) })
    }

    /// Applies the paper's rule to whole lines of row `dst` that are set to zero.
    pub fn classify_zero(&self, dst: RowAddress, extent: Extent) -> Classification {
        self.classify(dst, Sources::ZeroRows { coverage: self.coverage(extent) })
    }

    /// Applies the paper's rule to whole lines of row `dst`.
    fn classify(&self, dst: RowAddress, sources: Sources) -> Classification {
        let bytes = self.shared.map.geometry().row_bytes();
        let piece = Piece { dst: Stripe::from(0..bytes), dst_column: Column(0), src_column: Column(0) };
        let mut part = Part::new(&self.shared, dst, PartKind::Lines, piece);
        part.sources = sources;
        Classification { mechanism: part.best(), fpm: part.allows(FPM) }
    }

    fn coverage(&self, extent: Extent) -> Coverage {
        match extent {
            Extent::WholeRow => Coverage::Whole,
            Extent::OtherColumns => {
                Coverage::TooSmall(Reason::ColumnsDiffer { granularity: self.shared.map.granularity() })
            }
            Extent::PartOfRow { covered, operation_bytes } => {
                Coverage::TooSmall(self.shared.uncovered(covered, operation_bytes))
            }
        }
    }
}
