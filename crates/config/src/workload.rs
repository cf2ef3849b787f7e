//! The table `[workload]` of a scenario: generated traffic, a recorded trace, or programs on cores.

use std::any::Any;

use dram_spec::{Clock, Cycles, LINE_BYTES, PhysicalAddress};
use host::workload::{
    Checkpoint, CopyBy, Deduplication, Fill, Fork, Gap, MachineClone, Migration, Mixed, MoveTo, PageCopies, Pairs,
    Pattern, ProcessExits, Random, Settings, Stream, StreamAccess, WorkloadError,
};
use host::{AllocatorSettings, ListedOperation, Place, Timing, UnusableRecords};
use trace_io::trace::Format;

use crate::cores::{CoreWorkload, check_programs};
use crate::document::Section;
use crate::key::{Holds, Key, key};
use crate::trace_workload::{PLACEMENTS, TraceWorkload, trace};
use crate::{Document, Failure, SystemConfig, names, suggestion};

/// Operations or workload of a scenario.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Listed operations, at least one, each of them possible on the system.
    Operations(Vec<ListedOperation>),
    /// A recorded trace.
    Trace(TraceWorkload),
    /// A generated workload.
    Made(Settings),
    /// Programs on the cores of a machine.
    Programs(CoreWorkload),
}

impl Workload {
    /// Whether allocators place its pages.
    pub(crate) fn is_placed(&self) -> bool {
        match self {
            Workload::Operations(_) | Workload::Programs(_) => false,
            Workload::Trace(trace) => trace.by_allocator,
            Workload::Made(settings) => settings.needs_allocator(),
        }
    }
}

/// A kind of workload.
pub struct KindDescription {
    /// Value of `kind`.
    pub name: &'static str,
    /// What happens.
    pub about: &'static str,
    /// Keys that it needs.
    pub needs: &'static [&'static str],
    /// Keys that it may have.
    pub may_have: &'static [&'static str],
    made: Option<MadeBy>,
}

/// Reads the settings of a generated workload.
type MadeBy = fn(&Made<'_>) -> Settings;

impl KindDescription {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        needs: &'static [&'static str],
        may_have: &'static [&'static str],
    ) -> KindDescription {
        KindDescription { name, about, needs, may_have, made: None }
    }

    /// Adds the settings of a generated workload.
    const fn made(self, made: MadeBy) -> KindDescription {
        KindDescription { made: Some(made), ..self }
    }
}

/// Kinds of workload.
#[rustfmt::skip]
pub(crate) const KINDS: &[KindDescription] = &[
    KindDescription::new("trace", "a trace is played without cores",
        &["file"], &["format", "timing", "instructions_per_clock", "window", "unusable_records", "placement", "fault_time"]),
    KindDescription::new("stream", "lines are read, written or copied one after the other",
        &["count"], &["start", "stride_bytes", "pattern", "dst", "gap_cycles", "gap_ns"])
        .made(|it| it.over(Stream { start: it.start, count: 0, stride_bytes: LINE_BYTES, access: it.access, gap: it.gap })),
    KindDescription::new("random", "lines of a region are read and written at random, each with the same probability",
        &["count", "bytes"], &["start", "write_share", "gap_cycles", "gap_ns"])
        .made(|it| it.over(Random { start: it.start, gap: it.gap, ..Random::default() })),
    KindDescription::new("mixed", "random lines, with copies and zeroings of pages among them",
        &["count", "bytes"], &["start", "write_share", "copy_share", "zero_share", "page_bytes", "pairs", "gap_cycles", "gap_ns"])
        .made(|it| it.over(Mixed {
            start: it.start, page_bytes: PAGE_BYTES, pairs: it.pairs(Pairs::Random), gap: it.gap, ..Mixed::default()
        })),
    KindDescription::new("page-copies", "pages of a region are copied, one after the other",
        &["count", "bytes"], &["start", "page_bytes", "pairs", "by", "gap_cycles", "gap_ns"])
        .made(|it| it.over(PageCopies {
            start: it.start, page_bytes: PAGE_BYTES, pairs: it.pairs(Pairs::Neighbors), gap: it.gap, ..PageCopies::default()
        })),
    KindDescription::new("fork", "a process forks; the child writes a line to each of some random pages, which copies them, and waits for each",
        &["bytes", "pages"], &["fill", "gap_cycles", "gap_ns"])
        .made(|it| it.over(Fork { gap: it.gap, ..Fork::default() })),
    KindDescription::new("checkpoint", "a process writes lines, and stops while all its memory is copied, repeatedly",
        &["bytes", "checkpoints"], &["writes", "window", "gap_cycles", "gap_ns"])
        .made(|it| it.over(Checkpoint { window: 1, gap: it.gap, ..Checkpoint::default() })),
    KindDescription::new("clone", "all the memory of a virtual machine is copied",
        &["bytes"], &["clones", "window", "gap_cycles", "gap_ns"])
        .made(|it| it.over(MachineClone { clones: 1, window: 1, gap: it.gap, ..MachineClone::default() })),
    KindDescription::new("migration", "random pages of a process move to other frames",
        &["bytes", "pages", "to"], &["window", "gap_cycles", "gap_ns"])
        .made(|it| it.over(Migration { window: 1, gap: it.gap, ..Migration::default() })),
    KindDescription::new("dedup", "random pages of two virtual machines with equal contents are compared and merged, as by Linux's KSM; then the second machine writes a line to each of some random pages, and a write to a merged page copies it first",
        &["bytes", "pages", "writes"], &["gap_cycles", "gap_ns"])
        .made(|it| it.over(Deduplication { gap: it.gap, ..Deduplication::default() })),
    KindDescription::new("zero-on-free", "processes run one after another; each writes a line to each of its pages and exits, and all of its memory is zeroed, as with Linux's `init_on_free=1`",
        &["bytes", "processes"], &["window", "gap_cycles", "gap_ns"])
        .made(|it| it.over(ProcessExits { window: 1, gap: it.gap, ..ProcessExits::default() })),
];

/// Kinds of workload that need a machine.
#[rustfmt::skip]
const CORE_KINDS: &[KindDescription] = &[
    KindDescription::new("programs", "program or memory traces, or recordings, run on cores, one per core (`cores.md`)",
        &["files"], &["warm_up_instructions", "region_instructions", "copies"]),
    KindDescription::new("forkbench", "a process that wrote its memory forks; the child updates a line of each of some random pages, and exits",
        &["bytes", "pages"], &[]),
    KindDescription::new("memcopy", "a program stores to a share of the lines of a buffer, and then copies the buffer by copy units, or zeroes it; the copies and all that follows are measured",
        &["bytes"], &["operation", "source", "dirty_share", "read_share", "working_set_bytes", "read_again"]),
];

/// A number that the check of the workload limits.
const CHECKED: Holds = Holds::Count(0, u64::MAX);
const BYTES: Holds = Holds::Bytes(0, u64::MAX);
const SHARE: Holds = Holds::Number(0.0, 1.0);

/// Keys of `[workload]`.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    Key::new("workload", Holds::Table, "", "traffic that is generated or was recorded; instead of `operation`").or(""),
    Key::new("workload.kind", Holds::Name(|| kinds().map(|kind| kind.name).collect()), "\"fork\"", "its kind, which has the keys of its row below"),
    Key::new("workload.file", Holds::Path, "\"samples/forkset-rc.gz\"", "the trace: plain, gzip or Zstandard").or(BY_KIND),
    Key::new("workload.format", Holds::Name(|| Format::names().map(|(name, _)| name).collect()), "\"rc\"", "the format of its records (`formats.md`)").or("that of its first record, or of the extension of the file"),
    Key::new("workload.unusable_records", Holds::Name(|| UnusableRecords::NAMES.into()), "\"skip\"", "which records are skipped where pages lie as recorded: those on reserved rows between usable ones, up to 5 % of the trace; also those outside the usable memory; or none. A record that is not skipped is an error").or("`skip-reserved`"),
    Key::new("workload.timing", Holds::Name(|| Timing::NAMES.to_vec()), "\"window\"", "when the records of a trace arrive: at their times; after their instructions; as fast as the controller accepts them; or so, with at most `window` requests in flight").or("by the format: `recorded` with times, `instructions` with instructions, else `back-to-back`"),
    Key::new("workload.instructions_per_clock", Holds::Number(0.001, 1000.0), "4.0", "with the timing `instructions`: recorded instructions per clock of the memory").or("4, for example 3.2 GHz at 1 instruction per cycle beside DDR3-1600"),
    Key::new("workload.placement", Holds::NameOrNames(|| names(&PLACEMENTS)), "\"as-recorded\"", "where the pages of the trace lie: where they were recorded, or where an allocator places them").or("`as-recorded`; of `perf` `allocator`; required for `lackey`"),
    Key::new("workload.fault_time", Holds::Picoseconds(0, FAULT_PS_MAX), "\"400ns\"", "CPU time of each page fault of a trace with page faults, apart from its copy or zeroing: these, and all later records, arrive after it").or("406.25 ns: 1,300 cycles at 3.2 GHz, as of `kernel.fault_cycles` (`cores.md`)"),
    key!([Stream, Random, Mixed, PageCopies], workload.count, CHECKED, "100_000", "number of lines (`stream`), requests (`random`, `mixed`) or copies (`page-copies`)").values("at least 1").or(BY_KIND),
    Key::new("workload.start", Holds::Address, "0x0040_0000", "first line of the stream or region").or("0"),
    key!([Random, Mixed, PageCopies, Fork, Checkpoint, MachineClone, Migration, Deduplication, ProcessExits], workload.bytes, BYTES, "0x0100_0000", "size of the region; or of the memory of the process or machine, all of it written before the run (of `zero-on-free`, none of it)").values("whole lines or whole pages, or a size").or(BY_KIND),
    key!(Stream, workload.stride_bytes, BYTES, "64", "from a line of the stream to the next").values("a multiple of 64, or a size").or("64"),
    Key::new("workload.pattern", Holds::Text, "\"rrw\"", "which lines of the stream are read and which written, repeatedly").values("1 to 64 letters `r` and `w`").or("`r`"),
    Key::new("workload.dst", Holds::Address, "0x0800_0000", "instead of `pattern`: each line is read, and written at its distance from `start` to here").or("no writes"),
    key!([Random, Mixed], workload.write_share, SHARE, "0.3", "share of the requests that write a line, by seed").or("0"),
    key!(Mixed, workload.copy_share, SHARE, "0.01", "share of the requests that copy a page, by seed").or("0"),
    key!(Mixed, workload.zero_share, SHARE, "0.01", "share of the requests that zero a page, by seed").values("0 to 1, the three together at most 1").or("0"),
    key!([Mixed, PageCopies], workload.page_bytes, BYTES, "4096", "size of a copy or zeroing").values("a multiple of 64, or a size").or("4096"),
    Key::new("workload.pairs", Holds::Name(|| pairs().iter().map(|(name, _)| *name).collect()), "\"same-subarray\"", "source of a copy: the page before; any page of the region; or a placement, as of `operation.src`").or("of `page-copies` `neighbors`, of `mixed` `random`").renamed(&[("neighbours", "neighbors")]),
    key!(PageCopies, workload.by, Holds::Name(|| CopyBy::NAMES.into()), "\"operation\"", "how a page is copied: by one request, or by reads and writes of its lines, as a program would").or("`operation`"),
    key!([Fork, Migration, Deduplication], workload.pages, CHECKED, "1024", "pages that the child writes (of `forkbench` updates, which may choose a page again); that move; that are merged").values("at least 1").or(BY_KIND),
    key!(Fork, workload.fill, Holds::Name(|| Fill::NAMES.into()), "\"before\"", "whether the parent's memory is written before the run, or zeroed and written in it").or("`before`"),
    key!(Checkpoint, workload.checkpoints, CHECKED, "2", "number of copies of all of the memory").values("at least 1").or(BY_KIND),
    key!([Checkpoint, Deduplication], workload.writes, CHECKED, "1000", "of `checkpoint`: lines written before each checkpoint, anywhere in the memory; of `dedup`: pages that the second machine writes a line to, each once").values("from 0").or("of `checkpoint` 0"),
    key!(MachineClone, workload.clones, CHECKED, "1", "number of clones of the machine").values("at least 1").or("1"),
    key!(ProcessExits, workload.processes, CHECKED, "4", "processes that run one after another").values("at least 1").or(BY_KIND),
    key!(Migration, workload.to, Holds::Name(|| MoveTo::NAMES.into()), "\"anywhere\"", "destination of pages: where the allocator would place a copy, or any page").or(BY_KIND),
    key!([Checkpoint, MachineClone, Migration, ProcessExits], workload.window, CHECKED, "1", "copies or zeroings in progress at once, at most; of a trace with the timing `window`, requests in flight").values("at least 1").or("1; of a trace 16"),
    Key::new("workload.gap_cycles", Holds::Clocks(0, Gap::CYCLES_MAX), "50", "least number of clocks between the arrivals of two requests; of a fork, the child's own work between two writes").or("0: as fast as requests are accepted"),
    Key::new("workload.gap_ns", Holds::Nanoseconds(0.0, GAP_NS_MAX), "62.5", "the gap in ns, instead of `gap_cycles`: the offered load stays the same over speed bins. In steps of 0.001 ns; each arrival is rounded up to a clock, and fractions of a clock add up").or("0"),
];

/// All kinds, those that need a machine last.
pub fn kinds() -> impl Iterator<Item = &'static KindDescription> {
    KINDS.iter().chain(CORE_KINDS)
}

/// The default of a key that some kinds need.
const BY_KIND: &str = "by `kind`";

/// Maximum of `gap_ns`, 1000 s: about the maximum of `gap_cycles`.
const GAP_NS_MAX: f64 = 1e12;
/// Maximum of `fault_time`, 1 ms.
const FAULT_PS_MAX: u64 = 1_000_000_000;
/// A page of the allocator, and the size of a copy where none is given.
const PAGE_BYTES: u64 = 4096;

/// Names of the pairs of pages.
fn pairs() -> Vec<(&'static str, Pairs)> {
    let placed = Place::RELATIONS.map(|(name, place)| (name, Pairs::Placed(place)));
    [("neighbors", Pairs::Neighbors), ("random", Pairs::Random)].into_iter().chain(placed).collect()
}

/// Whether a kind of workload needs a machine.
fn is_on_cores(kind: &str) -> bool {
    CORE_KINDS.iter().any(|known| known.name == kind)
}

/// Checks that a workload fits the scenario: programs need a machine, and other workloads need a scenario without one.
pub(crate) fn check_machine(document: &Document, kind: Option<&str>) -> Result<(), Failure> {
    let listed =
        |kinds: &[KindDescription]| kinds.iter().map(|kind| format!("`{}`", kind.name)).collect::<Vec<_>>().join(", ");
    let (key, message, help) = match (document.root().has("machine"), kind) {
        (true, None) => {
            let help = "write a `[workload]` with programs, for example `kind = \"memcopy\"`, or name a `system` \
                instead of the `machine`";
            (
                "operation",
                "`operation` is given, but a scenario with a `machine` runs programs".to_owned(),
                help.to_owned(),
            )
        }
        (true, Some(kind)) if !is_on_cores(kind) => {
            let message =
                format!("`workload.kind` is \"{kind}\", which needs no cores, but the scenario has a `machine`");
            let help = format!("name a `system` instead of the `machine`, or choose one of {}", listed(CORE_KINDS));
            ("workload.kind", message, help)
        }
        (false, Some(kind)) if is_on_cores(kind) => {
            let message =
                format!("`workload.kind` is \"{kind}\", which needs cores, but the scenario has a `system` alone");
            let help = format!(
                "write `machine = \"../configs/paper.toml\"` instead of `system`, or choose one of {}",
                listed(KINDS)
            );
            ("workload.kind", message, help)
        }
        _ => return Ok(()),
    };
    Err(document.fault(key, message).with_help(help))
}

/// The workload of a table; `seed` is that of the scenario.
pub(crate) fn check_workload(table: &Section<'_>, seed: u64, system: &SystemConfig) -> Result<Workload, Failure> {
    let name: &str = table.of("kind");
    let kind = kinds().find(|kind| kind.name == name).expect("it was checked");
    check_keys(table, kind)?;
    Ok(match name {
        "trace" => Workload::Trace(trace(table)?),
        name if is_on_cores(name) => Workload::Programs(check_programs(table, seed, system)?),
        _ => {
            let start = table.get("start").unwrap_or(PhysicalAddress(0));
            let gap = gap(table, system.memory.system().clock())?;
            let made = Made { table, start, access: access(table)?, gap };
            Workload::Made(kind.made.expect("it needs no cores")(&made))
        }
    })
}

/// Checks that the keys are those of the kind: all required keys, and no others than its optional keys.
fn check_keys(table: &Section<'_>, kind: &KindDescription) -> Result<(), Failure> {
    let KindDescription { name, needs, may_have, .. } = kind;
    let is_known = |key: &str| key == "kind" || needs.contains(&key) || may_have.contains(&key);
    if let Some((stray, _)) = table.entries().find(|(key, _)| !is_known(key)) {
        let message = format!("`workload.{stray}` is given, but `kind = \"{name}\"` has no `{stray}`");
        let keys: Vec<&str> = needs.iter().chain(*may_have).copied().collect();
        let help = suggestion::choices(stray, &format!("keys of `{name}`"), &keys);
        return Err(table.fault(stray, message).with_help(help));
    }
    needs.iter().try_for_each(|key| table.needs(key, "kind", name))
}

/// What generated workloads have in common; [`check_settings`] checks settings against the system.
pub(crate) struct Made<'a> {
    table: &'a Section<'a>,
    start: PhysicalAddress,
    access: StreamAccess,
    gap: Gap,
}

impl Made<'_> {
    /// Settings with the values of the keys that are given.
    fn over(&self, settings: impl host::workload::WorkloadKind + Any) -> Settings {
        Settings::new(self.table.over(settings))
    }

    fn pairs(&self, default: Pairs) -> Pairs {
        self.table.choice("pairs", &pairs()).unwrap_or(default)
    }
}

/// The time between two arrivals, in cycles or in ns of this clock.
fn gap(table: &Section<'_>, clock: Clock) -> Result<Gap, Failure> {
    table.not_both("gap_cycles", "gap_ns", ": with `gap_ns` the offered load is the same in every speed bin")?;
    let Some(ns) = table.get::<f64>("gap_ns") else { return Ok(Cycles(table.get("gap_cycles").unwrap_or(0)).into()) };
    #[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
    let ps = (ns * 1000.0).round() as u64;
    Ok(Gap::of_ps(ps, clock))
}

fn access(table: &Section<'_>) -> Result<StreamAccess, Failure> {
    table.not_both("pattern", "dst", ": a stream reads and writes by a pattern, or copies line by line to `dst`")?;
    if let Some(dst) = table.get("dst") {
        return Ok(StreamAccess::Copy { dst });
    }
    let Some(found) = table.text("pattern") else { return Ok(StreamAccess::Pattern(Pattern::READS)) };
    Pattern::named(found).map(StreamAccess::Pattern).ok_or_else(|| {
        let message = format!("`workload.pattern` is {found:?}, but must be 1 to 64 letters `r` and `w`");
        table.fault("pattern", message).with_help("try `pattern = \"rrw\"`: two lines read, one written")
    })
}

/// Checks that a workload can be generated on this system, with each of its allocators, which have their keys.
pub(crate) fn check_settings(
    document: &Document,
    settings: &Settings,
    allocators: Option<Vec<(&'static str, AllocatorSettings)>>,
    system: &SystemConfig,
) -> Result<(), Failure> {
    let placed = allocators.map(|all| all.into_iter().map(|(key, allocator)| (key, Some(allocator))).collect());
    for (of_allocator, allocator) in placed.unwrap_or_else(|| vec![("", None)]) {
        let (memories, planner) = (system.memory.aged_memories(), system.memory.planner());
        settings.source_with(memories, planner, allocator.as_ref(), 0, None).map_err(|error| {
            let key = match error.key() {
                Some(key) => format!("workload.{key}"),
                None if matches!(error, WorkloadError::Allocator(_)) => of_allocator.to_owned(),
                None => "workload.kind".to_owned(),
            };
            document.fault(&key, format!("`{key}`: {error}")).with_help(error.help())
        })?;
    }
    Ok(())
}
