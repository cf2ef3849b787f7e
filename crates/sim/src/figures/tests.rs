//! Figures from counts made by hand.

use dram_spec::CommandCounts;
use energy::Component::{Core, IdleRankIo, Io};
use energy::{Counts, EnergyReport, Prices};
use memctrl::stats::{PartTally, Parts};
use rowclone::{FPM, PSM};

use super::*;
use crate::SystemBuilder;
use crate::buses::BusUse;

/// 1,000 clocks of DDR3-1066 are 1,875 ns: 7,500 bytes are 4 GB/s, and 500 of 2 x 1,000 clocks
/// a quarter.
#[test]
fn shares_are_of_all_channels_and_bandwidth_is_of_their_sum() {
    let interval = Interval { cycles: Cycles(1_000), clock: Clock::DDR3_1066, channels: 2 };
    assert_eq!((interval.bandwidth(7_500), interval.share(500, 2)), (Some(4.0), Some(0.25)));
    let depth = Depth { entry_cycles: 6_000, most: 7 };
    assert_eq!(interval.depth(&depth, 2), QueueDepth { mean_entries: Some(3.0), max_entries: Some(7) });
    let none = Interval { cycles: Cycles(0), ..interval };
    let nothing = QueueDepth { mean_entries: None, max_entries: None };
    assert_eq!((none.bandwidth(0), none.depth(&depth, 2)), (None, nothing), "no time, no mean");
}

fn histogram(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    for &value in values {
        histogram.record(Cycles(value));
    }
    histogram
}

/// No two counts are equal, so that no field can stand for another.
fn counts() -> Figures {
    let parts = |count, bytes| Parts { count, bytes };
    Figures {
        requests: 101,
        commands: CommandCounts::from_fn(|kind| 1 + kind as u64),
        reads: Outcomes { hits: 12, misses: 13, conflicts: 14 },
        writes: Outcomes { hits: 15, misses: 16, conflicts: 17 },
        unused_activates: 18,
        forwarded: 19,
        read_latency: histogram(&[8, 16, 48]),
        write_latency: histogram(&[24, 40]),
        copy_latency: histogram(&[80]),
        copy_response: histogram(&[160, 320]),
        parts: PartTally::from_iter([(PSM, "other-bank", parts(20, 4096)), (FPM, FIRST_CHOICE, parts(21, 8192))]),
        blocked_by_copies: histogram(&[400, 400, 400, 480]),
        preempted_for_reads: 22,
        preempted_for_refresh: 23,
        write_drains: 24,
        channel_bytes: 7_500,
        read_queue: Depth { entry_cycles: 3_000, most: 25 },
        write_queue: Depth { entry_cycles: 5_000, most: 26 },
        copy_queue: Depth { entry_cycles: 7_000, most: 27 },
    }
}

fn prices() -> Prices {
    SystemBuilder::default().channels(2).build().unwrap().prices().unwrap().clone()
}

/// Energy of 2 ACT, 3 RD, 5 WR and 1 REF, without clocks.
fn spent(prices: &Prices) -> EnergyReport {
    let commands = CommandCounts::default()
        .with(CommandKind::Activate, 2)
        .with(CommandKind::Read, 3)
        .with(CommandKind::Write, 5)
        .with(CommandKind::Refresh, 1);
    prices.report(&Counts { commands, ..Counts::default() }).unwrap()
}

fn distribution<T>(count: u64, mean: f64, [p50, p99, max]: [T; 3]) -> Distribution<T> {
    Distribution { count, mean: Some(mean), p50: Some(p50), p99: Some(p99), max: Some(max) }
}

/// 8 clocks of DDR3-1066 are 15 ns. Two channels have 2,000 clocks of their buses and queues in
/// 1,000 clocks; copies are counted in all channels together.
#[test]
fn every_figure_is_its_own_count_in_its_own_unit() {
    let energy = spent(&prices());
    let measured = Measured { energy: Some(energy), buses: BusUse { command: Cycles(250), data: Cycles(800) } };
    let interval = Interval { cycles: Cycles(1_000), clock: Clock::DDR3_1066, channels: 2 };
    let found = FiguresReport::new(&counts(), &measured, interval);
    let depth = |mean, most| QueueDepth { mean_entries: Some(mean), max_entries: Some(most) };
    let expected = FiguresReport {
        requests: 101,
        reads: RowOutcomes { row_hits: 12, row_misses: 13, row_conflicts: 14 },
        writes: RowOutcomes { row_hits: 15, row_misses: 16, row_conflicts: 17 },
        forwarded: 19,
        read_latency_ns: distribution(3, 45.0, [30.0, 90.0, 90.0]),
        read_latency_cycles: distribution(3, 24.0, [16, 48, 48]),
        write_latency_ns: distribution(2, 60.0, [45.0, 75.0, 75.0]),
        write_latency_cycles: distribution(2, 32.0, [24, 40, 40]),
        copy_latency_ns: distribution(1, 150.0, [150.0; 3]),
        copy_latency_cycles: distribution(1, 80.0, [80; 3]),
        copy_response_ns: distribution(2, 450.0, [300.0, 600.0, 600.0]),
        copy_response_cycles: distribution(2, 240.0, [160, 320, 320]),
        blocked_by_copies_ns: distribution(4, 787.5, [750.0, 900.0, 900.0]),
        blocked_by_copies_cycles: distribution(4, 420.0, [400, 480, 480]),
        preempted_for_reads: 22,
        preempted_for_refresh: 23,
        write_drains: 24,
        unused_activates: 18,
        channel_bytes: 7_500,
        bandwidth_gb_s: Some(4.0),
        command_bus_share: Some(0.125),
        data_bus_share: Some(0.4),
        read_queue: depth(1.5, 25),
        write_queue: depth(2.5, 26),
        copy_queue: depth(7.0, 27),
        commands: BTreeMap::from([
            ("ACT", 1),
            ("ACT copy", 2),
            ("ACT dropped", 3),
            ("PRE", 4),
            ("RD", 5),
            ("WR", 6),
            ("TRANSFER", 7),
            ("RBM hop", 8),
            ("REF", 9),
            ("REFsb", 10),
            ("PDE", 11),
            ("SRE", 12),
            ("PDX or SRX", 13),
        ]),
        parts: vec![
            PartRow { mechanism: "fpm", reason: None, count: 21, bytes: 8192 },
            PartRow { mechanism: "psm", reason: Some("other-bank"), count: 20, bytes: 4096 },
        ],
        // The next test.
        energy_nj: found.energy_nj,
        dynamic_energy_nj: found.dynamic_energy_nj,
        energy_by_cause_nj: found.energy_by_cause_nj.clone(),
        io_share_of_dynamic_energy: found.io_share_of_dynamic_energy,
    };
    assert_eq!(found, expected);
    assert_eq!(found.mean_latencies_ns(), [Some(45.0), Some(150.0), Some(60.0)], "reads, copies, writes");
}

/// 1 nJ is 1,000 pJ.
#[test]
fn energy_is_in_nj_and_by_cause() {
    let prices = prices();
    let each = |kind, component| prices.events().of(kind, component).0;
    let measured = Measured { energy: Some(spent(&prices)), buses: BusUse::default() };
    let interval = Interval { cycles: Cycles(1_000), clock: Clock::DDR3_1066, channels: 2 };
    let found = FiguresReport::new(&Figures::default(), &measured, interval);
    let same = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let mut expected = vec![
        ("activate", 2.0 * each(CommandKind::Activate, Core) / 1e3),
        ("read", 3.0 * each(CommandKind::Read, Core) / 1e3),
        ("write", 5.0 * each(CommandKind::Write, Core) / 1e3),
        ("read_io", 3.0 * each(CommandKind::Read, Io) / 1e3),
        ("write_io", 5.0 * each(CommandKind::Write, Io) / 1e3),
        ("refresh", each(CommandKind::Refresh, Core) / 1e3),
    ];
    let idle = (3.0 * each(CommandKind::Read, IdleRankIo) + 5.0 * each(CommandKind::Write, IdleRankIo)) / 1e3;
    expected.extend((idle > 0.0).then_some(("idle_rank_io", idle)));
    let by_cause = found.energy_by_cause_nj.unwrap();
    assert_eq!(by_cause.len(), expected.len(), "{by_cause:?}");
    for &(cause, energy) in &expected {
        same(by_cause[cause].unwrap(), energy);
    }
    let total: f64 = expected.iter().map(|(_, energy)| energy).sum();
    let dynamic = total - each(CommandKind::Refresh, Core) / 1e3;
    same(found.energy_nj.unwrap(), total);
    same(found.dynamic_energy_nj.unwrap(), dynamic);
    let io = (3.0 * each(CommandKind::Read, Io) + 5.0 * each(CommandKind::Write, Io)) / 1e3 + idle;
    same(found.io_share_of_dynamic_energy.unwrap(), io / dynamic);
}

/// A forwarded read, an access without a latency in the interval, or a latency alone is demand.
#[test]
fn any_read_or_write_is_demand_and_a_copy_is_none() {
    let interval = Interval { cycles: Cycles(1_000), clock: Clock::DDR3_1066, channels: 1 };
    let has_demand = |figures| FiguresReport::new(&figures, &Measured::default(), interval).has_demand();
    let none = Figures { copy_latency: histogram(&[80]), requests: 1, ..Figures::default() };
    assert!(!has_demand(none.clone()));
    let one = Outcomes { conflicts: 1, ..Outcomes::default() };
    for some in [
        Figures { read_latency: histogram(&[8]), ..none.clone() },
        Figures { write_latency: histogram(&[8]), ..none.clone() },
        Figures { forwarded: 1, ..none.clone() },
        Figures { reads: one, ..none.clone() },
        Figures { writes: one, ..none.clone() },
    ] {
        assert!(has_demand(some));
    }
    let RowOutcomes { row_hits, row_misses, row_conflicts } = Outcomes { hits: 1, misses: 2, conflicts: 4 }.into();
    assert_eq!(RowOutcomes { row_hits, row_misses, row_conflicts }.total(), 7);
}

#[test]
fn keys_of_causes_are_words_joined_by_underscores() {
    assert_eq!(cause_key(Cause::IdleRankIo), "idle_rank_io");
    assert_eq!(cause_key(Cause::PowerDownFast), "precharge_power_down_fast_exit");
}
