//! The plain memory that every copy is compared with: an array of bytes, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dram_core::{Background, Cells, Line};
use dram_spec::geometry::ReservedRow;
use dram_spec::{AddressMap, BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};
use rowclone::Operation;

/// What memory holds at reset, made from a seed: for each byte a function of its physical address.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Mixed, so that neighbouring seeds have nothing in common.
    seed: u64,
    map: AddressMap,
}

/// A well-mixed 64-bit number from another (the finaliser of `SplitMix64`).
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

impl Contents {
    /// Everything that follows from `seed`.
    pub fn new(seed: u64, map: AddressMap) -> Contents {
        Contents { seed: mix(seed), map }
    }

    /// The byte at an address, at reset.
    pub fn byte(&self, address: PhysicalAddress) -> u8 {
        self.word(address.0 / 8)[(address.0 % 8) as usize]
    }

    /// The eight bytes from address `8 * index`.
    fn word(&self, index: u64) -> [u8; 8] {
        mix(self.seed ^ index).to_le_bytes()
    }

    /// The data of the `index`-th write of a run.
    pub fn payload(&self, index: u64, bytes: u64) -> Arc<[u8]> {
        let stream = mix(self.seed ^ mix(index + 1));
        (0..bytes).map(|at| mix(stream ^ (at / 8)).to_be_bytes()[(at % 8) as usize]).collect()
    }
}

impl Background for Contents {
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> Line {
        let base = self.map.address(Location { channel, bank, row, column, offset: 0 });
        let first = base.expect("the cells have the map's geometry").0 / 8;
        let mut line = [0; LINE_BYTES as usize];
        line.chunks_exact_mut(8).zip(first..).for_each(|(word, index)| word.copy_from_slice(&self.word(index)));
        line
    }
}

/// A flat array of bytes. Pages that nobody wrote to hold what [`Contents`] says.
pub struct FlatMemory {
    contents: Contents,
    written: BTreeMap<u64, Box<[u8]>>,
}

/// Where the cells differ from the flat memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The first byte that differs.
    pub address: PhysicalAddress,
    /// Where it is.
    pub location: Location,
    /// What a plain memory would hold.
    pub expected: u8,
    /// What the cells hold.
    pub found: u8,
}

const PAGE: u64 = 4096;

/// The pages that a range goes over, and which bytes of each.
fn pages(address: PhysicalAddress, bytes: u64) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let end = address.0 + bytes;
    (address.0 / PAGE..end.div_ceil(PAGE)).map(move |page| {
        let base = page * PAGE;
        (page, (address.0.max(base) - base) as usize..(end.min(base + PAGE) - base) as usize)
    })
}

impl FlatMemory {
    /// Memory at reset.
    pub fn new(contents: Contents) -> FlatMemory {
        FlatMemory { contents, written: BTreeMap::new() }
    }

    /// `bytes` bytes from `address`.
    pub fn read(&self, address: PhysicalAddress, bytes: u64) -> Vec<u8> {
        let mut read = Vec::with_capacity(bytes as usize);
        for (page, part) in pages(address, bytes) {
            match self.written.get(&page) {
                Some(bytes) => read.extend_from_slice(&bytes[part]),
                None => read.extend_from_slice(&self.at_reset(page)[part]),
            }
        }
        read
    }

    /// Stores `bytes` from `address`.
    pub fn write(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        let mut rest = bytes;
        for (page, part) in pages(address, bytes.len() as u64) {
            let (now, later) = rest.split_at(part.len());
            if !self.written.contains_key(&page) {
                self.written.insert(page, self.at_reset(page));
            }
            if let Some(page) = self.written.get_mut(&page) {
                page[part].copy_from_slice(now);
            }
            rest = later;
        }
    }

    fn at_reset(&self, page: u64) -> Box<[u8]> {
        let first = page * PAGE / 8;
        (first..first + PAGE / 8).flat_map(|index| self.contents.word(index)).collect()
    }

    /// What an operation leaves behind; what a read returns. `payload` is what a write writes.
    pub fn apply(&mut self, operation: &Operation, payload: Option<&[u8]>) -> Option<Vec<u8>> {
        match *operation {
            Operation::Copy { src, dst, bytes } => {
                let moved = self.read(src, bytes);
                self.write(dst, &moved);
            }
            Operation::Init { dst, bytes, value } => self.write(dst, &vec![value; bytes as usize]),
            Operation::Read { address, bytes } => return Some(self.read(address, bytes)),
            Operation::Write { address, .. } => self.write(address, payload.unwrap_or_default()),
        }
        None
    }

    /// Compares every row that the cells of a channel were touched in, and every page written here, with the cells.
    /// Reserved rows are compared with what they must hold: zeros; a temporary row may hold anything.
    pub fn compare(&self, channel: Channel, cells: &Cells) -> Option<Mismatch> {
        let touched = cells.touched();
        let wrong_row = touched.iter().find_map(|&(bank, row, bytes)| self.compare_row(channel, bank, row, bytes));
        wrong_row
            .or_else(|| self.find_lost_write(channel, &touched.iter().map(|&(bank, row, _)| (bank, row)).collect()))
    }

    fn compare_row(&self, channel: Channel, bank: BankId, row: Row, bytes: &[u8]) -> Option<Mismatch> {
        let map = &self.contents.map;
        let reserved = map.geometry().reserved(row);
        if reserved == Some(ReservedRow::Temporary) {
            return None;
        }
        bytes.chunks_exact(LINE_BYTES as usize).zip(0..).find_map(|(line, column)| {
            let location = Location { channel, bank, row, column: Column(column), offset: 0 };
            let base = map.address(location).expect("the cells have the map's geometry");
            let expected = match reserved {
                Some(_) => vec![0; line.len()],
                None => self.read(base, LINE_BYTES),
            };
            if *line == *expected {
                return None;
            }
            let offset = (0..line.len()).find(|&at| line[at] != expected[at])?;
            Some(Mismatch {
                address: PhysicalAddress(base.0 + offset as u64),
                location: Location { offset: offset as u16, ..location },
                expected: expected[offset],
                found: line[offset],
            })
        })
    }

    /// A byte written here in a row that the cells were never touched in: they still hold what reset left.
    fn find_lost_write(&self, channel: Channel, touched: &BTreeSet<(BankId, Row)>) -> Option<Mismatch> {
        let map = &self.contents.map;
        let untouched = |address: &PhysicalAddress| {
            let location = map.locate(*address);
            location.is_some_and(|at| at.channel == channel && !touched.contains(&(at.bank, at.row)))
        };
        self.written.iter().find_map(|(page, written)| {
            let lines = (page * PAGE..(page + 1) * PAGE).step_by(LINE_BYTES as usize).map(PhysicalAddress);
            let wrong = lines
                .filter(untouched)
                .flat_map(|line| line.0..line.0 + LINE_BYTES)
                .find(|at| written[(at % PAGE) as usize] != self.contents.byte(PhysicalAddress(*at)));
            let address = PhysicalAddress(wrong?);
            let (expected, found) = (written[(address.0 % PAGE) as usize], self.contents.byte(address));
            Some(Mismatch { address, location: map.locate(address)?, expected, found })
        })
    }
}
