//! The paper's system, workloads of all kinds, and runs of them.

use memctrl::policy::copy::BASELINE;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::{MapPreset, RawAddressMap};
use dram_spec::{AddressMap, Channel, CommandLog, Cycle, Cycles, Density, Dialect, PhysicalAddress, System, Width};
use host::workload::{
    Checkpoint, CopyBy, Deduplication, Fill, Fork, Gap, MachineClone, Migration, Mixed, MoveTo, PageCopies, Pairs,
    Pattern, ProcessExits, Random, Settings, Stream, StreamAccess, WorkloadOutcome, WorkloadSource,
};
use host::{AllocatorSettings, CheckedSource, Contents, FlatMemory, MemoryCheck, Place};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use os_alloc_sim::CopyUnit;
use rowclone::{FaultyRows, Planner};

/// The paper's memory with rows of 4 KB and 512 rows per subarray; small: one channel of 512 MiB
/// with 256 subarrays.
pub fn system() -> System {
    System::paper(1, Density::Gb1, Width::X16)
}

pub fn planner(system: &System, preset: MapPreset) -> Planner {
    Planner::new(AddressMap::preset(system.geometry, preset), FaultyRows::default())
}

pub fn paper() -> Planner {
    planner(&system(), MapPreset::RowInterleaved)
}

/// With the whole row number above the bank: the zero rows of a subarray are the last 32 KiB of each 16 MiB.
pub fn scattered() -> Planner {
    let fields = ["row", "bank", "column", "offset"].map(str::to_owned).to_vec();
    let map = AddressMap::new(system().geometry, &RawAddressMap { fields: fields.into(), xor: Vec::new() }).unwrap();
    Planner::new(map, FaultyRows::default())
}

/// Memory of which half is in use.
pub fn allocator(policy: os_alloc_sim::Policy) -> AllocatorSettings {
    AllocatorSettings { policy, seed: 5, utilization: 0.5, fragmentation: 0.5, copy_unit: CopyUnit::RowSet }
}

/// Memory of which no frame is in use.
pub fn free_memory(policy: os_alloc_sim::Policy) -> AllocatorSettings {
    AllocatorSettings { utilization: 0.0, fragmentation: 0.0, ..allocator(policy) }
}

pub const START: PhysicalAddress = PhysicalAddress(0x0100_0000);
/// A region that contains reserved rows under [`scattered`]: its subarrays end at multiples of 16 MiB.
pub const END_OF_SUBARRAYS: PhysicalAddress = PhysicalAddress(0x0200_0000 - 0x2_0000);
pub const FAST: Gap = Gap::ZERO;

pub fn stream(access: StreamAccess) -> Stream {
    Stream { start: START, count: 200, stride_bytes: 64, access, gap: FAST }
}

pub fn random() -> Random {
    Random { count: 200, start: START, bytes: 1 << 20, write_share: 0.3, gap: FAST }
}

pub fn mixed() -> Mixed {
    let (start, bytes, page_bytes) = (END_OF_SUBARRAYS, 0x4_0000, 4096);
    let (write_share, copy_share, zero_share, pairs) = (0.3, 0.1, 0.1, Pairs::Random);
    Mixed { count: 200, start, bytes, write_share, copy_share, zero_share, page_bytes, pairs, gap: FAST }
}

pub fn page_copies(pairs: Pairs, by: CopyBy) -> PageCopies {
    PageCopies { count: 20, start: END_OF_SUBARRAYS, bytes: 0x4_0000, page_bytes: 4096, pairs, by, gap: FAST }
}

pub fn fork() -> Fork {
    Fork { bytes: 64 * 4096, pages: 16, fill: Fill::Before, gap: FAST }
}

pub fn checkpoint() -> Checkpoint {
    Checkpoint { bytes: 12 * 4096, checkpoints: 3, writes: 20, window: 4, gap: FAST }
}

pub fn machine_clone() -> MachineClone {
    MachineClone { bytes: 12 * 4096, clones: 3, window: 4, gap: FAST }
}

pub fn migration() -> Migration {
    Migration { bytes: 12 * 4096, pages: 30, to: MoveTo::Anywhere, window: 4, gap: FAST }
}

/// Ten pages are merged, and 25 of 40 written.
pub fn deduplication() -> Deduplication {
    Deduplication { bytes: 40 * 4096, pages: 10, writes: 25, gap: FAST }
}

pub fn process_exits() -> ProcessExits {
    ProcessExits { bytes: 12 * 4096, processes: 3, window: 4, gap: FAST }
}

/// Every kind of workload, with each of its options.
pub fn all() -> Vec<Settings> {
    let copies =
        [Pairs::Neighbors, Pairs::Random, Pairs::Placed(Place::SameBank), Pairs::Placed(Place::Address(START))];
    let mut all = vec![
        Settings::new(stream(StreamAccess::Pattern(Pattern::READS))),
        Settings::new(Stream { gap: Cycles(20).into(), ..stream(StreamAccess::Pattern(Pattern::WRITES)) }),
        Settings::new(Stream {
            start: END_OF_SUBARRAYS,
            count: 60,
            stride_bytes: 4096 + 64,
            ..stream(StreamAccess::Pattern(Pattern::named("rrw").unwrap()))
        }),
        Settings::new(stream(StreamAccess::Copy { dst: PhysicalAddress(0x0300_0000) })),
        Settings::new(random()),
        Settings::new(Random { gap: Cycles(30).into(), start: END_OF_SUBARRAYS, bytes: 0x4_0000, ..random() }),
        Settings::new(mixed()),
        Settings::new(Mixed { gap: Cycles(100).into(), pairs: Pairs::Placed(Place::SameSubarray), ..mixed() }),
        Settings::new(PageCopies { count: 3, ..page_copies(Pairs::Neighbors, CopyBy::Lines) }),
        Settings::new(fork()),
        Settings::new(Fork { bytes: 8 * 4096, pages: 8, fill: Fill::Played, gap: Cycles(500).into() }),
        Settings::new(checkpoint()),
        Settings::new(Checkpoint { writes: 0, window: 1, gap: Cycles(2000).into(), ..checkpoint() }),
        Settings::new(machine_clone()),
        Settings::new(migration()),
        Settings::new(Migration { to: MoveTo::NearSource, ..migration() }),
        Settings::new(deduplication()),
        Settings::new(Deduplication { pages: 3, gap: Cycles(30).into(), ..deduplication() }),
        Settings::new(process_exits()),
        Settings::new(ProcessExits { window: 1, gap: Cycles(50).into(), ..process_exits() }),
    ];
    all.extend(copies.map(|pairs| Settings::new(page_copies(pairs, CopyBy::Operation))));
    all
}

/// Creates a workload, with an allocator if it requires one.
pub fn workload(settings: &Settings, planner: &Planner, seed: u64, contents: Option<Contents>) -> WorkloadSource {
    let allocator = settings.needs_allocator().then(|| allocator(os_alloc_sim::Policy::SubarrayAware));
    settings.source(planner, allocator.as_ref(), seed, contents).unwrap()
}

/// Records requests and completions.
pub struct Recorder<S> {
    pub source: S,
    pub taken: Vec<Request>,
    pub done: Vec<Completion>,
    /// Largest number of copies and zeroings in flight.
    pub most_copies: usize,
    copies: usize,
}

impl<S> Recorder<S> {
    pub fn new(source: S) -> Recorder<S> {
        Recorder { source, taken: Vec::new(), done: Vec::new(), most_copies: 0, copies: 0 }
    }
}

impl<S: RequestSource> RequestSource for Recorder<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival();
        let request = self.source.take(now);
        assert_eq!(
            request.is_some(),
            arrival.is_some_and(|at| at <= now),
            "what has arrived can be taken, and nothing else"
        );
        let request = request?;
        let arrival = request.arrival.unwrap_or(now);
        assert!(arrival <= now, "no request is taken before it arrives");
        self.copies += usize::from(request.operation.is_copy());
        self.most_copies = self.most_copies.max(self.copies);
        self.taken.push(Request { arrival: Some(arrival), ..request.clone() });
        Some(request)
    }

    fn complete(&mut self, completion: Completion) {
        self.copies -= usize::from(completion.operation.is_copy());
        self.done.push(completion.clone());
        self.source.complete(completion);
    }
}

pub struct Played {
    pub taken: Vec<Request>,
    pub done: Vec<Completion>,
    pub most_copies: usize,
    pub stats: Stats,
    pub outcome: WorkloadOutcome,
    pub requests: Option<u64>,
}

/// Runs a workload with contents. The protocol checker audits the commands, and memory is compared
/// with a flat memory.
pub fn play(
    system: &System,
    planner: &Planner,
    policy: &'static dyn memctrl::policy::copy::CopyPolicy,
    make: impl FnOnce(Contents) -> WorkloadSource,
) -> Played {
    let contents = Contents::new(3, planner.map().clone());
    let config = Config {
        contents: Some(Arc::new(contents.clone())),
        ..Config::new(system.clone(), Arc::new(planner.clone()), policy)
    };
    let workload = make(contents.clone());
    let requests = workload.requests();
    let mut source = CheckedSource::new(Recorder::new(workload), FlatMemory::new(contents));
    let (mut log, mut controller) = (CommandLog::default(), Controller::new(&config));
    let stats = controller.run(&mut source, &mut log, &AtomicBool::new(false)).unwrap();
    let (noted, memory) = source.finish(&controller, system.geometry.channels());
    assert_eq!(memory, MemoryCheck::Equal);
    let dialect = if policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone };
    let found = protocol_check::audit(system, dialect, &log);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!((0..system.geometry.channels()).map(|at| controller.device(Channel(at)).dropped()).sum::<u64>(), 0);
    let Recorder { source, taken, done, most_copies, .. } = noted;
    Played { taken, done, most_copies, stats, outcome: source.into_outcome(), requests }
}

/// All requests of a workload, each completed as soon as it is taken, without simulation.
pub fn requests(mut workload: WorkloadSource) -> (Vec<Request>, WorkloadOutcome) {
    let (mut taken, mut now) = (Vec::new(), Cycle::ZERO);
    while let Some(at) = workload.next_arrival() {
        now = now.max(at);
        let request = workload.take(now).expect("it has arrived");
        let request = Request { arrival: request.arrival.or(Some(now)), ..request };
        workload.complete(done(&request, now));
        taken.push(request);
    }
    (taken, workload.into_outcome())
}

fn done(request: &Request, now: Cycle) -> Completion {
    Completion {
        id: request.id,
        source: request.source,
        operation: request.operation,
        arrival: request.arrival.unwrap_or(now),
        first_command: None,
        done: now,
        served: memctrl::stats::PartTally::default(),
        data: None,
    }
}
