//! Request streams and memories shared by benchmarks and tests.

#![allow(dead_code, reason = "each of those that measure plays some of the streams")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::RequestId;
use dram_spec::address::MapPreset;
use dram_spec::{
    AddressMap, Cycle, Density, EventSink, Geometry, LINE_BYTES, PhysicalAddress, RawGeometry, SourceId, SpeedBin,
    Standard, System, Width,
};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use rowclone::{FaultyRows, Operation, Planner};

/// Bytes per page.
pub const PAGE_BYTES: u64 = 4096;
/// Lines per page.
pub const PAGE_LINES: u64 = PAGE_BYTES / LINE_BYTES;

/// A stream of requests: the `index`-th is `request(index)`, and arrives `apart` cycles after its
/// predecessor.
#[derive(Clone)]
pub struct Stream {
    request: fn(u64) -> Operation,
    count: u64,
    apart: u64,
    taken: u64,
    /// Completed requests.
    pub completed: u64,
    /// Latest completion; for accesses, the end of the last data.
    pub end: Cycle,
}

impl Stream {
    /// Creates a stream that arrives at cycle 0: requests are taken as fast as the queues permit.
    pub fn new(request: fn(u64) -> Operation, count: u64) -> Stream {
        Stream { request, count, apart: 0, taken: 0, completed: 0, end: Cycle::ZERO }
    }

    /// Sets the distance of arrivals.
    pub fn apart(self, cycles: u64) -> Stream {
        Stream { apart: cycles, ..self }
    }

    /// Runs the stream to its end, and asserts that all requests complete.
    pub fn play(mut self, config: &Config, sink: &mut impl EventSink) -> (Stream, Stats) {
        let run = Controller::new(config).run(&mut self, sink, &AtomicBool::new(false));
        let stats = run.expect("the run is not canceled");
        assert_eq!(
            (self.completed, stats.whole.requests),
            (self.count, self.count),
            "all requests are done, and counted"
        );
        (self, stats)
    }
}

impl RequestSource for Stream {
    fn next_arrival(&self) -> Option<Cycle> {
        (self.taken < self.count).then_some(Cycle(self.taken * self.apart))
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let id = RequestId(self.taken);
        self.taken += 1;
        Some(Request {
            id,
            source: SourceId::default(),
            arrival: Some(arrival),
            operation: (self.request)(id.0),
            payload: None,
        })
    }

    fn complete(&mut self, completion: Completion) {
        self.completed += 1;
        self.end = self.end.max(completion.done);
    }
}

/// One channel and rank of DDR3-1600 11-11-11, 4 Gb x8 chips; map row : rank : bank : column, from
/// high to low; FR-FCFS, open rows, no postponed refresh; copies over the channel.
pub fn accesses() -> Config {
    let (density, width) = (Density::Gb4, Width::X8);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 1,
        density,
        width,
        row_bytes: 8192,
        rows_per_subarray: 1024.into(),
    };
    let system = System::new(
        SpeedBin::named("1600K").expect("it is in the table of bins"),
        Geometry::try_from(raw).expect("4 Gb x8 chips have rows of 8 KB"),
    );
    over(system, BASELINE)
}

/// One channel of the `RowClone` paper's memory; copies by the paper's rule.
pub fn copies() -> Config {
    over(System::paper(1, Density::Gb2, Width::X8), ROWCLONE)
}

fn over(system: System, policy: &'static dyn CopyPolicy) -> Config {
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), policy)
}

fn line(number: u64) -> PhysicalAddress {
    PhysicalAddress(number * LINE_BYTES)
}

/// Reads of consecutive lines.
pub fn sequential(index: u64) -> Operation {
    Operation::Read { address: line(index), bytes: LINE_BYTES }
}

/// 64 reads of page 2i, then 64 writes of page 2i + 1, at consecutive lines.
pub fn page_copies_by_line(index: u64) -> Operation {
    let (address, bytes) = (line(index), LINE_BYTES);
    if (index / PAGE_LINES).is_multiple_of(2) {
        Operation::Read { address, bytes }
    } else {
        Operation::Write { address, bytes }
    }
}

/// Copies of page 2i to page 2i + 1; every 8000 copies they restart at page 0.
pub fn page_copies(index: u64) -> Operation {
    let page = |number| PhysicalAddress(number * PAGE_BYTES);
    let src = index % 8000 * 2;
    Operation::Copy { src: page(src), dst: page(src + 1), bytes: PAGE_BYTES }
}

/// Random lines in the first GiB of [`accesses`]; three in ten are writes.
pub fn random(index: u64) -> Operation {
    let drawn = mix(index);
    let (address, bytes) = (PhysicalAddress(drawn % (1 << 30) / LINE_BYTES * LINE_BYTES), LINE_BYTES);
    if (drawn >> 32) % 10 < 3 { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } }
}

/// Copies of whole rows of [`copies`] to their neighbors, cyclically over the banks.
pub fn fpm_copies(index: u64) -> Operation {
    let (bank, pair) = (index % 8, index / 8);
    // 255 pairs of rows in each of 128 subarrays of 512 rows, whose last two are not used.
    let (subarray, row) = (pair / 255 % 128, pair % 255 * 2);
    let page = |row: u64| PhysicalAddress(((row * 128 + subarray) * 8 + bank) * PAGE_BYTES);
    Operation::Copy { src: page(row), dst: page(row + 1), bytes: PAGE_BYTES }
}

/// Mixes a 64-bit number (`SplitMix64`).
pub const fn mix(index: u64) -> u64 {
    let value = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
