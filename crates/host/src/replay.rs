//! Replay of a trace without cores and without a last-level cache: each recorded access goes to the
//! memory.
//!
//! - A record with instructions arrives when the CPU has executed them after the preceding record,
//!   at a fixed number per memory clock. Instructions are summed and the sum is divided, so that
//!   fractions of a clock are not lost. A copy or fill blocks the following records of this kind:
//!   they arrive no earlier than at its completion, plus the instructions in between.
//! - A record with a time arrives at that time. A record with neither arrives when it is taken,
//!   which is no earlier than the preceding record. Neither waits for completions. The controller
//!   orders requests to the same bytes.
//! - An access is a read or a write of the line that contains its address, or a read and the
//!   simultaneous writeback of the line it evicts.
//! - The instructions of a copy or fill are those that a CPU executes to perform it. They follow
//!   the completion if the [`Copier`] is the CPU. (How far a real CPU overlaps the two depends on
//!   the CPU; the replay does not overlap them.)
//! - A record that reaches past the end of the memory or covers a reserved row is an error, or is
//!   skipped and counted. The instructions of a skipped access are still executed. A skipped copy
//!   or fill takes no time.
//! - With an allocator, recorded addresses are virtual and no record is skipped;
//!   `docs/allocator.md` describes the allocation of frames.

mod arrivals;
mod counts;
mod error;
mod pages;
mod pieces;
mod settings;

use std::io::Read;

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use rowclone::{Operation, Planner};
use trace_io::trace::{Arrival, Event, Reader, Record};

use crate::flat_memory::Contents;
use crate::scenario::payload;
use arrivals::{Arrivals, NoArrival};
use counts::Shape;
use pages::{NoFrame, Pages};
use pieces::{Piece, Pieces};

pub use counts::{Skipped, TraceCounts};
pub use error::ReplayError;
pub use pages::PageReport;
pub use settings::{Copier, Placement, ReplaySettings, UnusableRecords};

/// Counts of a replay: the records of the trace, and its pages.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOutcome {
    /// Records read and played.
    pub counts: TraceCounts,
    /// Counts of the allocator, if the replay uses one.
    pub pages: Option<PageReport>,
}

/// A trace as a request source.
///
/// It stores at most two records, and the frame of each page.
pub struct Replay<R: Read> {
    reader: Reader<R>,
    planner: Planner,
    unusable: UnusableRecords,
    copier: Copier,
    arrivals: Arrivals,
    pages: Option<Pages>,
    contents: Option<Contents>,
    counts: TraceCounts,
    error: Option<ReplayError>,
    /// The record being played.
    current: Current,
    /// Next request of the record.
    upcoming: Option<Upcoming>,
    /// The following record, blocked by copies or fills in flight.
    blocked: Option<Record>,
    taken: u64,
    /// Copies and fills in flight, and the latest completion of one.
    in_flight: u64,
    done: Cycle,
    /// Instructions that the CPU executes after these completions, before it resumes.
    instructions_after: u64,
}

/// The next request.
#[derive(Clone, Copy, Debug)]
struct Upcoming {
    operation: Operation,
    /// Arrival, or the earliest cycle at which the request may be taken.
    at: Cycle,
    /// Whether the request arrives when it is taken.
    when_taken: bool,
}

/// The remainder of a record after its next request.
#[derive(Clone, Debug)]
enum Current {
    /// An access: the writeback that remains, if any.
    Access { writeback: Option<Operation> },
    /// A copy or fill as one operation.
    AsRecorded,
    /// A copy or fill by pages, and the value of a fill.
    Placed { pieces: Pieces, value: u8 },
}

impl<R: Read> Replay<R> {
    /// Starts before the first record. With `contents`, writes carry data derived from it.
    ///
    /// # Errors
    /// If a setting is invalid. [`Self::into_outcome`] returns errors of the trace.
    pub fn new(
        reader: Reader<R>,
        planner: &Planner,
        settings: ReplaySettings,
        contents: Option<Contents>,
    ) -> Result<Replay<R>, ReplayError> {
        let ReplaySettings { unusable, clock, instructions_per_clock, copier, placement } = settings;
        let pages = match placement {
            Placement::AsRecorded => None,
            Placement::Allocator(settings) => Some(Pages::new(planner.map(), settings)?),
        };
        let mut replay = Replay {
            reader,
            planner: planner.clone(),
            unusable,
            copier,
            arrivals: Arrivals::new(clock, instructions_per_clock)?,
            pages,
            contents,
            counts: TraceCounts::default(),
            error: None,
            current: Current::Access { writeback: None },
            upcoming: None,
            blocked: None,
            taken: 0,
            in_flight: 0,
            done: Cycle::ZERO,
            instructions_after: 0,
        };
        replay.advance();
        Ok(replay)
    }

    /// Returns the counts, or why the trace could not be replayed to its end.
    ///
    /// # Errors
    /// If the file is malformed, a record is unusable and must not be skipped, no frame is free, or
    /// a record arrives too late or before a preceding one.
    pub fn into_outcome(self) -> Result<ReplayOutcome, ReplayError> {
        let Replay { counts, pages, error, .. } = self;
        error.map_or(Ok(ReplayOutcome { counts, pages: pages.map(Pages::into_report) }), Err)
    }

    /// Advances to the next record that may arrive.
    fn advance(&mut self) {
        self.upcoming = None;
        while self.upcoming.is_none() && self.error.is_none() {
            let record = match self.reader.next() {
                None => return,
                Some(Err(error)) => {
                    self.error = Some(error.into());
                    return;
                }
                Some(Ok(record)) => record,
            };
            if self.in_flight > 0 && matches!(record.arrival, Arrival::AfterInstructions(_)) {
                self.blocked = Some(record);
                return;
            }
            self.enter(record);
        }
    }

    /// Starts a record.
    fn enter(&mut self, record: Record) {
        let left_out = self.counts.left_out();
        self.counts.records += 1;
        let arrives = self.arrivals.advance(record.arrival).map_err(|why| self.no_arrival(why));
        let entered = arrives.and_then(|()| self.enter_event(record.event));
        self.error = entered.err();
        if let (Arrival::WhenTaken, Some(upcoming)) = (record.arrival, &mut self.upcoming) {
            upcoming.when_taken = true;
        }
        self.counts.skipped_records += u64::from(self.counts.left_out() > left_out);
    }

    fn enter_event(&mut self, event: Event) -> Result<(), ReplayError> {
        let write = |address| Operation::Write { address, bytes: LINE_BYTES };
        match event {
            Event::Read { address, writeback } => {
                self.counts.accesses += 1;
                let read = self.line(address, |address| Operation::Read { address, bytes: LINE_BYTES })?;
                self.counts.reads += u64::from(read.is_some());
                let writeback = writeback.map_or(Ok(None), |address| self.line(address, write))?;
                self.counts.writebacks += u64::from(writeback.is_some());
                self.current = Current::Access { writeback: if read.is_some() { writeback } else { None } };
                read.or(writeback).map_or(Ok(()), |operation| self.announce(operation))
            }
            Event::Write { address } => {
                self.counts.accesses += 1;
                let write = self.line(address, write)?;
                self.counts.writes += u64::from(write.is_some());
                self.current = Current::Access { writeback: None };
                write.map_or(Ok(()), |operation| self.announce(operation))
            }
            Event::Copy { dst, src, bytes, instructions } => {
                self.enter_bulk(Operation::Copy { src, dst, bytes }, 0, instructions)
            }
            Event::Fill { dst, value, bytes, instructions } => {
                self.enter_bulk(Operation::Init { dst, bytes, value }, value, instructions)
            }
        }
    }

    /// The access to the line of a recorded address, at its physical address; `None` if it is
    /// skipped.
    fn line(
        &mut self,
        address: PhysicalAddress,
        access: impl Fn(PhysicalAddress) -> Operation,
    ) -> Result<Option<Operation>, ReplayError> {
        let address = PhysicalAddress(address.0 / LINE_BYTES * LINE_BYTES);
        if !self.usable(&access(address), Shape::Access)? {
            return Ok(None);
        }
        let placed = match &mut self.pages {
            None => Ok(address),
            Some(pages) => pages.place(address),
        };
        placed.map(|address| Some(access(address))).map_err(|no_frame| self.out_of_frames(no_frame))
    }

    fn enter_bulk(&mut self, operation: Operation, value: u8, instructions: u64) -> Result<(), ReplayError> {
        if !self.usable(&operation, Shape::Bulk)? {
            return Ok(());
        }
        match operation {
            Operation::Copy { .. } => self.counts.copies += 1,
            _ => self.counts.fills += 1,
        }
        self.instructions_after = match self.copier {
            Copier::Cpu => instructions,
            Copier::Controller => 0,
        };
        if self.pages.is_none() {
            self.current = Current::AsRecorded;
            return self.announce(operation);
        }
        self.current = Current::Placed { pieces: Pieces::new(&operation), value };
        self.enter_piece()
    }

    /// Starts the next piece of a copy or fill, if any.
    fn enter_piece(&mut self) -> Result<(), ReplayError> {
        let (Current::Placed { pieces, value }, Some(pages)) = (&mut self.current, &mut self.pages) else {
            return Ok(());
        };
        let value = *value;
        let Some(piece) = pieces.next() else { return Ok(()) };
        let Piece { src, bytes, .. } = piece;
        let placed = match src {
            Some(src) => pages.place_copy(src, &piece).map(|(src, dst)| Operation::Copy { src, dst, bytes }),
            None => pages.place_fill(value, &piece).map(|dst| Operation::Init { dst, bytes, value }),
        };
        let operation = placed.map_err(|no_frame| self.out_of_frames(no_frame))?;
        self.announce(operation)
    }

    /// Sets the next request of the current record.
    fn announce(&mut self, operation: Operation) -> Result<(), ReplayError> {
        let at = self.arrivals.now().map_err(|why| self.no_arrival(why))?;
        self.upcoming = Some(Upcoming { operation, at, when_taken: false });
        Ok(())
    }

    /// Whether an operation can be played; if not, it is skipped or an error. With an allocator
    /// every operation can be played, as its addresses are virtual.
    fn usable(&mut self, operation: &Operation, shape: Shape) -> Result<bool, ReplayError> {
        if self.pages.is_some() {
            return Ok(true);
        }
        match (self.planner.check(operation), self.unusable) {
            (Ok(()), _) => Ok(true),
            (Err(source), UnusableRecords::Refuse) => Err(ReplayError::Record { line: self.reader.line(), source }),
            (Err(why), UnusableRecords::Skip) => {
                self.counts.skip(self.reader.line(), shape, why);
                Ok(false)
            }
        }
    }

    fn no_arrival(&self, why: NoArrival) -> ReplayError {
        let line = self.reader.line();
        match why {
            NoArrival::TooLate => ReplayError::TooLate { line },
            NoArrival::OutOfOrder { at, before } => ReplayError::OutOfOrder { line, at, before },
            NoArrival::NoRate => ReplayError::NoRate { line },
        }
    }

    fn out_of_frames(&self, NoFrame { page }: NoFrame) -> ReplayError {
        let (frames, held) = self.pages.as_ref().map_or((0, 0), Pages::frames);
        ReplayError::OutOfFrames { line: self.reader.line(), page, frames, held }
    }
}

impl<R: Read> RequestSource for Replay<R> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.upcoming.map(|upcoming| upcoming.at)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let Upcoming { operation, at, when_taken } = self.upcoming.take_if(|upcoming| upcoming.at <= now)?;
        let arrival = if when_taken { now } else { at };
        if when_taken {
            self.arrivals.resume(now);
        }
        let id = RequestId(self.taken);
        self.taken += 1;
        let entered = match &mut self.current {
            Current::Access { writeback } => writeback.take().map_or(Ok(()), |writeback| self.announce(writeback)),
            Current::AsRecorded | Current::Placed { .. } => {
                self.in_flight += 1;
                self.enter_piece()
            }
        };
        self.error = entered.err();
        if self.upcoming.is_none() && self.error.is_none() {
            self.advance();
        }
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    fn complete(&mut self, completion: Completion) {
        match completion.operation {
            Operation::Read { .. } | Operation::Write { .. } => return,
            Operation::Copy { .. } | Operation::Init { .. } => {}
        }
        self.in_flight -= 1;
        self.done = self.done.max(completion.done);
        if self.in_flight == 0
            && let Some(record) = self.blocked.take()
        {
            self.arrivals.resume(self.done);
            self.arrivals.execute(self.instructions_after);
            self.enter(record);
            if self.upcoming.is_none() && self.error.is_none() {
                self.advance();
            }
        }
    }
}
