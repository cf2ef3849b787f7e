//! Planner of one memory system: checks operations and divides them into blocks.

use std::collections::BTreeSet;
use std::sync::Arc;

use dram_spec::address::AddressMap;
use dram_spec::{Column, LINE_BYTES, Location, Mechanism, Operation, PhysicalAddress};

use crate::block::{Part, Piece, Sources};
use crate::blocks::Blocks;
use crate::blocks::PartKind;
use crate::check::{PlanError, Reserved};
use crate::faulty::{FaultyRows, RowAddress};
use crate::mechanism::{Chip, FPM, IN_DRAM, MECHANISMS};
use crate::reason::Reason;
use crate::rules::Coverage;
use crate::stripe::Stripe;

/// Maximum number of destination bytes planned at a time, 16 MiB.
///
/// Practical maps have a smaller granularity (32 KB rows over 8 channels, 4 ranks and 8 banks: 8
/// MiB). Under a map with a larger granularity (such as with the column above the row), FPM is
/// impossible.
pub const MAX_WINDOW_BYTES: u64 = 16 << 20;

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

/// Data that clones of a planner and its blocks share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) map: AddressMap,
    pub(crate) faulty: FaultyRows,
    pub(crate) chip: Chip,
    pub(crate) spread: Spread,
    /// Runs of addresses that follow each other in rows which differ in nothing but the channel.
    pub(crate) channels_in_turn: u64,
    reserved: Reserved,
    /// End of the usable memory.
    end: PhysicalAddress,
}

/// Numbers of channels and banks in the smallest block of whole rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) channels: u32,
    /// Banks per channel, of all ranks.
    pub(crate) banks: u32,
}

impl Spread {
    fn new(map: &AddressMap) -> Spread {
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
fn channels_in_turn(map: &AddressMap) -> u64 {
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
}

impl Planner {
    /// Planner of a memory with this address map and these remapped rows, of chips as in the paper.
    pub fn new(map: AddressMap, faulty: FaultyRows) -> Planner {
        Planner::of_chips(map, faulty, Chip::ROWCLONE)
    }

    /// Planner of a memory with these chips.
    pub fn of_chips(map: AddressMap, faulty: FaultyRows, chip: Chip) -> Planner {
        let (spread, reserved) = (Spread::new(&map), Reserved::new(&map));
        let end = map.usable_end();
        // Rows that differ in the channel are no longer equal if one of them is remapped.
        let channels_in_turn = if faulty.is_empty() { channels_in_turn(&map) } else { 1 };
        Planner { shared: Arc::new(Shared { map, faulty, chip, spread, channels_in_turn, reserved, end }) }
    }

    /// The address map.
    pub fn map(&self) -> &AddressMap {
        &self.shared.map
    }

    /// The mechanisms of which reports speak: those of every chip, and those that these chips offer, by
    /// rank.
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        let offers = |index| index < IN_DRAM.len() && self.shared.chip.offers(index);
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
    /// [`MAX_WINDOW_BYTES`] at a time.
    ///
    /// A copy onto itself has no blocks.
    ///
    /// # Panics
    ///
    /// If [`Planner::check`] refuses the operation.
    pub fn blocks(&self, operation: &Operation) -> Blocks {
        if let Err(error) = self.check(operation) {
            panic!("an operation must be checked before it is planned: {operation}: {error}");
        }
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
