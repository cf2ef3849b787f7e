//! Copy mechanisms inside the DRAM, one file each.
//!
//! To add a mechanism, implement [`InDram`] in a separate file and add it to [`IN_DRAM`], by rank.

mod fpm;
mod lisa;
mod psm;
mod psm2;
pub(crate) mod shared;

use dram_spec::{BankId, Geometry, Mechanism, Row};

pub use fpm::FPM;
pub use lisa::LISA;
pub use psm::PSM;
pub use psm2::PSM2;

use self::shared::{Coverage, Shared};
use crate::faulty::{BankRow, RowAddress};
use crate::reason::Reason;
use crate::step::{ColumnRun, Thread};
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
    fn program(&self, route: &Route, dst: BankRow, columns: &Columns<'_>, steps: &mut Thread);
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
    pub(crate) fn runs(&self) -> impl Iterator<Item = ColumnRun> {
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
pub struct Chip {
    /// Whether they offer each mechanism of [`IN_DRAM`].
    mechanisms: [bool; IN_DRAM.len()],
    /// Whether each subarray has a row of zeros to copy from.
    pub(crate) zero_rows: bool,
    /// Whether a TRANSFER is possible between banks of one bank group.
    pub(crate) psm_within_group: bool,
}

/// Name of the zero rows in the list of what the chips offer.
const ZERO_ROWS: &str = "zero-rows";

impl Chip {
    /// The chips of the `RowClone` paper: FPM, PSM and zero rows.
    pub const ROWCLONE: Chip = {
        let mut mechanisms = [false; IN_DRAM.len()];
        let mut index = 0;
        while index < IN_DRAM.len() {
            mechanisms[index] = IN_DRAM[index].0.is_in_every_chip();
            index += 1;
        }
        Chip { mechanisms, zero_rows: true, psm_within_group: false }
    };

    /// Names of all that chips may offer.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = IN_DRAM.map(feature).into();
        names.dedup();
        names.push(ZERO_ROWS);
        names
    }

    /// Chips that offer what a list of [`Self::names`] says; other names have no effect.
    pub fn offering<'a>(names: impl IntoIterator<Item = &'a str>) -> Chip {
        let names: Vec<&str> = names.into_iter().collect();
        let mechanisms = IN_DRAM.map(|it| names.contains(&feature(it)));
        Chip { mechanisms, zero_rows: names.contains(&ZERO_ROWS), ..Chip::ROWCLONE }
    }

    /// Chips of which a TRANSFER between banks of one bank group is possible, or not.
    #[must_use]
    pub const fn with_psm_within_group(self, psm_within_group: bool) -> Chip {
        Chip { psm_within_group, ..self }
    }

    /// Whether they offer the mechanism with this index in [`IN_DRAM`].
    pub(crate) const fn offers(self, index: usize) -> bool {
        self.mechanisms[index]
    }
}
