//! A flat memory, and memory contents at reset.

use std::collections::BTreeMap;
use std::sync::Arc;

use dram_core::{Background, LineBytes};
use dram_spec::{
    AddressMap, BankId, Channel, Column, Geometry, LINE_BYTES, Location, Operation, PhysicalAddress, Row,
    geometry::ReservedRow,
};
use memctrl::Request;

/// Memory contents at reset: each byte is a function of its address.
#[derive(Clone, Debug)]
pub struct Contents {
    map: AddressMap,
}

impl Contents {
    pub fn new(map: AddressMap) -> Contents {
        Contents { map }
    }
}

/// Mixes a 64-bit number (the finalizer of `SplitMix64`).
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

fn line_at_reset(line: u64) -> LineBytes {
    std::array::from_fn(|at| mix(line + at as u64 / 8 + 1).to_le_bytes()[at % 8])
}

/// Data of a write, distinct for each request.
pub fn payload(request: u64, bytes: u64) -> Arc<[u8]> {
    (0..bytes).map(|at| mix(mix(request + 1) ^ (at / 8)).to_be_bytes()[(at % 8) as usize]).collect()
}

impl Background for Contents {
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> LineBytes {
        let address = self.map.address(Location { channel, bank, row, column, offset: 0 });
        line_at_reset(address.expect("the cells have the geometry of the map").0)
    }
}

/// Contents of the memory, line by line; unwritten lines have their contents at reset.
#[derive(Clone, Debug, Default)]
pub struct FlatMemory {
    lines: BTreeMap<u64, LineBytes>,
}

impl FlatMemory {
    fn line(&self, line: u64) -> LineBytes {
        self.lines.get(&line).copied().unwrap_or_else(|| line_at_reset(line))
    }

    fn bytes(&self, address: PhysicalAddress, bytes: u64) -> Vec<u8> {
        let end = address.0 + bytes;
        let lines = (address.0 / LINE_BYTES * LINE_BYTES..end).step_by(LINE_BYTES as usize);
        let all: Vec<u8> = lines.flat_map(|line| self.line(line)).collect();
        let first = (address.0 % LINE_BYTES) as usize;
        all[first..first + bytes as usize].to_vec()
    }

    fn write(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        let (mut at, mut rest) = (address.0, bytes);
        while !rest.is_empty() {
            let (line, first) = (at / LINE_BYTES * LINE_BYTES, (at % LINE_BYTES) as usize);
            let (of_line, others) = rest.split_at(rest.len().min(LINE_BYTES as usize - first));
            let contents = self.lines.entry(line).or_insert_with(|| line_at_reset(line));
            contents[first..first + of_line.len()].copy_from_slice(of_line);
            (at, rest) = (line + LINE_BYTES, others);
        }
    }

    /// Executes a request after all its predecessors; returns the data of a read.
    pub fn execute(&mut self, request: &Request) -> Option<Vec<u8>> {
        match request.operation {
            Operation::Copy { src, dst, bytes } => {
                let moved = self.bytes(src, bytes);
                self.write(dst, &moved);
            }
            Operation::Init { dst, bytes, value } => self.write(dst, &vec![value; bytes as usize]),
            Operation::Read { address, bytes } => return Some(self.bytes(address, bytes)),
            Operation::Write { address, .. } => self.write(address, request.payload.as_deref().expect("its bytes")),
        }
        None
    }

    /// The first line of a device with other contents.
    pub fn mismatch(&self, map: &AddressMap, channel: Channel, device: &dram_core::Device) -> Option<Location> {
        let lines = changed_rows(device, map.geometry()).into_iter().flat_map(|(bank, row, lines)| {
            let columns = (0..).map(Column);
            columns.zip(lines).map(move |(column, line)| (Location { channel, bank, row, column, offset: 0 }, line))
        });
        let differs = |place: &Location, line: &LineBytes| match map.geometry().reserved(place.row) {
            Some(ReservedRow::Temporary) => false,
            Some(ReservedRow::Zero) => line.iter().any(|byte| *byte != 0),
            None => self.line(map.address(*place).expect("the map has it").0) != *line,
        };
        lines.into_iter().find(|(place, line)| differs(place, line)).map(|(place, _)| place)
    }
}

/// A row changed by commands, with its lines.
pub type ChangedRow = (BankId, Row, Vec<LineBytes>);

/// Rows of a channel changed by commands, from rank 0, bank 0, row 0.
pub fn changed_rows(device: &dram_core::Device, geometry: &Geometry) -> Vec<ChangedRow> {
    let cells = device.cells().expect("contents are modeled");
    let lines = |bank, row| (0..geometry.columns()).map(|column| cells.line(bank, row, Column(column))).collect();
    let mut rows: Vec<_> = cells.changed().map(|(bank, row, _)| (bank, row, lines(bank, row))).collect();
    rows.sort_by_key(|(bank, row, _)| (bank.rank, bank.bank, row.0));
    rows
}
