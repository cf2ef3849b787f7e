//! Row contents: bytes, stored only for lines that commands have changed.

use std::sync::Arc;

use dram_spec::geometry::ReservedRow;
use dram_spec::{BankId, Channel, Column, Geometry, LINE_BYTES, Row};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Bytes of one line.
pub type LineBytes = [u8; LINE_BYTES as usize];

/// Memory contents at reset, before any write. Reserved zero rows contain zeros independently of
/// it.
pub trait Background: Send + Sync {
    /// Bytes of the line at reset; equal at every call.
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> LineBytes;

    /// Writes the bytes of consecutive lines of a row at reset, from `first` on, to `lines`.
    fn lines(&self, channel: Channel, bank: BankId, row: Row, first: Column, lines: &mut [LineBytes]) {
        for (line, column) in lines.iter_mut().zip(first.0..) {
            *line = self.line(channel, bank, row, Column(column));
        }
    }

    /// What a command does to the data of the cells. Only tests replace it, by something wrong that a
    /// memory check must find.
    fn moved(&self, cells: &mut Cells, movement: Movement) {
        cells.apply(movement);
    }
}

/// A movement of data by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Copy activation: the sense amplifiers drive the data of `src` into `dst`.
    Row {
        /// Bank.
        bank: BankId,
        /// Open row.
        src: Row,
        /// Row that is activated.
        dst: Row,
    },
    /// Copy activation to another subarray, which moves nothing.
    Dropped {
        /// Bank.
        bank: BankId,
        /// Open row.
        open: Row,
        /// Row that is not activated.
        row: Row,
    },
    /// TRANSFER.
    Line {
        /// Line that is read.
        src: (BankId, Row, Column),
        /// Line that is written.
        dst: (BankId, Row, Column),
    },
}

/// Contents at reset from which a stored row starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrigin {
    /// Zeros: contents of a reserved zero row.
    Zeros,
    /// Background of this row: the stored row's own, or that of the row copied to it.
    Row(BankId, Row),
}

impl RowOrigin {
    /// Origin of a row that no copy activation has replaced.
    fn own(geometry: &Geometry, (bank, row): (BankId, Row)) -> RowOrigin {
        let zeros = geometry.reserved(row) == Some(ReservedRow::Zero);
        if zeros { RowOrigin::Zeros } else { RowOrigin::Row(bank, row) }
    }
}

/// Contents of a row that a command has changed: its origin, and the lines written since.
///
/// After a copy activation, both rows share the written lines until one of the rows is written.
#[derive(Clone, Debug)]
pub struct StoredRow {
    origin: RowOrigin,
    /// By column, ascending.
    written: Arc<SmallVec<[(Column, LineBytes); 1]>>,
}

impl StoredRow {
    /// Contents of the columns not in [`Self::written`].
    pub const fn origin(&self) -> RowOrigin {
        self.origin
    }

    /// Written lines, by ascending column.
    pub fn written(&self) -> &[(Column, LineBytes)] {
        &self.written
    }

    /// The written lines among `count` consecutive ones from `first` on.
    fn written_from(&self, first: Column, count: usize) -> &[(Column, LineBytes)] {
        let later = &self.written[self.written.partition_point(|&(column, _)| column < first)..];
        let candidates = &later[..later.len().min(count)];
        &candidates[..candidates.partition_point(|&(column, _)| usize::from(column.0 - first.0) < count)]
    }

    fn write(&mut self, first: Column, lines: &[LineBytes]) {
        let written = Arc::make_mut(&mut self.written);
        let columns = (first.0..).map(Column);
        // Most rows are written in ascending order.
        if written.last().is_none_or(|&(last, _)| last < first) {
            // Most rows have one line written or nearly all, which this growth suits with few
            // allocations.
            if written.len() + lines.len() > written.capacity() {
                written.reserve_exact(lines.len().max(3 * written.len()));
            }
            return written.extend(columns.zip(lines.iter().copied()));
        }
        for (column, &line) in columns.zip(lines) {
            match written.binary_search_by_key(&column, |&(at, _)| at) {
                Ok(index) => written[index].1 = line,
                Err(index) => written.insert(index, (column, line)),
            }
        }
    }
}

/// Sparse contents of one channel. Memory use is proportional to the lines written and the rows
/// copied.
#[derive(derive_more::Debug)]
#[debug("Cells {{ channel: {channel:?}, rows: {} }}", rows.len())]
pub struct Cells {
    channel: Channel,
    geometry: Geometry,
    background: Arc<dyn Background>,
    rows: FxHashMap<(BankId, Row), StoredRow>,
}

impl Cells {
    /// Creates the cells of one channel at reset.
    pub fn new(channel: Channel, geometry: Geometry, background: Arc<dyn Background>) -> Cells {
        Cells { channel, geometry, background, rows: FxHashMap::default() }
    }

    /// Shape of the memory.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Bytes of a line.
    ///
    /// # Panics
    /// If the geometry has no such line.
    pub fn line(&self, bank: BankId, row: Row, column: Column) -> LineBytes {
        let mut line = [[0; LINE_BYTES as usize]];
        self.read(bank, row, column, &mut line);
        line[0]
    }

    /// Writes the bytes of consecutive lines of a row, from `first` on, to `lines`.
    ///
    /// # Panics
    /// If the geometry has no such line.
    pub fn read(&self, bank: BankId, row: Row, first: Column, lines: &mut [LineBytes]) {
        let key = (bank, row);
        let Some(stored) = self.rows.get(&key) else {
            return self.read_at_reset(RowOrigin::own(&self.geometry, key), first, lines);
        };
        let written = stored.written_from(first, lines.len());
        if written.len() < lines.len() {
            self.read_at_reset(stored.origin, first, lines);
        }
        for (column, line) in written {
            lines[usize::from(column.0 - first.0)] = *line;
        }
    }

    fn read_at_reset(&self, origin: RowOrigin, first: Column, lines: &mut [LineBytes]) {
        match (origin, &mut *lines) {
            (RowOrigin::Zeros, lines) => lines.fill([0; LINE_BYTES as usize]),
            (RowOrigin::Row(bank, row), [line]) => *line = self.background.line(self.channel, bank, row, first),
            (RowOrigin::Row(bank, row), lines) => self.background.lines(self.channel, bank, row, first, lines),
        }
    }

    /// Rows that were written, or were the destination of a copy activation, in no particular
    /// order.
    pub fn changed(&self) -> impl Iterator<Item = (BankId, Row, &StoredRow)> {
        self.rows.iter().map(|(&(bank, row), stored)| (bank, row, stored))
    }

    /// Writes a line.
    pub fn write(&mut self, bank: BankId, row: Row, column: Column, line: &LineBytes) {
        self.write_lines(bank, row, column, std::slice::from_ref(line));
    }

    /// Writes consecutive lines of a row, from `first` on.
    pub fn write_lines(&mut self, bank: BankId, row: Row, first: Column, lines: &[LineBytes]) {
        let key = (bank, row);
        let untouched = || StoredRow { origin: RowOrigin::own(&self.geometry, key), written: Arc::default() };
        self.rows.entry(key).or_insert_with(untouched).write(first, lines);
    }

    /// What a command does to the data.
    pub(crate) fn moved(&mut self, movement: Movement) {
        Arc::clone(&self.background).moved(self, movement);
    }

    /// Moves data.
    #[inline]
    pub fn apply(&mut self, movement: Movement) {
        match movement {
            Movement::Row { bank, src, dst } => {
                let from = (bank, src);
                let untouched = || StoredRow { origin: RowOrigin::own(&self.geometry, from), written: Arc::default() };
                let copied = self.rows.get(&from).cloned().unwrap_or_else(untouched);
                self.rows.insert((bank, dst), copied);
            }
            Movement::Dropped { .. } => {}
            Movement::Line { src, dst } => {
                let line = self.line(src.0, src.1, src.2);
                self.write(dst.0, dst.1, dst.2, &line);
            }
        }
    }
}
