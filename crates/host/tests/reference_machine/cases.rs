//! Random machines, systems and controllers.

use std::fmt;
use std::sync::Arc;

use dram_spec::address::MapPreset;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AddressMap, CommandKind, Cycles, Density, Geometry, Picojoule, RawGeometry, Refresh, Standard, System, Width,
};
use host::AllocatorSettings;
use host::machine::{
    CacheShape, ClockRatio, CopyLoop, CoreSettings, DirtySource, DmaCompletion, DmaSettings, EngineMode,
    EngineSettings, KernelSettings, LineSettings, LoopSettings, MachineSettings, Order, PageCopier, Sharing,
};
use memctrl::policy::copy::{CopyPolicy, POLICIES};
use memctrl::policy::row::RowPolicy;
use memctrl::{Config, PowerPolicy, PriceTable, QueueSettings, RefreshPolicy};
use os_alloc_sim::{CopyUnit, Policy};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rowclone::{FaultyRows, Planner};
use trace_io::program::Step;

use crate::extensions::{arb_bus, arb_cache_extensions, arb_core_extensions};
use crate::programs::{ProgramDraft, arb_program, with_begins, with_waits};

/// The program of a core.
#[derive(Clone, Debug)]
pub struct ProgramCase {
    pub steps: Vec<Step>,
    /// Whether it was recorded behind the last-level cache.
    pub is_uncached: bool,
}

#[derive(Clone)]
pub struct Case {
    pub settings: MachineSettings,
    pub programs: Vec<ProgramCase>,
    pub config: Config,
}

impl Case {
    pub fn map(&self) -> &AddressMap {
        self.config.planner.map()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { system, copy_policy, queues, row_policy, power, refresh, .. } = &self.config;
        writeln!(f, "{:?}\n{:?} {:?}", self.settings, system.geometry.raw(), system.refresh)?;
        writeln!(f, "{} {queues:?} {row_policy:?} {power:?} {refresh:?}", copy_policy.name())?;
        for (core, program) in self.programs.iter().enumerate() {
            writeln!(f, "core {core}{}:", if program.is_uncached { ", uncached" } else { "" })?;
            program.steps.iter().try_for_each(|step| writeln!(f, "  {step:x?}"))?;
        }
        Ok(())
    }
}

fn arb_core() -> impl Strategy<Value = CoreSettings> {
    let order = select(vec![Order::InOrder, Order::OutOfOrder, Order::OutOfOrder]);
    let window = prop_oneof![0_u64..6, 0_u64..40, Just(120_u64)];
    (order, 1_u64..5, window, prop_oneof![1_usize..4, Just(8)], prop_oneof![1_usize..4, Just(32)]).prop_map(
        |(order, width, window, mshrs, store_buffer)| CoreSettings {
            order,
            width,
            window: 2 * width + window,
            mshrs,
            store_buffer,
            ..CoreSettings::PAPER
        },
    )
}

fn arb_engine() -> impl Strategy<Value = PageCopier> {
    let mode = select(vec![EngineMode::SyncFifo, EngineMode::SyncCpuFirst, EngineMode::Async, EngineMode::Async]);
    let sizes = (1_usize..5, prop_oneof![2_usize..6, Just(16)], 1_usize..5, 1_usize..4);
    (mode, any::<bool>(), sizes, select(vec![0_u64, 3, 30])).prop_map(
        |(mode, is_in_dram, (queue, buffer_lines, pending_copies, tlb_entries), tlb_miss_cycles)| {
            PageCopier::Engine(EngineSettings {
                mode,
                is_in_dram,
                queue,
                buffer_lines,
                pending_copies,
                tlb_entries,
                tlb_miss_cycles,
            })
        },
    )
}

fn arb_kernel() -> impl Strategy<Value = KernelSettings> {
    let loops = CopyLoop::BY_LINES.map(|copy_loop| (PageCopier::Loop, copy_loop));
    let copier = prop_oneof![
        3 => select(loops.to_vec()),
        2 => Just((PageCopier::Controller, CopyLoop::Cached)),
        5 => (arb_engine(), select(loops.to_vec())).prop_map(|(engine, (_, copy_loop))| (engine, copy_loop)),
    ];
    let copier_min_bytes = select(vec![None, None, Some(100), Some(1_000)]);
    let dirty_source = select(vec![DirtySource::WriteBack, DirtySource::CopyInCache]);
    let times = (select(vec![0_u64, 1, 1, 3]), select(vec![0_u64, 7, 100, 1300]), select(vec![0_u64, 1, 80]));
    let data = (select(vec![0_u64, 8, 8, 64]), select(vec![0_u64, 16, 64, 64]));
    (copier, dirty_source, any::<bool>(), times, data, select(vec![4_u64, 8, 16, 32, 64]), copier_min_bytes).prop_map(
        |((copier, copy_loop), dirty_source, inserts_zero_lines, times, data, word_bytes, copier_min_bytes)| {
            let (coherence_cycles_per_line, fault_cycles, page_table_cycles) = times;
            let (page_table_entry_bytes, page_descriptor_bytes) = data;
            KernelSettings {
                copier,
                dirty_source,
                inserts_zero_lines: inserts_zero_lines && copier == PageCopier::Controller,
                copier_min_bytes,
                copy_loop,
                loops: LoopSettings::default(),
                coherence_cycles_per_line,
                fault_cycles,
                page_table_cycles,
                page_table_entry_bytes,
                page_descriptor_bytes,
                word_bytes,
            }
        },
    )
}

fn arb_allocator() -> impl Strategy<Value = AllocatorSettings> {
    let policy =
        select(vec![Policy::Sequential, Policy::Random, Policy::Buddy, Policy::SubarrayAware, Policy::SubarrayAware]);
    (policy, any::<u64>(), select(vec![CopyUnit::RowSet, CopyUnit::Page])).prop_map(|(policy, seed, copy_unit)| {
        AllocatorSettings { policy, seed, utilization: 0.0, fragmentation: 0.0, copy_unit }
    })
}

pub fn arb_settings() -> impl Strategy<Value = MachineSettings> {
    let clock =
        select(vec![(6, 1), (6, 1), (5, 2), (1, 1), (2, 3)]).prop_map(|(core, memory)| ClockRatio::new(core, memory));
    let last_level = (select(vec![1_u64 << 10, 1 << 11, 1 << 12, 1 << 14]), select(vec![1_usize, 2, 4, 16]), 1_u64..16)
        .prop_map(|(bytes, ways, latency)| CacheShape::new(bytes, ways, latency));
    let l1 = (select(vec![256_u64, 512]), select(vec![1_usize, 2, 4]), 1_u64..5)
        .prop_map(|(bytes, ways, latency)| CacheShape::new(bytes, ways, latency));
    let l1 = prop::option::of(l1);
    let sharing = select(vec![Sharing::Private, Sharing::Shared]);
    let machine = (clock, arb_core(), l1, last_level, sharing, arb_kernel(), arb_allocator()).prop_map(
        |(clock, core, l1, last_level, sharing, kernel, allocator)| MachineSettings {
            bus: None,
            network: None,
            clock,
            core,
            l1,
            last_level,
            l2: None,
            sharing,
            lines: LineSettings::default(),
            kernel,
            allocator,
        },
    );
    let caches = prop_oneof![Just(None), arb_cache_extensions().prop_map(Some)];
    let core = prop_oneof![2 => Just(None), 1 => arb_core_extensions().prop_map(Some)];
    let bus = prop_oneof![2 => Just(None), 1 => arb_bus().prop_map(Some)];
    (machine, caches, core, bus).prop_map(|(machine, caches, core, bus)| {
        let mut machine = caches.map_or(machine, |caches| caches.extend(machine));
        machine.bus = bus;
        machine.core = core.map_or(machine.core, |core| core.extend(machine.core));
        machine
    })
}

fn arb_system() -> impl Strategy<Value = System> {
    let refresh = select(vec![Refresh::NORMAL, Refresh::Every { t_refi_ps: 1_950_000 }, Refresh::Off]);
    (select(vec![1_u64, 2]), any::<bool>(), refresh).prop_map(|(channels, is_paper, refresh)| {
        let paper = System::paper(channels, Density::Gb1, Width::X16);
        let raw = RawGeometry {
            row_bytes: native_row_bytes(Standard::Ddr3, Density::Gb1, Width::X16),
            ..paper.geometry.raw()
        };
        let geometry = if is_paper { paper.geometry } else { Geometry::try_from(raw).expect("a native row") };
        System { geometry, refresh, ..paper }
    })
}

fn arb_queues() -> impl Strategy<Value = QueueSettings> {
    (1_usize..9, 2_usize..9, 1_usize..4, 1_usize..4).prop_map(
        |(read_entries, write_entries, copy_entries, admission_per_cycle)| QueueSettings {
            read_entries,
            write_entries,
            copy_entries,
            admission_per_cycle,
            drain_high: write_entries - 1,
            drain_low: 0,
        },
    )
}

/// A memory and its controller.
#[derive(Clone, Debug)]
struct Memory {
    system: System,
    policy: &'static dyn CopyPolicy,
    row_policy: RowPolicy,
    /// Idle clocks until power-down, and until self-refresh.
    power: [Option<u64>; 2],
    queues: QueueSettings,
    postpone_max: u64,
}

fn arb_memory() -> impl Strategy<Value = Memory> {
    let policy = select(POLICIES.to_vec());
    let rows = prop_oneof![Just(RowPolicy::Open), Just(RowPolicy::Closed)];
    let idle = || prop::option::of(0_u64..300);
    let queues = prop_oneof![Just(QueueSettings::default()), arb_queues()];
    (arb_system(), policy, rows, [idle(), idle()], queues, 0_u64..9).prop_map(
        |(system, policy, row_policy, power, queues, postpone_max)| {
            // Without refresh no event wakes a rank in time.
            let power = power.map(|after| after.filter(|_| system.refresh != Refresh::Off));
            Memory { system, policy, row_policy, power, queues, postpone_max }
        },
    )
}

impl Memory {
    fn config(self) -> Config {
        let map = AddressMap::preset(self.system.geometry, MapPreset::RowInterleaved);
        let [activate, copy_activate, read, write, transfer] =
            [24_800.0, 24_800.0, 14_000.0, 30_000.0, 13_000.0].map(Picojoule);
        let [power_down_after, self_refresh_after] = self.power.map(|after| after.map(Cycles));
        Config {
            prices: Some(
                PriceTable::default()
                    .with(CommandKind::Activate, activate)
                    .with(CommandKind::CopyActivate, copy_activate)
                    .with(CommandKind::Read, read)
                    .with(CommandKind::Write, write)
                    .with(CommandKind::Transfer, transfer),
            ),
            row_policy: self.row_policy,
            queues: self.queues,
            power: PowerPolicy { power_down_after, self_refresh_after },
            refresh: RefreshPolicy { postpone_max: self.postpone_max, ..RefreshPolicy::default() },
            ..Config::new(self.system, Arc::new(Planner::new(map, FaultyRows::default())), self.policy)
        }
    }
}

fn arb_program_case() -> impl Strategy<Value = (ProgramDraft, bool)> {
    let is_uncached = prop_oneof![4 => Just(false), 1 => Just(true)];
    (arb_program(), is_uncached)
}

/// The cases of drafts on a machine. Its programs change mapped pages only where a frame is a copy unit.
fn program_cases(settings: &MachineSettings, drafts: &[(ProgramDraft, bool)]) -> Vec<ProgramCase> {
    let changes_mappings = settings.allocator.copy_unit == CopyUnit::Page;
    let case = |(program, is_uncached): &(ProgramDraft, bool)| ProgramCase {
        steps: program.steps(changes_mappings),
        is_uncached: *is_uncached,
    };
    drafts.iter().map(case).collect()
}

pub fn arb_case() -> impl Strategy<Value = Case> {
    (arb_settings(), vec(arb_program_case(), 1..4), arb_memory()).prop_map(|(settings, programs, memory)| Case {
        programs: program_cases(&settings, &programs),
        settings,
        config: memory.config(),
    })
}

/// Cases of three cores whose misses hold most places of a shared cache, with copies in the cache.
pub fn arb_case_of_few_places() -> impl Strategy<Value = Case> {
    (arb_case(), vec(arb_program_case(), 3)).prop_map(|(mut case, programs)| {
        case.programs = program_cases(&case.settings, &programs);
        let MachineSettings { core, last_level, sharing, kernel, lines, .. } = &mut case.settings;
        *core = CoreSettings { order: Order::OutOfOrder, mshrs: 8, store_buffer: 8, ..*core };
        *last_level = CacheShape { bytes: 16 * lines.bytes, ways: 1, ..*last_level };
        *sharing = Sharing::Shared;
        (kernel.copier, kernel.dirty_source) = (PageCopier::Controller, DirtySource::CopyInCache);
        case
    })
}

fn arb_dma() -> impl Strategy<Value = DmaSettings> {
    let completion = select(vec![DmaCompletion::Polling, DmaCompletion::Interrupt]);
    let sizes = (1_usize..4, 1_usize..6, prop_oneof![2_usize..6, Just(16)], 1_usize..4, 4_usize..9);
    let set_up = (select(vec![0_u64, 10, 400]), select(vec![0_u64, 7, 60]), select(vec![0_u64, 1, 40, 500]));
    let times = (select(vec![1_u64, 10, 100]), select(vec![0_u64, 30, 2_000]), select(vec![0_u64, 5]));
    (completion, any::<bool>(), sizes, set_up, times).prop_map(
        |(
            completion,
            is_in_dram,
            (channels, ring, buffer_lines, doorbell_descriptors, pinned_pages),
            (setup_cycles, descriptor_cycles, doorbell_cycles),
            (poll_cycles, interrupt_cycles, pin_cycles),
        )| DmaSettings {
            channels,
            ring,
            buffer_lines,
            setup_cycles,
            descriptor_cycles,
            doorbell_cycles,
            doorbell_descriptors,
            poll_cycles,
            interrupt_cycles,
            pinned_pages,
            pin_cycles,
            unpin_cycles: 2 * pin_cycles,
            ..DmaSettings::new(completion, is_in_dram)
        },
    )
}

/// Cases with a DMA engine.
pub fn arb_case_with_dma() -> impl Strategy<Value = Case> {
    (arb_case(), arb_dma(), vec(any::<u8>(), 64)).prop_map(|(mut case, dma, numbers)| {
        let settings = &mut case.settings;
        settings.kernel.copier = PageCopier::Dma(dma);
        settings.kernel.inserts_zero_lines = false;
        for program in &mut case.programs {
            program.steps = with_waits(with_begins(std::mem::take(&mut program.steps), &numbers));
        }
        case
    })
}

/// Cases in which the kernel allocates, copies and zeroes single frames.
pub fn arb_case_with_a_frame_per_unit() -> impl Strategy<Value = Case> {
    arb_case().prop_map(|mut case| {
        case.settings.allocator.copy_unit = CopyUnit::Page;
        case
    })
}
