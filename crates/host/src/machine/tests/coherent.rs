//! Each load returns what a flat, coherent machine returns.

use std::num::NonZeroUsize;

use memctrl::policy::copy::BASELINE;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use trace_io::program::DeviceStep;

use super::*;
use crate::defects::{PLANTED, Planted};

const PAGES: u64 = 6;

/// A program that fills pages, forks, writes, copies and zeroes, and reads all pages at the end.
fn program(seed: u64, steps: u64) -> Vec<Step> {
    program_with(seed, steps, |bytes| bytes)
}

/// The program with short copies: several blocks of the loops of [`copy_loops`], each instruction of which is
/// simulated.
fn short_program(seed: u64, steps: u64) -> Vec<Step> {
    program_with(seed, steps, |bytes| 1 + (bytes - 1) % 1000)
}

fn program_with(seed: u64, steps: u64, length_of: impl Fn(u64) -> u64) -> Vec<Step> {
    let mut generator = os_alloc_sim::Generator::new(seed);
    let bytes = PAGES * 4096;
    let mut program = vec![
        Step::Map { address: line(0), bytes },
        Step::Filled { address: line(0), bytes: bytes / 2 },
        Step::Fork { child: 2 },
    ];
    let mut below = |end: u64| u64::from(generator.below(end as u32));
    for number in 0..steps {
        let any = PhysicalAddress(START + below(bytes));
        let step = match below(12) {
            0..4 => Step::Store { address: any },
            4..7 => Step::Load { address: any },
            7 => Step::Compute { instructions: 1 + below(300) },
            8 => Step::Run { process: 1 + below(2) as u32 },
            9 => Step::Fork { child: 3 + number as u32 },
            other => {
                let whole = below(2) == 0;
                let dst = if whole { START + below(PAGES / 2) * 4096 } else { START + below(bytes / 2) };
                let length = length_of(if whole { 4096 } else { 1 + below(5000) });
                let src = PhysicalAddress(START + bytes / 2 + if whole { below(2) * 4096 } else { below(4096) });
                let (dst, bytes) = (PhysicalAddress(dst), length.min(bytes / 2 + START - dst));
                if other == 10 { Step::Copy { dst, src, bytes } } else { Step::Zero { address: dst, bytes } }
            }
        };
        program.push(step);
    }
    for process in [1, 2] {
        program.push(Step::Run { process });
        program.extend((0..PAGES * 64).map(load));
        program.push(Step::Exit);
    }
    program
}

/// All ways to copy, with the policy of the controller; loops of instructions last.
pub(super) fn kernels() -> Vec<(KernelSettings, &'static dyn CopyPolicy)> {
    let base = KernelSettings::default();
    let in_dram = KernelSettings { copier: PageCopier::Controller, ..base };
    let modes = [EngineMode::SyncFifo, EngineMode::SyncCpuFirst, EngineMode::Async];
    let engines = [(false, BASELINE), (true, ROWCLONE)].into_iter().flat_map(|(is_in_dram, policy)| {
        modes.map(|mode| {
            let engine = EngineSettings { buffer_lines: 3, ..EngineSettings::new(mode, is_in_dram) };
            (KernelSettings { copier: PageCopier::Engine(engine), copier_min_bytes: Some(100), ..base }, policy)
        })
    });
    let completions = [DmaCompletion::Polling, DmaCompletion::Interrupt];
    let dma = [(false, BASELINE), (true, ROWCLONE)].into_iter().flat_map(|(is_in_dram, policy)| {
        completions.map(|completion| {
            // Cores share channels, rings fill up, and pages are unpinned.
            let dma = DmaSettings {
                channels: 2,
                ring: 1,
                buffer_lines: 3,
                pinned_pages: 2 * 2 * 2,
                ..DmaSettings::new(completion, is_in_dram)
            };
            (KernelSettings { copier: PageCopier::Dma(dma), copier_min_bytes: Some(100), ..base }, policy)
        })
    });
    let others: [(KernelSettings, &'static dyn CopyPolicy); 7] = [
        (base, ROWCLONE),
        (KernelSettings { copy_loop: CopyLoop::NoFetch, ..base }, ROWCLONE),
        (KernelSettings { copy_loop: CopyLoop::NonTemporal, ..base }, ROWCLONE),
        (in_dram, BASELINE),
        (in_dram, ROWCLONE),
        (KernelSettings { inserts_zero_lines: true, ..in_dram }, ROWCLONE),
        (KernelSettings { dirty_source: DirtySource::CopyInCache, inserts_zero_lines: true, ..in_dram }, ROWCLONE),
    ];
    others.into_iter().chain(engines).chain(dma).chain(copy_loops()).collect()
}

/// Loops of instructions, with words of 8 bytes; small blocks and iterations, so that a page has several.
fn copy_loops() -> Vec<(KernelSettings, &'static dyn CopyPolicy)> {
    let of = |copy_loop, loops| {
        let settings = KernelSettings { copy_loop, loops, ..KernelSettings::default() };
        (settings, BASELINE as &'static dyn CopyPolicy)
    };
    let default = LoopSettings::default();
    let small = LoopSettings { block_bytes: 384, block_step_bytes: 128, unroll_bytes: Some(128), ..default };
    vec![
        of(CopyLoop::String, default),
        of(CopyLoop::FastString, default),
        of(CopyLoop::FastString, LoopSettings { fast_string_stores: StringStores::Fetch, ..default }),
        of(CopyLoop::RepMovsb, LoopSettings { fast_string_bytes: 32, ..default }),
        of(CopyLoop::Integer, LoopSettings { touch_bytes: Some(192), ..default }),
        of(CopyLoop::FloatBlock, default),
        of(CopyLoop::SimdBlock, small),
        of(CopyLoop::NonTemporalBlock, small),
        of(CopyLoop::Avx2, default),
    ]
}

/// A bus of which a clock takes 15 core cycles.
pub(super) const BUS: BusSettings = BusSettings {
    clock: 15,
    bytes_per_clock: 32,
    address_clocks: 1,
    request_latency: 20,
    response_latency: 30,
    snoop_latency: 60,
};

fn wrong(settings: &MachineSettings, programs: &[Vec<Step>], policy: &'static dyn CopyPolicy) -> Option<WrongLoad> {
    let (loads, wrong) = try_play(*settings, programs, policy, Some(7)).unwrap().outcome.check.unwrap();
    assert!(loads > 0);
    wrong
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(24)
    })]

    #[test]
    fn loads_return_the_last_store(
        seed: u64,
        cores in 1..4_u64,
        cache_bytes in prop::sample::select(vec![1_u64 << 10, 1 << 13, 1 << 16]),
        has_l1: bool,
        is_shared: bool,
        is_in_order: bool,
        has_bus: bool,
    ) {
        let l1 = has_l1.then_some(CacheShape::new(512, 2, 3));
        let sharing = if is_shared { Sharing::Shared } else { Sharing::Private };
        let order = if is_in_order { Order::InOrder } else { Order::OutOfOrder };
        let core = CoreSettings { order, ..CoreSettings::PAPER };
        let last_level = CacheShape::new(cache_bytes, 16, 12);
        let bus = has_bus.then_some(BUS);
        check(seed, cores, &MachineSettings { core, l1, last_level, sharing, bus, ..settings() });
    }
}

/// A program whose copies are begun, two at a time where they follow each other, and then waited for.
fn begun(steps: Vec<Step>) -> Vec<Step> {
    let mut begun = Vec::new();
    // Destinations of copies for which the program has not waited.
    let mut destinations: Vec<std::ops::Range<u64>> = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Copy { dst, src, bytes } => {
                let range = dst.0..dst.0 + bytes;
                // The loop, which copies small pieces, does not wait for the device.
                if destinations.iter().any(|other| other.start < range.end && range.start < other.end) {
                    begun.push(Step::Device(DeviceStep::Wait));
                    destinations.clear();
                }
                destinations.push(range);
                begun.push(Step::Device(DeviceStep::Begin { dst, src, bytes }));
                begun.push(Step::Compute { instructions: 1 + 700 * (number as u64 % 3) });
                // Without a step between them, the next fork, run, exit or page fault waits, or comes first.
                if number % 4 > 0 {
                    begun.push(Step::Device(DeviceStep::Wait));
                    destinations.clear();
                }
            }
            // A store could change a source, and a load read a destination.
            Step::Load { .. } | Step::Store { .. } | Step::Zero { .. } => {
                begun.extend([Step::Device(DeviceStep::Wait), step]);
                destinations.clear();
            }
            _ => begun.push(step),
        }
    }
    begun
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::with_cases(12)
    })]

    #[test]
    fn copies_that_are_begun_end_before_they_are_used(seed: u64, cores in 1..4_u64, is_shared: bool, has_bus: bool) {
        let sharing = if is_shared { Sharing::Shared } else { Sharing::Private };
        let last_level = CacheShape::new(1 << 13, 16, 12);
        let bus = has_bus.then_some(BUS);
        for (kernel, policy) in kernels() {
            let programs: Vec<_> = programs(seed, cores, kernel).into_iter().map(begun).collect();
            let settings = MachineSettings { last_level, sharing, bus, kernel, ..settings() };
            assert_eq!(wrong(&settings, &programs, policy), None, "{kernel:?}");
        }
    }
}

/// A program per core. Those of loops of instructions have short copies.
fn programs(seed: u64, cores: u64, kernel: KernelSettings) -> Vec<Vec<Step>> {
    let is_loop = copy_loops().iter().any(|(of_loop, _)| *of_loop == kernel);
    let program = if is_loop { short_program } else { program };
    (0..cores).map(|core| program(seed ^ core, 60)).collect()
}

/// Runs a program per core under each way to copy.
fn check(seed: u64, cores: u64, settings: &MachineSettings) {
    for (kernel, policy) in kernels() {
        let settings = MachineSettings { kernel, ..*settings };
        assert_eq!(wrong(&settings, &programs(seed, cores, kernel), policy), None, "{kernel:?}");
    }
}

/// Cores that share a cache of this size.
fn shared(bytes: u64) -> MachineSettings {
    let last_level = CacheShape::new(bytes, 16, 12);
    MachineSettings { last_level, sharing: Sharing::Shared, ..settings() }
}

/// Caches of random levels, lines, policies and prefetchers.
pub(super) fn any_caches(seed: u64, kernel: KernelSettings) -> MachineSettings {
    let mut generator = os_alloc_sim::Generator::new(seed);
    let mut one_of = |choices: u32| generator.below(choices) as usize;
    let level = |bytes: u64, ways, latency, [store_miss, prefetcher]: [usize; 2]| CacheShape {
        store_miss: StoreMiss::ALL[store_miss],
        prefetcher: PrefetcherKind::ALL[prefetcher],
        ..CacheShape::new(bytes, ways, latency)
    };
    let mut policies = || [one_of(2), one_of(4)];
    let [first, second, last] = [policies(), policies(), policies()];
    let sharing = [Sharing::Private, Sharing::Shared, Sharing::Group(NonZeroUsize::new(2).unwrap())][one_of(3)];
    let order = Order::ALL[one_of(2)];
    MachineSettings {
        core: CoreSettings { order, mshrs: 1 + one_of(8), store_buffer: 1 + one_of(8), ..CoreSettings::PAPER },
        l1: (one_of(2) == 0).then(|| level(512, 2, 3, first)),
        l2: (one_of(2) == 0).then(|| level(2048, 4, 7, second)),
        last_level: level([1 << 10, 3 << 10, 1 << 14][one_of(3)], [1, 4, 8][one_of(3)], 12, last),
        sharing,
        lines: LineSettings {
            bytes: [16, 32, 64, 128][one_of(4)],
            write: WritePolicy::ALL[one_of(2)],
            write_buffer: 1 + one_of(5),
            merging: WriteMerging::ALL[one_of(2)],
            prefetch: PrefetchSettings {
                degree: 1 + one_of(3) as u64,
                distance: 1 + one_of(4) as u64,
                mshrs: 1 + one_of(4),
            },
        },
        bus: (one_of(2) == 0).then_some(BUS),
        kernel: KernelSettings { word_bytes: 8, ..kernel },
        ..settings()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::with_cases(24)
    })]

    /// Also with data of the kernel in the caches.
    #[test]
    fn loads_return_the_last_store_with_any_levels_lines_and_policies(seed: u64, cores in 1..4_u64) {
        check_any_caches(seed, cores, false)?;
    }

    #[test]
    fn loads_return_the_last_store_with_any_caches_and_loops_of_instructions(seed: u64, cores in 1..4_u64) {
        check_any_caches(seed, cores, true)?;
    }
}

/// Runs a program per core under each way to copy: by loops of instructions, or by all others.
fn check_any_caches(seed: u64, cores: u64, by_instructions: bool) -> Result<(), TestCaseError> {
    let (all, loops) = (kernels(), copy_loops().len());
    let others = all.len() - loops;
    for &(kernel, policy) in if by_instructions { &all[others..] } else { &all[..others] } {
        let settings = any_caches(seed, kernel);
        prop_assert_eq!(wrong(&settings, &programs(seed, cores, kernel), policy), None, "{:?}", settings);
    }
    Ok(())
}

/// A page fault waits for stores in flight. If it began before they were over, a read would overtake
/// the write-back of its line by another core.
#[test]
fn a_core_that_waits_for_its_stores_keeps_the_order_of_all_cores() {
    check(15_821_295_434_969_692_242, 3, &shared(1 << 10));
}

/// A line that a copy in the cache replaces leaves at once. Behind the copy, its write-back would
/// overwrite a page that another core zeroes in the meantime.
#[test]
fn lines_replaced_by_copies_in_a_shared_cache_leave_before_they_are_zeroed() {
    check(2_522_808_148_835_176_962, 2, &shared(1 << 16));
}

/// A device that skips a snoop, or completes a copy before its writes, is found by a load.
fn each_step_of_a_device_is_needed(copier: PageCopier, is_in_dram: bool) {
    let last_level = CacheShape::new(1 << 16, 16, 12);
    let kernel = KernelSettings { copier, ..KernelSettings::default() };
    let settings = MachineSettings { last_level, kernel, ..settings() };
    let programs: Vec<_> = (0..20).map(|seed| vec![program(seed, 60)]).collect();
    assert!(programs.iter().all(|program| wrong(&settings, program, ROWCLONE).is_none()));
    for defect in [Planted::NoSourceWriteBack, Planted::NoInvalidation, Planted::EarlyCompletion] {
        // The copy in DRAM is one request, behind which the controller orders later reads.
        if is_in_dram && defect == Planted::EarlyCompletion {
            continue;
        }
        PLANTED.set(Some(defect));
        let is_found = programs.iter().any(|program| wrong(&settings, program, ROWCLONE).is_some());
        PLANTED.set(None);
        assert!(is_found, "{defect:?}, {copier:?}");
    }
}

#[test]
fn each_step_of_an_engine_is_needed() {
    for (mode, is_in_dram) in [(EngineMode::SyncFifo, false), (EngineMode::Async, false), (EngineMode::Async, true)] {
        each_step_of_a_device_is_needed(PageCopier::Engine(EngineSettings::new(mode, is_in_dram)), is_in_dram);
    }
}

#[test]
fn each_step_of_a_dma_engine_is_needed() {
    for is_in_dram in [false, true] {
        let dma = DmaSettings::new(DmaCompletion::Polling, is_in_dram);
        each_step_of_a_device_is_needed(PageCopier::Dma(dma), is_in_dram);
    }
}

/// A load of the last line of a destination, while the copy of its page is pending, waits for the data. Without
/// the pending copy table it gets what the memory holds before the line is written.
#[test]
fn the_pending_copy_table_is_needed() {
    let last_level = CacheShape::new(1 << 16, 16, 12);
    let program = |instructions: u64| {
        let mut steps = vec![
            Step::Map { address: line(0), bytes: 8192 },
            Step::Filled { address: line(0), bytes: 8192 },
            Step::Copy { dst: line(64), src: line(0), bytes: 4096 },
        ];
        steps.extend([Step::Compute { instructions }, load(127)]);
        vec![steps]
    };
    for mode in [EngineMode::SyncFifo, EngineMode::SyncCpuFirst, EngineMode::Async] {
        let kernel = KernelSettings {
            copier: PageCopier::Engine(EngineSettings { buffer_lines: 2, ..EngineSettings::new(mode, false) }),
            ..KernelSettings::default()
        };
        // No window is full before the load.
        let core = CoreSettings { window: 1 << 16, ..CoreSettings::PAPER };
        let settings = MachineSettings { core, last_level, kernel, ..settings() };
        // Without the table a line may also be removed while its data are on their way, which is no load.
        let is_wrong = |instructions: u64| {
            let run = || wrong(&settings, &program(instructions), BASELINE).is_some();
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or(false)
        };
        let lengths = || (0..60_000).step_by(400);
        assert!(!lengths().step_by(10).any(is_wrong), "{mode:?}");
        PLANTED.set(Some(Planted::IgnoredPendingCopies));
        let is_found = lengths().any(is_wrong);
        PLANTED.set(None);
        assert!(is_found, "{mode:?}");
    }
}

/// A program that loads from a destination while the DMA engine writes it ends with an error.
#[test]
fn a_load_of_a_line_that_a_device_writes_is_an_error() {
    let (dst, src) = (line(0), PhysicalAddress(START + 4096));
    let mut program = vec![Step::Map { address: dst, bytes: 8192 }, Step::Filled { address: dst, bytes: 8192 }];
    program.push(Step::Device(DeviceStep::Begin { dst, src, bytes: 4096 }));
    program.extend((0..64).map(load));
    let dma = DmaSettings::new(DmaCompletion::Polling, true);
    let kernel = KernelSettings { copier: PageCopier::Dma(dma), ..KernelSettings::default() };
    let message =
        try_play(MachineSettings { kernel, ..settings() }, &[program], ROWCLONE, None).unwrap_err().to_string();
    assert!(
        message.starts_with("a device writes 0x") && message.ends_with(" for core 0 while a program accesses it"),
        "{message}"
    );
}

/// The end of a copy by a DMA engine that is lost ends the run, also if the core polls for it.
#[test]
fn a_lost_completion_of_a_dma_engine_is_an_error() {
    for completion in [DmaCompletion::Polling, DmaCompletion::Interrupt] {
        let dma = DmaSettings { timeout_cycles: 1 << 17, ..DmaSettings::new(completion, false) };
        let kernel = KernelSettings { copier: PageCopier::Dma(dma), ..KernelSettings::default() };
        PLANTED.set(Some(Planted::LostCompletion));
        let played = try_play(MachineSettings { kernel, ..settings() }, &[program(1, 60)], ROWCLONE, None);
        PLANTED.set(None);
        let message = played.unwrap_err().to_string();
        assert!(
            message.starts_with("the copy of ") && message.ends_with("for core 0 was never completed"),
            "{message}"
        );
    }
}

/// A lost end ends the run also while the program of another core repeats without end: a core that polls gives up at
/// the timeout, and of other copies the devices know nothing any more.
#[test]
fn a_lost_completion_ends_the_run_of_all_cores() {
    let polling = DmaSettings { timeout_cycles: 1 << 12, ..DmaSettings::new(DmaCompletion::Polling, false) };
    let interrupt = DmaSettings::new(DmaCompletion::Interrupt, false);
    let engine = |mode| PageCopier::Engine(EngineSettings::new(mode, false));
    for copier in
        [PageCopier::Dma(polling), PageCopier::Dma(interrupt), engine(EngineMode::SyncFifo), engine(EngineMode::Async)]
    {
        let kernel = KernelSettings { copier, ..KernelSettings::default() };
        let compute = || Ok(Box::new(Steps([Step::Compute { instructions: 1_000 }].into_iter())) as Box<dyn Program>);
        let programs: Vec<Box<dyn Program>> =
            vec![Box::new(Steps(program(1, 60).into_iter())), Box::new(Repeated::new(compute).unwrap())];
        let region = Region { warm_up: 0, instructions: Some(100) };
        PLANTED.set(Some(Planted::LostCompletion));
        let played = play_boxed(MachineSettings { kernel, ..settings() }, region, programs, ROWCLONE, None);
        PLANTED.set(None);
        let message = played.unwrap_err().to_string();
        assert!(
            message.starts_with("the copy of ") && message.ends_with("for core 0 was never completed"),
            "{copier:?}: {message}"
        );
    }
}

/// The end of a copy that is lost ends the run, with the copy in the message.
#[test]
fn a_lost_completion_is_an_error() {
    let copier = PageCopier::Engine(EngineSettings::new(EngineMode::Async, false));
    let settings = MachineSettings { kernel: KernelSettings { copier, ..KernelSettings::default() }, ..settings() };
    PLANTED.set(Some(Planted::LostCompletion));
    let played = try_play(settings, &[program(1, 60)], ROWCLONE, None);
    PLANTED.set(None);
    let message = played.unwrap_err().to_string();
    assert!(message.starts_with("the copy of ") && message.ends_with("for core 0 was never completed"), "{message}");
}

/// Without a step of coherence, some load of some program returns stale data.
#[test]
fn each_step_of_coherence_is_needed() {
    let last_level = CacheShape::new(1 << 16, 16, 12);
    for defect in [
        Planted::NoSourceWriteBack,
        Planted::NoInvalidation,
        Planted::NoWait,
        Planted::NoZeroing,
        Planted::NoFlush,
        Planted::StalePrefetch,
    ] {
        let (store_miss, prefetcher) = match defect {
            Planted::NoFlush => (StoreMiss::NoAllocate, PrefetcherKind::None),
            Planted::StalePrefetch => (StoreMiss::Allocate, PrefetcherKind::NextLine),
            _ => (StoreMiss::Allocate, PrefetcherKind::None),
        };
        let last_level = CacheShape { store_miss, prefetcher, ..last_level };
        let kernel = KernelSettings {
            copier: PageCopier::Controller,
            inserts_zero_lines: defect == Planted::NoZeroing,
            ..KernelSettings::default()
        };
        let settings = MachineSettings { last_level, kernel, ..settings() };
        let programs: Vec<_> = (0..20).map(|seed| vec![program(seed, 60)]).collect();
        assert!(programs.iter().all(|program| wrong(&settings, program, ROWCLONE).is_none()));
        PLANTED.set(Some(defect));
        let is_found = programs.iter().any(|program| wrong(&settings, program, ROWCLONE).is_some());
        PLANTED.set(None);
        assert!(is_found, "{defect:?}");
    }
}

/// With a bus, a doorbell arrives with the stores of its descriptor, which the engine then reads.
#[test]
fn a_device_acts_behind_the_stores_that_its_message_follows() {
    for seed in [13_884_786_487_814_356_009_u64, 16_968_791_929_700_866_609, 1_663_341_875_487_337_577] {
        let programs: Vec<_> = (0..3).map(|core| program(seed ^ core, 60)).collect();
        for (kernel, policy) in kernels().into_iter().filter(|(kernel, _)| matches!(kernel.copier, PageCopier::Dma(_)))
        {
            assert_eq!(wrong(&any_caches(seed, kernel), &programs, policy), None, "{seed}");
        }
    }
}
