//! Cases that random ones reach seldom.

use std::sync::Arc;

use dram_spec::address::Preset;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{AddressMap, Density, Geometry, PhysicalAddress, RawGeometry, Standard, System, Width};
use host::AllocatorSettings;
use host::machine::{
    CacheShape, ClockRatio, Copier, CopyLoop, CoreSettings, EngineMode, EngineSettings, KernelSettings, LineSettings,
    MachineSettings, Sharing,
};
use memctrl::Config;
use memctrl::policy::copy::ROWCLONE;
use os_alloc_sim::{CopyUnit, Policy};
use rowclone::{FaultyRows, Planner};
use trace_io::program::Step;

use crate::cases::{Case, ProgramCase};
use crate::processes::PAGE;
use crate::runs::{checked, engine, plain, same};

/// Programs on a memory where two pages share a row, and are a copy unit.
fn case((copier, copy_loop): (Copier, CopyLoop), programs: &[&[Step]]) -> Case {
    let paper = System::paper(1, Density::Gb1, Width::X16);
    let raw =
        RawGeometry { row_bytes: native_row_bytes(Standard::Ddr3, Density::Gb1, Width::X16), ..paper.geometry.raw() };
    let system = System { geometry: Geometry::try_from(raw).unwrap(), ..paper };
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
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
        ((Copier::Loop, CopyLoop::Cached), 128),
        ((Copier::Loop, CopyLoop::NoFetch), 128),
        ((Copier::Loop, CopyLoop::NonTemporal), 2),
        ((Copier::Controller, CopyLoop::Cached), 2),
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
        same(["engine", "plain"], [&outcome, &plain(&case)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let written: u64 = outcome.cores[1].counters.lines.iter().map(|lines| lines.write_backs).sum();
        assert_eq!((written, checked(&case, 7).1.check), (dirty, Some((2, None))), "{name}");
    }
}

/// A load/store queue of seven entries, and seven loads and stores before a copy of an engine, whose instruction takes
/// none: the store after it waits until the first one has left the window.
#[test]
fn a_copy_instruction_frees_no_entry_of_the_load_store_queue() {
    let load = |address| Step::Load { address: PhysicalAddress(address) };
    let store = |address| Step::Store { address: PhysicalAddress(address) };
    let pages = (PhysicalAddress(0x10000), 3 * PAGE);
    let copy = Step::Copy { dst: PhysicalAddress(0x10fe0), src: PhysicalAddress(0x10fd8), bytes: 1 };
    let before = [load(0x10880), store(0x10580), store(0x10300), load(0x10018), store(0x10108), load(0x10038)];
    let steps = [
        &[Step::Map { address: pages.0, bytes: pages.1 }, Step::Present { address: pages.0, bytes: pages.1 }][..],
        &before,
        &[store(0x10818), copy, store(0x10860)],
    ]
    .concat();
    let engine_settings = EngineSettings { tlb_miss_cycles: 0, ..EngineSettings::new(EngineMode::Async, false) };
    let mut case = case((Copier::Engine(engine_settings), CopyLoop::Cached), &[&steps]);
    let MachineSettings { clock, core, last_level, .. } = &mut case.settings;
    *clock = ClockRatio::new(1, 1);
    *core = CoreSettings { width: 1, window: 120, load_store_queue: Some(7), ..*core };
    *last_level = CacheShape::new(1 << 20, 16, 4);
    let outcome = engine(&case);
    same(["engine", "plain"], [&outcome, &plain(&case)]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.cores[0].counters.stalls.load_store_queue, 17);
}
