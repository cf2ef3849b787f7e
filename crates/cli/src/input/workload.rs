//! The table `[workload]` of a scenario: traffic that is made, or played from a recording, rather than listed.

use std::fmt;
use std::path::{Path, PathBuf};

use dram_spec::{Clock, Cycles, LINE_BYTES, PhysicalAddress};
use host::workload::{
    Access, Checkpoint, CopyBy, Deduplication, Fill, Fork, Gap, MachineClone, Migration, Mixed, MoveTo, PageCopies,
    Pairs, Pattern, ProcessExits, Random, Settings, Stream, WorkloadError,
};
use host::{AllocatorSettings, Place, UnusableRecords};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use trace_io::trace::{FORMATS, Format, Reader, Timing};

use crate::CliError;

use super::document::Document;
use super::file;
use super::operations::RawPlace;
use super::scenario::Workload;
use super::{SystemConfig, suggestion};

/// A recorded trace to play, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceWorkload {
    /// Its file.
    pub path: PathBuf,
    /// Its format: the one that is given, or else the one that its first record is of.
    pub format: &'static Format,
    /// What to do with records that the system cannot take.
    pub unusable: UnusableRecords,
    /// How many instructions pass per clock of the memory, where the format has instructions.
    pub instructions_per_clock: Option<f64>,
    /// Whether to play it with pages where they were recorded.
    pub as_recorded: bool,
    /// Whether to play it with pages where allocators place them.
    pub by_allocator: bool,
}

/// The kinds of workload, and which keys each needs and may have.
type Kind = (&'static str, &'static [&'static str], &'static [&'static str]);
#[rustfmt::skip]
const KINDS: [Kind; 11] = [
    ("trace", &["file"], &["format", "instructions_per_clock", "unusable_records", "placement"]),
    ("stream", &["count"], &["start", "stride_bytes", "pattern", "dst", "gap_cycles", "gap_ns"]),
    ("random", &["count", "bytes"], &["start", "write_share", "gap_cycles", "gap_ns"]),
    ("mixed", &["count", "bytes"], &["start", "write_share", "copy_share", "zero_share", "page_bytes", "pairs", "gap_cycles", "gap_ns"]),
    ("page-copies", &["count", "bytes"], &["start", "page_bytes", "pairs", "by", "gap_cycles", "gap_ns"]),
    ("fork", &["bytes", "pages"], &["fill", "gap_cycles", "gap_ns"]),
    ("checkpoint", &["bytes", "checkpoints"], &["writes", "window", "gap_cycles", "gap_ns"]),
    ("clone", &["bytes"], &["clones", "window", "gap_cycles", "gap_ns"]),
    ("migration", &["bytes", "pages", "to"], &["window", "gap_cycles", "gap_ns"]),
    ("dedup", &["bytes", "pages", "writes"], &["gap_cycles", "gap_ns"]),
    ("zero-on-free", &["bytes", "processes"], &["window", "gap_cycles", "gap_ns"]),
];

/// As the file has it: the keys of all kinds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    kind: String,
    file: Option<String>,
    format: Option<String>,
    unusable_records: Option<String>,
    instructions_per_clock: Option<f64>,
    placement: Option<OneOrMore>,
    count: Option<u64>,
    start: Option<RawPlace>,
    bytes: Option<u64>,
    stride_bytes: Option<u64>,
    pattern: Option<String>,
    dst: Option<RawPlace>,
    write_share: Option<f64>,
    copy_share: Option<f64>,
    zero_share: Option<f64>,
    page_bytes: Option<u64>,
    pairs: Option<String>,
    by: Option<String>,
    pages: Option<u64>,
    fill: Option<String>,
    checkpoints: Option<u64>,
    writes: Option<u64>,
    clones: Option<u64>,
    processes: Option<u64>,
    to: Option<String>,
    window: Option<u64>,
    gap_cycles: Option<u64>,
    gap_ns: Option<f64>,
}

/// A name, or a list of names.
#[derive(Debug)]
struct OneOrMore(Vec<String>);

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OneOrMore, D::Error> {
        struct NameOrNames;
        impl<'de> Visitor<'de> for NameOrNames {
            type Value = OneOrMore;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a list of strings")
            }
            fn visit_str<E>(self, text: &str) -> Result<OneOrMore, E> {
                Ok(OneOrMore(vec![text.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OneOrMore, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = items.next_element()? {
                    names.push(name);
                }
                Ok(OneOrMore(names))
            }
        }
        deserializer.deserialize_any(NameOrNames)
    }
}

const UNUSABLE: [(&str, UnusableRecords); 2] = [("refuse", UnusableRecords::Refuse), ("skip", UnusableRecords::Skip)];
const PLACEMENTS: [(&str, bool); 2] = [("as-recorded", false), ("allocator", true)];
const BY: [(&str, CopyBy); 2] = [("operation", CopyBy::Operation), ("lines", CopyBy::Lines)];
/// More than any machine executes per clock of its memory, or fewer: a typing error.
const INSTRUCTIONS_PER_CLOCK: (f64, f64) = (0.001, 1000.0);
/// 1000 s: about as many cycles as `gap_cycles` may have.
const GAP_NS_MAX: f64 = 1e12;
/// A page of the allocator, and what a copy is about where nothing else is said.
const PAGE_BYTES: u64 = 4096;

impl RawWorkload {
    pub(super) fn check(self, document: &Document, clock: Clock) -> Result<Workload, CliError> {
        let kind = document.choice("workload.kind", &self.kind, &KINDS.map(|kind| (kind.0, kind)))?;
        self.check_keys(document, kind)?;
        if kind.0 == "trace" {
            Ok(Workload::Trace(self.trace(document)?))
        } else {
            Ok(Workload::Made(self.made(document, clock)?))
        }
    }

    /// The settings of a workload that is made; whether they make sense on the system, [`check_settings`] tells.
    fn made(&self, document: &Document, clock: Clock) -> Result<Settings, CliError> {
        let start =
            self.start.as_ref().map_or(Ok(PhysicalAddress(0)), |start| start.address(document, "workload.start"))?;
        let [count, bytes, pages] = [self.count, self.bytes, self.pages].map(Option::unwrap_or_default);
        let [writes, copies, zeroings] =
            [self.write_share, self.copy_share, self.zero_share].map(Option::unwrap_or_default);
        let (page_bytes, window) = (self.page_bytes.unwrap_or(PAGE_BYTES), self.window.unwrap_or(1));
        let gap = self.gap(document, clock)?;
        Ok(match self.kind.as_str() {
            "stream" => {
                let (stride, access) = (self.stride_bytes.unwrap_or(LINE_BYTES), self.access(document)?);
                Settings::Stream(Stream { start, count, stride, access, gap })
            }
            "random" => Settings::Random(Random { count, start, bytes, writes, gap }),
            "mixed" => {
                let pairs = self.pairs(document, Pairs::Random)?;
                Settings::Mixed(Mixed { count, start, bytes, writes, copies, zeroings, page_bytes, pairs, gap })
            }
            "page-copies" => {
                let pairs = self.pairs(document, Pairs::Neighbours)?;
                let by = choice(document, "by", self.by.as_deref(), &BY)?.unwrap_or(CopyBy::Operation);
                Settings::PageCopies(PageCopies { count, start, bytes, page_bytes, pairs, by, gap })
            }
            "fork" => {
                let fill = choice(document, "fill", self.fill.as_deref(), &Fill::NAMES)?.unwrap_or(Fill::Before);
                Settings::Fork(Fork { bytes, pages, fill, gap })
            }
            "checkpoint" => {
                let [checkpoints, writes] = [self.checkpoints, self.writes].map(Option::unwrap_or_default);
                Settings::Checkpoint(Checkpoint { bytes, checkpoints, writes, window, gap })
            }
            "clone" => Settings::Clone(MachineClone { bytes, clones: self.clones.unwrap_or(1), window, gap }),
            "migration" => {
                let to = choice(document, "to", self.to.as_deref(), &MoveTo::NAMES)?.unwrap_or(MoveTo::Anywhere);
                Settings::Migration(Migration { bytes, pages, to, window, gap })
            }
            "dedup" => {
                let writes = self.writes.unwrap_or_default();
                Settings::Deduplication(Deduplication { bytes, pages, writes, gap })
            }
            _ => {
                let processes = self.processes.unwrap_or_default();
                Settings::ZeroOnFree(ProcessExits { bytes, processes, window, gap })
            }
        })
    }

    /// The time between two arrivals, in cycles or in ns of this clock.
    fn gap(&self, document: &Document, clock: Clock) -> Result<Gap, CliError> {
        match (self.gap_cycles, self.gap_ns) {
            (Some(_), Some(_)) => {
                let message = "`workload` has both `gap_cycles` and `gap_ns`";
                let help = "leave one of them out: with `gap_ns` the offered load is the same in every speed bin";
                Err(document.fault("workload.gap_ns", message).with_help(help))
            }
            (cycles, None) => {
                let cycles = cycles.unwrap_or(0);
                document.within("workload.gap_cycles", cycles, 0, Gap::CYCLES_MAX)?;
                Ok(Cycles(cycles).into())
            }
            (None, ns) => {
                let ns = between(document, "gap_ns", ns, 0.0, GAP_NS_MAX)?;
                #[expect(clippy::cast_sign_loss, reason = "it is not below 0")]
                let ps = (ns * 1000.0).round() as u64;
                Ok(Gap::of_ps(ps, clock))
            }
        }
    }

    fn access(&self, document: &Document) -> Result<Access, CliError> {
        match (&self.pattern, &self.dst) {
            (Some(_), Some(_)) => {
                let message = "`workload` has both `pattern` and `dst`";
                let help =
                    "leave one of them out: a stream reads and writes by a pattern, or copies line by line to `dst`";
                Err(document.fault("workload.dst", message).with_help(help))
            }
            (None, Some(dst)) => Ok(Access::Copy { dst: dst.address(document, "workload.dst")? }),
            (None, None) => Ok(Access::Pattern(Pattern::READS)),
            (Some(found), None) => Pattern::named(found).map(Access::Pattern).ok_or_else(|| {
                let message = format!("`workload.pattern` is {found:?}, but must be 1 to 64 letters `r` and `w`");
                document
                    .fault("workload.pattern", message)
                    .with_help("try `pattern = \"rrw\"`: two lines read, one written")
            }),
        }
    }

    fn pairs(&self, document: &Document, default: Pairs) -> Result<Pairs, CliError> {
        let placed = Place::RELATIONS.map(|(name, place)| (name, Pairs::Placed(place)));
        let known: Vec<_> =
            [("neighbours", Pairs::Neighbours), ("random", Pairs::Random)].into_iter().chain(placed).collect();
        Ok(choice(document, "pairs", self.pairs.as_deref(), &known)?.unwrap_or(default))
    }

    /// The keys that are there.
    fn given(&self) -> Vec<&'static str> {
        #[rustfmt::skip]
        let RawWorkload {
            kind: _, file, format, unusable_records, instructions_per_clock, placement, count, start, bytes, stride_bytes,
            pattern, dst, write_share, copy_share, zero_share, page_bytes, pairs, by, pages, fill, checkpoints, writes,
            clones, processes, to, window, gap_cycles, gap_ns,
        } = self;
        #[rustfmt::skip]
        let all = [
            ("file", file.is_some()), ("format", format.is_some()), ("unusable_records", unusable_records.is_some()),
            ("instructions_per_clock", instructions_per_clock.is_some()), ("placement", placement.is_some()),
            ("count", count.is_some()), ("start", start.is_some()), ("bytes", bytes.is_some()),
            ("stride_bytes", stride_bytes.is_some()), ("pattern", pattern.is_some()), ("dst", dst.is_some()),
            ("write_share", write_share.is_some()), ("copy_share", copy_share.is_some()),
            ("zero_share", zero_share.is_some()), ("page_bytes", page_bytes.is_some()), ("pairs", pairs.is_some()),
            ("by", by.is_some()), ("pages", pages.is_some()), ("fill", fill.is_some()),
            ("checkpoints", checkpoints.is_some()), ("writes", writes.is_some()), ("clones", clones.is_some()),
            ("processes", processes.is_some()), ("to", to.is_some()), ("window", window.is_some()), ("gap_cycles", gap_cycles.is_some()),
            ("gap_ns", gap_ns.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(key, _)| key).collect()
    }

    /// That all keys are there that the kind needs, and none that it does not know.
    fn check_keys(&self, document: &Document, (kind, needed, known): Kind) -> Result<(), CliError> {
        let given = self.given();
        if let Some(stray) = given.iter().find(|key| !needed.contains(key) && !known.contains(key)) {
            let message = format!("`workload.{stray}` is given, but `kind = \"{kind}\"` has no `{stray}`");
            let keys: Vec<&str> = needed.iter().chain(known).copied().collect();
            let help = suggestion::choices(stray, &format!("keys of `{kind}`"), &keys);
            return Err(document.fault(&format!("workload.{stray}"), message).with_help(help));
        }
        if let Some(missing) = needed.iter().find(|key| !given.contains(key)) {
            let message = format!("`workload.{missing}` is missing, and `kind = \"{kind}\"` needs it");
            let key = format!("workload.{missing}");
            let example = document.example(&key).unwrap_or_default();
            let help = format!("add for example `{missing} = {example}` to `workload`");
            return Err(document.fault("workload.kind", message).with_help(help));
        }
        Ok(())
    }

    fn trace(self, document: &Document) -> Result<TraceWorkload, CliError> {
        let unusable = choice(document, "unusable_records", self.unusable_records.as_deref(), &UNUSABLE)?;
        let placements = self.placement.map_or_else(|| vec!["as-recorded".to_owned()], |OneOrMore(names)| names);
        let placements = document.choices("workload.placement", &placements, &PLACEMENTS)?;
        let formats = FORMATS.map(|format| (format.name, format));
        let given = choice(document, "format", self.format.as_deref(), &formats)?;
        let path = document.linked("workload.file", &self.file.unwrap_or_default())?;
        let format = given.map_or_else(|| recognise(document, &path), Ok)?;
        Ok(TraceWorkload {
            path,
            format,
            unusable: unusable.unwrap_or_default(),
            instructions_per_clock: instructions_per_clock(document, format, self.instructions_per_clock)?,
            as_recorded: placements.contains(&false),
            by_allocator: placements.contains(&true),
        })
    }
}

/// The format that the first record of a trace is of.
fn recognise(document: &Document, path: &Path) -> Result<&'static Format, CliError> {
    let opened = file::open(path).map_err(|error| CliError::reading(path, &error))?;
    Reader::new(opened, None).map(|reader| reader.format()).map_err(|error| {
        let message = format!("`workload.file`: {}", file::located(path, &error.to_string()));
        document.fault("workload.file", message).with_help(error.help())
    })
}

/// The rate of instructions, which formats need that count these, and no other has.
fn instructions_per_clock(document: &Document, format: &Format, found: Option<f64>) -> Result<Option<f64>, CliError> {
    let (key, name) = ("workload.instructions_per_clock", format.name);
    let (least, most) = INSTRUCTIONS_PER_CLOCK;
    match (format.timing, found) {
        (Timing::Instructions, None) => {
            let message = format!("`{key}` is missing, and a trace of the format `{name}` counts instructions");
            let help = "add for example `instructions_per_clock = 4.0` to `workload`";
            Err(document.fault("workload", message).with_help(help))
        }
        (Timing::Times, Some(_)) => {
            let message = format!("`{key}` is given, but a trace of the format `{name}` has no instructions");
            let help = "leave it out: records arrive at the times that the trace gives, or as fast as they are taken";
            Err(document.fault(key, message).with_help(help))
        }
        (_, found) => found.map(|_| between(document, "instructions_per_clock", found, least, most)).transpose(),
    }
}

/// One of some names, where the key is there.
fn choice<T: Copy>(
    document: &Document,
    key: &str,
    found: Option<&str>,
    known: &[(&str, T)],
) -> Result<Option<T>, CliError> {
    found.map(|found| document.choice(&format!("workload.{key}"), found, known)).transpose()
}

/// A fraction within its bounds. Neither infinity nor what is no number lies between any.
fn between(document: &Document, key: &str, found: Option<f64>, least: f64, most: f64) -> Result<f64, CliError> {
    let found = found.unwrap_or_default();
    if (least..=most).contains(&found) {
        return Ok(found);
    }
    let message = format!("`workload.{key}` is {found}, but must be from {least} to {most}");
    let near = if found > most { most } else { least };
    Err(document.fault(&format!("workload.{key}"), message).with_help(format!("try `{key} = {near}`")))
}

/// What files call a setting of a workload that has another name there.
fn file_key(settings: &Settings, key: &str) -> &'static str {
    let known = KINDS.iter().flat_map(|(_, needed, known)| needed.iter().chain(*known));
    match (settings, key) {
        (Settings::Random(_) | Settings::Mixed(_), "writes") => "write_share",
        (Settings::Mixed(_), "copies") => "copy_share",
        (Settings::Mixed(_), "zeroings") => "zero_share",
        (_, "stride") => "stride_bytes",
        (_, "placement") => "pairs",
        _ => known.copied().find(|known| *known == key).unwrap_or("kind"),
    }
}

/// That a workload can be made on this system, with each of its allocators.
pub(super) fn check_settings(
    document: &Document,
    settings: &Settings,
    allocators: &[Option<AllocatorSettings>],
    system: &SystemConfig,
) -> Result<(), CliError> {
    for allocator in allocators {
        settings.source(system.memory.planner(), allocator.as_ref(), 0, None).map_err(|error| {
            let rename = |text: String| {
                ["writes", "copies", "zeroings", "stride"].iter().fold(text, |text, key| {
                    text.replace(&format!("`{key}`"), &format!("`{}`", file_key(settings, key)))
                        .replace(&format!("`{key} = "), &format!("`{} = ", file_key(settings, key)))
                })
            };
            let key = match error.key() {
                Some(key) => format!("workload.{}", file_key(settings, key)),
                None if matches!(error, WorkloadError::Allocator(_)) => "allocator.policies".to_owned(),
                None => "workload.kind".to_owned(),
            };
            document.fault(&key, format!("`{key}`: {}", rename(error.to_string()))).with_help(rename(error.help()))
        })?;
    }
    Ok(())
}
