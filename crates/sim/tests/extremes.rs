//! No setting makes the library panic: each number is drawn from few ordinary and many extreme
//! values. Invalid settings are errors with a correction; valid settings run.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_spec::address::{MapPreset, RawAddressMap, RawXor};
use dram_spec::{
    BankId, Channel, CommandEvent, Cycle, Cycles, Density, EventSink, PhysicalAddress, RawGeometry, Refresh, Row,
    RowsPerSubarray, Standard, Width,
};
use host::workload::{
    Checkpoint, CopyBy, Deduplication, Fill, Fork, Gap, MachineClone, Migration, Mixed, MoveTo, PageCopies, Pairs,
    Pattern, ProcessExits, Random, Settings, Stream, StreamAccess,
};
use host::{AllocatorSettings, OperationKind, OperationSpec, Place, Timing, UnusableRecords};
use memctrl::policy::copy::POLICIES;
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{Bliss, CpuFirst, Fcfs, FrFcfsCap, ParBs};
use memctrl::{PowerPolicy, QueueSettings, RefreshPolicy};
use os_alloc_sim::{CopyUnit, Policy};
use proptest::prelude::*;
use proptest::sample::select;
use rowclone_sim::{Attachments, Experiment, ExperimentError, MemorySystem, RecordedTrace, Requests, SystemBuilder};

const EXTREME: [u64; 14] = [
    0,
    3,
    9,
    65,
    1 << 20,
    (1 << 30) - 64,
    1 << 30,
    1 << 32,
    (1 << 40) + 1,
    1 << 62,
    1 << 63,
    u64::MAX - 4095,
    u64::MAX - 63,
    u64::MAX,
];

/// An ordinary value, or occasionally an extreme one.
fn number(ordinary: &'static [u64]) -> impl Strategy<Value = u64> {
    prop_oneof![12 => select(ordinary), 1 => select(&EXTREME[..])]
}

fn count() -> impl Strategy<Value = u64> {
    number(&[1, 2, 5, 64, 256])
}

fn bytes() -> impl Strategy<Value = u64> {
    number(&[64, 4096, 8192, 1 << 20])
}

fn size() -> impl Strategy<Value = usize> {
    count().prop_map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn cycles() -> impl Strategy<Value = Cycles> {
    number(&[100, 1000, 50_000]).prop_map(Cycles)
}

fn share() -> impl Strategy<Value = f64> {
    let extreme = select(&[-0.5, 1.5, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY][..]);
    prop_oneof![12 => select(&[0.0, 0.25, 0.5, 1.0][..]), 1 => extreme]
}

fn address() -> impl Strategy<Value = PhysicalAddress> {
    number(&[0, 4096, 1 << 16, 1 << 20]).prop_map(PhysicalAddress)
}

fn geometry() -> impl Strategy<Value = RawGeometry> {
    let shape = (number(&[1, 2]), number(&[1, 2, 4]), number(&[4096, 8192]));
    let rows = prop_oneof![
        3 => number(&[128, 512, 1024]).prop_map(RowsPerSubarray::from),
        1 => prop::collection::vec(number(&[128, 576, 640, 768, 1023]), 0..10).prop_map(RowsPerSubarray::from_iter),
    ];
    (shape, rows).prop_map(|((channels, ranks, row_bytes), rows_per_subarray)| RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks,
        density: Density::Gb1,
        width: Width::X8,
        row_bytes,
        rows_per_subarray,
    })
}

fn map() -> impl Strategy<Value = RawAddressMap> {
    let field =
        select(&["row", "row:1", "row:64", "row:x", "", "rank", "bank", "column", "channel", "offset", ":"][..]);
    let fields = prop::collection::vec(field.prop_map(str::to_owned), 0..9);
    let bit = select(&[0, 1, 3, 12, 17, 31, 32, 63, 64, u32::MAX][..]);
    let xor = (select(&["bank", "channel", "rank", "row", ""][..]), bit.clone(), prop::collection::vec(bit, 0..3));
    let xor = xor.prop_map(|(field, bit, address_bits)| RawXor { field: field.to_owned(), bit, address_bits });
    let xor = prop::collection::vec(xor, 0..3);
    let preset = select(&MapPreset::ALL[..]).prop_map(MapPreset::raw);
    prop_oneof![
        12 => preset.clone(),
        1 => (fields, xor.clone()).prop_map(|(fields, xor)| RawAddressMap { fields: fields.into(), xor }),
        1 => (preset, xor).prop_map(|(preset, xor)| RawAddressMap { xor, ..preset }),
    ]
}

fn queues() -> impl Strategy<Value = QueueSettings> {
    let numbers = (size(), size(), size(), size(), size(), size());
    let drawn =
        numbers.prop_map(|(read_entries, write_entries, copy_entries, admission_per_cycle, high, low)| QueueSettings {
            read_entries,
            write_entries,
            copy_entries,
            admission_per_cycle,
            drain_high: high,
            drain_low: low,
        });
    prop_oneof![
        Just(QueueSettings::default()),
        drawn.prop_map(|mut queues| {
            // Most drawn watermarks are inconsistent.
            if queues.drain_low < 256 && queues.drain_high < 256 {
                queues.write_entries = queues.write_entries.max(queues.drain_high);
                queues.drain_low = queues.drain_low.min(queues.drain_high.saturating_sub(1));
            }
            queues
        })
    ]
}

/// Setters of the scheduler and of the row policy.
fn policy() -> impl Strategy<Value = fn(SystemBuilder, u64) -> SystemBuilder> {
    let each: &[fn(SystemBuilder, u64) -> SystemBuilder] = &[
        |builder, _| builder.scheduler(Fcfs),
        |builder, cap| builder.scheduler(FrFcfsCap { cap: u32::try_from(cap).unwrap_or(u32::MAX) }),
        |builder, number| builder.scheduler(Bliss::new(u32::try_from(number).unwrap_or(u32::MAX), Cycles(number))),
        |builder, share| builder.scheduler(CpuFirst::new(share)),
        |builder, cap| builder.scheduler(ParBs::new(usize::try_from(cap).unwrap_or(usize::MAX))),
        |builder, _| builder.row_policy(RowPolicy::Closed),
        |builder, after| builder.row_policy(RowPolicy::Timeout { after: Cycles(after) }),
    ];
    select(each)
}

fn builder() -> impl Strategy<Value = SystemBuilder> {
    let shape = (prop_oneof![Just(None), geometry().prop_map(Some)], map());
    let refresh = prop_oneof![
        1 => Just(Refresh::Off),
        9 => number(&[1_950_000, 7_800_000]).prop_map(|t_refi_ps| Refresh::Every { t_refi_ps }),
    ];
    let refresh = (refresh, number(&[0, 1, 8]), cycles());
    let power = (prop::option::weighted(0.2, cycles()), prop::option::weighted(0.2, cycles()));
    let faulty = (number(&[0]), number(&[0]), number(&[0, 7]), number(&[0, 1, 32]));
    let faulty = prop::collection::vec(faulty, 0..2);
    let controller = (queues(), prop::option::of(size()), prop::option::of(cycles()), policy(), count());
    let set = prop_oneof![12 => select(&["2 Gb x8 -25E", "2 Gb x8 D-die 1066"][..]), 1 => Just("none")];
    (shape, refresh, power, faulty, controller, set).prop_map(|(shape, refresh, power, faulty, controller, set)| {
        let (geometry, map) = shape;
        let (refresh, postpone_max, idle) = refresh;
        let (power_down_after, self_refresh_after) = power;
        let (queues, staging, hold, policy, parameter) = controller;
        let faulty = faulty.into_iter().map(|(channel, rank, bank, row)| {
            (Channel(channel as u8), BankId { rank: rank as u8, bank: bank as u8 }, Row(row as u32))
        });
        let mut builder = SystemBuilder::default().channels(1).address_map(map).refresh(refresh).queues(queues);
        if let Some(geometry) = geometry {
            builder = builder.geometry(geometry);
        }
        if let Some(lines) = staging {
            builder = builder.staging_lines(lines);
        }
        let builder = builder
            .refresh_policy(RefreshPolicy { postpone_max, idle })
            .power(PowerPolicy { power_down_after, self_refresh_after })
            .faulty_rows(faulty)
            .copy_hold_max(hold)
            .current_set(set);
        policy(builder, parameter)
    })
}

fn operation() -> impl Strategy<Value = OperationSpec> {
    let places = Place::RELATIONS.map(|(_, place)| place);
    let place = prop_oneof![select(places.to_vec()), address().prop_map(Place::Address)];
    let kind = select(OperationKind::ALL.to_vec());
    let at = prop::option::of(prop_oneof![Just(Cycle(0)), count().prop_filter_map("a run of hours", late)]);
    (kind, prop::option::of(place), address(), bytes(), any::<u8>(), at)
        .prop_map(|(kind, src, dst, bytes, value, at)| OperationSpec { kind, src, dst, bytes, value, at })
}

/// Up to 2^40 cycles are legal, but simulating idle refreshes takes minutes.
fn late(cycle: u64) -> Option<Cycle> {
    (cycle <= 4096 || cycle > 1 << 40).then_some(Cycle(cycle))
}

fn gap() -> impl Strategy<Value = Gap> {
    let clock = dram_spec::Clock::DDR3_1066;
    prop_oneof![Just(Gap::ZERO), cycles().prop_map(Gap::from), bytes().prop_map(move |ps| Gap::of_ps(ps, clock))]
}

fn addressed() -> impl Strategy<Value = Settings> {
    let pattern = StreamAccess::Pattern(Pattern::WRITES);
    let access = prop_oneof![Just(pattern), address().prop_map(|dst| StreamAccess::Copy { dst })];
    let stream = (address(), count(), bytes(), access, gap()).prop_map(|(start, count, stride_bytes, access, gap)| {
        Settings::new(Stream { start, count, stride_bytes, access, gap })
    });
    let random = (count(), address(), bytes(), share(), gap()).prop_map(|(count, start, bytes, write_share, gap)| {
        Settings::new(Random { count, start, bytes, write_share, gap })
    });
    let places = [Pairs::Neighbors, Pairs::Random, Pairs::Placed(Place::OtherBank), Pairs::Placed(Place::SameBank)];
    let pages = || (count(), address(), number(&[1 << 16, 1 << 20]), bytes(), select(places.to_vec()), gap());
    let mixed = (pages(), share(), share(), share()).prop_map(|(pages, write_share, copy_share, zero_share)| {
        let (count, start, bytes, page_bytes, pairs, gap) = pages;
        Settings::new(Mixed { count, start, bytes, write_share, copy_share, zero_share, page_bytes, pairs, gap })
    });
    let copies = (pages(), select(&[CopyBy::Operation, CopyBy::Lines][..])).prop_map(|(pages, by)| {
        let (count, start, bytes, page_bytes, pairs, gap) = pages;
        Settings::new(PageCopies { count, start, bytes, page_bytes, pairs, by, gap })
    });
    prop_oneof![stream, random, mixed, copies]
}

fn of_processes() -> impl Strategy<Value = Settings> {
    let numbers = (number(&[4096, 8192, 1 << 20]), count(), count(), count(), gap());
    numbers.prop_flat_map(|(bytes, count, writes, window, gap)| {
        prop_oneof![
            Just(Settings::new(Fork { bytes, pages: count, fill: Fill::Played, gap })),
            Just(Settings::new(Checkpoint { bytes, checkpoints: count, writes, window, gap })),
            Just(Settings::new(MachineClone { bytes, clones: count, window, gap })),
            Just(Settings::new(Migration { bytes, pages: count, to: MoveTo::NearSource, window, gap })),
            Just(Settings::new(Deduplication { bytes, pages: count, writes, gap })),
            Just(Settings::new(ProcessExits { bytes, processes: count, window, gap })),
        ]
    })
}

fn timing() -> impl Strategy<Value = Timing> {
    let window =
        select(&[1, 2, u32::MAX][..]).prop_filter_map("not 0", |window| Some(Timing::Window(NonZeroU32::new(window)?)));
    prop_oneof![
        6 => Just(Timing::Recorded),
        1 => share().prop_map(Timing::Instructions),
        1 => Just(Timing::BackToBack),
        2 => window
    ]
}

fn allocator() -> impl Strategy<Value = AllocatorSettings> {
    let policy = select(&Policy::ALL[..]);
    let copy_unit = select(&[CopyUnit::RowSet, CopyUnit::Page][..]);
    (policy, share(), share(), copy_unit).prop_map(|(policy, utilization, fragmentation, copy_unit)| {
        AllocatorSettings { policy, seed: 1, utilization, fragmentation, copy_unit }
    })
}

/// A system of 1 GiB.
fn small() -> MemorySystem {
    let chips = SystemBuilder::default().chips(Density::Gb1, Width::X8);
    chips.channels(1).build().expect("the defaults fit")
}

/// Event sink that stops a run after 2,000 commands.
struct CommandLimit<'a> {
    commands: u64,
    stop: &'a AtomicBool,
}

impl EventSink for CommandLimit<'_> {
    fn command(&mut self, _event: &CommandEvent) {
        self.commands += 1;
        self.stop.store(self.commands >= 2000, Ordering::Relaxed);
    }
}

fn attempt(experiment: Experiment<'_>) -> Result<(), TestCaseError> {
    let stop = AtomicBool::new(false);
    let mut limit = CommandLimit { commands: 0, stop: &stop };
    let outcome =
        experiment.run_with(Attachments { stop: Some(&stop), commands: Some(&mut limit), ..Attachments::default() });
    outcome.map_or_else(|error| refused(&error), |_| Ok(()))
}

fn refused(error: &ExperimentError) -> Result<(), TestCaseError> {
    let stopped = matches!(error, ExperimentError::Stopped);
    prop_assert!(stopped || error.help().is_some_and(|help| !help.is_empty()), "{error}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_system_is_built_and_runs_or_is_refused(
        builder in builder(), policy in select(&POLICIES[..]),
        kind in select(&[OperationKind::Copy, OperationKind::Init, OperationKind::Write][..]),
    ) {
        match builder.build() {
            Err(error) => prop_assert!(!error.to_string().is_empty() && !error.help().is_empty(), "{error}"),
            Ok(system) => {
                let dst = PhysicalAddress(0x2_0000);
                let specs = [OperationSpec { kind, src: None, dst, bytes: 8192, value: 7, at: None }; 2];
                match Experiment::operations(&system, specs) {
                    Ok(experiment) => attempt(experiment.policy(policy).checked())?,
                    Err(error) => refused(&error)?,
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_run_or_are_refused(specs in prop::collection::vec(operation(), 0..3), seed in any::<u64>()) {
        match Experiment::operations(&small(), specs) {
            Ok(experiment) => attempt(Experiment { seed, ..experiment })?,
            Err(error) => refused(&error)?,
        }
    }

    #[test]
    fn workloads_with_addresses_run_or_are_refused(
        settings in addressed(), epoch in prop::option::of(cycles()), warm_up in cycles(),
    ) {
        let system = small();
        let requests = Requests::Made { settings, allocator: None };
        attempt(Experiment { epoch, warm_up, ..Experiment::new(&system, requests) })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn workloads_of_processes_run_or_are_refused(
        settings in of_processes(), allocator in prop::option::weighted(0.95, allocator()),
    ) {
        attempt(Experiment::new(&small(), Requests::Made { settings, allocator }))?;
    }

    #[test]
    fn a_trace_runs_or_is_refused(
        text in "([RW] 0x[0-9a-f]{1,7}\n){1,4}|([0-9]{1,20} 0x[0-9a-f]{1,17} [RW]\n){1,4}|.{0,40}",
        timing in timing(),
        allocator in prop::option::weighted(0.1, allocator()),
    ) {
        let trace = RecordedTrace {
            name: "trace".to_owned(),
            text: Box::new(text.as_bytes()),
            format: None,
            unusable: UnusableRecords::Refuse,
            timing,
            allocator,
            fault: Cycles(0),
        };
        attempt(Experiment::new(&small(), Requests::Trace(trace)))?;
    }
}
