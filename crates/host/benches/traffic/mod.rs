//! The streams of requests that benches and tests measure: what is asked for, on which memory.

#![allow(dead_code, reason = "each of those that measure plays some of the streams")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::RequestId;
use dram_spec::address::Preset;
use dram_spec::{
    AddressMap, CopyActivations, Cycle, Density, EventSink, Geometry, LINE_BYTES, PhysicalAddress, PrechargePowerDown,
    RawGeometry, Refresh, SourceId, SpeedBin, System, Width,
};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use rowclone::{FaultyRows, Operation, Planner};

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// Lines of a page.
pub const PAGE_LINES: u64 = PAGE_BYTES / LINE_BYTES;

/// So many requests; the `index`-th is `request(index)`, and arrives `apart` cycles after the one before.
#[derive(Clone)]
pub struct Stream {
    request: fn(u64) -> Operation,
    count: u64,
    apart: u64,
    taken: u64,
    /// How many are done.
    pub completed: u64,
    /// When the last of them was: of accesses, the end of the last data.
    pub end: Cycle,
}

impl Stream {
    /// All there at cycle 0: they go in as fast as the queues take them.
    pub fn new(request: fn(u64) -> Operation, count: u64) -> Stream {
        Stream { request, count, apart: 0, taken: 0, completed: 0, end: Cycle::ZERO }
    }

    /// The same, one each so many cycles.
    pub fn apart(self, cycles: u64) -> Stream {
        Stream { apart: cycles, ..self }
    }

    /// Plays it to its end, and asserts that all of it is done.
    pub fn play(mut self, config: &Config, sink: &mut impl EventSink) -> (Stream, Stats) {
        let run = Controller::new(config).run(&mut self, sink, &AtomicBool::new(false));
        let stats = run.expect("nobody stops it");
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
        Some(Request { id, source: SourceId::default(), arrival, operation: (self.request)(id.0), payload: None })
    }

    fn complete(&mut self, completion: Completion) {
        self.completed += 1;
        self.end = self.end.max(completion.done);
    }
}

/// One channel and rank of DDR3-1600 11-11-11, 4 Gb x8 chips; map row : rank : bank : column, from high to low; FR-FCFS, open rows,
/// no refresh postponed; copies over the channel.
pub fn accesses() -> Config {
    let (density, width) = (Density::Gb4, Width::X8);
    let raw = RawGeometry { channels: 1, ranks: 1, density, width, row_bytes: 8192, rows_per_subarray: 1024 };
    let system = System {
        bin: SpeedBin::named("1600K").expect("it is in the table of bins"),
        geometry: Geometry::try_from(raw).expect("4 Gb x8 chips have rows of 8 KB"),
        copy_activations: CopyActivations::Counted,
        precharge_power_down: PrechargePowerDown::FastExit,
        refresh: Refresh::NORMAL,
    };
    over(system, BASELINE)
}

/// The memory of the `RowClone` paper, one channel of it; copies by the paper's rule.
pub fn copies() -> Config {
    over(System::paper(1, Density::Gb2, Width::X8), ROWCLONE)
}

fn over(system: System, policy: &'static dyn CopyPolicy) -> Config {
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), policy)
}

fn line(number: u64) -> PhysicalAddress {
    PhysicalAddress(number * LINE_BYTES)
}

/// Reads of one line after another.
pub fn sequential(index: u64) -> Operation {
    Operation::Read { address: line(index), bytes: LINE_BYTES }
}

/// 64 reads of page 2 i, then 64 writes of page 2 i + 1: the lines just count up.
pub fn page_copies_by_line(index: u64) -> Operation {
    let (address, bytes) = (line(index), LINE_BYTES);
    if (index / PAGE_LINES).is_multiple_of(2) {
        Operation::Read { address, bytes }
    } else {
        Operation::Write { address, bytes }
    }
}

/// Page 2 i copied to page 2 i + 1; from the 8000th on once more from the start, short of the first row that is set aside.
pub fn page_copies(index: u64) -> Operation {
    let page = |number| PhysicalAddress(number * PAGE_BYTES);
    let src = index % 8000 * 2;
    Operation::Copy { src: page(src), dst: page(src + 1), bytes: PAGE_BYTES }
}

/// Lines anywhere in the first GiB of [`accesses`], three in ten of them written.
pub fn random(index: u64) -> Operation {
    let drawn = mix(index);
    // A step of the row number is 64 KB. The last row of a subarray is set aside: the one before it stands in.
    let address = drawn % (1 << 30) / LINE_BYTES * LINE_BYTES;
    let address = if (address >> 16) % 1024 == 1023 { address - (1 << 16) } else { address };
    let (address, bytes) = (PhysicalAddress(address), LINE_BYTES);
    if (drawn >> 32) % 10 < 3 { Operation::Write { address, bytes } } else { Operation::Read { address, bytes } }
}

/// Whole rows of [`copies`] to their neighbours, over the banks in turn.
pub fn fpm_copies(index: u64) -> Operation {
    let (bank, pair) = (index % 8, index / 8);
    // 255 pairs of rows in each of 128 subarrays of 512, its last two left out.
    let row = pair / 255 % 128 * 512 + pair % 255 * 2;
    let page = |row: u64| PhysicalAddress((row * 8 + bank) * PAGE_BYTES);
    Operation::Copy { src: page(row), dst: page(row + 1), bytes: PAGE_BYTES }
}

/// A well-mixed 64-bit number from another (`SplitMix64`).
pub const fn mix(index: u64) -> u64 {
    let value = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
