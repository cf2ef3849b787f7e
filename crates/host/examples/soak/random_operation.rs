//! Random operations on few rows, so that they conflict and the memory stays small.

use std::sync::Arc;

use dram_spec::{BankId, Channel, Column, LINE_BYTES, Location, PhysicalAddress, Row};
use host::{Place, place};
use memctrl::Config;
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use crate::random_config::one_of;

/// Number of rows used.
const ROWS: usize = 48;

/// A generator of operations.
pub struct Operations {
    planner: Arc<Planner>,
    /// Address of the first byte of each row used.
    rows: Vec<u64>,
    row_bytes: u64,
}

impl Operations {
    /// Rows of several banks, in two neighboring subarrays of each.
    pub fn new(config: &Config, generator: &mut Generator) -> Operations {
        let map = config.planner.map();
        let geometry = map.geometry();
        let mut row = || {
            let near_its_end = geometry.rows_of_subarray(0).end - 8;
            let row = one_of(generator, &[0, near_its_end]) + generator.below(16);
            let bank = BankId {
                rank: generator.below(u32::from(geometry.ranks())) as u8,
                bank: generator.below(u32::from(geometry.banks())) as u8,
            };
            let channel = Channel(generator.below(u32::from(geometry.channels())) as u8);
            let location = Location { channel, bank, row: Row(row), column: Column(0), offset: 0 };
            map.address(location).expect("every bank has two subarrays").0
        };
        let rows = (0..ROWS).map(|_| row()).collect();
        Operations { planner: Arc::clone(&config.planner), rows, row_bytes: geometry.row_bytes().min(8192) }
    }

    /// Draws an operation that the planner accepts.
    pub fn draw(&self, generator: &mut Generator) -> Operation {
        loop {
            let operation = self.candidate(generator);
            if self.planner.check(&operation).is_ok() {
                return operation;
            }
        }
    }

    fn candidate(&self, generator: &mut Generator) -> Operation {
        let dst = self.any_address(generator);
        match generator.below(100) {
            0..48 => Operation::Read { address: dst, bytes: self.access_bytes(generator) },
            48..88 => Operation::Write { address: dst, bytes: self.access_bytes(generator) },
            88..96 => {
                let bytes = self.copy_bytes(generator);
                Operation::Copy { src: self.source(generator, dst, bytes), dst, bytes }
            }
            _ => Operation::Init { dst, bytes: self.copy_bytes(generator), value: one_of(generator, &[0, 0, 0x5A]) },
        }
    }

    /// The start of a row, a line of it, or any byte of it.
    fn any_address(&self, generator: &mut Generator) -> PhysicalAddress {
        let row = one_of(generator, &self.rows);
        let byte = u64::from(generator.below(self.row_bytes as u32));
        PhysicalAddress(
            row + one_of(generator, &[0, byte / LINE_BYTES * LINE_BYTES, byte / LINE_BYTES * LINE_BYTES, byte]),
        )
    }

    /// Bytes of an access: usually a line.
    fn access_bytes(&self, generator: &mut Generator) -> u64 {
        match generator.below(50) {
            0 => self.row_bytes,
            1..4 => u64::from(1 + generator.below(500)),
            4..8 => LINE_BYTES * u64::from(1 + generator.below(8)),
            _ => LINE_BYTES,
        }
    }

    /// Bytes of a copy or an initialization: usually a row.
    fn copy_bytes(&self, generator: &mut Generator) -> u64 {
        match generator.below(10) {
            0 => 2 * self.planner.map().granularity().min(1 << 15),
            1 => u64::from(1 + generator.below(3 * self.row_bytes as u32)),
            2..4 => LINE_BYTES * u64::from(1 + generator.below(16)),
            _ => self.row_bytes,
        }
    }

    /// A source with some relation to the destination, overlapping it, or at a random place.
    fn source(&self, generator: &mut Generator, dst: PhysicalAddress, bytes: u64) -> PhysicalAddress {
        let elsewhere = self.any_address(generator);
        match generator.below(8) {
            0 => elsewhere,
            1 => PhysicalAddress((dst.0 + u64::from(generator.below(8192))).saturating_sub(4096)),
            _ => {
                let (_, relation) = one_of(generator, &Place::RELATIONS);
                place(&self.planner, relation, dst, bytes).unwrap_or(elsewhere)
            }
        }
    }
}
