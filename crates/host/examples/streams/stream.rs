//! Streams of requests that come in order, each as soon as the queues take it or at a set pace, and the systems that they run on.

use std::sync::Arc;

use dram_spec::address::Preset;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AddressMap, CopyActivations, Cycle, Density, Geometry, LINE_BYTES, PhysicalAddress, PrechargePowerDown, RawGeometry,
    Refresh, SpeedBin, System, Width,
};
use host::{Place, place};
use memctrl::{Completion, Config, Policy, Request, RequestId, RequestSource};
use os_alloc_sim::Generator;
use rowclone::{FaultyRows, Operation, Planner};

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// Lines of a page.
pub const PAGE_LINES: u64 = PAGE / LINE_BYTES;

/// Plays a list of operations in its order.
pub struct Stream<I> {
    operations: I,
    next: Option<Operation>,
    /// Cycles from one arrival to the next.
    apart: u64,
    taken: u64,
    completed: u64,
}

impl<I: Iterator<Item = Operation>> Stream<I> {
    /// All there at cycle 0.
    pub fn new(operations: impl IntoIterator<IntoIter = I>) -> Stream<I> {
        Stream::paced(operations, 0)
    }

    /// One each so many cycles.
    pub fn paced(operations: impl IntoIterator<IntoIter = I>, apart: u64) -> Stream<I> {
        let mut operations = operations.into_iter();
        Stream { next: operations.next(), operations, apart, taken: 0, completed: 0 }
    }

    /// How many were done; asserts that all were.
    pub fn completed(&self) -> u64 {
        assert!(self.next.is_none() && self.completed == self.taken, "{} of {} are done", self.completed, self.taken);
        self.completed
    }
}

impl<I: Iterator<Item = Operation>> RequestSource for Stream<I> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.next.map(|_| Cycle(self.taken * self.apart))
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let operation = std::mem::replace(&mut self.next, self.operations.next())?;
        let id = RequestId(self.taken);
        self.taken += 1;
        Some(Request { id, arrival, operation, payload: None })
    }

    fn complete(&mut self, _: Completion) {
        self.completed += 1;
    }
}

/// DDR3-1600 11-11-11, one rank of 4 Gb x8 chips (rows of 8 KB) on one channel; row : rank : bank : column from high to low, FR-FCFS,
/// open rows, refresh not postponed.
pub fn ddr3_1600() -> Config {
    let (density, width) = (Density::Gb4, Width::X8);
    let row_bytes = native_row_bytes(density, width);
    let raw = RawGeometry { channels: 1, ranks: 1, density, width, row_bytes, rows_per_subarray: 512 };
    let system = System {
        bin: SpeedBin::named("1600K").expect("it is in the table of bins"),
        geometry: Geometry::try_from(raw).expect("the chips give such rows"),
        copy_activations: CopyActivations::Counted,
        precharge_power_down: PrechargePowerDown::FastExit,
        refresh: Refresh::NORMAL,
    };
    row_interleaved(system, Policy::Channel)
}

/// The paper's memory.
pub fn paper(policy: Policy) -> Config {
    row_interleaved(System::paper(1, Density::Gb2, Width::X8), policy)
}

fn row_interleaved(system: System, policy: Policy) -> Config {
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), policy)
}

fn read(address: u64) -> Operation {
    Operation::Read { address: PhysicalAddress(address), bytes: LINE_BYTES }
}

fn write(address: u64) -> Operation {
    Operation::Write { address: PhysicalAddress(address), bytes: LINE_BYTES }
}

/// Reads of lines 0, 1, 2 and so on.
pub fn sequential_reads(count: u64) -> impl Iterator<Item = Operation> {
    (0..count).map(|line| read(line * LINE_BYTES))
}

/// Page 2i read line by line, then page 2i + 1 written so: what a CPU makes of a page copy.
pub fn page_copies_by_line(pages: u64) -> impl Iterator<Item = Operation> {
    (0..pages).flat_map(|page| {
        let line = move |page: u64, line: u64| page * PAGE + line * LINE_BYTES;
        let reads = (0..PAGE_LINES).map(move |at| read(line(2 * page, at)));
        reads.chain((0..PAGE_LINES).map(move |at| write(line(2 * page + 1, at))))
    })
}

/// The same copies as one operation each, reserved rows left out.
pub fn page_copies(planner: &Planner, pages: u64) -> impl Iterator<Item = Operation> {
    let at = |page: u64| PhysicalAddress(page * PAGE);
    let copies = (0..).map(move |page| Operation::Copy { src: at(2 * page), dst: at(2 * page + 1), bytes: PAGE });
    copies.filter(|copy| planner.check(copy).is_ok()).take(pages as usize)
}

/// Lines anywhere in 1 GiB, three writes in ten.
pub fn random_lines(count: u64) -> impl Iterator<Item = Operation> {
    let mut generator = Generator::new(1);
    (0..count).map(move |_| {
        let address = u64::from(generator.below(1 << 24)) * LINE_BYTES;
        if generator.below(10) < 3 { write(address) } else { read(address) }
    })
}

/// Page copies in the paper's memory, each from a row of its destination's subarray.
pub fn fpm_copies(planner: &Planner, count: u64) -> impl Iterator<Item = Operation> {
    let pairs: Vec<Operation> = (0..1024)
        .filter_map(|index| {
            let dst = PhysicalAddress(index * 37 * PAGE);
            let src = place(planner, Place::SameSubarray, dst, PAGE).ok()?;
            Some(Operation::Copy { src, dst, bytes: PAGE })
        })
        .collect();
    pairs.into_iter().cycle().take(count as usize)
}
