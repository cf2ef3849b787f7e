//! Recorded traces: which of their copies the frames allow to go by FPM, and a run of one. The samples of the repository are always
//! tested, the whole recordings where they lie beside it.

use memctrl::policy::copy::{BASELINE, ROWCLONE};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dram_spec::address::Preset;
use dram_spec::{CommandLog, Cycles, Density, Dialect, Geometry, RawGeometry, System, Width};
use host::{
    Contents, Copier, FlatMemory, MemoryCheck, Placement, Replay, ReplayOutcome, ReplaySettings, TraceCounts,
    UnusableRecords, Witnessed,
};
use memctrl::Controller;
use os_alloc_sim::{Cause, Fallback, Policy, Sharing};
use rowclone::{Operation, Planner};
use trace_io::trace::Reader;

use crate::driver::{SETTINGS, allocator, config, drive, planner};

/// A recorded trace.
#[derive(Clone, Copy, Debug)]
pub enum Trace {
    /// A cut of it, in the repository.
    Sample,
    /// All of it, where it lies beside the repository.
    Whole,
}

impl Trace {
    /// From its first record; nothing where the recording is not there.
    pub fn open(self, name: &str) -> Option<Reader<File>> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = match self {
            Trace::Sample => repository.join("traces/samples").join(name),
            Trace::Whole => repository.join("../shared/data/ramulatorsharp").join(name),
        };
        if matches!(self, Trace::Whole) && !path.is_file() {
            // Not `eprintln!`: the test runner would keep that to itself.
            let mut terminal = std::io::stderr();
            writeln!(terminal, "not tested: the whole recording is not there ({})", path.display()).unwrap();
            return None;
        }
        Some(Reader::new(File::open(path).unwrap(), None).unwrap())
    }
}

/// The paper's system at 4 GiB: 2 channels, 4 KB rows, 65,536 rows a bank.
pub fn paper() -> System {
    let system = System::paper(2, Density::Gb2, Width::X8);
    assert_eq!((system.geometry.bytes(), system.geometry.rows_per_bank()), (4 << 30, 65_536));
    system
}

const AS_RECORDED: ReplaySettings = ReplaySettings { unusable: UnusableRecords::Skip, ..SETTINGS };
const AWARE: ReplaySettings =
    ReplaySettings { placement: Placement::Allocator(allocator(Policy::SubarrayAware)), ..AS_RECORDED };

/// Copies of one kind of record, by what the planner says of FPM: `fpm`, or why not.
#[derive(Debug, Default)]
struct Ways(BTreeMap<&'static str, u64>);

impl Ways {
    fn count(&mut self, planner: &Planner, operation: &Operation) {
        let mut why_not = None;
        for block in planner.blocks(operation) {
            why_not = why_not.or(block.parts().iter().find_map(|part| part.allows(rowclone::FPM).err()));
        }
        *self.0.entry(why_not.map_or("fpm", |reason| reason.name())).or_default() += 1;
    }

    fn by(&self, way: &str) -> u64 {
        self.0.get(way).copied().unwrap_or(0)
    }

    fn all(&self) -> u64 {
        self.0.values().sum()
    }

    fn share(&self) -> f64 {
        self.by("fpm") as f64 / self.all() as f64
    }
}

struct Found {
    copies: Ways,
    fills: Ways,
    outcome: ReplayOutcome,
}

/// What the frames allow the copies and the fills of a trace; each is complete at once.
fn survey(trace: Trace, name: &str, planner: &Planner, settings: ReplaySettings) -> Option<Found> {
    let mut replay = Replay::new(trace.open(name)?, planner, settings, None).unwrap();
    let (mut copies, mut fills) = (Ways::default(), Ways::default());
    drive(&mut replay, Cycles(0), |request| match request.operation {
        Operation::Copy { .. } => copies.count(planner, &request.operation),
        Operation::Init { .. } => fills.count(planner, &request.operation),
        Operation::Read { .. } | Operation::Write { .. } => {}
    });
    let outcome = replay.into_outcome().unwrap();
    assert_eq!((copies.all(), fills.all()), (outcome.counts.copies, outcome.counts.fills), "each is a page");
    if let Some(pages) = &outcome.pages {
        let traffic = &pages.allocator.traffic;
        let (copied, zeroed) = (traffic.copies_of(Cause::CopyOnWrite), traffic.zeroings_of(Cause::DemandZero));
        for (ways, tally) in [(&copies, copied), (&fills, zeroed)] {
            assert_eq!((ways.all(), ways.by("fpm")), (tally.frames(), tally.by(rowclone::FPM)));
        }
        assert_eq!((pages.copies_in_part, pages.fills_in_part, pages.fills_of_other_values), (0, 0, 0));
    }
    Some(Found { copies, fills, outcome })
}

#[test]
fn a_fork_as_recorded_has_almost_no_copy_within_a_subarray() {
    let planner = planner(&paper(), Preset::RowInterleaved);
    for (trace, accesses, bulk) in [(Trace::Sample, 4246, 954), (Trace::Whole, 145_129, 21_787 + 185)] {
        let Some(Found { copies, fills, outcome }) = survey(trace, "forkset-rc.gz", &planner, AS_RECORDED) else {
            return;
        };
        let counts = outcome.counts;
        assert_eq!((counts.records, counts.accesses), (accesses + bulk, accesses));
        assert_eq!(counts.copies + counts.fills + counts.skipped_outside + counts.skipped_reserved, bulk);
        assert!(counts.accesses_reserved + counts.skipped_reserved > 0, "one row in 512 is a zero row: {counts:?}");
        assert!(counts.skipped_records > 0 && counts.skipped_records * 100 < counts.records, "{counts:?}");
        assert!(copies.share() < 0.01, "{copies:?}");
        // Zeros come from the subarray's own zero row, wherever the page lies.
        assert_eq!(fills.by("fpm"), fills.all(), "{fills:?}");
    }
}

#[test]
fn the_aware_policy_makes_almost_every_copy_one_within_a_subarray() {
    let planner = planner(&paper(), Preset::RowInterleaved);
    for (trace, name, accesses, records) in [
        (Trace::Sample, "forkset-rc.gz", 4246, [954, 0]),
        (Trace::Sample, "shell-rc.gz", 3353, [52, 95]),
        (Trace::Whole, "forkset-rc.gz", 145_129, [21_787, 185]),
        (Trace::Whole, "shell-rc.gz", 165_753, [2_340, 4_350]),
    ] {
        let Some(Found { copies, fills, outcome }) = survey(trace, name, &planner, AWARE) else { return };
        let counts = outcome.counts;
        assert_eq!((counts.accesses, counts.reads, [counts.copies, counts.fills]), (accesses, accesses, records));
        assert_eq!(counts.skipped_records, 0);
        assert!(copies.share() >= 0.95, "{name}: {copies:?}");
        assert_eq!(fills.by("fpm"), fills.all(), "{name}: {fills:?}");
    }
}

/// Programs are recorded by virtual addresses, too: most of these lie above any memory.
#[test]
fn no_record_is_left_out_where_an_allocator_places_the_pages() {
    let planner = planner(&paper(), Preset::RowInterleaved);
    for (trace, name, records, outside) in [
        (Trace::Sample, "445.gobmk.gz", 3000, 1163 + 937),
        (Trace::Sample, "403.gcc.gz", 2000, 0),
        (Trace::Whole, "458.sjeng.gz", 71_977, 119_584),
    ] {
        let Some(found) = survey(trace, name, &planner, AS_RECORDED) else { return };
        let recorded = found.outcome.counts;
        assert_eq!((recorded.records, recorded.accesses_outside), (records, outside), "{name}");
        let placed = survey(trace, name, &planner, AWARE).unwrap().outcome.counts;
        assert_eq!((placed.records, placed.reads, placed.skipped_records), (records, records, 0), "{name}");
        let lines = |counts: &TraceCounts| {
            counts.reads + counts.writebacks + counts.accesses_outside + counts.accesses_reserved
        };
        assert_eq!(lines(&recorded), lines(&placed), "{name}");
    }
}

/// Two pages of 4 KiB share a row, or each is spread over two: FPM would have to copy the other one, too.
#[test]
fn frames_smaller_than_a_row_keep_every_page_from_fpm() {
    let native = RawGeometry { row_bytes: 8192, ..paper().geometry.raw() };
    let native = System { geometry: Geometry::try_from(native).unwrap(), ..paper() };
    let cases = [(native, Preset::RowInterleaved, "partial-row"), (paper(), Preset::LineInterleaved, "interleaved")];
    for (system, preset, why) in cases {
        let planner = planner(&system, preset);
        for settings in [AS_RECORDED, AWARE] {
            let found = survey(Trace::Sample, "forkset-rc.gz", &planner, settings);
            let Found { copies, fills, outcome } = found.unwrap();
            assert!(outcome.counts.copies > 900);
            assert_eq!((copies.by(why), copies.by("fpm")), (copies.all(), 0), "{copies:?}");
            assert_eq!((fills.by(why), fills.by("fpm")), (fills.all(), 0), "{fills:?}");
            let Some(pages) = outcome.pages else { continue };
            let tally = pages.allocator.traffic.copies_of(Cause::CopyOnWrite);
            assert_eq!(pages.allocator.sharing, Sharing::Marked { frames: 2 });
            assert_eq!(tally.fallbacks(Fallback::SharedRow), tally.frames());
        }
    }
}

/// With real bytes, and every command judged.
fn run(
    settings: ReplaySettings,
    policy: &'static dyn memctrl::policy::copy::CopyPolicy,
) -> (ReplayOutcome, memctrl::stats::Stats) {
    let (system, planner) = (paper(), planner(&paper(), Preset::RowInterleaved));
    let contents = Contents::new(5, planner.map().clone());
    let mut controller = Controller::new(&config(&system, &planner, policy, &contents));
    let trace = Trace::Sample.open("forkset-rc.gz").unwrap();
    let replay = Replay::new(trace, &planner, settings, Some(contents.clone())).unwrap();
    let mut source = Witnessed::new(replay, FlatMemory::new(contents));
    let mut log = CommandLog::default();
    let stats = controller.run(&mut source, &mut log, &AtomicBool::new(false)).unwrap();
    let dialect = if policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone };
    let found = protocol_check::audit(&system, dialect, &log);
    assert!(found.is_empty(), "{found:#?}");
    let (replay, memory) = source.finish(&controller, system.geometry.channels());
    assert_eq!(memory, MemoryCheck::Equal);
    (replay.into_outcome().unwrap(), stats)
}

#[test]
fn a_fork_runs_under_the_controller_and_leaves_memory_as_a_plain_one_would_be() {
    let cpu = ReplaySettings { copier: Copier::Cpu, ..AS_RECORDED };
    let (channel, by_cpu) = run(cpu, BASELINE);
    let (recorded, in_dram) = run(AS_RECORDED, ROWCLONE);
    let (placed, near) = run(AWARE, ROWCLONE);
    assert_eq!(channel.counts, recorded.counts);
    assert!(recorded.counts.copies > 800 && recorded.counts.writebacks > 3000, "{:?}", recorded.counts);
    assert!(placed.counts.copies >= recorded.counts.copies);
    // A CPU that copies is the slowest, and copies within a subarray are the fastest.
    assert!(by_cpu.end > in_dram.end && in_dram.end > near.end);
}
