//! Copy mechanisms inside the DRAM, one file each, and what they share: the data of the memory, and the conditions of
//! coverage, location and faulty rows.
//!
//! To add a mechanism, implement [`InDram`] in a separate file and add it to [`IN_DRAM`], by rank.

mod fpm;
mod lisa;
mod psm;
mod psm2;

use std::collections::BTreeSet;

use dram_spec::{AddressMap, BankId, Geometry, LINE_BYTES, Location, Mechanism, PhysicalAddress, Row};

pub use fpm::FPM;
pub use lisa::LISA;
pub use psm::PSM;
pub use psm2::PSM2;

use crate::check::Reserved;
use crate::faulty::{BankRow, FaultyRows, RowAddress};
use crate::reason::Reason;
use crate::step::{CopyThread, LineRun};
use crate::stripe::Piece;

/// A copy mechanism of the chips: when it is possible, and its steps.
pub(crate) trait InDram: Sync {
    /// The mechanism with which the chips offer it, if that is another one.
    fn offered_with(&self) -> Option<Mechanism> {
        None
    }

    /// The rows from which it copies whole lines, or the reason why it cannot.
    fn copy(&self, memory: &Shared, copied: &Copied<'_>) -> Result<Route, Reason>;

    /// The rows from which it copies zeros, or the reason why it cannot. The chips have zero rows.
    fn zero(&self, memory: &Shared, dst: RowAddress, coverage: Coverage) -> Result<Route, Reason>;

    /// The rows from which it copies a value to the whole row `dst`, or the reason why it cannot.
    fn value(&self, memory: &Shared, held: &Held, dst: RowAddress) -> Result<Route, Reason>;

    /// Adds the steps.
    fn program(&self, route: &Route, dst: BankRow, columns: &Columns<'_>, steps: &mut CopyThread);
}

/// The mechanisms other than the channel, as the paper prefers them.
pub(crate) const IN_DRAM: [(Mechanism, &dyn InDram); 4] =
    [(FPM, &fpm::Fpm), (LISA, &lisa::Lisa), (PSM, &psm::Psm), (PSM2, &psm2::Psm2)];

/// All mechanisms, by rank: those inside the DRAM, then the channel.
pub const MECHANISMS: [Mechanism; IN_DRAM.len() + 1] = {
    let mut mechanisms = [Mechanism::CHANNEL; IN_DRAM.len() + 1];
    let mut index = 0;
    while index < IN_DRAM.len() {
        mechanisms[index] = IN_DRAM[index].0;
        index += 1;
    }
    mechanisms
};

const _: () = assert!(have_rising_ranks(&MECHANISMS), "mechanisms are listed by rank, and ranks are unique");

const fn have_rising_ranks(mechanisms: &[Mechanism]) -> bool {
    let mut next = 1;
    while next < mechanisms.len() {
        if mechanisms[next - 1].rank() >= mechanisms[next].rank() {
            return false;
        }
        next += 1;
    }
    true
}

/// The mechanism with this name.
pub fn mechanism(name: &str) -> Option<Mechanism> {
    MECHANISMS.into_iter().find(|mechanism| mechanism.name() == name)
}

/// Rows from which a mechanism copies to the destination row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The source.
    pub(crate) src: BankRow,
    /// Row between source and destination.
    pub(crate) via: Option<BankRow>,
}

impl Route {
    pub(crate) const fn from(bank: BankId, row: Row) -> Route {
        Route { src: (bank, row), via: None }
    }
}

/// Whole lines copied from one row to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied<'a> {
    pub(crate) src: RowAddress,
    pub(crate) dst: RowAddress,
    pub(crate) pieces: &'a [Piece],
    pub(crate) coverage: Coverage,
}

/// Lines that a program copies.
pub(crate) struct Columns<'a> {
    pub(crate) pieces: &'a [Piece],
    /// Lines of a run of the address map.
    pub(crate) run_lines: u16,
    /// Geometry of the memory.
    pub(crate) geometry: &'a Geometry,
}

impl Columns<'_> {
    /// Their columns in the source row and in the destination row.
    pub(crate) fn runs(&self) -> impl Iterator<Item = LineRun> {
        self.pieces.iter().flat_map(|piece| piece.columns(self.run_lines))
    }
}

/// Rows that hold the value of an initialization.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The first whole row of the operation in the rank.
    pub(crate) first: RowAddress,
    /// A row of the destination's subarray, if there is one.
    pub(crate) near: Option<Row>,
}

/// Name of a mechanism in the list of what the chips offer.
fn feature((mechanism, in_dram): (Mechanism, &dyn InDram)) -> &'static str {
    in_dram.offered_with().unwrap_or(mechanism).name()
}

/// What the chips offer of copies inside the DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySupport {
    /// Whether they offer each mechanism of [`IN_DRAM`].
    mechanisms: [bool; IN_DRAM.len()],
    /// Whether each subarray has a row of zeros to copy from.
    pub(crate) zero_rows: bool,
    /// Whether a TRANSFER is possible between banks of one bank group.
    pub(crate) psm_within_group: bool,
}

/// Name of the zero rows in the list of what the chips offer.
const ZERO_ROWS: &str = "zero-rows";

impl CopySupport {
    /// The chips of the `RowClone` paper: FPM, PSM and zero rows.
    pub const ROWCLONE: CopySupport = {
        let mut mechanisms = [false; IN_DRAM.len()];
        let mut index = 0;
        while index < IN_DRAM.len() {
            mechanisms[index] = IN_DRAM[index].0.is_in_every_chip();
            index += 1;
        }
        CopySupport { mechanisms, zero_rows: true, psm_within_group: false }
    };

    /// Names of all that chips may offer.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = IN_DRAM.map(feature).into();
        names.dedup();
        names.push(ZERO_ROWS);
        names
    }

    /// Chips that offer what a list of [`Self::names`] says; other names have no effect.
    pub fn offering<'a>(names: impl IntoIterator<Item = &'a str>) -> CopySupport {
        let names: Vec<&str> = names.into_iter().collect();
        let mechanisms = IN_DRAM.map(|it| names.contains(&feature(it)));
        CopySupport { mechanisms, zero_rows: names.contains(&ZERO_ROWS), ..CopySupport::ROWCLONE }
    }

    /// Chips of which a TRANSFER between banks of one bank group is possible, or not.
    #[must_use]
    pub const fn with_psm_within_group(self, psm_within_group: bool) -> CopySupport {
        CopySupport { psm_within_group, ..self }
    }

    /// Whether they offer the mechanism with this index in [`IN_DRAM`].
    pub(crate) const fn offers(self, index: usize) -> bool {
        self.mechanisms[index]
    }
}

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
    pub(crate) support: CopySupport,
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
            && (!topology.has_groups() || self.support.psm_within_group || topology.group(one) != topology.group(other))
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
