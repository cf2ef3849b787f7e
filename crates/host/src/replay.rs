//! A recorded trace, played without cores, and without a last-level cache: what was recorded goes to the memory.
//!
//! - A record arrives when the CPU has executed its instructions, at a set number of them in a clock of the memory, after
//!   the record before. Instructions are added up and the sum is divided, so that fractions of a clock are not lost.
//! - An access is the read of the line that holds its address and the write of its victim's, both at once. Nothing waits
//!   for them.
//! - A copy or fill holds the CPU up: what follows arrives no earlier than at its completion, plus the instructions in
//!   between. They have no instructions before them in the recorded formats; those that they name are what a CPU executes
//!   to copy or fill, and are executed after the completion where a CPU is the [`Copier`]. (How far a real CPU would overlap the
//!   two depends on the CPU; here it does not.)
//! - A record that reaches past the end of the memory is refused, or left out and counted; one on a reserved row too, if
//!   pages lie where they were recorded. Of an access that is left out the instructions are still executed. A copy or fill that
//!   is left out takes no time.
//! - With an allocator, addresses are names of pages; `docs/allocator.md` says what frames they get.

mod arrivals;
mod counts;
mod error;
mod pages;
mod pieces;
mod settings;

use std::io::Read;

use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use memctrl::{Completion, Request, RequestId, RequestSource};
use rowclone::{Operation, PlanError, Planner};
use trace_io::ramulatorsharp::{Reader, Record};

use crate::flat_memory::Contents;
use crate::scenario::payload;
use arrivals::Arrivals;
use counts::Shape;
use pages::{NoFrame, Pages};
use pieces::{Piece, Pieces};

pub use counts::{Skipped, TraceCounts};
pub use error::ReplayError;
pub use pages::PageReport;
pub use settings::{Copier, Placement, ReplaySettings, UnusableRecords};

/// What a trace held, and what became of its pages.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOutcome {
    /// What it held, and what of it was played.
    pub counts: TraceCounts,
    /// What the allocator did, if there was one.
    pub pages: Option<PageReport>,
}

/// Plays a trace: accesses as they arrive, and each copy or fill to its end before the record after it.
///
/// It holds one record at a time, and the frame of each page.
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
    /// The record that is being played.
    current: Current,
    /// Its next request, and when it arrives.
    upcoming: Option<(Operation, Cycle)>,
    taken: u64,
    /// The operations of a copy or fill that were taken and are not done, and when the last one was that is.
    in_flight: u64,
    done: Cycle,
    /// What the CPU executes when they are done, before it goes on.
    instructions_after: u64,
}

/// What is left of a record behind its next request.
#[derive(Clone, Debug)]
enum Current {
    /// A line to be written back.
    Access { writeback: Option<Operation> },
    /// A copy or fill, whole.
    AsRecorded,
    /// A copy or fill, page by page, and the value of a fill.
    Placed { pieces: Pieces, value: u8 },
}

impl<R: Read> Replay<R> {
    /// Before the first record. With `contents`, writebacks carry data made from it.
    ///
    /// # Errors
    /// Settings that make no sense. What is wrong with the trace is said by [`Self::into_outcome`].
    pub fn new(
        reader: Reader<R>,
        planner: &Planner,
        settings: ReplaySettings,
        contents: Option<Contents>,
    ) -> Result<Replay<R>, ReplayError> {
        let ReplaySettings { unusable, instructions_per_clock, copier, placement } = settings;
        let pages = match placement {
            Placement::AsRecorded => None,
            Placement::Allocator(settings) => Some(Pages::new(planner.map(), settings)?),
        };
        let mut replay = Replay {
            reader,
            planner: planner.clone(),
            unusable,
            copier,
            arrivals: Arrivals::new(instructions_per_clock)?,
            pages,
            contents,
            counts: TraceCounts::default(),
            error: None,
            current: Current::Access { writeback: None },
            upcoming: None,
            taken: 0,
            in_flight: 0,
            done: Cycle::ZERO,
            instructions_after: 0,
        };
        replay.advance();
        Ok(replay)
    }

    /// What the trace held, or why it could not be played to its end.
    ///
    /// # Errors
    /// A malformed file; an unusable record that was to be refused; no frame left; a record that arrives too late.
    pub fn into_outcome(self) -> Result<ReplayOutcome, ReplayError> {
        let Replay { counts, pages, error, .. } = self;
        error.map_or(Ok(ReplayOutcome { counts, pages: pages.map(Pages::into_report) }), Err)
    }

    /// Goes on to the next request: of this record or of one after it.
    fn advance(&mut self) {
        self.upcoming = None;
        while self.upcoming.is_none() && self.error.is_none() {
            let entered = match self.reader.next() {
                None => return,
                Some(Err(error)) => Err(error.into()),
                Some(Ok(record)) => self.enter(record),
            };
            self.error = entered.err();
        }
    }

    fn enter(&mut self, record: Record) -> Result<(), ReplayError> {
        match record {
            Record::Access { read, writeback, instructions } => {
                self.counts.accesses += 1;
                self.arrivals.execute(instructions);
                let read = self.line(read, |address| Operation::Read { address, bytes: LINE_BYTES })?;
                self.counts.reads += u64::from(read.is_some());
                let write = |address| Operation::Write { address, bytes: LINE_BYTES };
                let writeback = writeback.map_or(Ok(None), |address| self.line(address, write))?;
                self.counts.writebacks += u64::from(writeback.is_some());
                self.current = Current::Access { writeback: if read.is_some() { writeback } else { None } };
                read.or(writeback).map_or(Ok(()), |operation| self.announce(operation))
            }
            Record::Copy { dst, src, bytes, instructions } => {
                self.enter_bulk(Operation::Copy { src, dst, bytes }, 0, instructions)
            }
            Record::Fill { dst, value, bytes, instructions } => {
                self.enter_bulk(Operation::Init { dst, bytes, value }, value, instructions)
            }
        }
    }

    /// The access to the line of an address, where it lies; nothing if it is left out.
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

    /// The next piece of a copy or fill, if there is one.
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

    /// An operation arrives now.
    fn announce(&mut self, operation: Operation) -> Result<(), ReplayError> {
        let now = self.arrivals.now().ok_or(ReplayError::TooLate { line: self.reader.line() })?;
        self.upcoming = Some((operation, now));
        Ok(())
    }

    /// Whether an operation can be played; if not, it is refused or counted.
    fn usable(&mut self, operation: &Operation, shape: Shape) -> Result<bool, ReplayError> {
        let checked = match self.pages {
            None => self.planner.check(operation),
            // Names of pages: nothing of the trace lies in the rows that they would be in.
            Some(_) => self.check_inside(operation),
        };
        match (checked, self.unusable) {
            (Ok(()), _) => Ok(true),
            (Err(source), UnusableRecords::Refuse) => Err(ReplayError::Record { line: self.reader.line(), source }),
            (Err(why), UnusableRecords::Skip) => {
                self.counts.skip(self.reader.line(), shape, why);
                Ok(false)
            }
        }
    }

    /// Whether an operation lies in the memory, wherever in it.
    fn check_inside(&self, operation: &Operation) -> Result<(), PlanError> {
        match self.planner.check(operation) {
            Err(PlanError::Reserved { .. }) => {}
            checked => return checked,
        }
        // A reserved row of the source is named before the end of the destination is looked at.
        let (address, bytes) = (operation.target(), operation.bytes());
        let end = PhysicalAddress(self.planner.map().geometry().bytes());
        if address.0.checked_add(bytes).is_none_or(|last| last > end.0) {
            return Err(PlanError::PastEnd { operand: "dst", address, bytes, end });
        }
        Ok(())
    }

    fn out_of_frames(&self, NoFrame { page }: NoFrame) -> ReplayError {
        let (frames, held) = self.pages.as_ref().map_or((0, 0), Pages::frames);
        ReplayError::OutOfFrames { line: self.reader.line(), page, frames, held }
    }
}

impl<R: Read> RequestSource for Replay<R> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.upcoming.map(|(_, arrival)| arrival)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let (operation, arrival) = self.upcoming.take_if(|(_, arrival)| *arrival <= now)?;
        let id = RequestId(self.taken);
        self.taken += 1;
        let entered = match &mut self.current {
            Current::Access { writeback } => {
                if let Some(writeback) = writeback.take() {
                    self.announce(writeback)
                } else {
                    self.advance();
                    Ok(())
                }
            }
            Current::AsRecorded | Current::Placed { .. } => {
                self.in_flight += 1;
                self.enter_piece()
            }
        };
        if let Err(error) = entered {
            self.error = Some(error);
        }
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        Some(Request { id, arrival, operation, payload })
    }

    fn complete(&mut self, completion: Completion) {
        match completion.operation {
            Operation::Read { .. } | Operation::Write { .. } => return,
            Operation::Copy { .. } | Operation::Init { .. } => {}
        }
        self.in_flight -= 1;
        self.done = self.done.max(completion.done);
        if self.in_flight == 0 && self.upcoming.is_none() && self.error.is_none() {
            self.arrivals.resume(self.done);
            self.arrivals.execute(self.instructions_after);
            self.advance();
        }
    }
}
