//! The table `[workload]` of a scenario: traffic that is made, or played from a recording, rather than listed.

use std::fmt;
use std::path::PathBuf;

use dram_spec::{Cycles, PhysicalAddress};
use host::UnusableRecords;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use trace_io::ramulatorsharp::Format;

use crate::CliError;

use super::document::Document;
use super::operations::RawPlace;
use super::scenario::Workload;
use super::suggestion;

/// A recorded trace to play, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceWorkload {
    /// Its file.
    pub path: PathBuf,
    /// How it is written; found out from its first record where it is not said.
    pub format: Option<Format>,
    /// What to do with records that the system cannot take.
    pub unusable: UnusableRecords,
    /// How many instructions pass in a clock of the memory.
    pub instructions_per_clock: f64,
    /// Whether to play it with pages where they were recorded.
    pub as_recorded: bool,
    /// Whether to play it with pages where allocators place them.
    pub by_allocator: bool,
}

/// Reads and writes of lines that somebody issues, and copies among them, checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accesses {
    /// How addresses follow each other.
    pub pattern: Pattern,
    /// How many requests.
    pub requests: u64,
    /// Where they go to: from here,
    pub start: PhysicalAddress,
    /// so many bytes; to the end of the memory where it is not said.
    pub bytes: Option<u64>,
    /// Share of the accesses that are writes, 0 to 1.
    pub write_share: f64,
    /// Share of the requests that copy a page, 0 to 1.
    pub copy_share: f64,
    /// Share of the requests that zero a page, 0 to 1.
    pub zero_share: f64,
    /// Clocks from one arrival to the next; without it, as fast as they are taken.
    pub interval: Option<Cycles>,
}

/// How the addresses of accesses follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Line by line, again from the start at the end.
    Stream,
    /// Each line as likely.
    Random,
}

/// Page copies over a region, from each even page to the odd one after it; checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCopies {
    /// How many.
    pub copies: u64,
    /// The first source.
    pub start: PhysicalAddress,
    /// Clocks from one arrival to the next; without it, as fast as they are taken.
    pub interval: Option<Cycles>,
}

/// What an operating system does with pages, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// What it does.
    pub event: PagingEvent,
    /// Pages of the process, or of the machine.
    pub pages: u64,
    /// Pages written to afterwards; of checkpoints, after each.
    pub written_pages: u64,
}

/// What an operating system copies pages for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagingEvent {
    /// A process forks; pages are copied as they are written to.
    Fork,
    /// All pages are copied, so many times.
    Checkpoint {
        /// How many times.
        checkpoints: u64,
    },
    /// A virtual machine is cloned: all pages are copied.
    Clone,
    /// All pages move to other frames.
    Migration,
}

/// The kinds of workload, and which keys each needs and may have.
type Kind = (&'static str, &'static [&'static str], &'static [&'static str]);
const REGION: &[&str] = &["start", "bytes", "write_share", "interval_cycles"];
const KINDS: [Kind; 9] = [
    ("trace", &["file", "instructions_per_clock"], &["format", "unusable_records", "placement"]),
    ("stream", &["requests"], REGION),
    ("random", &["requests"], REGION),
    ("mixed", &["requests", "copy_share"], &["zero_share", "start", "bytes", "write_share", "interval_cycles"]),
    ("page-copies", &["copies"], &["start", "interval_cycles"]),
    ("fork", &["pages", "written_pages"], &[]),
    ("checkpoint", &["pages", "written_pages", "checkpoints"], &[]),
    ("clone", &["pages"], &["written_pages"]),
    ("migration", &["pages"], &[]),
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
    requests: Option<u64>,
    start: Option<RawPlace>,
    bytes: Option<u64>,
    write_share: Option<f64>,
    copy_share: Option<f64>,
    zero_share: Option<f64>,
    interval_cycles: Option<u64>,
    copies: Option<u64>,
    pages: Option<u64>,
    written_pages: Option<u64>,
    checkpoints: Option<u64>,
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

const FORMATS: [(&str, Format); 2] = [("rc", Format::Rc), ("cpu", Format::Cpu)];
const UNUSABLE: [(&str, UnusableRecords); 2] = [("refuse", UnusableRecords::Refuse), ("skip", UnusableRecords::Skip)];
const PLACEMENTS: [(&str, bool); 2] = [("as-recorded", false), ("allocator", true)];
/// More than any machine does in a clock of its memory, or fewer: a slip of the pen.
const INSTRUCTIONS_PER_CLOCK: (f64, f64) = (0.001, 1000.0);
/// Requests of a run: hours of work.
const REQUESTS_MAX: u64 = 1 << 40;
/// 16 TiB of pages: more than any memory; whether there is room shows when it runs.
const PAGES_MAX: u64 = 1 << 32;

impl RawWorkload {
    pub(super) fn check(self, document: &Document) -> Result<Workload, CliError> {
        let kind @ (name, ..) = document.choice("workload.kind", &self.kind, &KINDS.map(|kind| (kind.0, kind)))?;
        self.check_keys(document, kind)?;
        let pattern = if name == "stream" { Pattern::Stream } else { Pattern::Random };
        Ok(match name {
            "trace" => Workload::Trace(self.trace(document)?),
            "stream" | "random" | "mixed" => Workload::Accesses(self.accesses(document, pattern)?),
            "page-copies" => Workload::PageCopies(PageCopies {
                copies: within(document, "copies", self.copies, 1, REQUESTS_MAX)?,
                start: self.start(document)?,
                interval: self.interval(document)?,
            }),
            _ => Workload::Paging(self.paging(document, name)?),
        })
    }

    /// The keys that are there.
    fn given(&self) -> Vec<&'static str> {
        #[rustfmt::skip]
        let RawWorkload {
            kind: _, file, format, unusable_records, instructions_per_clock, placement, requests, start, bytes, write_share,
            copy_share, zero_share, interval_cycles, copies, pages, written_pages, checkpoints,
        } = self;
        let all = [
            ("file", file.is_some()),
            ("format", format.is_some()),
            ("unusable_records", unusable_records.is_some()),
            ("instructions_per_clock", instructions_per_clock.is_some()),
            ("placement", placement.is_some()),
            ("requests", requests.is_some()),
            ("start", start.is_some()),
            ("bytes", bytes.is_some()),
            ("write_share", write_share.is_some()),
            ("copy_share", copy_share.is_some()),
            ("zero_share", zero_share.is_some()),
            ("interval_cycles", interval_cycles.is_some()),
            ("copies", copies.is_some()),
            ("pages", pages.is_some()),
            ("written_pages", written_pages.is_some()),
            ("checkpoints", checkpoints.is_some()),
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
        let format = self.format.map(|found| document.choice("workload.format", &found, &FORMATS)).transpose()?;
        let unusable = self.unusable_records;
        let unusable =
            unusable.map(|found| document.choice("workload.unusable_records", &found, &UNUSABLE)).transpose()?;
        let placements = self.placement.map_or_else(|| vec!["as-recorded".to_owned()], |OneOrMore(names)| names);
        let placements = document.choices("workload.placement", &placements, &PLACEMENTS)?;
        let (least, most) = INSTRUCTIONS_PER_CLOCK;
        Ok(TraceWorkload {
            path: document.linked("workload.file", &self.file.unwrap_or_default())?,
            format,
            unusable: unusable.unwrap_or_default(),
            instructions_per_clock: between(
                document,
                "instructions_per_clock",
                self.instructions_per_clock,
                least,
                most,
            )?,
            as_recorded: placements.contains(&false),
            by_allocator: placements.contains(&true),
        })
    }

    fn accesses(&self, document: &Document, pattern: Pattern) -> Result<Accesses, CliError> {
        let share = |key, found: Option<f64>| between(document, key, Some(found.unwrap_or(0.0)), 0.0, 1.0);
        let (copy_share, zero_share) = (share("copy_share", self.copy_share)?, share("zero_share", self.zero_share)?);
        if copy_share + zero_share > 1.0 {
            let message = format!(
                "`workload.zero_share` is {zero_share}, which with `copy_share`, {copy_share}, is more than all"
            );
            let help = format!("try `zero_share = {}`", 1.0 - copy_share);
            return Err(document.fault("workload.zero_share", message).with_help(help));
        }
        Ok(Accesses {
            pattern,
            requests: within(document, "requests", self.requests, 1, REQUESTS_MAX)?,
            start: self.start(document)?,
            bytes: self.bytes,
            write_share: share("write_share", self.write_share)?,
            copy_share,
            zero_share,
            interval: self.interval(document)?,
        })
    }

    fn paging(&self, document: &Document, kind: &str) -> Result<Paging, CliError> {
        let pages = within(document, "pages", self.pages, 1, PAGES_MAX)?;
        let written_pages = within(document, "written_pages", Some(self.written_pages.unwrap_or(0)), 0, pages)?;
        let event = match kind {
            "fork" => PagingEvent::Fork,
            "clone" => PagingEvent::Clone,
            "migration" => PagingEvent::Migration,
            _ => {
                PagingEvent::Checkpoint { checkpoints: within(document, "checkpoints", self.checkpoints, 1, 1 << 20)? }
            }
        };
        Ok(Paging { event, pages, written_pages })
    }

    fn start(&self, document: &Document) -> Result<PhysicalAddress, CliError> {
        match &self.start {
            None => Ok(PhysicalAddress(0)),
            Some(start) => start.address(document, "workload.start"),
        }
    }

    fn interval(&self, document: &Document) -> Result<Option<Cycles>, CliError> {
        let checked = |found| within(document, "interval_cycles", Some(found), 1, 1 << 40).map(Cycles);
        self.interval_cycles.map(checked).transpose()
    }
}

/// A number within its bounds; the key's presence has been checked.
fn within(document: &Document, key: &str, found: Option<u64>, least: u64, most: u64) -> Result<u64, CliError> {
    let found = found.unwrap_or_default();
    document.within(&format!("workload.{key}"), found, least, most).map(|()| found)
}

/// The same of a fraction. Neither infinity nor what is no number lies between any.
fn between(document: &Document, key: &str, found: Option<f64>, least: f64, most: f64) -> Result<f64, CliError> {
    let found = found.unwrap_or_default();
    if (least..=most).contains(&found) {
        return Ok(found);
    }
    let message = format!("`workload.{key}` is {found}, but must be from {least} to {most}");
    let near = if found > most { most } else { least };
    Err(document.fault(&format!("workload.{key}"), message).with_help(format!("try `{key} = {near}`")))
}
