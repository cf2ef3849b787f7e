//! Utilization of the data bus by long streams, and the limit of random streams.

use std::sync::atomic::AtomicBool;

use dram_spec::address::MapPreset;
use dram_spec::{
    CommandKind, Cycle, Density, Geometry, Operation, PhysicalAddress, RawGeometry, Refresh, RequestId, SourceId,
    SpeedBin, Standard, System, Width,
};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, QueueSettings, Request, RequestSource};

use crate::config_of;

/// Requests that all arrive in cycle 0.
struct Stream {
    operation: fn(u64) -> Operation,
    count: u64,
    taken: u64,
}

impl RequestSource for Stream {
    fn next_arrival(&self) -> Option<Cycle> {
        (self.taken < self.count).then_some(Cycle::ZERO)
    }

    fn take(&mut self, _: Cycle) -> Option<Request> {
        let arrival = self.next_arrival()?;
        let id = RequestId(self.taken);
        self.taken += 1;
        Some(Request {
            id,
            source: SourceId(0),
            arrival: Some(arrival),
            operation: (self.operation)(id.0),
            payload: None,
        })
    }

    fn complete(&mut self, _: Completion) {}
}

/// DDR3-1600K, one rank of 4 Gb x8 chips per channel, rows of 8 KB.
fn config(channels: u64, preset: MapPreset, refresh: Refresh) -> Config {
    let (density, width) = (Density::Gb4, Width::X8);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks: 1,
        density,
        width,
        row_bytes: 8192,
        rows_per_subarray: 1024.into(),
    };
    let system = System { refresh, ..System::new(SpeedBin::named("1600K").unwrap(), Geometry::try_from(raw).unwrap()) };
    config_of(system, preset)
}

fn run(config: &Config, operation: fn(u64) -> Operation, count: u64) -> Stats {
    let mut stream = Stream { operation, count, taken: 0 };
    let stats = Controller::new(config).run(&mut stream, &mut (), &AtomicBool::new(false)).unwrap();
    assert_eq!(stats.whole.requests, count);
    stats
}

#[test]
fn sequential_reads_use_at_least_95_percent_of_the_data_bus() {
    for channels in [1, 2, 4, 8] {
        let config = config(channels, MapPreset::LineInterleaved, Refresh::Off);
        let read = |number| Operation::Read { address: PhysicalAddress(64 * number), bytes: 64 };
        let stats = run(&config, read, 4000 * channels);
        // A line takes four cycles of a data bus.
        let (used, all) = (4 * stats.whole.commands[CommandKind::Read], channels * stats.end.0);
        assert_eq!(used, 4 * 4000 * channels);
        assert!(100 * used >= 95 * all, "{channels} channels: {used} of {all} cycles");
        // Per channel one ACT per 128 lines: 31.25 rows.
        assert_eq!(stats.whole.commands[CommandKind::Activate], 32 * channels);
    }
}

/// A line of the first GiB from a hash of its number (`SplitMix64`); three of ten are writes.
fn random_line(number: u64) -> Operation {
    let value = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let drawn = value ^ (value >> 31);
    let address = PhysicalAddress(drawn % (1 << 30) / 64 * 64);
    if (drawn >> 32) % 10 < 3 {
        Operation::Write { address, bytes: 64 }
    } else {
        Operation::Read { address, bytes: 64 }
    }
}

/// Almost every line requires its own row activation: tFAW 24 permits four ACTs, so 100,000 lines
/// take at least 0.6 M cycles.
#[test]
fn random_lines_come_close_to_the_limit_of_activations_and_waste_few() {
    let config = config(1, MapPreset::RowInterleaved, Refresh::NORMAL);
    let queues = QueueSettings { read_entries: 32, write_entries: 32, drain_high: 24, drain_low: 8, ..config.queues };
    let stats = run(&Config { queues, ..config }, random_line, 100_000);
    assert!(stats.end <= Cycle(690_000), "{:?}", stats.end);
    let (unused, activates) = (stats.whole.unused_activates, stats.whole.commands[CommandKind::Activate]);
    assert!(unused * 200 < activates, "{unused} of {activates} ACT unused");
    assert_eq!(stats.whole.reads.total() + stats.whole.writes.total() + stats.whole.forwarded, 100_000);
}
