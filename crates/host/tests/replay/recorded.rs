//! Recorded traces: the copies that FPM can serve, and a run of one trace. The samples in the
//! repository are always tested, the complete recordings if they exist beside it.

use memctrl::policy::copy::{BASELINE, ROWCLONE};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use dram_spec::address::MapPreset;
use dram_spec::{CommandLog, Cycles, Density, Dialect, Geometry, RawGeometry, System, Width};
use host::{
    CheckedSource, Contents, FlatMemory, MemoryCheck, Replay, ReplayCopier, ReplayOutcome, ReplaySettings, TraceCounts,
    UnusableRecords,
};
use memctrl::Controller;
use os_alloc_sim::{Cause, Fallback, Policy, RowSharing};
use rowclone::{Operation, Planner};
use trace_io::trace::TraceReader;

use crate::driver::{SETTINGS, allocator, config, drive, planner};

/// A recorded trace.
#[derive(Clone, Copy, Debug)]
pub enum Trace {
    /// An excerpt, in the repository.
    Sample,
    /// The complete recording, if it exists beside the repository.
    Whole,
}

impl Trace {
    /// Opens the trace at its first record; `None` if the recording does not exist.
    pub fn open(self, name: &str) -> Option<TraceReader<File>> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = match self {
            Trace::Sample => repository.join("traces/samples").join(name),
            Trace::Whole => repository.join("../shared/data/ramulatorsharp").join(name),
        };
        if matches!(self, Trace::Whole) && !path.is_file() {
            // Not `eprintln!`, which the test runner captures.
            let mut terminal = std::io::stderr();
            writeln!(terminal, "not tested: the whole recording is not there ({})", path.display()).unwrap();
            return None;
        }
        Some(TraceReader::new(File::open(path).unwrap(), None).unwrap())
    }
}

/// The paper's system at 4 GiB: 2 channels, 4 KB rows, 65,536 rows per bank.
pub fn paper() -> System {
    let system = System::paper(2, Density::Gb2, Width::X8);
    assert_eq!((system.geometry.bytes(), system.geometry.rows_per_bank()), (4 << 30, 65_536));
    system
}

const AS_RECORDED: ReplaySettings = ReplaySettings { unusable: UnusableRecords::Skip, ..SETTINGS };
const AWARE: ReplaySettings = ReplaySettings { allocator: Some(allocator(Policy::SubarrayAware)), ..AS_RECORDED };

/// Copies of one kind of record, by the planner's reason against FPM, or `fpm`.
#[derive(Debug, Default)]
struct CopyCounts(BTreeMap<&'static str, u64>);

impl CopyCounts {
    fn count(&mut self, planner: &Planner, operation: &Operation) {
        let mut why_not = None;
        for block in planner.blocks(operation) {
            why_not = why_not.or(block.parts().iter().find_map(|part| part.allows(rowclone::FPM).err()));
        }
        *self.0.entry(why_not.map_or("fpm", |reason| reason.name())).or_default() += 1;
    }

    fn by(&self, reason: &str) -> u64 {
        self.0.get(reason).copied().unwrap_or(0)
    }

    fn all(&self) -> u64 {
        self.0.values().sum()
    }

    fn share(&self) -> f64 {
        self.by("fpm") as f64 / self.all() as f64
    }
}

struct Found {
    copies: CopyCounts,
    fills: CopyCounts,
    outcome: ReplayOutcome,
}

/// Counts the mechanisms that the frames permit for the copies and fills of a trace; each completes
/// at once.
fn survey(trace: Trace, name: &str, planner: &Planner, settings: ReplaySettings) -> Option<Found> {
    let mut replay = Replay::new(trace.open(name)?, planner, settings, None).unwrap();
    let (mut copies, mut fills) = (CopyCounts::default(), CopyCounts::default());
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
        for (counted, tally) in [(&copies, copied), (&fills, zeroed)] {
            assert_eq!((counted.all(), counted.by("fpm")), (tally.frames(), tally.by(rowclone::FPM)));
        }
        assert_eq!((pages.copies_in_part, pages.fills_in_part, pages.fills_of_other_values), (0, 0, 0));
    }
    Some(Found { copies, fills, outcome })
}

#[test]
fn a_fork_as_recorded_has_almost_no_copy_within_a_subarray() {
    let planner = planner(&paper(), MapPreset::RowInterleaved);
    let settings = ReplaySettings { unusable: UnusableRecords::default(), ..AS_RECORDED };
    for (trace, accesses, bulk) in [(Trace::Sample, 4246, 954), (Trace::Whole, 145_129, 21_787 + 185)] {
        let Some(Found { copies, fills, outcome }) = survey(trace, "forkset-rc.gz", &planner, settings) else {
            return;
        };
        let counts = outcome.counts;
        assert_eq!((counts.records, counts.accesses), (accesses + bulk, accesses));
        assert_eq!(
            (counts.copies + counts.fills, counts.skipped_records),
            (bulk, 0),
            "all lie below the usable capacity"
        );
        assert!(copies.share() < 0.01, "{copies:?}");
        // Zeros are copied from the zero row of the page's subarray.
        assert_eq!(fills.by("fpm"), fills.all(), "{fills:?}");
    }
}

#[test]
fn under_subarray_aware_almost_every_copy_is_within_a_subarray() {
    let planner = planner(&paper(), MapPreset::RowInterleaved);
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

/// Recordings of programs use virtual addresses, most of which lie above any physical memory.
#[test]
fn no_record_is_skipped_if_an_allocator_places_the_pages() {
    let planner = planner(&paper(), MapPreset::RowInterleaved);
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

/// Two pages of 4 KiB share a row, or each is spread over two rows: FPM would have to copy the
/// other page, too.
#[test]
fn fpm_serves_no_page_if_frames_share_rows() {
    let native = RawGeometry { row_bytes: 8192, ..paper().geometry.raw() };
    let native = System { geometry: Geometry::try_from(native).unwrap(), ..paper() };
    let cases =
        [(native, MapPreset::RowInterleaved, "partial-row"), (paper(), MapPreset::LineInterleaved, "interleaved")];
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
            assert_eq!(pages.allocator.sharing, RowSharing::Page { frames: 2 });
            assert_eq!(tally.fallbacks(Fallback::SharedRow), tally.frames());
        }
    }
}

/// Runs a trace with contents; the protocol checker audits the commands.
fn run(
    settings: ReplaySettings,
    policy: &'static dyn memctrl::policy::copy::CopyPolicy,
) -> (ReplayOutcome, memctrl::stats::Stats) {
    let (system, planner) = (paper(), planner(&paper(), MapPreset::RowInterleaved));
    let contents = Contents::new(5, planner.map().clone());
    let mut controller = Controller::new(&config(&system, &planner, policy, &contents));
    let trace = Trace::Sample.open("forkset-rc.gz").unwrap();
    let replay = Replay::new(trace, &planner, settings, Some(contents.clone())).unwrap();
    let mut source = CheckedSource::new(replay, FlatMemory::new(contents));
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
fn a_fork_runs_under_the_controller_and_leaves_a_plain_memory() {
    let cpu = ReplaySettings { copier: ReplayCopier::Cpu, ..AS_RECORDED };
    let (channel, by_cpu) = run(cpu, BASELINE);
    let (recorded, in_dram) = run(AS_RECORDED, ROWCLONE);
    let (placed, near) = run(AWARE, ROWCLONE);
    assert_eq!(channel.counts, recorded.counts);
    assert!(recorded.counts.copies > 800 && recorded.counts.writebacks > 3000, "{:?}", recorded.counts);
    assert!(placed.counts.copies >= recorded.counts.copies);
    // A copy by the CPU is the slowest, and a copy within a subarray the fastest.
    assert!(by_cpu.end > in_dram.end && in_dram.end > near.end);
}
