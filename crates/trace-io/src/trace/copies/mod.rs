//! Copies and fills inside a trace of reads and writes. `docs/formats.md` describes the algorithm,
//! its parameters and its limits.

mod report;
mod run;
mod slots;
mod span;

use std::num::NonZeroU32;

use dram_spec::PhysicalAddress;

use super::convert::Arrivals;
use super::record::{AccessKind, Event, Record};

use run::{CandidateSource, WriteAt, WriteRun};
use slots::{Fate, Slot, Slots};
use span::{PIECE_BYTES, Recent, Span};

pub use report::{Amount, CopyReport, FoundCopy};
pub use span::AddressOrder;

/// Settings of a search for copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FindSettings {
    /// Greatest distance from the read of a piece to its write, in pieces; from 2 to
    /// [`FindSettings::WINDOW_MAX`].
    pub window: u64,
    /// Least size of a copy or a fill, in bytes.
    pub bytes_min: u64,
    /// Instructions per clock, which convert instructions to clocks, finite and above 0.
    pub instructions_per_clock: f64,
}

impl FindSettings {
    /// Largest window.
    pub const WINDOW_MAX: u64 = 1 << 20;
}

/// The default: 256 pieces, 1 KiB, 4 instructions per clock.
impl Default for FindSettings {
    fn default() -> FindSettings {
        FindSettings { window: 256, bytes_min: 1024, instructions_per_clock: 4.0 }
    }
}

/// Pieces delayed beyond two windows, in which a run must reach the least size.
const HELD: u64 = 1 << 16;
/// Runs followed at once; of more, the one that was extended longest ago ends.
const RUNS_MAX: usize = 64;
/// Latest reads that may be the source of a new run, besides the beginnings of sequences of reads.
const SOURCES_MAX: usize = 256;

/// Finds copies in the records of a trace, in bounded memory.
///
/// Records leave it in order: with [`Event::Copy`] or [`Event::Fill`] in the place of the last
/// write of each copy or fill, and without its other accesses.
#[derive(Debug)]
pub struct CopyFinder {
    settings: FindSettings,
    arrivals: Arrivals,
    slots: Slots,
    reads: Recent,
    /// First bytes of reads whose neighbors had not been read.
    beginnings: Recent,
    /// Writes that belong to no run.
    writes: Recent,
    runs: Vec<WriteRun>,
    report: CopyReport,
}

impl CopyFinder {
    /// Starts before the first record.
    pub fn new(settings: FindSettings) -> CopyFinder {
        CopyFinder {
            settings,
            arrivals: Arrivals::new(settings.instructions_per_clock),
            slots: Slots::default(),
            reads: Recent::new(settings.window),
            beginnings: Recent::new(settings.window),
            writes: Recent::new(settings.window),
            runs: Vec::new(),
            report: CopyReport::default(),
        }
    }

    /// Adds a record, with its line of the trace and the data that it writes, if known. Calls
    /// `output` with the records that leave. Its arrival is converted to a cycle or a time.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn push<E>(
        &mut self,
        record: &Record,
        line: u64,
        data: Option<&[u8]>,
        mut output: impl FnMut(&Record) -> Result<(), E>,
    ) -> Result<(), E> {
        self.report.records += 1;
        let arrival = self.arrivals.absolute(record.arrival);
        for (event, offset) in Pieces::of(record.event) {
            let (number, span) = (self.slots.next(), Span::of(&event));
            self.report.count(&event, span);
            let data = data.and_then(|data| data.get(offset..)?.get(..span?.bytes as usize));
            let (has_data, is_zero) = (data.is_some(), data.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0)));
            self.slots.push(Slot { record: Record { arrival, event }, line, is_zero, has_data, fate: Fate::Kept });
            self.access(&event, number, is_zero);
            while self.slots.held() > HELD + 2 * self.settings.window {
                self.leave(&mut output)?;
            }
        }
        Ok(())
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn finish<E>(mut self, mut output: impl FnMut(&Record) -> Result<(), E>) -> Result<CopyReport, E> {
        while !self.runs.is_empty() {
            self.end(0, true);
        }
        while self.slots.held() > 0 {
            self.leave(&mut output)?;
        }
        while self.report.end_write_run(self.settings.bytes_min) {}
        Ok(self.report)
    }

    /// The oldest piece leaves. Runs that begin with it must be decided.
    fn leave<E>(&mut self, output: &mut impl FnMut(&Record) -> Result<(), E>) -> Result<(), E> {
        let oldest = self.slots.oldest();
        while let Some(index) = self.runs.iter().position(|run| !run.is_chosen() && run.begin_number() <= oldest) {
            if self.runs[index].dst.bytes < self.settings.bytes_min {
                self.runs.swap_remove(index);
            } else {
                self.choose(index, false);
            }
        }
        let Slot { record, fate, has_data, .. } = self.slots.pop();
        match fate {
            Fate::Dropped => Ok(()),
            Fate::Kept => {
                if let (Event::Write { .. }, Some(at)) = (record.event, Span::of(&record.event)) {
                    self.report.kept_write(at, has_data, self.settings.bytes_min);
                }
                output(&record)
            }
            Fate::Replaced(event) => output(&Record { event: *event, ..record }),
        }
    }

    /// Follows a piece.
    fn access(&mut self, event: &Event, number: u64, is_zero: bool) {
        match *event {
            Event::Read { .. } => {
                let Some(at) = Span::of(event) else { return };
                self.disturb(at, false, number, None);
                self.writes.remove(at);
                let is_read = |beside: Option<Span>| beside.is_some_and(|at| self.reads.unused(at, number).is_some());
                if !is_read(at.beside(AddressOrder::Down)) && !is_read(at.beside(AddressOrder::Up)) {
                    self.beginnings.add(at, number);
                }
                self.reads.add(at, number);
            }
            Event::Write { .. } => {
                let Some(at) = Span::of(event) else { return };
                self.write(WriteAt { at, number, is_zero });
            }
            Event::Copy { dst, src, bytes, .. } => {
                self.foreign(Span { start: src.0, bytes }, false, number);
                self.foreign(Span { start: dst.0, bytes }, true, number);
            }
            Event::Fill { dst, bytes, .. } => self.foreign(Span { start: dst.0, bytes }, true, number),
            Event::Located { .. } | Event::Os(_) => {}
        }
    }

    /// An access that is a part of no run.
    fn foreign(&mut self, at: Span, is_write: bool, number: u64) {
        self.disturb(at, is_write, number, None);
        self.writes.remove(at);
        if is_write {
            self.reads.remove(at);
        }
    }

    fn write(&mut self, write: WriteAt) {
        let WriteAt { at, number, .. } = write;
        let own = self.runs.iter().position(|run| run.precedes(at)).filter(|&index| self.extend(index, write));
        let own = own.map(|index| self.runs[index].first);
        self.disturb(at, true, number, own);
        self.writes.remove(at);
        // The sources of a new run are looked up before this write overwrites any of them.
        if own.is_none() && !self.begin(write) {
            self.writes.add(at, number);
        }
        self.reads.remove(at);
    }

    /// Extends a run by a write; ends the run if that is not possible.
    fn extend(&mut self, index: usize, write: WriteAt) -> bool {
        let run = &mut self.runs[index];
        let before = run.last;
        match run.extend(write, &self.reads) {
            Err(()) => {
                self.end(index, true);
                false
            }
            Ok(read) => {
                if run.is_chosen() {
                    self.slots.drop(before, &mut self.report);
                }
                if let Some((start, number)) = read {
                    self.reads.set_used(start, number);
                    self.slots.drop(number, &mut self.report);
                } else if !run.is_chosen() && run.origins.len() == 1 && run.dst.bytes >= self.settings.bytes_min {
                    self.choose(index, false);
                }
                true
            }
        }
    }

    /// Begins a run with the write before, if both have a source.
    fn begin(&mut self, write: WriteAt) -> bool {
        for order in [AddressOrder::Up, AddressOrder::Down] {
            let before = write.at.beside(order.opposite());
            let Some((at, first)) = before.and_then(|at| Some((at, self.writes.unused(at, write.number)?))) else {
                continue;
            };
            let (line, is_zero) = self.slots.line_of(first.number);
            let first = WriteAt { at, number: first.number, is_zero };
            let sources = self.reads.latest().take(SOURCES_MAX).chain(self.beginnings.latest().take(SOURCES_MAX));
            let Some(run) = WriteRun::begin((first, write), order, line, sources, &self.reads) else { continue };
            if self.runs.len() == RUNS_MAX {
                let oldest = (0..RUNS_MAX).min_by_key(|&index| self.runs[index].last).unwrap_or(0);
                self.end(oldest, true);
            }
            self.writes.remove(at);
            self.runs.push(run);
            return true;
        }
        false
    }

    /// Ends the runs, other than that of the piece itself, which the piece disturbs, and those that
    /// no piece in the window has extended.
    fn disturb(&mut self, at: Span, is_write: bool, number: u64, own: Option<u64>) {
        let mut index = 0;
        while index < self.runs.len() {
            let run = &self.runs[index];
            let is_stale = run.last + self.settings.window < number;
            if is_stale || own != Some(run.first) && run.is_disturbed(at, is_write) {
                self.end(index, is_stale);
            } else {
                index += 1;
            }
        }
    }

    /// Chooses the origin of a run, and drops its accesses but the last write.
    fn choose(&mut self, index: usize, is_over: bool) {
        let best = self.runs[index].best(self.slots.next(), is_over, &self.reads);
        let chosen = self.first_come(index, &best);
        let run = &mut self.runs[index];
        let (writes, reads) = run.choose(chosen, best.len() as u64);
        run.begin_line = run.begin_line.min(self.slots.line_of(run.begin_number()).0);
        for number in writes {
            self.slots.drop(number, &mut self.report);
        }
        for &(start, number) in &reads {
            self.reads.set_used(start, number);
            self.slots.drop(number, &mut self.report);
        }
        // Each read belongs to one copy.
        let first = run.first;
        let numbers: rustc_hash::FxHashSet<u64> = reads.iter().map(|&(_, number)| number).collect();
        let is_taken = |origin: &CandidateSource| origin.reads.iter().any(|(_, number)| numbers.contains(number));
        for run in self.runs.iter_mut().filter(|run| run.first != first && !run.is_chosen()) {
            if !run.origins.iter().all(is_taken) {
                run.origins.retain(|origin| !is_taken(origin));
            }
        }
    }

    /// One of the equally good origins of a run. Where `n` undecided runs compete for them, the run
    /// takes one of the `n` that were read last: the runs in the order of their writes take them in
    /// the order of their reads.
    fn first_come(&self, index: usize, best: &[usize]) -> usize {
        let run = &self.runs[index];
        let mut sources: Vec<(u64, usize)> = best.iter().map(|&at| (run.origins[at].first_read, at)).collect();
        sources.sort_unstable_by(|one, other| other.cmp(one));
        let competes = |other: &&WriteRun| {
            let shares = |origin: &CandidateSource| sources.iter().any(|(read, _)| *read == origin.first_read);
            !other.is_chosen() && other.origins.iter().any(shares)
        };
        let mut first_writes: Vec<u64> = self.runs.iter().filter(competes).map(|run| run.first).collect();
        first_writes.sort_unstable();
        let rank = first_writes.iter().position(|&first| first == run.first).unwrap_or(0);
        let last = first_writes.len().clamp(1, sources.len());
        sources[last - 1 - rank.min(last - 1)].1
    }

    /// Ends a run: a copy or a fill, if it is long enough.
    fn end(&mut self, index: usize, is_over: bool) {
        if !self.runs[index].is_chosen() && self.runs[index].dst.bytes >= self.settings.bytes_min {
            self.choose(index, is_over);
        }
        let run = self.runs.swap_remove(index);
        if run.is_chosen() {
            let event = self.report.found(&run, self.slots.line_of(run.last).0);
            self.slots.replace(run.last, event, &mut self.report);
        }
    }
}

/// The pieces of an event: lines, accesses of at most 64 bytes, or the event itself; with their
/// offsets in the access.
struct Pieces {
    event: Option<Event>,
    offset: usize,
    writeback: Option<Event>,
}

impl Pieces {
    fn of(event: Event) -> Pieces {
        match event {
            Event::Read { address, bytes, writeback } => {
                let writeback = writeback.map(|address| Event::Write { address, bytes: None });
                Pieces { event: Some(Event::Read { address, bytes, writeback: None }), offset: 0, writeback }
            }
            _ => Pieces { event: Some(event), offset: 0, writeback: None },
        }
    }
}

impl Iterator for Pieces {
    type Item = (Event, usize);

    fn next(&mut self) -> Option<(Event, usize)> {
        let offset = self.offset;
        let Some(mut event) = self.event.take() else { return self.writeback.take().map(|event| (event, usize::MAX)) };
        if let Event::Read { address, bytes: Some(bytes), .. } | Event::Write { address, bytes: Some(bytes) } =
            &mut event
            && let Some(rest) = NonZeroU32::new(bytes.get().saturating_sub(PIECE_BYTES as u32))
        {
            let (first, address_of_first) = (NonZeroU32::new(PIECE_BYTES as u32)?, *address);
            (*address, *bytes) = (PhysicalAddress(address.0 + PIECE_BYTES), rest);
            self.event = Some(event);
            self.offset += PIECE_BYTES as usize;
            let access = if matches!(event, Event::Read { .. }) { AccessKind::Read } else { AccessKind::Write };
            return Some((Event::of_bytes(access, address_of_first, Some(first)), offset));
        }
        Some((event, offset))
    }
}
