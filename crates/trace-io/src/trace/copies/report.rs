//! Results of a search for copies.

use std::collections::{BTreeMap, VecDeque};

use dram_spec::PhysicalAddress;

use super::run::WriteRun;
use super::span::{AddressOrder, Span};
use crate::trace::record::Event;

/// Runs of kept writes followed at once.
const WRITE_RUNS: usize = 16;

/// Copies and fills that were found in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Records read.
    pub records: u64,
    /// Reads and writes, in pieces of a line or at most 64 bytes.
    pub reads: Amount,
    /// Writes.
    pub writes: Amount,
    /// Reads and writes that belong to copies and fills.
    pub replaced: Amount,
    /// Copies found.
    pub copies: Amount,
    /// Fills with zeros found, by the data of the trace.
    pub fills: Amount,
    /// Copies with several equally good sources, of which one was taken.
    pub ambiguous: u64,
    /// Number of copies by size in bytes, of the first [`CopyReport::SIZES_MAX`] sizes.
    pub sizes: BTreeMap<u64, u64>,
    /// The first [`CopyReport::LISTED_MAX`] copies and fills, in the order of their ends.
    pub listed: Vec<FoundCopy>,
    /// Copies and fills that were records of the trace, and their bytes.
    pub recorded: Amount,
    /// Other runs of writes to ascending addresses of at least the least size.
    pub write_runs: Amount,
    /// Of these, runs whose data the trace has in full: they are no fills with zeros.
    pub write_runs_with_data: u64,
    /// The present runs of writes that are kept, and whether the trace has their data; the latest last.
    runs: VecDeque<(Span, bool)>,
}

/// A number of accesses or ranges, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number.
    pub count: u64,
    /// Bytes, up to the maximum of the type.
    pub bytes: u64,
}

/// A copy or a fill that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundCopy {
    /// Lines of the trace with the first and the last write.
    pub lines: (u64, u64),
    /// Source; `None` of a fill with zeros.
    pub src: Option<PhysicalAddress>,
    /// Destination.
    pub dst: PhysicalAddress,
    /// Size in bytes.
    pub bytes: u64,
    /// Order of its addresses.
    pub order: AddressOrder,
    /// Equally good sources, at least 1.
    pub choices: u64,
    /// Line of its first read or write.
    pub begin_line: u64,
    /// Its reads and writes, in pieces of a line or at most 64 bytes.
    pub pieces: u64,
}

impl Amount {
    pub(in crate::trace) const fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl CopyReport {
    /// Maximum number of listed copies and fills.
    pub const LISTED_MAX: usize = 1 << 16;
    /// Maximum number of sizes.
    pub const SIZES_MAX: usize = 1 << 16;

    /// Counts a piece of an access.
    pub(super) const fn count(&mut self, event: &Event, span: Option<Span>) {
        match (event, span) {
            (Event::Read { .. }, Some(span)) => self.reads.add(span.bytes),
            (Event::Write { .. }, Some(span)) => self.writes.add(span.bytes),
            (Event::Copy { bytes, .. } | Event::Fill { bytes, .. }, _) => self.recorded.add(*bytes),
            _ => {}
        }
    }

    /// Counts a piece that belongs to a copy or a fill.
    pub(super) const fn replaced(&mut self, bytes: u64) {
        self.replaced.add(bytes);
    }

    /// Counts a run with a chosen origin, whose last write is in `last_line`; returns its record.
    pub(super) fn found(&mut self, run: &WriteRun, last_line: u64) -> Event {
        let Span { start, bytes } = run.dst;
        let (dst, instructions) = (PhysicalAddress(start), 0);
        let source = run.origins.first().and_then(|origin| origin.from.source(run.dst));
        let src = source.map(|source| PhysicalAddress(source.start));
        if self.listed.len() < CopyReport::LISTED_MAX {
            let WriteRun { line, order, choices, begin_line, pieces, .. } = *run;
            let lines = (line, last_line);
            self.listed.push(FoundCopy { lines, src, dst, bytes, order, choices, begin_line, pieces });
        }
        let Some(src) = src else {
            self.fills.add(bytes);
            return Event::Fill { dst, value: 0, bytes, instructions };
        };
        self.copies.add(bytes);
        self.ambiguous += u64::from(run.choices > 1);
        if self.sizes.len() < CopyReport::SIZES_MAX || self.sizes.contains_key(&bytes) {
            *self.sizes.entry(bytes).or_default() += 1;
        }
        Event::Copy { dst, src, bytes, instructions }
    }

    /// Adds a write that belongs to no copy or fill to the runs of writes.
    pub(super) fn kept_write(&mut self, at: Span, has_data: bool, bytes_min: u64) {
        let before = self.runs.iter().rposition(|(run, _)| run.last().checked_add(1) == Some(at.start));
        let (mut run, all_data) = before.and_then(|index| self.runs.remove(index)).unwrap_or((at, true));
        if before.is_some() {
            run.grow(at);
        } else if self.runs.len() == WRITE_RUNS {
            self.end_write_run(bytes_min);
        }
        self.runs.push_back((run, all_data && has_data));
    }

    /// Ends the run of writes that was extended longest ago; returns whether there was one.
    pub(super) fn end_write_run(&mut self, bytes_min: u64) -> bool {
        let Some((run, all_data)) = self.runs.pop_front() else { return false };
        if run.bytes >= bytes_min {
            self.write_runs.add(run.bytes);
            self.write_runs_with_data += u64::from(all_data);
        }
        true
    }
}
