//! Cases that random ones reach seldom.

use std::sync::Arc;

use dram_spec::address::MapPreset;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AddressMap, Density, Geometry, Operation, PhysicalAddress, RawGeometry, SourceId, Standard, System, Width,
};
use host::AllocatorSettings;
use host::machine::{
    BusSettings, CacheShape, ClockRatio, CopyLoop, CoreSettings, EngineMode, EngineSettings, KernelSettings,
    LineSettings, MachineSettings, NetworkSettings, PageCopier, PrefetcherKind, Sharing,
};
use memctrl::Config;
use memctrl::policy::copy::ROWCLONE;
use os_alloc_sim::{CopyUnit, Policy};
use rowclone::{FaultyRows, Planner};
use trace_io::program::{DeviceStep, Step};

use crate::cases::{Case, ProgramCase};
use crate::processes::PAGE;
use crate::runs::{Outcome, checked, engine, reference, same};

/// Programs on a memory where two pages share a row, and are a copy unit.
fn case((copier, copy_loop): (PageCopier, CopyLoop), programs: &[&[Step]]) -> Case {
    let paper = System::paper(1, Density::Gb1, Width::X16);
    let raw =
        RawGeometry { row_bytes: native_row_bytes(Standard::Ddr3, Density::Gb1, Width::X16), ..paper.geometry.raw() };
    let system = System { geometry: Geometry::try_from(raw).unwrap(), ..paper };
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    let copy_unit = CopyUnit::RowSet;
    let settings = MachineSettings {
        bus: None,
        network: None,
        clock: ClockRatio::new(6, 1),
        core: CoreSettings::PAPER,
        l1: None,
        last_level: CacheShape::new(1 << 14, 4, 12),
        l2: None,
        sharing: Sharing::Private,
        lines: LineSettings::default(),
        kernel: KernelSettings {
            copier,
            copy_loop,
            page_table_entry_bytes: 0,
            page_descriptor_bytes: 0,
            ..KernelSettings::default()
        },
        allocator: AllocatorSettings {
            policy: Policy::Sequential,
            seed: 0,
            utilization: 0.0,
            fragmentation: 0.0,
            copy_unit,
        },
    };
    let program = |steps: &&[Step]| ProgramCase { steps: steps.to_vec(), is_uncached: false };
    Case {
        settings,
        programs: programs.iter().map(program).collect(),
        config: Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), ROWCLONE),
    }
}

/// Core 0 leaves dirty lines of two pages in its cache: those it stores to or, after zeroings through the
/// cache, all. Core 1 gets the frames of both pages with the first one's, and then writes the lines
/// back: its loads of the second page are right, and a zeroing of a part of a line loses nothing.
#[test]
fn all_frames_of_a_present_unit_leave_the_caches_of_other_cores() {
    let at = |page: u64, offset: u64| PhysicalAddress(page * PAGE + offset);
    let stores = [0, 1].map(|page| Step::Store { address: at(16 + page, 64 * page) });
    let first = [&[Step::Map { address: at(16, 0), bytes: 2 * PAGE }], &stores[..], &[Step::Exit]].concat();
    let copiers = [
        ((PageCopier::Loop, CopyLoop::Cached), 128),
        ((PageCopier::Loop, CopyLoop::NoFetch), 128),
        ((PageCopier::Loop, CopyLoop::NonTemporal), 2),
        ((PageCopier::Controller, CopyLoop::Cached), 2),
    ];
    for ((copier, dirty), bytes) in copiers.into_iter().flat_map(|copier| [(copier, 1), (copier, 2 * PAGE)]) {
        let second = [
            Step::Compute { instructions: 60_000 },
            Step::Map { address: at(32, 0), bytes: 2 * PAGE },
            Step::Present { address: at(32, 0), bytes },
            Step::Load { address: at(33, 64) },
            Step::Zero { address: at(33, 72), bytes: 1 },
            Step::Load { address: at(33, 64) },
        ];
        let case = case(copier, &[&first, &second]);
        let (outcome, name) = (engine(&case), format!("{copier:?}, {bytes} bytes"));
        same(["engine", "reference model"], [&outcome, &reference(&case)])
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let written: u64 = outcome.cores[1].counters.lines.iter().map(|lines| lines.write_backs).sum();
        assert_eq!((written, checked(&case, 7).1.check), (dirty, Some((2, None))), "{name}");
    }
}

/// A program on a core of width 1 whose copies an engine executes, asynchronously and over the channel. A memory clock
/// is a core cycle, and the last level has a latency of 4 and holds all lines.
fn case_with_engine(tlb_miss_cycles: u64, steps: &[Step]) -> Case {
    let settings = EngineSettings { tlb_miss_cycles, ..EngineSettings::new(EngineMode::Async, false) };
    let mut case = case((PageCopier::Engine(settings), CopyLoop::Cached), &[steps]);
    case.settings.clock = ClockRatio::new(1, 1);
    case.settings.core = CoreSettings { width: 1, window: 120, ..CoreSettings::PAPER };
    case.settings.last_level = CacheShape::new(1 << 20, 16, 4);
    case
}

const fn address(at: u64) -> PhysicalAddress {
    PhysicalAddress(at)
}

const fn load(at: u64) -> Step {
    Step::Load { address: address(at) }
}

const fn store(at: u64) -> Step {
    Step::Store { address: address(at) }
}

/// Three pages with frames from 0x10000 on.
const PAGES: [Step; 2] = [
    Step::Map { address: address(0x10000), bytes: 3 * PAGE },
    Step::Present { address: address(0x10000), bytes: 3 * PAGE },
];

fn agreed(case: &Case) -> Outcome {
    let outcome = engine(case);
    same(["engine", "reference model"], [&outcome, &reference(case)]).unwrap_or_else(|error| panic!("{error}"));
    outcome
}

/// A load/store queue of seven entries, and seven loads and stores before a copy of an engine, whose instruction takes
/// none: the store after it waits until the first one has left the window.
#[test]
fn a_copy_instruction_frees_no_entry_of_the_load_store_queue() {
    let before = [load(0x10880), store(0x10580), store(0x10300), load(0x10018), store(0x10108), load(0x10038)];
    let copy = Step::Copy { dst: address(0x10fe0), src: address(0x10fd8), bytes: 1 };
    let mut case = case_with_engine(0, &[&PAGES[..], &before, &[store(0x10818), copy, store(0x10860)]].concat());
    case.settings.core.load_store_queue = Some(7);
    assert_eq!(agreed(&case).cores[0].counters.stalls.load_store_queue, 17);
}

/// The copy dispatches in cycle 0, and its command leaves after the latency and two translations, in cycle 64. The
/// store dispatches in cycle 1, and its read leaves in cycle 5: it has the bus from 5 to 6, and the command from 64 to
/// 66. The snoop of the engine has it from 66 to 67, as its read leaves.
#[test]
fn a_request_does_not_wait_for_a_command_that_leaves_later() {
    let copy = Step::Copy { dst: address(0x10040), src: address(0x11080), bytes: 1 };
    let mut case = case_with_engine(30, &[&PAGES[..], &[copy, store(0x12000)]].concat());
    case.settings.bus = Some(BusSettings {
        clock: 1,
        bytes_per_clock: 64,
        address_clocks: 1,
        request_latency: 0,
        response_latency: 0,
        snoop_latency: 0,
    });
    let arrivals: Vec<u64> = agreed(&case).requests.iter().map(|taken| taken.arrival.0).collect();
    assert_eq!(arrivals[..2], [6, 66]);
}

/// A cache of a page, whose sets have one way. Core 1 has stored to line 20 of its page, and sends this line. Core 0
/// zeroes a page without fetching its lines, two per cycle, with one entry of the store buffer, which the write-back of
/// line 20 takes. In the last case in which the adapter passes the line, core 1 sends it in the cycle in which core 0
/// has replaced it: the controller accepts the write in this cycle, and core 0 goes on in the next one.
#[test]
fn a_core_that_has_acted_sees_a_free_entry_in_the_next_cycle() {
    let at = |page: u64| PhysicalAddress(page * PAGE);
    let pages = [
        Step::Map { address: at(16), bytes: 2 * PAGE },
        Step::Present { address: at(16), bytes: 2 * PAGE },
        Step::Compute { instructions: 600 },
    ];
    let first = [&pages[..], &[Step::Zero { address: at(16), bytes: PAGE }]].concat();
    let outcomes = (2..40).step_by(2).map(|delay| {
        let send = DeviceStep::Send { port: 0, address: address(16 * PAGE + 20 * 64), bytes: 64 };
        let steps = [store(16 * PAGE + 20 * 64), pages[2], Step::Compute { instructions: delay }, Step::Device(send)];
        let mut case = case((PageCopier::Loop, CopyLoop::NoFetch), &[&first, &[&pages[..2], &steps].concat()]);
        case.settings.network = Some(NetworkSettings::gigabit(1, 1, 1_000));
        case.settings.clock = ClockRatio::new(1, 1);
        case.settings.core = CoreSettings { width: 2, store_buffer: 1, ..CoreSettings::PAPER };
        case.settings.last_level = CacheShape::new(PAGE, 1, 1);
        case.settings.sharing = Sharing::Shared;
        case.settings.kernel.word_bytes = 64;
        agreed(&case)
    });
    let is_passed = |outcome: &Outcome| {
        outcome
            .requests
            .iter()
            .any(|taken| taken.source == SourceId::device(0) && matches!(taken.operation, Operation::Write { .. }))
    };
    let stalls: Vec<(bool, u64)> =
        outcomes.map(|outcome| (is_passed(&outcome), outcome.cores[0].counters.stalls.store_buffer)).collect();
    let passed = stalls.iter().filter(|(is_passed, _)| *is_passed).count();
    assert!(0 < passed && passed < stalls.len() && stalls.is_sorted_by_key(|(is_passed, _)| !is_passed), "{stalls:?}");
    let (before, after) = stalls.split_at(passed - 1);
    assert!(
        before.iter().all(|(_, stalls)| *stalls == 0) && after.iter().all(|(_, stalls)| *stalls == 1),
        "{stalls:?}"
    );
}

/// No packet arrives. Core 1 awaits packets from cycle 10 on, when its 30 instructions have retired, and packets are
/// then over: both cores go on in the next cycle.
#[test]
fn cores_that_await_packets_see_in_the_next_cycle_that_no_packet_follows() {
    let steps = [Step::Device(DeviceStep::Await)];
    let mut case = case(
        (PageCopier::Loop, CopyLoop::Cached),
        &[&steps, &[&[Step::Compute { instructions: 27 }], &steps[..]].concat()],
    );
    case.settings.network = Some(NetworkSettings { packets: 0, ..NetworkSettings::gigabit(1, 2, 1_000) });
    let outcome = agreed(&case);
    let idle = [0, 1].map(|core| outcome.cores[core].counters.stalls.idle);
    assert_eq!((idle, outcome.cores[0].cycles.0), ([33, 3], 11));
}

/// A client asks for two packets, the second one 20,000 cycles after an answer. The packet that is sent before packets
/// arrive is none. A packet of 1,538 bytes has as many cycles on its link.
#[test]
fn a_packet_that_leaves_before_packets_arrive_answers_no_client() {
    let send = Step::Device(DeviceStep::Send { port: 0, address: address(0x10000), bytes: 64 });
    let post = |page: u64| {
        let header = 0x10000 + page * PAGE;
        Step::Device(DeviceStep::Post { header: address(header), payload: address(header + 66) })
    };
    let receive = [post(1), post(2), Step::Device(DeviceStep::Await), send, Step::Device(DeviceStep::Await)];
    let steps = [&PAGES[..], &[send, Step::Compute { instructions: 3_000 }], &receive].concat();
    let mut case = case((PageCopier::Loop, CopyLoop::Cached), &[&steps]);
    case.settings.network = Some(NetworkSettings {
        packets: 2,
        burst: 1,
        clients: 1,
        client_cycles: 20_000,
        coalesced_packets: 1,
        ..NetworkSettings::gigabit(1, 1, 1_000)
    });
    let counters = agreed(&case).cores[0].counters;
    assert_eq!((counters.network.packets, counters.network.sent), (2, 2));
    assert!(counters.stalls.idle > 3 * (1_538 + 20_000 + 1_538), "{counters:?}");
}

/// A cache of 16 lines, a store buffer of one entry, and a zeroing of 18 lines that fetches none. The store of line 0
/// lets line 1 be prefetched, which the next store changes. The write-backs of lines 0 and 1 take the entry. A store to
/// line 1 then waits for the end of the prefetch, first without an entry: all its slots count for `mshr`.
#[test]
fn a_store_that_waits_for_dropped_data_lacks_an_mshr_also_without_an_entry() {
    let zero = Step::Zero { address: address(0x10000), bytes: 18 * 64 };
    let [without, with] = [&[zero][..], &[zero, store(0x10040)]].map(|steps| {
        let mut case = case((PageCopier::Loop, CopyLoop::NoFetch), &[&[&PAGES[..], steps].concat()]);
        case.settings.core = CoreSettings { width: 1, store_buffer: 1, ..CoreSettings::PAPER };
        case.settings.last_level =
            CacheShape { prefetcher: PrefetcherKind::NextLine, ..CacheShape::new(1 << 10, 1, 12) };
        case.settings.kernel.word_bytes = 64;
        agreed(&case).cores[0].counters.stalls
    });
    assert_eq!((without.mshr, with.store_buffer), (0, without.store_buffer));
    assert!(with.mshr > 0, "{with:?}");
}
