//! Random systems, controllers, and requests that conflict on few rows.

use std::fmt;
use std::sync::Arc;

use dram_spec::address::{MapPreset, RawAddressMap, RawXor};
use dram_spec::geometry::{PAPER_ROW_BYTES, native_row_bytes};
use dram_spec::standard::Definition;
use dram_spec::{
    AddressMap, BankId, Channel, Chip, Column, CommandKind, CopyActivations, Cycles, Geometry, Location, Operation,
    PhysicalAddress, Picojoule, PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh, Row, RowsPerSubarray,
    SourceId, SpeedBin, Standard, System,
};
use memctrl::policy::copy::{CopyPolicy, POLICIES, WITH_CORES};
use memctrl::policy::row::{ROW_POLICIES, RowPolicy};
use memctrl::policy::scheduler::{Atlas, Bliss, CpuFirst, FrFcfsCap, ParBs, SCHEDULERS, Scheduler};
use memctrl::price::PriceTable;
use memctrl::{Config, PowerPolicy, QueueSettings, RefreshPolicy};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use rowclone::{FaultyRows, Planner};

use crate::reference_model;

/// A setting of the engine, with the definition of the reference model.
#[derive(Clone, Debug)]
pub struct Chosen<E, P> {
    pub engine: E,
    pub model: P,
}

type ChosenScheduler = Chosen<Box<dyn Scheduler>, reference_model::Scheduler>;
type ChosenRows = Chosen<RowPolicy, reference_model::Rows>;

/// Arrival of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Cycles after the arrival of its predecessor.
    After(Cycles),
    /// When it is accepted.
    Accepted,
    /// When all its predecessors have completed.
    Done,
}

/// A request of a case.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub source: SourceId,
    pub operation: Operation,
    pub when: When,
}

/// A controller and its requests.
#[derive(Clone)]
pub struct Case {
    pub config: Config,
    /// The reference model's definitions of the scheduler and of the row policy.
    pub scheduler: reference_model::Scheduler,
    pub rows: reference_model::Rows,
    pub items: Vec<Item>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { system, copy_policy, staging_lines, copy_hold_max, queues, scheduler, row_policy, .. } =
            &self.config;
        let Config { refresh, power, warm_up, epoch, .. } = &self.config;
        let System { bin, geometry, copy_activations, precharge_power_down, refresh: interval, .. } = system;
        let list: Vec<_> = self.config.planner.map().parts().iter().rev().map(|part| part.field.name()).collect();
        writeln!(f, "{} {:?}", bin.name, geometry.raw())?;
        writeln!(f, "{copy_activations:?} {precharge_power_down:?} {interval:?} map {list:?}")?;
        writeln!(f, "{:?} {}", system.reference_cycle, system.refresh_mode.name)?;
        writeln!(f, "{} staging {staging_lines} hold {copy_hold_max:?} {scheduler:?}", copy_policy.name())?;
        writeln!(f, "{row_policy:?} {refresh:?} {power:?} warm-up {warm_up} epoch {epoch:?}")?;
        writeln!(f, "{queues:?}")?;
        self.items.iter().enumerate().try_for_each(|(id, Item { source, operation, when })| {
            let place = |address| self.config.planner.map().locate(address).expect("it was checked");
            let from = operation.src().map_or(String::new(), |src| format!("{} to ", place(src)));
            writeln!(f, "{id} of {}: {operation} ({from}{}) {when:?}", source.0, place(operation.target()))
        })
    }
}

fn arb_system() -> impl Strategy<Value = System> {
    let counts = (prop_oneof![3 => Just(1u64), 3 => Just(2), 1 => Just(4)], select(vec![1u64, 2, 4]));
    // Half of the systems are DDR3.
    let standards = prop_oneof![3 => Just(Standard::Ddr3), 3 => select(Standard::ALL.to_vec())];
    let of_standard = standards.prop_flat_map(|standard| {
        let Definition { bins, chips, refresh_modes, .. } = standard.definition();
        // DDR4 with a forbidden distance of writes.
        let long_preamble = ["DDR4-2400R[tWPRE=2]"; 8].into_iter().filter_map(SpeedBin::named);
        let long_preamble = long_preamble.filter(|bin| bin.standard == standard);
        let bins: Vec<_> = bins.iter().filter(|bin| bin.cl > 0).chain(long_preamble).collect();
        (select(bins), select(*chips), 0..refresh_modes.len())
    });
    let number = prop_oneof![1 => 128..=132_u64, 1 => 128..=1024_u64];
    let rows_per_subarray = prop_oneof![
        3 => select(vec![128, 512, 1024]).prop_map(RowsPerSubarray::from),
        1 => vec(number, 1..=8).prop_map(RowsPerSubarray::from_iter),
    ];
    let chips = (any::<bool>(), rows_per_subarray);
    let refresh = prop_oneof![
        2 => Just(Some(1)),
        2 => Just(Some(2)),
        3 => Just(Some(4)),
        1 => Just(None),
    ];
    let switches = (
        select(vec![CopyActivations::Counted, CopyActivations::Free]),
        select(vec![PrechargePowerDown::FastExit, PrechargePowerDown::SlowExit]),
        select(vec![ReferenceCycle::First, ReferenceCycle::Second]),
    );
    (of_standard, counts, chips, refresh, switches).prop_map(|((bin, chip, mode), counts, chips, refresh, switches)| {
        let (is_paper, rows_per_subarray) = chips;
        let (standard, definition) = (bin.standard, bin.standard.definition());
        let Chip { density, width, .. } = chip;
        let row_bytes = if is_paper { PAPER_ROW_BYTES } else { native_row_bytes(standard, density, width) };
        let (channels, ranks) = (counts.0, counts.1.min(64 / u64::from(definition.rank_banks_max)));
        let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
        // The last subarray may be too small.
        let other = RawGeometry { rows_per_subarray: 576.into(), ..raw };
        let geometry = Geometry::try_from(raw).or_else(|_| Geometry::try_from(other)).expect("all counts are in range");
        let (copy_activations, precharge_power_down, reference_cycle) = switches;
        let every = |parts| Refresh::Every { t_refi_ps: definition.t_refi_ps / parts };
        // A fine mode divides the interval itself.
        let is_fine = mode > 0;
        System {
            copy_activations,
            precharge_power_down,
            reference_cycle,
            refresh: refresh.map_or(Refresh::Off, |parts| every(if is_fine { 1 } else { parts })),
            refresh_mode: &definition.refresh_modes[mode],
            ..System::new(bin, geometry)
        }
    })
}

fn arb_map() -> impl Strategy<Value = RawAddressMap> {
    let list = |fields: &[&str]| RawAddressMap {
        fields: fields.iter().map(|f| (*f).to_string()).collect::<Vec<_>>().into(),
        xor: vec![],
    };
    let xor = vec![RawXor { field: "bank".into(), bit: 0, address_bits: vec![21, 23] }];
    select(vec![
        MapPreset::RowInterleaved.raw(),
        MapPreset::BankInterleaved.raw(),
        MapPreset::LineInterleaved.raw(),
        MapPreset::GroupInterleaved.raw(),
        list(&["channel", "rank", "bank", "row", "column", "offset"]),
        list(&["row", "column:2", "bank", "rank", "channel", "column", "offset"]),
        RawAddressMap { xor, ..MapPreset::RowInterleaved.raw() },
    ])
}

/// The registered schedulers.
fn arb_scheduler() -> impl Strategy<Value = ChosenScheduler> {
    Union::new(SCHEDULERS.iter().map(|registered| arb_parameters(*registered)))
}

/// A registered scheduler with parameters.
///
/// # Panics
/// If the reference model has no definition of it.
fn arb_parameters(registered: &'static dyn Scheduler) -> BoxedStrategy<ChosenScheduler> {
    let without = |model| Just(Chosen { engine: dyn_clone::clone_box(registered), model }).boxed();
    match registered.name() {
        "fcfs" => without(reference_model::Scheduler::Fcfs),
        "fifo" => without(reference_model::Scheduler::Fifo),
        "fr-fcfs" => without(reference_model::Scheduler::FrFcfs),
        "fr-fcfs-cap" => (1u32..9)
            .prop_map(|cap| Chosen {
                engine: Box::new(FrFcfsCap { cap }) as _,
                model: reference_model::Scheduler::FrFcfsCap(cap),
            })
            .boxed(),
        "bliss" => (1u32..6, prop_oneof![50u64..500, 500u64..10_000])
            .prop_map(|(n, interval)| Chosen {
                engine: Box::new(Bliss::new(n, Cycles(interval))) as _,
                model: reference_model::Scheduler::bliss(n, interval),
            })
            .boxed(),
        "par-bs" => (1usize..6)
            .prop_map(|cap| Chosen {
                engine: Box::new(ParBs::new(cap)) as _,
                model: reference_model::Scheduler::par_bs(cap),
            })
            .boxed(),
        "atlas" => (prop_oneof![40u64..400, 400u64..3000], 0u64..500, prop_oneof![Just(875u64), 0u64..=1000])
            .prop_map(|(quantum, threshold, bias)| Chosen {
                engine: Box::new(Atlas::new(Cycles(quantum), Cycles(threshold), bias)) as _,
                model: reference_model::Scheduler::atlas(quantum, threshold, bias),
            })
            .boxed(),
        "cpu-first" => prop_oneof![Just(CpuFirst::SHARE), 0u64..=100]
            .prop_map(|share| Chosen {
                engine: Box::new(CpuFirst::new(share)) as _,
                model: reference_model::Scheduler::CpuFirst { share, credit: 0 },
            })
            .boxed(),
        other => {
            panic!("the scheduler `{other}` is registered, but `tests/reference_model/scheduler.rs` does not define it")
        }
    }
}

/// The registered row policies.
fn arb_rows() -> impl Strategy<Value = ChosenRows> {
    Union::new(ROW_POLICIES.iter().map(|registered| arb_row_policy(*registered)))
}

/// A registered row policy with its parameter.
fn arb_row_policy(registered: RowPolicy) -> BoxedStrategy<ChosenRows> {
    let without = |model| Just(Chosen { engine: registered, model }).boxed();
    match registered {
        RowPolicy::Open => without(reference_model::Rows::Open),
        RowPolicy::Closed => without(reference_model::Rows::Closed),
        RowPolicy::Timeout { .. } => (1u64..500)
            .prop_map(|after| Chosen {
                engine: RowPolicy::Timeout { after: Cycles(after) },
                model: reference_model::Rows::Timeout(after),
            })
            .boxed(),
    }
}

fn arb_queues() -> impl Strategy<Value = QueueSettings> {
    let entries = || prop_oneof![2 => 1usize..9, 1 => 1usize..65, 1 => Just(64usize)];
    (entries(), entries(), prop_oneof![1usize..4, 1usize..33], 1usize..5, any::<u16>(), any::<u16>()).prop_map(
        |(read_entries, write_entries, copy_entries, admission_per_cycle, high, low)| {
            let drain_high = 1 + usize::from(high) % write_entries;
            let drain_low = usize::from(low) % drain_high;
            QueueSettings { read_entries, write_entries, copy_entries, admission_per_cycle, drain_high, drain_low }
        },
    )
}

/// Settings of a controller other than its memory.
#[derive(Clone, Debug)]
struct Knobs {
    policy: &'static dyn CopyPolicy,
    scheduler: ChosenScheduler,
    rows: ChosenRows,
    queues: QueueSettings,
    copy_hold_max: Option<u64>,
    refresh: RefreshPolicy,
    power: [Option<u64>; 2],
    warm_up: u64,
    epoch: Option<u64>,
    staging_lines: usize,
    support: rowclone::CopySupport,
}

/// The registered copy policies. The reference model has a definition of each (`tests/reference_model/copies.rs`).
pub fn registered_copy_policies() -> Vec<&'static dyn CopyPolicy> {
    POLICIES.into_iter().chain(WITH_CORES).collect()
}

fn arb_knobs() -> impl Strategy<Value = Knobs> {
    let hold = prop_oneof![1 => Just(None), 2 => (1u64..1000).prop_map(Some), 1 => (1u64..60).prop_map(Some)];
    let idle = || prop_oneof![2 => Just(None), 1 => (0u64..100).prop_map(Some), 1 => (0u64..3000).prop_map(Some)];
    let counted = (
        prop_oneof![1 => Just(0u64), 1 => 0u64..5000],
        prop_oneof![1 => Just(None), 3 => (50u64..5000).prop_map(Some), 1 => (1u64..50).prop_map(Some)],
    );
    let refresh = (prop_oneof![Just(0u64), 0u64..=8], prop_oneof![0u64..20, 0u64..400])
        .prop_map(|(postpone_max, idle)| RefreshPolicy { postpone_max, idle: Cycles(idle) });
    let choices = (select(registered_copy_policies()), arb_scheduler(), arb_rows(), arb_queues(), hold);
    // Half of the chips offer every mechanism.
    let support =
        select(vec![rowclone::CopySupport::ROWCLONE, rowclone::CopySupport::offering(rowclone::CopySupport::names())]);
    let rest = (refresh, [idle(), idle()], counted, (prop_oneof![1usize..20, 1usize..513], support));
    (choices, rest).prop_map(|(choices, (refresh, power, (warm_up, epoch), (staging_lines, support)))| {
        let (policy, scheduler, rows, queues, copy_hold_max) = choices;
        Knobs { policy, scheduler, rows, queues, copy_hold_max, refresh, power, warm_up, epoch, staging_lines, support }
    })
}

/// One of few lines of the memory, so that requests conflict.
#[derive(Clone, Copy, Debug)]
struct Spot {
    channel: u8,
    rank: u8,
    bank: u8,
    row: u32,
    column: u16,
}

/// Kind of a request, with sizes and offsets in bytes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Size, and offset within a line.
    Read(u64, u64),
    /// Number of lines.
    Write(u64),
    /// Size, and offset within a line.
    RaggedWrite(u64, u64),
    /// A page or a row, from the start of a row to the start of a row.
    PageCopy { row: bool },
    /// Size, and the offsets of source and destination within a line.
    Copy(u64, u64, u64),
    /// A page or a row.
    PageInit { row: bool, value: u8 },
    /// Size, and offset within a line.
    Init(u64, u64, u8),
}

#[derive(Clone, Copy, Debug)]
struct Draft {
    kind: Kind,
    to: Spot,
    from: Spot,
    when: When,
    source: SourceId,
}

/// One of a few cores and devices.
fn arb_requester() -> impl Strategy<Value = SourceId> {
    prop_oneof![3 => (0u16..4).prop_map(SourceId), 2 => (0u16..2).prop_map(SourceId::device)]
}

fn arb_spot() -> impl Strategy<Value = Spot> {
    let place = (
        prop_oneof![3 => Just(0u8), 1 => 0u8..4],
        prop_oneof![3 => Just(0u8), 1 => 0u8..4],
        prop_oneof![3 => 0u8..2, 1 => 0u8..8],
    );
    (place, select(vec![0u32, 0, 1, 2, 130, 300]), prop_oneof![3 => 0u16..4, 1 => 0u16..64])
        .prop_map(|((channel, rank, bank), row, column)| Spot { channel, rank, bank, row, column })
}

fn arb_kind() -> impl Strategy<Value = Kind> {
    let lines = || prop_oneof![6 => Just(1u64), 2 => 1u64..5, 1 => 1u64..70];
    prop_oneof![
        8 => lines().prop_map(|lines| Kind::Read(lines * 64, 0)),
        2 => (1u64..300, 0u64..64).prop_map(|(bytes, offset)| Kind::Read(bytes, offset)),
        7 => lines().prop_map(Kind::Write),
        1 => (1u64..300, 0u64..64).prop_map(|(bytes, offset)| Kind::RaggedWrite(bytes, offset)),
        2 => any::<bool>().prop_map(|row| Kind::PageCopy { row }),
        1 => (1u64..40, 0u64..4).prop_map(|(lines, offset)| Kind::Copy(lines * 64, offset * 64, 0)),
        1 => (1u64..3000, 0u64..64, 0u64..64).prop_map(|(bytes, from, to)| Kind::Copy(bytes, from, to)),
        1 => (any::<bool>(), select(vec![0u8, 0, 7])).prop_map(|(row, value)| Kind::PageInit { row, value }),
        1 => (1u64..3000, 0u64..64, select(vec![0u8, 7])).prop_map(|(bytes, at, value)| Kind::Init(bytes, at, value)),
    ]
}

fn arb_draft() -> impl Strategy<Value = Draft> {
    let when = prop_oneof![
        12 => Just(When::After(Cycles(0))),
        8 => (0u64..60).prop_map(|cycles| When::After(Cycles(cycles))),
        1 => (0u64..5000).prop_map(|cycles| When::After(Cycles(cycles))),
        6 => Just(When::Accepted),
        1 => Just(When::Done),
    ];
    (arb_kind(), arb_spot(), arb_spot(), when, arb_requester()).prop_map(|(kind, to, from, when, source)| Draft {
        kind,
        to,
        from,
        when,
        source,
    })
}

/// No copies, or enough concurrent copies of rows that refreshes must preempt them, and that a
/// channel, often not the first, has no free slot for a thread.
fn arb_crowd() -> impl Strategy<Value = Vec<Draft>> {
    let copy = (any::<bool>(), arb_spot(), arb_spot()).prop_map(|(row, to, from)| {
        let when = When::After(Cycles(0));
        Draft { kind: Kind::PageCopy { row }, to, from, when, source: SourceId(0) }
    });
    let crowd =
        (prop_oneof![Just(None), (0u8..4).prop_map(Some)], vec(copy, 20..45)).prop_map(|(channel, mut copies)| {
            for Draft { to, from, .. } in &mut copies {
                [to.channel, from.channel] = channel.map_or([to.channel, from.channel], |channel| [channel; 2]);
            }
            copies
        });
    prop_oneof![6 => Just(Vec::new()), 1 => crowd]
}

impl Spot {
    fn address(self, config: &Config, column: u16) -> Option<u64> {
        let geometry = &config.system.geometry;
        let channel = Channel(self.channel % geometry.channels());
        let bank = BankId { rank: self.rank % geometry.ranks(), bank: self.bank };
        let location = Location { channel, bank, row: Row(self.row), column: Column(column), offset: 0 };
        config.planner.map().address(location).map(|address| address.0)
    }
}

impl Draft {
    fn resolve(self, config: &Config) -> Option<Item> {
        let at = |spot: Spot, offset| spot.address(config, spot.column).map(|base| PhysicalAddress(base + offset));
        let start = |spot: Spot| spot.address(config, 0).map(PhysicalAddress);
        let size = |row| if row { config.system.geometry.row_bytes() } else { 4096 };
        let operation = match self.kind {
            Kind::Read(bytes, offset) => Operation::Read { address: at(self.to, offset)?, bytes },
            Kind::Write(lines) => Operation::Write { address: at(self.to, 0)?, bytes: lines * 64 },
            Kind::RaggedWrite(bytes, offset) => Operation::Write { address: at(self.to, offset)?, bytes },
            Kind::PageCopy { row } => {
                Operation::Copy { src: start(self.from)?, dst: start(self.to)?, bytes: size(row) }
            }
            Kind::Copy(bytes, from, to) => Operation::Copy { src: at(self.from, from)?, dst: at(self.to, to)?, bytes },
            Kind::PageInit { row, value } => Operation::Init { dst: start(self.to)?, bytes: size(row), value },
            Kind::Init(bytes, offset, value) => Operation::Init { dst: at(self.to, offset)?, bytes, value },
        };
        config.planner.check(&operation).ok()?;
        Some(Item { source: self.source, operation, when: self.when })
    }
}

fn controller(system: System, map: AddressMap, faulty: FaultyRows, knobs: &Knobs) -> Config {
    // Approximately the prices of `2 Gb x8 -25E`.
    let [activate, copy_activate, read, write, transfer] =
        [24_800.0, 24_800.0, 14_000.0, 30_000.0, 13_000.0].map(Picojoule);
    // Without refresh no event wakes a rank in time.
    let is_off = system.refresh == Refresh::Off;
    let [power_down_after, self_refresh_after] = knobs.power.map(|after| after.filter(|_| !is_off).map(Cycles));
    let planner = Arc::new(Planner::of_chips(map, faulty, knobs.support));
    Config {
        prices: Some(
            PriceTable::default()
                .with(CommandKind::Activate, activate)
                .with(CommandKind::CopyActivate, copy_activate)
                .with(CommandKind::MoveRowBuffer, Picojoule(5_700.0))
                .with(CommandKind::Read, read)
                .with(CommandKind::Write, write)
                .with(CommandKind::Transfer, transfer),
        ),
        staging_lines: knobs.staging_lines,
        copy_hold_max: knobs.copy_hold_max.map(Cycles),
        queues: knobs.queues,
        scheduler: knobs.scheduler.engine.clone(),
        row_policy: knobs.rows.engine,
        refresh: knobs.refresh,
        power: PowerPolicy { power_down_after, self_refresh_after },
        warm_up: Cycles(knobs.warm_up),
        epoch: knobs.epoch.map(Cycles),
        ..Config::new(system, planner, knobs.policy)
    }
}

/// Up to 150 requests on a random system with a random controller.
pub fn arb_case() -> impl Strategy<Value = Case> {
    let faulty = vec((0u8..8, select(vec![0u32, 1, 2, 127])), 0..2);
    let drafts = (arb_crowd(), prop_oneof![vec(arb_draft(), 1..20), vec(arb_draft(), 1..150)]);
    (arb_system(), arb_map(), arb_knobs(), faulty, drafts).prop_filter_map(
        "a request that the memory can take",
        |(mut system, map, mut knobs, faulty, (crowd, drafts))| {
            if !crowd.is_empty() {
                system.refresh = Refresh::Every { t_refi_ps: 1_950_000 };
                knobs.refresh.postpone_max = 8;
                knobs.queues.copy_entries = 64;
            }
            let map = AddressMap::new(system.geometry, &map).ok()?;
            let faulty: FaultyRows =
                faulty.into_iter().map(|(bank, row)| (Channel(0), BankId { rank: 0, bank }, Row(row))).collect();
            let config = controller(system, map, faulty, &knobs);
            config.check().ok()?;
            let items: Vec<Item> = crowd.iter().chain(&drafts).filter_map(|draft| draft.resolve(&config)).collect();
            (!items.is_empty()).then_some(Case {
                config,
                scheduler: knobs.scheduler.model,
                rows: knobs.rows.model,
                items,
            })
        },
    )
}
