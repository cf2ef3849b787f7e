//! A recorded trace, played without cores: its reads and writebacks as they come, its copies and fills one at a time.

use std::collections::VecDeque;
use std::io::Read;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{Cycle, Cycles, LINE_BYTES, PhysicalAddress};
use memctrl::{Completion, Request, RequestId, RequestSource};
use os_alloc_sim::Report;
use rowclone::{Operation, PlanError, Planner};
use trace_io::ramulatorsharp::{Reader, Record, TraceError};

use crate::allocator_settings::{AllocatorError, AllocatorSettings};
use crate::flat_memory::Contents;
use crate::pages::{NoFrameLeft, Pages};
use crate::scenario::payload;

/// What to do with what this memory cannot take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnusableRecords {
    /// Stop, and name it.
    #[default]
    Refuse,
    /// Leave it out, and count it.
    Skip,
}

/// Who copies and fills: only a CPU spends instructions on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copier {
    /// A CPU: what comes after a copy or a fill comes later by the instructions that were recorded for it.
    Cpu,
    /// The memory controller.
    Controller,
}

/// Where the pages of a trace lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// Where they were recorded.
    AsRecorded,
    /// Where an allocator puts them.
    Allocator(AllocatorSettings),
}

/// How a trace is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// What to do with records that the memory cannot take.
    pub unusable: UnusableRecords,
    /// Instructions that pass in a clock of the memory; more than 0.
    pub instructions_per_clock: f64,
    /// Who copies and fills.
    pub copier: Copier,
    /// Where the pages lie.
    pub placement: Placement,
}

/// Why a trace could not be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is not what it should be.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A record outside the memory or on a reserved row.
    #[error("line {line}: {source}")]
    Record {
        /// The line of the record.
        line: u64,
        /// What is wrong with it.
        source: PlanError,
    },
    /// More pages than the memory has frames.
    #[error("line {line}: {source}")]
    Full {
        /// The line of the record.
        line: u64,
        /// Which page.
        source: NoFrameLeft,
    },
    /// An allocator that cannot be had.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// A speed that is none.
    #[error("`instructions_per_clock` is {found}, but must be a number above 0")]
    Speed {
        /// What was given.
        found: f64,
    },
}

impl ReplayError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            ReplayError::Trace(error) => error.help(),
            ReplayError::Record { source, .. } => {
                format!("{}; or leave such records out with `unusable_records = \"skip\"`", source.help())
            }
            ReplayError::Full { .. } => "take a larger memory, or a lower `utilisation`".to_owned(),
            ReplayError::Allocator(error) => error.help(),
            ReplayError::Speed { .. } => {
                "a 3-wide core at 2.67 GHz beside DDR3-1066 retires at most 15 instructions in a clock; try 5"
                    .to_owned()
            }
        }
    }
}

/// A record, or a part of one, that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its line.
    pub line: u64,
    /// Why.
    pub why: PlanError,
}

/// What of a trace was played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// `R` records.
    pub accesses: u64,
    /// Their reads that were played.
    pub reads: u64,
    /// Their writebacks that were played.
    pub writebacks: u64,
    /// `C` records played.
    pub copies: u64,
    /// `S` records played.
    pub fills: u64,
    /// Reads, writebacks, copies and fills left out because they reach past the end of the memory.
    pub skipped_outside: u64,
    /// The same because they touch a reserved row.
    pub skipped_reserved: u64,
    /// The first few left out.
    pub skipped: Vec<Skipped>,
}

/// What came of playing a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOutcome {
    /// What was played.
    pub counts: TraceCounts,
    /// What the allocator did, where there was one.
    pub pages: Option<Report>,
}

/// How many left-out records are named; all are counted.
const SKIPPED_NAMED: usize = 5;

/// Memory clocks from instructions: the whole clocks of all instructions since some instant, so that no fraction is lost on the way.
#[derive(Clone, Copy, Debug)]
struct Pace {
    per_clock: f64,
    since: Cycle,
    instructions: u64,
}

impl Pace {
    fn now(&self) -> Cycle {
        self.since + Cycles((self.instructions as f64 / self.per_clock) as u64)
    }

    /// All starts again at an instant.
    fn resume(&mut self, at: Cycle, instructions: u64) {
        (self.since, self.instructions) = (at, instructions);
    }
}

/// Plays a trace. A record arrives so many instructions after the one before; after a copy or a fill, when that is complete.
pub struct Replay<'a, R: Read> {
    reader: Reader<R>,
    planner: &'a Planner,
    settings: ReplaySettings,
    pages: Option<Pages>,
    contents: Option<Contents>,
    counts: TraceCounts,
    error: Option<ReplayError>,
    /// What the present record asks for, and is not taken yet.
    upcoming: VecDeque<Operation>,
    arrival: Cycle,
    pace: Pace,
    /// Operations that hold up what comes after: how many are not complete.
    blocking: u64,
    /// When the last of those that are was.
    done: Cycle,
    /// The instructions that a CPU spends on the copy or fill under way.
    own_instructions: u64,
    taken: u64,
}

impl<'a, R: Read> Replay<'a, R> {
    /// From the first record. Writebacks carry data made from `contents`, where contents are modelled.
    ///
    /// # Errors
    /// A speed that is none, or an allocator that cannot be had.
    pub fn new(
        reader: Reader<R>,
        planner: &'a Planner,
        settings: ReplaySettings,
        contents: Option<Contents>,
    ) -> Result<Replay<'a, R>, ReplayError> {
        let per_clock = settings.instructions_per_clock;
        if !(per_clock.is_finite() && per_clock > 0.0) {
            return Err(ReplayError::Speed { found: per_clock });
        }
        let pages = match &settings.placement {
            Placement::AsRecorded => None,
            Placement::Allocator(allocator) => Some(Pages::new(allocator, planner.map())?),
        };
        let mut replay = Replay {
            reader,
            planner,
            settings,
            pages,
            contents,
            counts: TraceCounts::default(),
            error: None,
            upcoming: VecDeque::new(),
            arrival: Cycle::ZERO,
            pace: Pace { per_clock, since: Cycle::ZERO, instructions: 0 },
            blocking: 0,
            done: Cycle::ZERO,
            own_instructions: 0,
            taken: 0,
        };
        replay.advance();
        Ok(replay)
    }

    /// What the allocator has done so far, where there is one.
    pub fn pages(&self) -> Option<Report> {
        self.pages.as_ref().map(Pages::report)
    }

    /// What was played, or why not to the end.
    ///
    /// # Errors
    /// A malformed file, an unusable record that was to be refused, or a full memory.
    pub fn into_outcome(self) -> Result<ReplayOutcome, ReplayError> {
        let pages = self.pages();
        self.error.map_or(Ok(ReplayOutcome { counts: self.counts, pages }), Err)
    }

    /// Reads on to the next record that asks for anything.
    fn advance(&mut self) {
        while self.upcoming.is_empty() && self.error.is_none() {
            match self.reader.next() {
                None => return,
                Some(Err(error)) => self.error = Some(error.into()),
                Some(Ok(record)) => {
                    if let Err(error) = self.enter(record) {
                        self.error = Some(error);
                        self.upcoming.clear();
                    }
                }
            }
        }
    }

    fn enter(&mut self, record: Record) -> Result<(), ReplayError> {
        match record {
            Record::Access { read, writeback, instructions } => {
                self.pace.instructions += instructions;
                self.counts.accesses += 1;
                let line = |at: PhysicalAddress| PhysicalAddress(at.0 / LINE_BYTES * LINE_BYTES);
                if self.usable(&Operation::Read { address: line(read), bytes: LINE_BYTES })? {
                    self.counts.reads += 1;
                    let address = self.placed(line(read))?;
                    self.upcoming.push_back(Operation::Read { address, bytes: LINE_BYTES });
                }
                if let Some(writeback) = writeback
                    && self.usable(&Operation::Write { address: line(writeback), bytes: LINE_BYTES })?
                {
                    self.counts.writebacks += 1;
                    let address = self.placed(line(writeback))?;
                    self.upcoming.push_back(Operation::Write { address, bytes: LINE_BYTES });
                }
            }
            Record::Copy { dst, src, bytes, instructions } => {
                if self.usable(&Operation::Copy { src, dst, bytes })? {
                    self.counts.copies += 1;
                    self.own_instructions = instructions;
                    self.copy(src, dst, bytes)?;
                }
            }
            Record::Fill { dst, value, bytes, instructions } => {
                if self.usable(&Operation::Init { dst, bytes, value })? {
                    self.counts.fills += 1;
                    self.own_instructions = instructions;
                    self.fill(dst, bytes, value)?;
                }
            }
        }
        self.arrival = self.pace.now();
        Ok(())
    }

    /// Whether this memory can take an operation at its recorded address. Where an allocator places the pages, reserved rows do
    /// not matter there: the address is a name.
    fn usable(&mut self, operation: &Operation) -> Result<bool, ReplayError> {
        let why = match (self.planner.check(operation), &self.pages) {
            (Ok(()), _) | (Err(PlanError::Reserved { .. }), Some(_)) => return Ok(true),
            (Err(why), _) => why,
        };
        if self.settings.unusable == UnusableRecords::Refuse {
            return Err(ReplayError::Record { line: self.reader.line(), source: why });
        }
        match why {
            PlanError::Reserved { .. } => self.counts.skipped_reserved += 1,
            PlanError::PastEnd { .. } | PlanError::ZeroBytes => self.counts.skipped_outside += 1,
        }
        if self.counts.skipped.len() < SKIPPED_NAMED {
            self.counts.skipped.push(Skipped { line: self.reader.line(), why });
        }
        Ok(false)
    }

    /// Where an address lies once its page is placed.
    fn placed(&mut self, recorded: PhysicalAddress) -> Result<PhysicalAddress, ReplayError> {
        let Some(pages) = &mut self.pages else { return Ok(recorded) };
        let frame = pages.frame(recorded.0 / FRAME_BYTES).map_err(|source| full(&self.reader, source))?;
        Ok(PhysicalAddress(frame.address().0 + recorded.0 % FRAME_BYTES))
    }

    fn copy(&mut self, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> Result<(), ReplayError> {
        if self.pages.is_none() {
            self.upcoming.push_back(Operation::Copy { src, dst, bytes });
            return Ok(());
        }
        let mut copied = 0;
        while copied < bytes {
            let (from, to) = (src.0 + copied, dst.0 + copied);
            let left = |at: u64| FRAME_BYTES - at % FRAME_BYTES;
            let part = left(from).min(left(to)).min(bytes - copied);
            let (src_page, dst_page) = (from / FRAME_BYTES, to / FRAME_BYTES);
            let operation = match &mut self.pages {
                Some(pages) if part == FRAME_BYTES && src_page != dst_page => {
                    let (src, dst) = pages.copy(src_page, dst_page).map_err(|source| full(&self.reader, source))?;
                    Operation::Copy { src: src.address(), dst: dst.address(), bytes: part }
                }
                _ => {
                    let (src, dst) = (self.placed(PhysicalAddress(from))?, self.placed(PhysicalAddress(to))?);
                    Operation::Copy { src, dst, bytes: part }
                }
            };
            self.upcoming.push_back(operation);
            copied += part;
        }
        Ok(())
    }

    fn fill(&mut self, dst: PhysicalAddress, bytes: u64, value: u8) -> Result<(), ReplayError> {
        if self.pages.is_none() {
            self.upcoming.push_back(Operation::Init { dst, bytes, value });
            return Ok(());
        }
        let mut filled = 0;
        while filled < bytes {
            let to = dst.0 + filled;
            let part = (FRAME_BYTES - to % FRAME_BYTES).min(bytes - filled);
            let dst = match &mut self.pages {
                Some(pages) if part == FRAME_BYTES => {
                    pages.fill(to / FRAME_BYTES, value).map_err(|source| full(&self.reader, source))?.address()
                }
                _ => self.placed(PhysicalAddress(to))?,
            };
            self.upcoming.push_back(Operation::Init { dst, bytes: part, value });
            filled += part;
        }
        Ok(())
    }
}

fn full<R: Read>(reader: &Reader<R>, source: NoFrameLeft) -> ReplayError {
    ReplayError::Full { line: reader.line(), source }
}

impl<R: Read> RequestSource for Replay<'_, R> {
    fn next_arrival(&self) -> Option<Cycle> {
        let blocks = |operation: &Operation| matches!(operation, Operation::Copy { .. } | Operation::Init { .. });
        // What a record asks for arrives together; what comes after a copy or a fill waits for it.
        let next = self.upcoming.front()?;
        (self.blocking == 0 || blocks(next)).then_some(self.arrival)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let operation = self.upcoming.pop_front()?;
        let id = RequestId(self.taken);
        self.taken += 1;
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        if matches!(operation, Operation::Copy { .. } | Operation::Init { .. }) {
            self.blocking += 1;
        }
        if self.upcoming.is_empty() && self.blocking == 0 {
            self.advance();
        }
        Some(Request { id, arrival, operation, payload })
    }

    fn complete(&mut self, completion: Completion) {
        if !matches!(completion.operation, Operation::Copy { .. } | Operation::Init { .. }) {
            return;
        }
        self.blocking -= 1;
        self.done = self.done.max(completion.done);
        if self.blocking == 0 && self.upcoming.is_empty() {
            let own = if self.settings.copier == Copier::Cpu { self.own_instructions } else { 0 };
            self.pace.resume(self.done, own);
            self.advance();
        }
    }
}
