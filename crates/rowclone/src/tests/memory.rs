//! Untimed model of a memory: executes programs on bytes, and checks the rules for reserved rows,
//! banks and repeated accesses.

use std::collections::{BTreeSet, HashMap};

use dram_spec::address::AddressMap;
use dram_spec::geometry::ReservedRow;
use dram_spec::{BankId, Channel, Column, Command, Geometry, LINE_BYTES, Location, PhysicalAddress, Row};

use crate::{CopyStep, CopyThread, LineWrite, Operation, Program};

type LineAt = (Channel, BankId, Row, Column);

/// Lines by location. A line never written contains bytes that depend on its location; zero rows
/// contain zeros.
pub(super) struct Memory<'a> {
    map: &'a AddressMap,
    lines: HashMap<LineAt, [u8; 64]>,
    /// Written destination bytes, as a mask per line.
    pub(super) written: HashMap<LineAt, u64>,
    /// The row whose contents the sense amplifiers of another subarray hold, and that subarray.
    moved: HashMap<(Channel, BankId), (Row, i64)>,
}

/// The subarray of a row, counted from row 0 on.
fn subarray_by_counting(geometry: &Geometry, row: Row) -> u32 {
    let (pattern, mut end) = (geometry.rows_per_subarray(), 0);
    for (subarray, rows) in (0..).zip(pattern.numbers().iter().cycle()) {
        end += rows;
        if u64::from(row.0) < end {
            return subarray;
        }
    }
    unreachable!("the pattern repeats")
}

impl<'a> Memory<'a> {
    pub(super) fn new(map: &'a AddressMap) -> Memory<'a> {
        Memory { map, lines: HashMap::new(), written: HashMap::new(), moved: HashMap::new() }
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

    /// Executes a program; `written_data` is the data of a write operation, by address.
    pub(super) fn execute(&mut self, operation: &Operation, program: &Program, written_data: impl Fn(u64) -> u8) {
        let mut staged: HashMap<u64, [u8; 64]> = HashMap::new();
        let mut open: HashMap<(Channel, BankId), Row> = HashMap::new();
        // A written line waits for all reads: those of every channel first.
        let is_write = |step: &CopyStep| matches!(step, CopyStep::Write { .. });
        let first_write = |thread: &CopyThread| thread.steps.iter().position(is_write).unwrap_or(thread.steps.len());
        let halves = program.threads.iter().map(|thread| (thread.channel, thread.steps.split_at(first_write(thread))));
        let steps = halves.clone().flat_map(|(channel, (reads, _))| reads.iter().map(move |step| (channel, step)));
        let writes = halves.flat_map(|(channel, (_, writes))| writes.iter().map(move |step| (channel, step)));
        for (channel, step) in steps.chain(writes) {
            self.step(operation, (channel, step), &mut open, &mut staged, &written_data);
        }
        assert!(open.is_empty() && self.moved.is_empty(), "a program closes its rows");
    }

    fn step(
        &mut self,
        operation: &Operation,
        (channel, step): (Channel, &CopyStep),
        open: &mut HashMap<(Channel, BankId), Row>,
        staged: &mut HashMap<u64, [u8; 64]>,
        written_data: impl Fn(u64) -> u8,
    ) {
        match *step {
            CopyStep::Open { bank, row } => assert_eq!(open.insert((channel, bank), row), None, "closed before"),
            CopyStep::Close { bank } => assert!(open.remove(&(channel, bank)).is_some(), "open before"),
            CopyStep::LeaveRow { bank, command, units: hops } => {
                let Command::MoveRowBuffer { row, .. } = command else { panic!("{command} leaves no row") };
                let src = open.remove(&(channel, bank)).expect("a row is open");
                let subarray = |row: Row| i64::from(subarray_by_counting(self.map.geometry(), row));
                assert_eq!((subarray(row) - subarray(src)).unsigned_abs(), hops.into());
                assert!(hops > 0 && self.moved.insert((channel, bank), (src, subarray(row))).is_none());
            }
            CopyStep::CopyOpen { bank, row } => {
                let subarray = |row: Row| i64::from(subarray_by_counting(self.map.geometry(), row));
                let opened = open.insert((channel, bank), row).map(|src| (src, subarray(src)));
                let (src, holds) = opened.or_else(|| self.moved.remove(&(channel, bank))).expect("contents to copy");
                assert_eq!(holds, subarray(row));
                for column in (0..self.map.geometry().columns()).map(Column) {
                    let line = self.get((channel, bank, src, column));
                    self.set_destination((channel, bank, row, column), line, u64::MAX);
                }
            }
            CopyStep::Transfer { src, src_column, dst, dst_column, count } => {
                assert!(src.rank == dst.rank && src != dst, "between two banks of a rank");
                let (src_row, dst_row) = (open[&(channel, src)], open[&(channel, dst)]);
                for line in 0..count {
                    let bytes = self.get((channel, src, src_row, Column(src_column.0 + line)));
                    let to = (channel, dst, dst_row, Column(dst_column.0 + line));
                    if self.map.geometry().reserved(dst_row) == Some(ReservedRow::Temporary) {
                        self.set(to, bytes);
                    } else {
                        self.set_destination(to, bytes, u64::MAX);
                    }
                }
            }
            CopyStep::Read { bank, run } => {
                for line in run.lines() {
                    assert_eq!(self.map.locate(line.address), Some(line.location));
                    assert_eq!((line.location.bank, open[&(channel, bank)]), (bank, line.location.row));
                    assert!(staged.insert(line.address.0, self.get(place(line.location))).is_none(), "read once");
                }
            }
            CopyStep::Write { bank, write } => {
                for LineWrite { line, from, to } in write.writes() {
                    let base = line.address.0;
                    assert_eq!(self.map.locate(line.address), Some(line.location));
                    assert_eq!((line.location.bank, open[&(channel, bank)]), (bank, line.location.row));
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

/// Banks that a program touches.
pub(super) fn banks(program: &Program) -> BTreeSet<(Channel, BankId)> {
    let of = |thread: &CopyThread| {
        let channel = thread.channel;
        let banks = thread.steps.iter().flat_map(|step| {
            let (first, second) = step.banks();
            std::iter::once(first).chain(second)
        });
        banks.map(move |bank| (channel, bank)).collect::<Vec<_>>()
    };
    program.threads.iter().flat_map(of).collect()
}
