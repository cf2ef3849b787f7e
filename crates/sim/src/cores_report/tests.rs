//! Results of cores, by hand.

use dram_spec::{Clock, CommandCounts, CommandKind, PhysicalAddress};
use host::machine::{
    CacheShape, ClockRatio, CoherenceCounts, CoreCycle, CoreSettings, DmaCounts, LineCounts, LineSettings,
    NetworkCounts, Sharing, WrongLoad,
};

use host::machine::KernelSettings;
use os_alloc_sim::Policy;

use super::*;
use crate::SystemBuilder;

/// Counts of a region of 8,000 core cycles.
fn counters() -> CoreCounters {
    let program =
        LineCounts { hits: 100, l1_hits: 30, misses: 40, merged: 5, write_backs: 10, ..LineCounts::default() };
    let copies = LineCounts {
        hits: 7,
        l1_hits: 8,
        misses: 6,
        merged: 9,
        allocated: 11,
        write_backs: 3,
        non_temporal: 1,
        ..LineCounts::default()
    };
    let zeroings = LineCounts { misses: 4, non_temporal: 6, ..LineCounts::default() };
    let data = LineCounts { misses: 2, write_backs: 1, ..LineCounts::default() };
    let mut counters = CoreCounters {
        instructions: 2_000,
        kernel_instructions: 512,
        faults: 2,
        lines: [program, copies, zeroings, data, LineCounts::default()],
        coherence: CoherenceCounts {
            copies: 1,
            zeroings: 2,
            lookups: 128,
            written_back: 3,
            copied_in_cache: 4,
            invalidated: 5,
            zero_lines: 6,
        },
        dma: DmaCounts { descriptors: 1, doorbells: 2, polls: 3, interrupts: 4, pinned_pages: 5, unpinned_pages: 6 },
        network: NetworkCounts { packets: 7, dropped: 8, interrupts: 9, sent: 10, injected: 11 },
        controller_copy_bytes: 8_192,
        copy_slots: 2_400,
        misses_after_copies: 9,
        ..CoreCounters::default()
    };
    let stalls = &mut counters.stalls;
    (stalls.window, stalls.mshr, stalls.store_buffer) = (30, 60, 90);
    (stalls.load_store_queue, stalls.operand, stalls.unit, stalls.pending_copy) = (210, 240, 270, 300);
    (stalls.kernel, stalls.coherence, stalls.controller_copy, stalls.idle) = (120, 150, 180, 330);
    counters
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found}, not {expected}");
}

/// A core in a region, and an empty one, in an interval of 4,000 clocks of 1.875 ns; six core cycles
/// per clock, and three instructions per cycle.
fn report() -> CoresReport {
    let system = SystemBuilder::default().build().unwrap();
    let allocator = host::AllocatorSettings {
        policy: Policy::Buddy,
        seed: 1,
        utilization: 0.0,
        fragmentation: 0.0,
        copy_unit: os_alloc_sim::CopyUnit::Page,
    };
    let settings = MachineSettings {
        clock: ClockRatio::new(6, 1),
        core: CoreSettings::PAPER,
        l1: None,
        last_level: CacheShape::new(1 << 20, 16, 15),
        l2: None,
        sharing: Sharing::Private,
        bus: None,
        lines: LineSettings::default(),
        network: None,
        kernel: KernelSettings::default(),
        allocator,
    };
    let mut lines = [LineCounts::default(); 5];
    (lines[0].misses, lines[1].write_backs) = (100, 2);
    let interval = [
        CoreCounters { instructions: 3_000, lines, ..CoreCounters::default() },
        CoreCounters { instructions: 1_000, controller_copy_bytes: 8_192, ..CoreCounters::default() },
    ];
    let core = |counters, cycles, interval| CoreOutcome { counters, cycles: CoreCycle(cycles), interval };
    let outcome = MachineOutcome {
        cores: vec![core(counters(), 8_000, interval[0]), core(CoreCounters::default(), 0, interval[1])],
        os: crate::allocator_report::no_counts(),
        wrong: None,
        check: Some((77, Some(WrongLoad { core: 1, address: PhysicalAddress(0x1234) }))),
    };
    let activates =
        |count| system.prices().unwrap().operation(&CommandCounts::default().with(CommandKind::Activate, count));
    let interval = MeasuredInterval {
        cycles: Cycles(4_000),
        energy: Some(activates(4)),
        by_core: vec![Some(activates(2)), Some(activates(1))],
        to_end: Some(activates(6).operation()),
    };
    CoresReport::new(&outcome, &settings, &interval, (Clock::DDR3_1066, true))
}

/// Lines over the channel: 50 of the program and 3 of kernel data; of copies 10, of zeroings 10, and
/// 8,192 bytes by the controller. 8,000 core cycles of 0.3125 ns are 2,500 ns.
#[test]
fn figures_of_a_core_are_those_of_its_region() {
    let row = &report().cores[0];
    assert_eq!(
        (row.core, row.instructions, row.kernel_instructions, row.cycles, row.faults),
        (0, 2_000, 512, 8_000, 2)
    );
    near(Some(row.ipc), 0.25);
    near(Some(row.misses_per_1000_instructions), 26.0);
    assert_eq!(row.channel_bytes, 53 * 64 + 20 * 64 + 8_192);
    near(row.copy_share_of_channel_bytes, 9_472.0 / 12_864.0);
    near(row.bandwidth_gb_s, 12_864.0 / 2_500.0);
    // Two activations of 24.75 nJ, over the instructions of the interval.
    near(row.dynamic_energy_per_instruction_nj, 49.5 / 3_000.0);
    // Slots of three per cycle.
    let stalls = StallRow {
        window: 10.0,
        mshr: 20.0,
        store_buffer: 30.0,
        kernel: 40.0,
        coherence: 50.0,
        controller_copy: 60.0,
        load_store_queue: 70.0,
        operand: 80.0,
        unit: 90.0,
        pending_copy: 100.0,
        idle: 110.0,
    };
    assert_eq!(row.stall_cycles, stalls);
    let dma = DmaCounts { descriptors: 1, doorbells: 2, polls: 3, interrupts: 4, pinned_pages: 5, unpinned_pages: 6 };
    assert_eq!(row.dma, Some(dma));
    assert_eq!(row.network, Some(NetworkCounts { packets: 7, dropped: 8, interrupts: 9, sent: 10, injected: 11 }));
    let empty = serde_json::to_value(&report().cores[1]).unwrap();
    assert!(empty.get("dma").is_none() && empty.get("network").is_none(), "{empty}");
    assert!(empty["stall_cycles"].get("idle").is_none(), "{empty}");
    // 2,400 slots of three per cycle.
    assert_eq!((row.copy_cycles, row.misses_after_copies), (800.0, 9));
    assert_eq!((row.controller_copies, row.coherence_written_back, row.coherence_copied_in_cache), (3, 3, 4));
    assert_eq!((row.coherence_invalidated, row.zero_lines_inserted), (5, 6));
    let access = &row.accesses[1];
    assert_eq!((access.purpose, access.hits, access.l1_hits, access.misses), ("kernel copy", 7, 8, 6));
    assert_eq!((access.merged, access.allocated, access.write_backs, access.non_temporal), (9, 11, 3, 1));
    let purposes: Vec<_> = row.accesses.iter().map(|access| access.purpose).collect();
    assert_eq!(purposes, ["program", "kernel copy", "kernel zeroing", "kernel data"]);
}

#[test]
fn an_empty_region_has_no_ratios() {
    let row = &report().cores[1];
    assert_eq!((row.core, row.ipc, row.misses_per_1000_instructions, row.channel_bytes), (1, 0.0, 0.0, 0));
    assert_eq!((row.copy_share_of_channel_bytes, row.bandwidth_gb_s), (None, None));
    near(row.dynamic_energy_per_instruction_nj, 24.75 / 1_000.0);
}

/// 100 lines of the program of core 0, 2 lines of its copies written back, and 8,192 bytes of core 1
/// in 7,500 ns; four activations.
#[test]
fn figures_of_all_cores_are_those_of_the_interval() {
    let report = report();
    assert_eq!((report.core_cycles_per_clock, report.interval_ns, report.instructions), (6.0, 7_500.0, 4_000));
    near(report.energy_nj, 99.0);
    near(report.dynamic_energy_nj, 148.5);
    near(report.energy_per_instruction_nj, 99.0 / 4_000.0);
    assert_eq!((report.channel_bytes, report.copy_channel_bytes), (6_400 + 128 + 8_192, 128 + 8_192));
    assert_eq!(report.copy_write_back_bytes, 128);
    near(report.copy_share_of_channel_bytes, 8_320.0 / 14_720.0);
    near(report.bandwidth_gb_s, 14_720.0 / 7_500.0);
    // 800 of the 8,000 cycles of both regions.
    near(report.copy_share_of_cycles, 0.1);
    assert_eq!(report.misses_after_copies, 9);
    assert_eq!(report.loads_checked, Some(77));
    assert_eq!(report.wrong_load.as_deref(), Some("a load of core 1 at 0x1234"));
    assert!(!report.passed());
    near(Some(report.ipc_sum()), 0.25);
    assert_eq!(report.mix(&[0.5, 0.5]), None, "core 1 has no instruction in its region");
}

/// Lines of 32 bytes: a miss takes a burst, and a write-back two, as each write of a part of a burst. Of
/// 128 bytes, each takes two. The write buffer's bursts are counted as they leave.
#[test]
fn bytes_of_a_core_follow_the_bursts_of_its_lines() {
    let lines = LineCounts {
        misses: 5,
        write_backs: 3,
        buffered: 4,
        buffered_bursts: 7,
        buffered_bytes: 100,
        ..LineCounts::default()
    };
    let counters =
        CoreCounters { lines: [lines, LineCounts::default(), lines, lines, lines], ..CoreCounters::default() };
    for (line_bytes, bursts) in [(32, 5 + 6 + 7), (64, 5 + 3 + 7), (128, 10 + 6 + 7)] {
        assert_eq!(
            channel_bytes(&counters, ChannelBytes { line_bytes, has_bursts: true })[..2],
            [4 * bursts * 64, bursts * 64],
            "{line_bytes}"
        );
    }
    assert_eq!(channel_bytes(&counters, ChannelBytes { line_bytes: 32, has_bursts: true })[2], 6 * 64);
    // Without bursts: 5 reads, 3 write-backs, and 100 bytes of stores.
    let of_page_mode = ChannelBytes { line_bytes: 32, has_bursts: false };
    assert_eq!(channel_bytes(&counters, of_page_mode), [4 * (8 * 32 + 100), 8 * 32 + 100, 3 * 32]);
    let of = |offset, bytes| write_bursts(offset, bytes);
    assert_eq!([of(0, 64), of(0, 128), of(0, 8), of(8, 56), of(32, 64), of(0, 96)], [1, 2, 2, 2, 4, 3]);
}
