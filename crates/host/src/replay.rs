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
//! - Played back to back, every record arrives when it is taken. So it does with a window, where a
//!   request is taken only while fewer requests than the window are in flight (a closed loop).
//! - An access is a read or a write of each line that contains a byte of it, or a read and the
//!   simultaneous writeback of the line it evicts.
//! - The instructions of a copy or fill are those that a CPU executes to perform it. They follow
//!   the completion if the [`Copier`] is the CPU. (How far a real CPU overlaps the two depends on
//!   the CPU; the replay does not overlap them.)
//! - A record that reaches past the end of the memory or covers a reserved row is an error, or is
//!   skipped and counted. The instructions of a skipped access are still executed. A skipped copy
//!   or fill takes no time.
//! - With an allocator, recorded addresses are virtual and no record is skipped;
//!   `docs/allocator.md` describes the allocation of frames.
//! - An event of the operating system is played on a simulated kernel: the zeroing and the copies
//!   of its page faults arrive at the time of the event.

mod arrivals;
mod counts;
mod error;
mod pages;
mod pieces;
mod processes;
mod settings;

use std::io::Read;
use std::num::NonZeroU32;

use dram_spec::address::Location;
use dram_spec::{Cycle, LINE_BYTES, PhysicalAddress};
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use rowclone::{Operation, Planner};
use trace_io::trace::{Access, Arrival, Event, OsEvent, Reader, Record};

use crate::flat_memory::Contents;
use crate::scenario::payload;
use arrivals::{Arrivals, NoArrival};
use counts::Shape;
use pages::{NoFrame, Pages};
use pieces::{Piece, Pieces};
use processes::Processes;

pub use counts::{Skipped, TraceCounts};
pub use error::{ReplayError, Unusable};
pub use pages::PageReport;
pub use settings::{Copier, Placement, ReplaySettings, Timing, UnusableRecords};

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
    /// The kernel on which events of the operating system are played, from the first event on.
    processes: Option<Processes>,
    placement: Placement,
    contents: Option<Contents>,
    counts: TraceCounts,
    error: Option<Box<ReplayError>>,
    /// The record being played, and whether a part of it was skipped.
    current: Current,
    is_skipped: bool,
    /// Next request of the record.
    upcoming: Option<Upcoming>,
    /// The following record, blocked by copies or fills in flight.
    blocked: Option<Record>,
    /// Requests taken; the most that may be in flight; requests completed.
    taken: u64,
    window: u64,
    served: u64,
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
    /// An access: its next line, the number of lines left, and the writeback after them.
    Lines { access: Access, next: PhysicalAddress, left: u64, writeback: Option<PhysicalAddress> },
    /// A copy or fill as one operation.
    AsRecorded,
    /// Operations of the simulated kernel.
    Kernel { operations: std::vec::IntoIter<Operation> },
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
        let ReplaySettings { unusable, clock, timing, copier, placement } = settings;
        let pages = match placement {
            Placement::AsRecorded => None,
            Placement::Allocator(settings) => Some(Pages::new(planner.map(), settings)?),
        };
        let mut replay = Replay {
            reader,
            planner: planner.clone(),
            unusable,
            copier,
            arrivals: Arrivals::new(clock, timing)?,
            pages,
            processes: None,
            placement,
            contents,
            counts: TraceCounts::default(),
            error: None,
            current: Current::AsRecorded,
            is_skipped: false,
            upcoming: None,
            blocked: None,
            taken: 0,
            window: match timing {
                Timing::Window(requests) => u64::from(requests.get()),
                _ => u64::MAX,
            },
            served: 0,
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
        let Replay { counts, pages, processes, error, .. } = self;
        let of_processes = processes.map(Processes::into_report);
        let pages = of_processes.or_else(|| pages.map(Pages::into_report));
        error.map_or(Ok(ReplayOutcome { counts, pages }), |error| Err(*error))
    }

    /// Advances to the next record that may arrive.
    fn advance(&mut self) {
        self.upcoming = None;
        while self.upcoming.is_none() && self.error.is_none() {
            match self.reader.next() {
                None => return,
                Some(Err(error)) => return self.fail(Box::new(error.into())),
                Some(Ok(record)) => {
                    let arrival = self.arrivals.of(record.arrival);
                    if self.in_flight > 0 && matches!(arrival, Arrival::AfterInstructions(_)) {
                        self.blocked = Some(record);
                        return;
                    }
                    self.enter(arrival, &record.event);
                }
            }
        }
    }

    /// Starts a record.
    #[inline]
    fn enter(&mut self, arrival: Arrival, event: &Event) {
        self.is_skipped = false;
        self.counts.records += 1;
        let arrives = self.arrivals.advance(arrival).map_err(|why| Box::new(self.no_arrival(why)));
        if let Err(error) = arrives.and_then(|()| self.enter_event(event)) {
            return self.fail(error);
        }
        if let (Arrival::WhenTaken, Some(upcoming)) = (arrival, &mut self.upcoming) {
            upcoming.when_taken = true;
        }
    }

    /// Ends the replay.
    #[cold]
    fn fail(&mut self, error: Box<ReplayError>) {
        self.error = Some(error);
    }

    #[inline]
    fn enter_event(&mut self, event: &Event) -> Result<(), Box<ReplayError>> {
        match *event {
            Event::Read { address, bytes, writeback } => self.enter_access(Access::Read, address, bytes, writeback),
            Event::Write { address, bytes } => self.enter_access(Access::Write, address, bytes, None),
            Event::Located { access, location } => match self.located(location)? {
                Some(address) => self.enter_access(access, address, None, None),
                None => Ok(()),
            },
            Event::Copy { dst, src, bytes, instructions } => {
                self.enter_bulk(Operation::Copy { src, dst, bytes }, 0, instructions.into())
            }
            Event::Fill { dst, value, bytes, instructions } => {
                self.enter_bulk(Operation::Init { dst, bytes, value }, value, instructions.into())
            }
            Event::Os(event) => self.enter_os(event),
        }
    }

    #[inline]
    fn enter_access(
        &mut self,
        access: Access,
        address: PhysicalAddress,
        bytes: Option<NonZeroU32>,
        writeback: Option<PhysicalAddress>,
    ) -> Result<(), Box<ReplayError>> {
        self.counts.accesses += 1;
        let within = address.0 % LINE_BYTES;
        let left = bytes.map_or(1, |bytes| (within + u64::from(bytes.get())).div_ceil(LINE_BYTES));
        self.current = Current::Lines { access, next: PhysicalAddress(address.0 - within), left, writeback };
        self.enter_line()
    }

    /// Starts the next line of an access, or its writeback.
    #[inline]
    fn enter_line(&mut self) -> Result<(), Box<ReplayError>> {
        while let Current::Lines { access, next, left, writeback } = &mut self.current {
            let (access, address, is_writeback) = if *left > 0 {
                let line = (*access, *next, false);
                (*next, *left) = (PhysicalAddress(next.0.wrapping_add(LINE_BYTES)), *left - 1);
                line
            } else if let Some(victim) = writeback.take() {
                (Access::Write, PhysicalAddress(victim.0 / LINE_BYTES * LINE_BYTES), true)
            } else {
                break;
            };
            let Some(address) = self.line(access, address)? else { continue };
            let (count, operation) = match access {
                Access::Read => (&mut self.counts.reads, Operation::Read { address, bytes: LINE_BYTES }),
                Access::Write if is_writeback => {
                    (&mut self.counts.writebacks, Operation::Write { address, bytes: LINE_BYTES })
                }
                Access::Write => (&mut self.counts.writes, Operation::Write { address, bytes: LINE_BYTES }),
            };
            *count += 1;
            return self.announce(operation);
        }
        Ok(())
    }

    /// Physical address of the line of an access; `None` if it is skipped.
    #[inline]
    fn line(&mut self, access: Access, address: PhysicalAddress) -> Result<Option<PhysicalAddress>, Box<ReplayError>> {
        if let Some(pages) = &mut self.pages {
            return pages.place(address).map(Some).map_err(|no_frame| Box::new(self.out_of_frames(no_frame)));
        }
        let operation = match access {
            Access::Read => Operation::Read { address, bytes: LINE_BYTES },
            Access::Write => Operation::Write { address, bytes: LINE_BYTES },
        };
        Ok(self.usable(&operation, Shape::Access)?.then_some(address))
    }

    /// Physical address of coordinates; `None` if they are skipped.
    fn located(&mut self, location: Location) -> Result<Option<PhysicalAddress>, Box<ReplayError>> {
        if self.pages.is_some() {
            return Err(Box::new(ReplayError::PlacedCoordinates { line: self.reader.line() }));
        }
        let map = self.planner.map();
        if let Some(address) = map.address(location) {
            return Ok(Some(address));
        }
        let geometry = map.geometry();
        let memory = format!(
            "channels {}, ranks {}, banks {}, rows {}, columns {} (of a line each)",
            geometry.channels(),
            geometry.ranks(),
            geometry.banks(),
            geometry.rows_per_bank(),
            geometry.columns()
        );
        let why = Unusable::Location { location, memory };
        self.counts.accesses += 1;
        self.refuse(Shape::Access, why).map(|()| None)
    }

    /// Plays an event on the simulated kernel.
    fn enter_os(&mut self, event: OsEvent) -> Result<(), Box<ReplayError>> {
        let line = self.reader.line();
        let Placement::Allocator(settings) = self.placement else {
            return Err(Box::new(ReplayError::NoKernel { line }));
        };
        self.counts.os_events += 1;
        if self.processes.is_none() {
            let processes = Processes::new(self.planner.map(), settings);
            self.processes = Some(processes.map_err(|error| Box::new(error.into()))?);
        }
        let Some(processes) = &mut self.processes else { return Ok(()) };
        let operations = processes.play(event).map_err(|NoFrame { page }| {
            let (frames, held) = processes.frames();
            Box::new(ReplayError::OutOfFrames { line, page, frames, held })
        })?;
        for operation in &operations {
            match operation {
                Operation::Copy { .. } => self.counts.copies += 1,
                _ => self.counts.fills += 1,
            }
        }
        self.instructions_after = 0;
        self.current = Current::Kernel { operations: operations.into_iter() };
        self.enter_piece()
    }

    fn enter_bulk(&mut self, operation: Operation, value: u8, instructions: u64) -> Result<(), Box<ReplayError>> {
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

    /// Starts the next piece of a copy or fill, or the next operation of the kernel, if any.
    fn enter_piece(&mut self) -> Result<(), Box<ReplayError>> {
        if let Current::Kernel { operations } = &mut self.current {
            return operations.next().map_or(Ok(()), |operation| self.announce(operation));
        }
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
        let operation = placed.map_err(|no_frame| Box::new(self.out_of_frames(no_frame)))?;
        self.announce(operation)
    }

    /// Sets the next request of the current record.
    fn announce(&mut self, operation: Operation) -> Result<(), Box<ReplayError>> {
        let at = self.arrivals.now().map_err(|why| Box::new(self.no_arrival(why)))?;
        self.upcoming = Some(Upcoming { operation, at, when_taken: false });
        Ok(())
    }

    /// Whether an operation can be played; if not, it is skipped or an error. With an allocator
    /// every operation can be played, as its addresses are virtual.
    fn usable(&mut self, operation: &Operation, shape: Shape) -> Result<bool, Box<ReplayError>> {
        if self.pages.is_some() {
            return Ok(true);
        }
        match self.planner.check(operation) {
            Ok(()) => Ok(true),
            Err(why) => self.refuse(shape, why.into()).map(|()| false),
        }
    }

    /// Skips and counts a part of the record, or returns the error.
    #[cold]
    fn refuse(&mut self, shape: Shape, why: Unusable) -> Result<(), Box<ReplayError>> {
        let line = self.reader.line();
        match self.unusable {
            UnusableRecords::Refuse => Err(Box::new(ReplayError::Record { line, source: why })),
            UnusableRecords::Skip => {
                self.counts.skip(line, shape, why);
                self.counts.skipped_records += u64::from(!std::mem::replace(&mut self.is_skipped, true));
                Ok(())
            }
        }
    }

    /// Whether the window permits another request in flight.
    const fn has_room(&self) -> bool {
        self.taken - self.served < self.window
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
        self.upcoming.as_ref().filter(|_| self.has_room()).map(|upcoming| upcoming.at)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let has_room = self.has_room();
        let Upcoming { operation, at, when_taken } =
            self.upcoming.take_if(|upcoming| has_room && upcoming.at <= now)?;
        let arrival = if when_taken { now } else { at };
        if when_taken {
            self.arrivals.resume(now);
        }
        let id = RequestId(self.taken);
        self.taken += 1;
        let entered = match self.current {
            Current::Lines { .. } => self.enter_line(),
            Current::AsRecorded | Current::Placed { .. } | Current::Kernel { .. } => {
                self.in_flight += 1;
                self.enter_piece()
            }
        };
        if let Err(error) = entered {
            self.fail(error);
        } else if self.upcoming.is_none() {
            self.advance();
        }
        let payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    fn complete(&mut self, completion: Completion) {
        self.served += 1;
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
            self.enter(record.arrival, &record.event);
            if self.upcoming.is_none() && self.error.is_none() {
                self.advance();
            }
        }
    }
}
