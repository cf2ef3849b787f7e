//! What the cells hold: real bytes, for the rows that anything has touched.

use std::fmt;
use std::sync::Arc;

use dram_spec::geometry::ReservedRow;
use dram_spec::{BankId, Channel, Column, Geometry, LINE_BYTES, Row};
use rustc_hash::FxHashMap;

/// The bytes of one line.
pub type Line = [u8; LINE_BYTES as usize];

/// What memory holds before anybody writes to it. Reserved zero rows hold zeros whatever it says.
pub trait Background: Send + Sync {
    /// The line's bytes at reset: the same at every call.
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> Line;
}

/// A deliberate defect of the data path, for proving that a memory check would notice it. No system file can ask for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A copy activation leaves the row's last line behind.
    FpmLosesALine,
    /// A copy activation into another subarray is not dropped: the row arrives.
    FpmCrossesSubarrays,
    /// TRANSFER takes its source column for its destination column, and the other way round.
    TransferSwapsColumns,
    /// All banks of a rank use one temporary row's cells.
    SharedTemporaryRow,
}

/// The sparse contents of one channel.
pub struct Cells {
    channel: Channel,
    geometry: Geometry,
    background: Arc<dyn Background>,
    rows: FxHashMap<(BankId, Row), Arc<[u8]>>,
    defect: Option<Defect>,
}

impl fmt::Debug for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cells").field("channel", &self.channel).field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl Cells {
    /// The cells of one channel, as they are at reset.
    pub fn new(channel: Channel, geometry: Geometry, background: Arc<dyn Background>) -> Cells {
        Cells { channel, geometry, background, rows: FxHashMap::default(), defect: None }
    }

    /// The same cells with a defect.
    #[must_use]
    pub fn with_defect(self, defect: Option<Defect>) -> Cells {
        Cells { defect, ..self }
    }

    /// The bytes of a line.
    ///
    /// # Panics
    /// Where the geometry has no such line.
    pub fn line(&mut self, bank: BankId, row: Row, column: Column) -> Line {
        let at = offset(column);
        let row = self.row(bank, row);
        row[at..at + LINE_BYTES as usize].try_into().expect("a row is a whole number of lines")
    }

    /// Every row that was ever touched, in order, with its bytes.
    pub fn touched(&self) -> Vec<(BankId, Row, &[u8])> {
        let mut rows: Vec<_> = self.rows.iter().map(|(&(bank, row), bytes)| (bank, row, &**bytes)).collect();
        rows.sort_by_key(|&(bank, row, _)| (bank, row));
        rows
    }

    /// WR.
    pub(crate) fn write(&mut self, bank: BankId, row: Row, column: Column, line: &Line) {
        let at = offset(column);
        self.row_mut(bank, row)[at..at + line.len()].copy_from_slice(line);
    }

    /// A copy activation: the sense amplifiers drive `src` into `dst`.
    pub(crate) fn copy_row(&mut self, bank: BankId, src: Row, dst: Row) {
        let last = Column(self.geometry.columns() - 1);
        let kept = (self.defect == Some(Defect::FpmLosesALine)).then(|| self.line(bank, dst, last));
        // The two rows share their bytes until one of them is written.
        let bytes = Arc::clone(self.row(bank, src));
        let key = self.key(bank, dst);
        self.rows.insert(key, bytes);
        if let Some(line) = kept {
            self.write(bank, dst, last, &line);
        }
    }

    /// A copy activation to another subarray: nothing arrives.
    pub(crate) fn dropped_activation(&mut self, bank: BankId, open: Row, row: Row) {
        if self.defect == Some(Defect::FpmCrossesSubarrays) {
            self.copy_row(bank, open, row);
        }
    }

    /// TRANSFER.
    pub(crate) fn transfer(&mut self, src: (BankId, Row, Column), dst: (BankId, Row, Column)) {
        let (mut from, mut to) = (src.2, dst.2);
        if self.defect == Some(Defect::TransferSwapsColumns) {
            std::mem::swap(&mut from, &mut to);
        }
        let line = self.line(src.0, src.1, from);
        self.write(dst.0, dst.1, to, &line);
    }

    fn key(&self, bank: BankId, row: Row) -> (BankId, Row) {
        let shared = self.defect == Some(Defect::SharedTemporaryRow)
            && self.geometry.reserved(row) == Some(ReservedRow::Temporary);
        if shared { (BankId { bank: 0, ..bank }, row) } else { (bank, row) }
    }

    fn row(&mut self, bank: BankId, row: Row) -> &Arc<[u8]> {
        let key = self.key(bank, row);
        let (channel, geometry, background) = (self.channel, &self.geometry, &self.background);
        self.rows.entry(key).or_insert_with(|| {
            if geometry.reserved(row) == Some(ReservedRow::Zero) {
                return vec![0; geometry.row_bytes() as usize].into();
            }
            (0..geometry.columns()).flat_map(|column| background.line(channel, bank, row, Column(column))).collect()
        })
    }

    fn row_mut(&mut self, bank: BankId, row: Row) -> &mut [u8] {
        self.row(bank, row);
        let key = self.key(bank, row);
        Arc::make_mut(self.rows.get_mut(&key).expect("`row` has just filled it"))
    }
}

fn offset(column: Column) -> usize {
    usize::from(column.0) * LINE_BYTES as usize
}
