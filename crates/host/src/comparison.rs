//! Comparison of the cells with the flat memory.

use dram_core::{Cells, LineBytes, RowOrigin, StoredRow};
use dram_spec::geometry::ReservedRow;
use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::contents::BLOCK_LINES;
use crate::flat_memory::{FlatMemory, Held, LineBlock, line_in};

/// A byte of the cells that differs from the flat memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Physical address.
    pub address: PhysicalAddress,
    /// DRAM coordinates.
    pub location: Location,
    /// Value in the flat memory.
    pub expected: u8,
    /// Value in the cells.
    pub found: u8,
}

/// Compares the lines that an operation wrote in the flat memory, and the lines that a command
/// changed in the cells. `cells` contains the cells of all channels, in order. Returns the mismatch
/// at the lowest address.
///
/// Reserved zero rows must contain zeros; temporary rows are not compared.
pub fn compare(flat: &FlatMemory, cells: &[&Cells]) -> Option<Mismatch> {
    let mut comparison = Comparison { flat, block: (0, flat.written.block(0)), written_met: 0, first: None };
    for (cells, channel) in cells.iter().zip(0..) {
        for (bank, row, stored) in cells.changed() {
            comparison.row(Channel(channel), bank, row, stored);
        }
    }
    // Each line of the cells has one address. If fewer written lines were met than exist, the rest
    // lie in unchanged rows.
    if comparison.written_met < flat.written.len() {
        flat.written.for_each(|line, held| comparison.written_line(line, held, cells));
    }
    comparison.first
}

/// Compares the lines that an operation wrote in the flat memory with those of another memory, by number. Returns the
/// mismatch at the lowest address.
pub fn compare_lines(flat: &FlatMemory, line: impl Fn(u64) -> LineBytes) -> Option<Mismatch> {
    let mut comparison = Comparison { flat, block: (0, flat.written.block(0)), written_met: 0, first: None };
    flat.written.for_each(|number, held| comparison.equal(number, held.into(), Contained::Bytes(&line(number))));
    comparison.first
}

/// A comparison in progress.
struct Comparison<'a> {
    flat: &'a FlatMemory,
    /// The block of the line compared last, and the number of its first line.
    block: (u64, Option<&'a LineBlock>),
    /// Lines written in the flat memory that were found in changed rows.
    written_met: u64,
    first: Option<Mismatch>,
}

/// Contents of a line, in either memory.
#[derive(Clone, Copy)]
enum Contained<'a> {
    /// The contents at reset of the line with this number.
    AtReset(u64),
    Bytes(&'a LineBytes),
}

impl<'a> From<&'a Held> for Contained<'a> {
    fn from(held: &'a Held) -> Contained<'a> {
        match held {
            Held::AtReset(line) => Contained::AtReset(*line),
            Held::Bytes(bytes) => Contained::Bytes(line_in(bytes)),
        }
    }
}

const ZEROS: LineBytes = [0; LINE_BYTES as usize];

impl Comparison<'_> {
    /// Compares the changed lines of a row.
    fn row(&mut self, channel: Channel, bank: BankId, row: Row, stored: &StoredRow) {
        let contents = &self.flat.contents;
        let reserved = contents.map().geometry().reserved(row);
        if reserved == Some(ReservedRow::Temporary) {
            return;
        }
        let must_be_zero = reserved == Some(ReservedRow::Zero);
        let number = contents.numbers(channel, bank, row);
        for (column, bytes) in stored.written() {
            self.line(number(*column), Contained::Bytes(bytes), must_be_zero);
        }
        if stored.origin() == RowOrigin::Row(bank, row) {
            return;
        }
        let origin = match stored.origin() {
            RowOrigin::Zeros => None,
            RowOrigin::Row(bank, row) => Some(contents.numbers(channel, bank, row)),
        };
        let mut written = stored.written().iter().map(|&(column, _)| column).peekable();
        let (columns, step) = (contents.map().geometry().columns(), contents.columns_per_block());
        for group in (0..columns).step_by(step) {
            let first = number(Column(group));
            let found = origin.as_ref().map(|origin| origin(Column(group)));
            let is_whole = !must_be_zero && written.peek().is_none_or(|column| column.0 >= group + step as u16);
            if is_whole && found.is_some_and(|found| self.is_copied(first, found)) {
                self.written_met += step as u64;
                continue;
            }
            for column in (group..group + step as u16).map(Column) {
                if written.next_if_eq(&column).is_none() {
                    let found =
                        origin.as_ref().map_or(Contained::Bytes(&ZEROS), |number| Contained::AtReset(number(column)));
                    self.line(number(column), found, must_be_zero);
                }
            }
        }
    }

    /// Whether the flat memory has the block of a line as a copy of the contents at reset of the
    /// block of `source`, at equal offsets. Then it has each line of a row in the block as a copy
    /// of the line in the other row with the same column: the numbers of these two lines differ in
    /// the same bits for all columns, because the address map is linear.
    fn is_copied(&mut self, line: u64, source: u64) -> bool {
        self.look_up(line);
        self.block.1.is_some_and(|block| block.stores_nothing() && block.source(line) == source)
    }

    /// Looks up the block of a line.
    fn look_up(&mut self, line: u64) {
        if line - line % BLOCK_LINES != self.block.0 {
            self.block = (line - line % BLOCK_LINES, self.flat.written.block(line));
        }
    }

    /// Compares a line with the flat memory, or with zeros.
    fn line(&mut self, line: u64, found: Contained<'_>, must_be_zero: bool) {
        self.look_up(line);
        let stored = self.block.1.and_then(|block| block.stored(line));
        let source = self.block.1.map_or(line, |block| block.source(line));
        self.written_met += u64::from(stored.is_some() || source != line);
        let expected = stored.map_or(Contained::AtReset(source), Contained::from);
        self.equal(line, if must_be_zero { Contained::Bytes(&ZEROS) } else { expected }, found);
    }

    /// Compares a written line of the flat memory with the cells.
    fn written_line(&mut self, line: u64, held: &Held, cells: &[&Cells]) {
        let at = self.flat.contents.map().locate(PhysicalAddress(line * LINE_BYTES));
        let Location { channel, bank, row, column, .. } = at.expect("operations lie within the memory");
        let found = cells[usize::from(channel.0)].line(bank, row, column);
        self.equal(line, held.into(), Contained::Bytes(&found));
    }

    fn equal(&mut self, line: u64, expected: Contained<'_>, found: Contained<'_>) {
        match (expected, found) {
            (Contained::AtReset(expected), Contained::AtReset(found)) if expected == found => return,
            (Contained::Bytes(expected), Contained::Bytes(found)) if expected == found => return,
            _ => {}
        }
        let (mut expected_at_reset, mut found_at_reset) = (ZEROS, ZEROS);
        let expected = self.bytes(expected, &mut expected_at_reset);
        let found = self.bytes(found, &mut found_at_reset);
        if expected == found {
            return;
        }
        let Some(offset) = (0..expected.len()).find(|&at| expected[at] != found[at]) else { return };
        let address = PhysicalAddress(line * LINE_BYTES + offset as u64);
        if self.first.is_none_or(|first| address < first.address) {
            let location = self.flat.contents.map().locate(address).expect("it came from the map");
            self.first = Some(Mismatch { address, location, expected: expected[offset], found: found[offset] });
        }
    }

    /// The bytes of a line; contents at reset are written to `at_reset`.
    fn bytes<'b>(&self, contained: Contained<'b>, at_reset: &'b mut LineBytes) -> &'b LineBytes {
        match contained {
            Contained::AtReset(line) => {
                *at_reset = self.flat.contents.line_at(line);
                at_reset
            }
            Contained::Bytes(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dram_core::{Defect, Defective, Device};
    use dram_spec::address::MapPreset;
    use dram_spec::{AddressMap, Command, Density, System, Width};
    use rowclone::Operation;

    use super::*;
    use crate::contents::Contents;

    const BANK: BankId = BankId { rank: 0, bank: 3 };
    const PAGE: u64 = 4096;

    /// A device and a flat memory: the paper's system with one channel.
    struct Pair {
        device: Device,
        flat: FlatMemory,
    }

    impl Pair {
        fn new(defect: Option<Defect>) -> Pair {
            let system = System::paper(1, Density::Gb1, Width::X8);
            let contents = Contents::new(1, AddressMap::preset(system.geometry, MapPreset::RowInterleaved));
            let background = Arc::new(Defective(contents.clone(), defect));
            let cells = Cells::new(Channel(0), system.geometry, background);
            Pair { device: Device::new(&system, Some(cells)), flat: FlatMemory::new(contents) }
        }

        fn issue(&mut self, command: &Command) {
            let at = self.device.earliest(command).unwrap().until();
            self.device.issue(at, command);
        }

        /// Activates one row, then another over it, and closes the bank.
        fn copy_in_cells(&mut self, src: u32, dst: u32) {
            for row in [src, dst] {
                self.issue(&Command::Activate { bank: BANK, row: Row(row) });
            }
            self.issue(&Command::Precharge { bank: BANK });
        }

        fn address(&self, row: u32) -> PhysicalAddress {
            PhysicalAddress(self.flat.contents.numbers(Channel(0), BANK, Row(row))(Column(0)) * LINE_BYTES)
        }

        fn copy_in_flat(&mut self, src: u32, dst: u32) {
            let (src, dst) = (self.address(src), self.address(dst));
            self.flat.apply(&Operation::Copy { src, dst, bytes: PAGE }, None);
        }

        fn write_in_flat(&mut self, row: u32, column: u64) {
            let address = PhysicalAddress(self.address(row).0 + column * LINE_BYTES);
            self.flat.write(address, &[7; LINE_BYTES as usize]);
        }

        fn write_in_cells(&mut self, row: u32, column: u16) {
            self.device.write_line(BANK, Row(row), Column(column), &[7; LINE_BYTES as usize]);
        }

        fn mismatch(&self) -> Option<Mismatch> {
            compare(&self.flat, &[self.device.cells().unwrap()])
        }

        /// Row and column of the first mismatch.
        fn row_and_column(&self) -> Option<(u32, u16)> {
            self.mismatch().map(|mismatch| (mismatch.location.row.0, mismatch.location.column.0))
        }
    }

    #[test]
    fn copies_of_rows_are_equal_written_over_or_not() {
        let mut pair = Pair::new(None);
        pair.copy_in_cells(5, 6);
        pair.copy_in_flat(5, 6);
        assert_eq!(pair.mismatch(), None);
        for row in [5, 6] {
            pair.write_in_cells(row, 9);
            pair.write_in_flat(row, 9);
            assert_eq!(pair.mismatch(), None);
        }
        pair.copy_in_cells(6, 7);
        pair.copy_in_flat(6, 7);
        pair.copy_in_cells(511, 5);
        let zeroed = pair.address(5);
        pair.flat.apply(&Operation::Init { dst: zeroed, bytes: PAGE, value: 0 }, None);
        assert_eq!(pair.mismatch(), None);
    }

    #[test]
    fn a_copy_of_another_row_is_found() {
        let mut pair = Pair::new(None);
        pair.copy_in_cells(4, 6);
        pair.copy_in_flat(5, 6);
        assert_eq!(pair.row_and_column(), Some((6, 0)));
    }

    #[test]
    fn a_lost_write_is_found_in_a_changed_row_and_in_an_unchanged_one() {
        for changed in [false, true] {
            let mut pair = Pair::new(None);
            if changed {
                pair.write_in_cells(5, 3);
                pair.write_in_flat(5, 3);
            }
            pair.write_in_flat(5, 4);
            let mismatch = pair.mismatch().unwrap();
            assert_eq!((mismatch.location.row, mismatch.location.column), (Row(5), Column(4)));
            assert_eq!((mismatch.address.0, mismatch.expected), (pair.address(5).0 + 4 * LINE_BYTES, 7));
            assert_eq!(mismatch.found, pair.device.cells().unwrap().line(BANK, Row(5), Column(4))[0]);
        }
    }

    #[test]
    fn an_unrequested_write_is_found() {
        let mut pair = Pair::new(None);
        pair.write_in_cells(5, 4);
        assert_eq!(pair.row_and_column(), Some((5, 4)));
    }

    #[test]
    fn a_changed_zero_row_is_found_and_a_temporary_row_may_hold_anything() {
        let mut pair = Pair::new(None);
        pair.write_in_cells(511, 8);
        assert_eq!(pair.row_and_column(), Some((511, 8)));
        let mut pair = Pair::new(None);
        pair.copy_in_cells(3, 511);
        assert_eq!(pair.row_and_column(), Some((511, 0)));
        let mut pair = Pair::new(None);
        pair.write_in_cells(pair.flat.contents.map().geometry().temporary_row().0, 8);
        assert_eq!(pair.mismatch(), None);
    }

    /// The controller never sends a copy activation to another subarray, so that no run has this defect.
    #[test]
    fn a_copy_across_subarrays_is_found() {
        for (defect, found) in [(None, None), (Some(Defect::FpmCrossesSubarrays), Some((600, 0)))] {
            let mut pair = Pair::new(defect);
            pair.copy_in_cells(5, 600);
            assert_eq!(pair.row_and_column(), found);
        }
    }
}
