//! Requests that get in each other's way, drawn from a seed as they arrive.

use dram_spec::{BankId, Channel, Column, Cycle, Cycles, LINE_BYTES, Location, PhysicalAddress, Row};
use host::{Contents, scenario};
use memctrl::{Completion, Config, Request, RequestId, RequestSource};
use os_alloc_sim::Generator;
use rowclone::{Operation, Planner};

use crate::setting::one_of;

/// So many requests on a few rows, now in a rush and now with pauses in which ranks fall asleep.
pub struct Traffic {
    chance: Generator,
    planner: std::sync::Arc<Planner>,
    contents: Contents,
    /// Rows, of any bank, that all requests are about.
    rows: Vec<u32>,
    /// Of a hundred requests, how many are copies or initialisations.
    bulk: u32,
    /// The longest distance between two arrivals, within a rush and between two.
    gaps: (u32, u32),
    /// How many requests are yet to be taken.
    left: u64,
    next: Option<(Operation, Cycle)>,
    taken: u64,
    /// How many are done.
    pub completed: u64,
}

impl Traffic {
    /// `count` requests, to a system drawn from the same chance.
    pub fn new(mut chance: Generator, config: &Config, contents: Contents, count: u64) -> Traffic {
        let per_subarray = config.system.geometry.rows_per_subarray();
        // Neighbours in a subarray, across the border of one, and far away; the last of a subarray is set aside.
        let rows = [0, 1, 2, 3, per_subarray - 2, per_subarray, per_subarray + 1, 5 * per_subarray + 9];
        let bulk = one_of(&mut chance, &[0, 1, 3, 10, 30]);
        let gaps = (one_of(&mut chance, &[1, 5, 30, 200]), one_of(&mut chance, &[1, 1000, 100_000]));
        let mut traffic = Traffic {
            chance,
            planner: config.planner.clone(),
            contents,
            rows: rows.to_vec(),
            bulk,
            gaps,
            left: count,
            next: None,
            taken: 0,
            completed: 0,
        };
        traffic.next = Some((traffic.draw(), Cycle::ZERO));
        traffic
    }

    /// Any operation that the memory can take.
    fn draw(&mut self) -> Operation {
        loop {
            let operation = self.draft();
            if self.planner.check(&operation).is_ok() {
                return operation;
            }
        }
    }

    fn draft(&mut self) -> Operation {
        let location = self.place();
        let Some(base) = self.planner.map().address(location) else { return self.draft() };
        let row_bytes = self.planner.map().geometry().row_bytes();
        if self.chance.below(100) >= self.bulk {
            let address = PhysicalAddress(base.0 + self.ragged(row_bytes));
            let bytes = match self.chance.below(20) {
                0 => 1 + u64::from(self.chance.below(4096)),
                1 | 2 => 1 + u64::from(self.chance.below(200)),
                _ => return self.access(PhysicalAddress(address.0 / LINE_BYTES * LINE_BYTES), LINE_BYTES),
            };
            return self.access(address, bytes);
        }
        let whole = u64::from(self.chance.below(3)) * row_bytes.min(8192);
        let bytes = (whole + self.ragged(4096)).max(1);
        let shift = self.ragged(row_bytes);
        let dst = PhysicalAddress(base.0 + shift);
        match self.chance.below(8) {
            0 => Operation::Init { dst, bytes, value: 0 },
            1 => Operation::Init { dst, bytes, value: self.chance.below(256) as u8 },
            // Not far away: the two may overlap.
            2 => Operation::Copy { src: PhysicalAddress(dst.0 + self.ragged(20_000)), dst, bytes },
            _ => {
                let near = self.near(location);
                let src = self.planner.map().address(near).unwrap_or(base);
                Operation::Copy { src: PhysicalAddress(src.0 + shift), dst, bytes }
            }
        }
    }

    fn access(&mut self, address: PhysicalAddress, bytes: u64) -> Operation {
        if self.chance.below(10) < 3 { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } }
    }

    /// Mostly nothing; else some lines, or some bytes; less than `end`.
    fn ragged(&mut self, end: u64) -> u64 {
        match self.chance.below(8) {
            0 => u64::from(self.chance.below(end as u32)),
            1 | 2 => u64::from(self.chance.below((end / LINE_BYTES) as u32)) * LINE_BYTES,
            _ => 0,
        }
    }

    fn place(&mut self) -> Location {
        let geometry = *self.planner.map().geometry();
        Location {
            channel: Channel(self.chance.below(geometry.channels().into()) as u8),
            bank: BankId {
                rank: self.chance.below(geometry.ranks().into()) as u8,
                bank: self.chance.below(geometry.banks().into()) as u8,
            },
            row: Row(one_of(&mut self.chance, &self.rows)),
            column: Column(0),
            offset: 0,
        }
    }

    /// Another place: of the same bank, the same rank, or anywhere.
    fn near(&mut self, location: Location) -> Location {
        let other = self.place();
        match self.chance.below(4) {
            0 | 1 => Location { row: other.row, ..location },
            2 => Location { row: other.row, bank: BankId { bank: other.bank.bank, ..location.bank }, ..location },
            _ => other,
        }
    }

    /// How long after the one before the next request arrives.
    fn gap(&mut self) -> Cycles {
        let (short, long) = self.gaps;
        let most = if self.chance.below(200) == 0 { long } else { short };
        Cycles(self.chance.below(most).into())
    }
}

impl RequestSource for Traffic {
    fn next_arrival(&self) -> Option<Cycle> {
        self.next.map(|(_, at)| at)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let (operation, arrival) = self.next.filter(|&(_, at)| at <= now)?;
        self.left -= 1;
        let coming = arrival + self.gap();
        self.next = (self.left > 0).then(|| (self.draw(), coming));
        let id = RequestId(self.taken);
        self.taken += 1;
        let payload = scenario::payload(&self.contents, id.0, &operation);
        Some(Request { id, arrival, operation, payload })
    }

    fn complete(&mut self, _: Completion) {
        self.completed += 1;
    }
}
