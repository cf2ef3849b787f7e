//! Untimed model of a memory: executes segments on bytes, and checks the rules for reserved rows,
//! banks and repeated accesses.

use std::collections::{BTreeSet, HashMap};

use dram_spec::address::AddressMap;
use dram_spec::geometry::ReservedRow;
use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::{ColumnRun, LineWrite, Operation, Run, RunWrite, Segment, Work};

type LineAt = (Channel, BankId, Row, Column);

/// Lines by location. A line never written contains bytes that depend on its location; zero rows
/// contain zeros.
pub(super) struct Memory<'a> {
    map: &'a AddressMap,
    lines: HashMap<LineAt, [u8; 64]>,
    /// Written destination bytes, as a mask per line.
    pub(super) written: HashMap<LineAt, u64>,
}

impl<'a> Memory<'a> {
    pub(super) fn new(map: &'a AddressMap) -> Memory<'a> {
        Memory { map, lines: HashMap::new(), written: HashMap::new() }
    }

    fn get(&self, at: LineAt) -> [u8; 64] {
        if let Some(line) = self.lines.get(&at) {
            return *line;
        }
        if self.map.geometry().reserved(at.2) == Some(ReservedRow::Zero) {
            return [0; 64];
        }
        let (channel, bank, row, column) = at;
        let place = u64::from(row.0) << 20 | u64::from(column.0) << 10 | u64::from(bank.bank) << 6;
        let seed = (place | u64::from(bank.rank) << 3 | u64::from(channel.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        std::array::from_fn(|byte| (seed.rotate_left(byte as u32) >> 32) as u8 | 1)
    }

    fn set(&mut self, at: LineAt, line: [u8; 64]) {
        assert_ne!(self.map.geometry().reserved(at.2), Some(ReservedRow::Zero), "zero rows are never written");
        self.lines.insert(at, line);
    }

    /// Writes to a destination row of the operation.
    fn set_destination(&mut self, at: LineAt, line: [u8; 64], mask: u64) {
        assert_eq!(self.map.geometry().reserved(at.2), None, "reserved rows are no destination");
        self.set(at, line);
        let written = self.written.entry(at).or_default();
        assert_eq!(*written & mask, 0, "a byte is written once");
        *written |= mask;
    }

    pub(super) fn byte(&self, address: u64) -> u8 {
        let Location { channel, bank, row, column, offset } = self.map.locate(PhysicalAddress(address)).unwrap();
        self.get((channel, bank, row, column))[usize::from(offset)]
    }

    /// Executes a segment; `written_data` is the data of a write operation, by address.
    pub(super) fn execute(&mut self, operation: &Operation, segment: &Segment, written_data: impl Fn(u64) -> u8) {
        let columns = self.map.geometry().columns();
        match &segment.work {
            &Work::Fpm { channel, bank, src, dst } => {
                assert_eq!(self.map.geometry().subarray(src), self.map.geometry().subarray(dst));
                assert_eq!(segment.bytes, self.map.geometry().row_bytes(), "whole rows only");
                for column in (0..columns).map(Column) {
                    let line = self.get((channel, bank, src, column));
                    self.set_destination((channel, bank, dst, column), line, u64::MAX);
                }
            }
            Work::Psm { channel, src, dst, columns } => {
                assert!(src.0.rank == dst.0.rank && src.0 != dst.0, "between two banks of a rank");
                for (from, to) in columns.iter().flat_map(each) {
                    let line = self.get((*channel, src.0, src.1, from));
                    self.set_destination((*channel, dst.0, dst.1, to), line, u64::MAX);
                }
            }
            Work::Psm2 { channel, src, temporary, dst, columns } => {
                assert_eq!(self.map.geometry().reserved(temporary.1), Some(ReservedRow::Temporary));
                assert!(src.0 == dst.0 && temporary.0.rank == dst.0.rank && temporary.0 != dst.0);
                for (from, to) in columns.iter().flat_map(each) {
                    let line = self.get((*channel, src.0, src.1, from));
                    self.set((*channel, temporary.0, temporary.1, to), line);
                }
                for (_, column) in columns.iter().flat_map(each) {
                    let line = self.get((*channel, temporary.0, temporary.1, column));
                    self.set_destination((*channel, dst.0, dst.1, column), line, u64::MAX);
                }
            }
            Work::Channel { reads, writes } => {
                let mut staged: HashMap<u64, [u8; 64]> = HashMap::new();
                for line in reads.iter().flat_map(Run::lines) {
                    assert_eq!(self.map.locate(line.address), Some(line.location));
                    assert!(staged.insert(line.address.0, self.get(place(line.location))).is_none(), "read once");
                }
                for LineWrite { line, from, to } in writes.iter().flat_map(RunWrite::writes) {
                    let base = line.address.0;
                    assert_eq!(self.map.locate(line.address), Some(line.location));
                    let whole = u64::from(to - from) == LINE_BYTES;
                    // The other bytes of a partially written line are those read before.
                    let mut bytes = if whole { [0; 64] } else { staged[&base] };
                    for byte in from..to {
                        let address = base + u64::from(byte);
                        bytes[usize::from(byte)] = match *operation {
                            Operation::Copy { src, dst, .. } => {
                                let from = address - dst.0 + src.0;
                                staged[&(from / LINE_BYTES * LINE_BYTES)][(from % LINE_BYTES) as usize]
                            }
                            Operation::Init { value, .. } => value,
                            Operation::Write { .. } => written_data(address),
                            Operation::Read { .. } => panic!("a read writes nothing"),
                        };
                    }
                    let mask = if whole { u64::MAX } else { ((1 << (to - from)) - 1) << from };
                    self.set_destination(place(line.location), bytes, mask);
                }
            }
        }
    }
}

fn place(location: Location) -> LineAt {
    (location.channel, location.bank, location.row, location.column)
}

/// Banks that a segment touches.
pub(super) fn banks(segment: &Segment) -> BTreeSet<(Channel, BankId)> {
    match &segment.work {
        Work::Fpm { channel, bank, .. } => BTreeSet::from([(*channel, *bank)]),
        Work::Psm { channel, src, dst, .. } => BTreeSet::from([(*channel, src.0), (*channel, dst.0)]),
        Work::Psm2 { channel, temporary, dst, .. } => BTreeSet::from([(*channel, temporary.0), (*channel, dst.0)]),
        Work::Channel { reads, writes } => reads
            .iter()
            .chain(writes.iter().map(|write| &write.run))
            .map(|run| (run.first.location.channel, run.first.location.bank))
            .collect(),
    }
}

/// Source and destination column of each line.
fn each(run: &ColumnRun) -> impl Iterator<Item = (Column, Column)> {
    let ColumnRun { src, dst, count } = *run;
    (0..count).map(move |line| (Column(src.0 + line), Column(dst.0 + line)))
}
