//! Measures `RefreshPolicy::idle`: the time after which an idle rank closes its open rows for a REF
//! that it may postpone.
//!
//! `cargo run --release -p rowclone-memctrl --example refresh_idle` prints, for each traffic and setting,
//! the mean read latency in cycles and the ACTs per thousand reads.
//! `docs/decisions/0018-refresh-idle-cycles.md` has the table.
#![allow(clippy::print_stdout, reason = "the table is what the example is for")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::{AddressMap, MapPreset};
use dram_spec::{
    CommandKind, Cycle, Cycles, Density, Geometry, Operation, PhysicalAddress, RawGeometry, RequestId, SourceId,
    SpeedBin, Standard, System, Width,
};
use memctrl::policy::copy::BASELINE;
use memctrl::{Completion, Config, Controller, RefreshPolicy, Request, RequestSource};
use rowclone::{FaultyRows, Planner};

const READS: u64 = 200_000;

/// A pseudorandom number that depends only on `index` (`SplitMix64`).
const fn mix(index: u64) -> u64 {
    let value = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A traffic pattern: the cycles before read `number`, and its line.
type Traffic = fn(u64) -> (u64, u64);

/// Random lines of 256 MiB: almost no read finds its row open.
fn random(number: u64) -> (u64, u64) {
    (200 + mix(2 * number) % 201, mix(2 * number + 1) % (1 << 22))
}

/// Random lines of one row per bank: only a refresh closes a row.
fn random_in_few_rows(number: u64) -> (u64, u64) {
    (200 + mix(2 * number) % 201, mix(2 * number + 1) % 1024)
}

/// Random lines of one row per bank at a higher rate.
fn dense_in_few_rows(number: u64) -> (u64, u64) {
    (20 + mix(2 * number) % 101, mix(2 * number + 1) % 1024)
}

/// Sixteen lines of a row; then a gap of 50 to 850 cycles. Seven of eight bursts continue their
/// predecessor.
const fn bursts(number: u64, apart: u64) -> (u64, u64) {
    let (burst, line) = (number / 16, number % 16);
    let gap = if line == 0 { 50 + mix(burst) % 801 } else { apart };
    let region = mix(burst / 8) % (1 << 15);
    (gap, region * 128 + burst % 8 * 16 + line)
}

/// A source of reads at these times.
struct Reads {
    traffic: Traffic,
    number: u64,
    arrival: Cycle,
}

impl Reads {
    fn new(traffic: Traffic) -> Reads {
        Reads { traffic, number: 0, arrival: Cycle(traffic(0).0) }
    }
}

impl RequestSource for Reads {
    fn next_arrival(&self) -> Option<Cycle> {
        (self.number < READS).then_some(self.arrival)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let address = PhysicalAddress(64 * (self.traffic)(self.number).1);
        let id = RequestId(self.number);
        self.number += 1;
        self.arrival += Cycles((self.traffic)(self.number).0);
        Some(Request {
            id,
            source: SourceId(0),
            arrival: Some(arrival),
            operation: Operation::Read { address, bytes: 64 },
            payload: None,
        })
    }

    fn complete(&mut self, _: Completion) {}
}

/// DDR3-1600K, 4 Gb x8, rows of 8 KB: tREFI 6240 cycles, tRFC 208. Up to eight REFs may be owed.
fn config(idle: u64) -> Config {
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
        Geometry::try_from(raw).expect("a valid geometry"),
    );
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    let refresh = RefreshPolicy { postpone_max: 8, idle: Cycles(idle) };
    Config { refresh, ..Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), BASELINE) }
}

fn main() {
    let traffics: [(&str, Traffic); 5] = [
        ("random", random),
        ("random in few rows", random_in_few_rows),
        ("dense in few rows", dense_in_few_rows),
        ("bursts, 10 apart", |number| bursts(number, 10)),
        ("bursts, 40 apart", |number| bursts(number, 40)),
    ];
    for (name, traffic) in traffics {
        for idle in [0, 20, 50, 100, 200, 500] {
            let mut reads = Reads::new(traffic);
            let stop = AtomicBool::new(false);
            let stats = Controller::new(&config(idle)).run(&mut reads, &mut (), &stop).expect("it is not stopped");
            let figures = &stats.whole;
            assert_eq!(figures.requests, READS);
            let summary = figures.read_latency.summary().expect("it has read");
            let activates = 1000.0 * figures.commands[CommandKind::Activate] as f64 / READS as f64;
            let refreshes = figures.commands[CommandKind::Refresh];
            println!(
                "{name}, {idle:3} cycles: latency {:6.2}, 99 % {:3}, {activates:7.2} ACT per 1000 reads, {refreshes} \
                    REF",
                summary.mean, summary.p99.0
            );
        }
    }
}
