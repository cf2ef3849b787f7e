//! How long two plain streams take, against four other cycle-accurate simulators, which agree on both to 0.2 %.
//!
//! DDR3-1600 11-11-11, 4 Gb x8 chips, one channel, one rank, FR-FCFS, open rows, no refresh postponed; everything is there at cycle
//! 0, and goes in as fast as the queues take it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::Preset;
use dram_spec::{
    AddressMap, CopyActivations, Cycle, Density, Geometry, LINE_BYTES, PhysicalAddress, PrechargePowerDown, RawGeometry,
    Refresh, SpeedBin, System, Width,
};
use memctrl::{Completion, Config, Controller, Policy, Request, RequestId, RequestSource};
use rowclone::{FaultyRows, Operation, Planner};

/// Lines of a 4 KB page.
const PAGE_LINES: u64 = 64;

/// The map is row : rank : bank : column, from high to low. Neither stream reaches a row that a subarray of 1024 rows sets aside.
fn config() -> Config {
    let (density, width) = (Density::Gb4, Width::X8);
    let raw = RawGeometry { channels: 1, ranks: 1, density, width, row_bytes: 8192, rows_per_subarray: 1024 };
    let system = System {
        bin: SpeedBin::named("1600K").expect("it is in the table of bins"),
        geometry: Geometry::try_from(raw).expect("4 Gb x8 chips have rows of 8 KB"),
        copy_activations: CopyActivations::Counted,
        precharge_power_down: PrechargePowerDown::FastExit,
        refresh: Refresh::NORMAL,
    };
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), Policy::Channel)
}

/// So many accesses of one line, all there at cycle 0: the `index`-th is `access(index)`.
struct Lines {
    access: fn(u64) -> Operation,
    count: u64,
    taken: u64,
    completed: u64,
    /// The end of the last data so far.
    end: Cycle,
}

impl RequestSource for Lines {
    fn next_arrival(&self) -> Option<Cycle> {
        (self.taken < self.count).then_some(Cycle::ZERO)
    }

    fn take(&mut self, _: Cycle) -> Option<Request> {
        let arrival = self.next_arrival()?;
        let id = RequestId(self.taken);
        self.taken += 1;
        Some(Request { id, arrival, operation: (self.access)(id.0), payload: None })
    }

    fn complete(&mut self, completion: Completion) {
        self.completed += 1;
        self.end = self.end.max(completion.done);
    }
}

fn line(number: u64) -> PhysicalAddress {
    PhysicalAddress(number * LINE_BYTES)
}

/// From the cycle at which the accesses are there to the end of the last data: within 0.5 % of what the others say.
fn check(count: u64, access: fn(u64) -> Operation, others: u64) {
    let mut source = Lines { access, count, taken: 0, completed: 0, end: Cycle::ZERO };
    let run = Controller::new(config()).run(&mut source, &mut (), &AtomicBool::new(false));
    assert!(run.is_ok(), "nobody stops it");
    assert_eq!(source.completed, count);
    let apart = source.end.0.abs_diff(others) as f64 / others as f64;
    assert!(apart <= 0.005, "{} cycles, against {others}: {:.2} % apart", source.end, apart * 100.0);
}

#[test]
fn a_million_sequential_reads_take_as_long_as_elsewhere() {
    let read = |index| Operation::Read { address: line(index), bytes: LINE_BYTES };
    check(1_000_000, read, 4_157_000);
}

#[test]
fn page_copies_by_line_take_as_long_as_elsewhere() {
    // 64 reads of page 2 i, then 64 writes of page 2 i + 1: addresses just count up.
    let access = |index| {
        let (address, bytes) = (line(index), LINE_BYTES);
        if (index / PAGE_LINES).is_multiple_of(2) {
            Operation::Read { address, bytes }
        } else {
            Operation::Write { address, bytes }
        }
    };
    check(8000 * 2 * PAGE_LINES, access, 4_417_000);
}
