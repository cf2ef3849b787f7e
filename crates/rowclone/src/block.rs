//! A destination row's share of an operation, and the parts that it falls into.

use std::sync::Arc;

use dram_spec::{BankId, Column, LINE_BYTES, Row};

use crate::faulty::RowAddress;
use crate::mechanism::{FPM, MECHANISMS, PSM, PSM2};
use crate::planner::{Classification, Shared};
use crate::reason::Reason;
use dram_spec::Mechanism;
use dram_spec::Operation;

/// One destination row's share of an operation, within one granularity-aligned block of destination addresses.
///
/// Where source and destination overlap at less than the granularity, a block is instead a piece of consecutive
/// destination addresses, no longer than a row, wherever they lie.
#[derive(Clone, Debug)]
pub struct Block {
    pub(crate) shared: Arc<Shared>,
    pub(crate) operation: Operation,
    pub(crate) direction: Direction,
    pub(crate) parts: Vec<Part>,
}

/// In which order the pieces of a block must be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

/// The lines of a block that come from one source row, or those of which the operation covers only a part.
#[derive(Clone, Debug)]
pub struct Part {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) bytes: u64,
    pub(crate) dst: RowAddress,
    pub(crate) src: Option<RowAddress>,
    pub(crate) routes: Routes,
}

/// Consecutive destination bytes of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The first destination address.
    pub(crate) dst: u64,
    pub(crate) bytes: u64,
    /// The column of the first byte.
    pub(crate) dst_column: Column,
    /// The column of the first byte's source; the destination's own where nothing is copied from an address.
    pub(crate) src_column: Column,
}

impl Piece {
    /// Source and destination columns of the whole lines.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (Column, Column)> {
        let (src, dst) = (self.src_column.0, self.dst_column.0);
        (0..(self.bytes / LINE_BYTES) as u16).map(move |line| (Column(src + line), Column(dst + line)))
    }
}

/// A row of a bank of the destination's rank.
pub(crate) type BankRow = (BankId, Row);

/// Where each mechanism would take the data from, or why it cannot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Routes {
    pub(crate) fpm: Result<Row, Reason>,
    pub(crate) psm: Result<BankRow, Reason>,
    /// The source, and the temporary row.
    pub(crate) psm2: Result<(BankRow, BankRow), Reason>,
}

impl Routes {
    pub(crate) const fn channel_only(reason: Reason) -> Routes {
        Routes { fpm: Err(reason), psm: Err(reason), psm2: Err(reason) }
    }

    /// Whether a mechanism is possible; if not, why.
    pub(crate) fn allows(&self, mechanism: Mechanism) -> Result<(), Reason> {
        let outcome = [(FPM, self.fpm.map(|_| ())), (PSM, self.psm.map(|_| ())), (PSM2, self.psm2.map(|_| ()))];
        outcome.into_iter().find(|(other, _)| *other == mechanism).map_or(Ok(()), |(_, outcome)| outcome)
    }

    /// The paper's rule: of the possible mechanisms, the one of the best rank.
    pub(crate) fn classification(&self) -> Classification {
        let possible = MECHANISMS.into_iter().filter(|&mechanism| self.allows(mechanism).is_ok());
        Classification { mechanism: possible.min().unwrap_or(Mechanism::CHANNEL), fpm: self.allows(FPM) }
    }
}

impl Block {
    /// The parts: at least one, and seldom more.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Part {
    /// Bytes of the operation that it covers.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The destination row (of a read: the row read). Of an overlapping copy, that of the lowest byte.
    pub const fn dst(&self) -> RowAddress {
        self.dst
    }

    /// The row that a copy takes the lines from, where they are whole lines of one row.
    pub const fn src(&self) -> Option<RowAddress> {
        self.src
    }

    /// Whether a mechanism can do it.
    ///
    /// # Errors
    ///
    /// Why it cannot. Where there are several reasons, the one that the user can mend first: that the operation covers
    /// no whole row stands before where the rows lie, and that before columns and remapped rows.
    pub fn allows(&self, mechanism: Mechanism) -> Result<(), Reason> {
        self.routes.allows(mechanism)
    }
}
