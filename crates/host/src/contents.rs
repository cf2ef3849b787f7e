//! Memory contents at reset and the data of writes, made from a seed.

use std::sync::Arc;

use dram_core::{Background, LineBytes};
use dram_spec::{AddressMap, BankId, Channel, Column, LINE_BYTES, Location, Row, Topology};

use crate::flat_memory::BLOCK_LINES;

/// Memory contents at reset: each byte is a function of the seed and its physical address.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Seed after [`mix`], so that neighboring seeds give unrelated contents.
    seed: u64,
    map: AddressMap,
    addresses: Arc<Addresses>,
}

/// Mixes a 64-bit number (the finalizer of `SplitMix64`).
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// The bytes of a line: eight words that differ from each other in every byte.
fn line_of(mixed: u64) -> LineBytes {
    let mut line = [0; LINE_BYTES as usize];
    for (word, index) in line.chunks_exact_mut(8).zip(0..) {
        word.copy_from_slice(&(mixed ^ (index * 0x1111_1111_1111_1111)).to_le_bytes());
    }
    line
}

impl Contents {
    /// Creates the contents of a seed.
    pub fn new(seed: u64, map: AddressMap) -> Contents {
        let addresses = Arc::new(Addresses::new(&map));
        Contents { seed: mix(seed), map, addresses }
    }

    /// The address map of the memory.
    pub const fn map(&self) -> &AddressMap {
        &self.map
    }

    /// The line at address `64 * number`, at reset.
    pub fn line_at(&self, number: u64) -> LineBytes {
        line_of(mix(self.seed ^ number))
    }

    /// Line numbers of a row, by column. A line's number is its address divided by 64.
    pub(crate) fn numbers(&self, channel: Channel, bank: BankId, row: Row) -> impl Fn(Column) -> u64 {
        let (row, columns) = (self.addresses.row(channel, bank, row), &self.addresses.columns);
        move |column| (row ^ columns[usize::from(column.0)]) / LINE_BYTES
    }

    /// Number of consecutive columns, from a multiple of it on, whose lines lie in one aligned
    /// block of 64 lines.
    pub(crate) fn columns_per_block(&self) -> usize {
        self.addresses.columns_per_block
    }

    /// Data of the `index`-th write of a run.
    pub fn payload(&self, index: u64, bytes: u64) -> Arc<[u8]> {
        let stream = mix(self.seed ^ mix(index + 1));
        let line = |number| line_of(mix(stream ^ number));
        if bytes == LINE_BYTES {
            return Arc::new(line(0));
        }
        let mut payload: Arc<[u8]> = std::iter::repeat_n(0, bytes as usize).collect();
        for (part, number) in Arc::make_mut(&mut payload).chunks_mut(LINE_BYTES as usize).zip(0..) {
            part.copy_from_slice(&line(number)[..part.len()]);
        }
        payload
    }
}

impl Background for Contents {
    fn line(&self, channel: Channel, bank: BankId, row: Row, column: Column) -> LineBytes {
        self.line_at(self.numbers(channel, bank, row)(column))
    }

    fn lines(&self, channel: Channel, bank: BankId, row: Row, first: Column, lines: &mut [LineBytes]) {
        let number = self.numbers(channel, bank, row);
        for (line, column) in lines.iter_mut().zip(first.0..) {
            *line = self.line_at(number(Column(column)));
        }
    }
}

/// Tables of line addresses. An address map is linear over GF(2): an address is the XOR of the
/// contributions of its coordinates.
#[derive(Debug)]
struct Addresses {
    /// By channel, rank and bank, in this order from high to low.
    banks: Vec<u64>,
    topology: Topology,
    /// By the row's high bits and by its low [`Self::LOW_BITS`].
    rows: [Vec<u64>; 2],
    columns: Vec<u64>,
    columns_per_block: usize,
}

impl Addresses {
    const LOW_BITS: u32 = 8;

    fn new(map: &AddressMap) -> Addresses {
        let geometry = map.geometry();
        let of = |channel, rank, bank, row, column| {
            let (channel, bank) = (Channel(channel), BankId { rank, bank });
            let location = Location { channel, bank, row: Row(row), column: Column(column), offset: 0 };
            map.address(location).expect("it is within the geometry").0
        };
        let of = &of;
        let ranks = move |channel| (0..geometry.ranks()).map(move |rank| (channel, rank));
        let banks = move |(channel, rank)| (0..geometry.banks()).map(move |bank| of(channel, rank, bank, 0, 0));
        let rows = (0..geometry.rows_per_bank()).step_by(1 << Self::LOW_BITS);
        let columns: Vec<_> = (0..geometry.columns()).map(|column| of(0, 0, 0, 0, column)).collect();
        // As the map is linear, the columns below a power of two lie in one block if those whose
        // number has one bit set do.
        let bits = (0..columns.len().ilog2()).take_while(|&bit| columns[1 << bit] < BLOCK_LINES * LINE_BYTES);
        Addresses {
            columns_per_block: 1 << bits.count(),
            banks: (0..geometry.channels()).flat_map(ranks).flat_map(banks).collect(),
            topology: geometry.topology(),
            rows: [
                rows.map(|row| of(0, 0, 0, row, 0)).collect(),
                (0..1 << Self::LOW_BITS).map(|row| of(0, 0, 0, row, 0)).collect(),
            ],
            columns,
        }
    }

    /// Address of a row's column 0.
    fn row(&self, channel: Channel, bank: BankId, row: Row) -> u64 {
        let bank = self.topology.index(bank).get();
        self.banks[usize::from(channel.0) * self.topology.banks() + bank]
            ^ self.rows[0][(row.0 >> Self::LOW_BITS) as usize]
            ^ self.rows[1][row.0 as usize % (1 << Self::LOW_BITS)]
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::RawAddressMap;
    use dram_spec::{Density, PhysicalAddress, System, Width};

    use super::*;

    #[test]
    fn numbers_of_lines_are_those_of_the_map() {
        let geometry = System::paper(2, Density::Gb1, Width::X8).geometry;
        let fields = ["row:5", "channel", "column:3", "row", "bank", "column", "offset"].map(str::to_owned).to_vec();
        let xor = vec![dram_spec::address::RawXor { field: "bank".to_owned(), bit: 1, address_bits: vec![7, 20, 29] }];
        let map = AddressMap::new(geometry, &RawAddressMap { fields: fields.into(), xor }).unwrap();
        let contents = Contents::new(1, map.clone());
        for number in (0..geometry.bytes() / LINE_BYTES).step_by(997) {
            let at = map.locate(PhysicalAddress(number * LINE_BYTES)).unwrap();
            assert_eq!(contents.numbers(at.channel, at.bank, at.row)(at.column), number);
        }
    }
}
