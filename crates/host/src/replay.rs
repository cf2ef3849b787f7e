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
//!   the completion if the [`ReplayCopier`] is the CPU. (How far a real CPU overlaps the two depends on
//!   the CPU; the replay does not overlap them.)
//! - A record that reaches past the end of the usable memory or covers a reserved row is an error,
//!   or is skipped and counted, by [`UnusableRecords`]. The instructions of a skipped access are still executed. A
//!   skipped copy or fill takes no time.
//! - With an allocator, recorded addresses are virtual and no record is skipped;
//!   `docs/allocator.md` describes the allocation of frames.
//! - An event of the operating system is played on a simulated kernel. A page fault takes CPU time of its own;
//!   its zeroing or copy, and the following records, arrive after it.

mod arrivals;
mod counts;
mod error;
mod events;
mod pages;
mod pieces;
mod processes;
mod settings;

use std::io::Read;
use std::sync::Arc;

use dram_spec::{Cycle, Cycles, PhysicalAddress};
use dram_spec::{RequestId, SourceId};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::ZeroOnFree;
use rowclone::{Operation, Planner};
use trace_io::trace::{AccessKind, Addresses, Arrival, Event, Record, TraceReader};

use crate::aged_memory::AgedMemories;
use crate::contents::Contents;
use crate::sequence::payload;
use crate::virtual_memory::{EventLog, VirtualCheck, WrongByte};
use arrivals::{Arrivals, NoArrival};
use pages::Pages;
use pieces::Pieces;
use processes::RecordedProcesses;

pub use arrivals::LateRecords;
pub use counts::{Skipped, TraceCounts};
pub use error::{ReplayError, Unusable};
pub use pages::PageReport;
pub use settings::{RESERVED_PERCENT_MAX, ReplayCopier, ReplaySettings, Timing, UnusableRecords};

/// Counts of a replay: the records of the trace, and its pages.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOutcome {
    /// Whether records arrived at times of their own.
    pub has_times: bool,
    /// Records read and played.
    pub counts: TraceCounts,
    /// Counts of the allocator, if the replay uses one.
    pub pages: Option<PageReport>,
    /// The first byte that a process reads wrong at a virtual address, if contents are modeled.
    pub wrong: Option<WrongByte>,
}

/// A trace as a request source.
///
/// It stores at most two records, and the frame of each page.
pub struct Replay<R: Read> {
    reader: TraceReader<R>,
    planner: Planner,
    unusable: UnusableRecords,
    copier: ReplayCopier,
    /// Time of a page fault.
    fault: Cycles,
    arrivals: Arrivals,
    pages: Option<Pages>,
    /// The kernel on which events of the operating system are played.
    processes: Option<RecordedProcesses>,
    contents: Option<Contents>,
    check: Option<VirtualCheck>,
    /// Data of the current record and their first address, where contents are modeled.
    data: Option<(PhysicalAddress, Vec<u8>)>,
    counts: TraceCounts,
    error: Option<Box<ReplayError>>,
    /// The record being played, and whether a part of it was skipped.
    current: Current,
    is_skipped: bool,
    /// Operations of the simulated kernel that are left of the record.
    operations: std::vec::IntoIter<Operation>,
    /// Whether the requests of the record arrive when they are accepted.
    when_taken: bool,
    /// Next request of the record, and its data.
    upcoming: Option<Upcoming>,
    line_data: Option<LineData>,
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

/// Bytes that the trace writes, and their offset in the line.
type LineData = (usize, Vec<u8>);

/// The next request.
#[derive(Clone, Copy, Debug)]
struct Upcoming {
    operation: Operation,
    /// Arrival, or the earliest cycle at which the request may be taken.
    at: Cycle,
    /// Whether the request arrives when it is accepted.
    when_taken: bool,
}

/// The remainder of the current record, after its next request.
#[derive(Clone, Debug)]
enum Current {
    /// Lines of an access.
    Lines(AccessRest),
    /// Nothing is left.
    Nothing,
    /// [`Replay::operations`].
    Kernel,
    /// A copy or fill by pages, and the value of a fill.
    Placed { pieces: Pieces, value: u8 },
}

/// A record that has begun.
#[derive(Clone, Copy, Debug)]
enum Entered {
    /// An access.
    Lines(AccessRest),
    /// Another record, of which the first request is set or not.
    Other(bool),
}

/// The rest of an access: at least a line, or the writeback.
#[derive(Clone, Copy, Debug)]
struct AccessRest {
    access: AccessKind,
    next: PhysicalAddress,
    /// Number of lines.
    left: u64,
    /// The line written back after them.
    writeback: Option<PhysicalAddress>,
}

impl<R: Read> Replay<R> {
    /// Starts before the first record. With `contents`, writes carry data derived from it.
    ///
    /// # Errors
    /// If a setting is invalid. [`Self::into_outcome`] returns errors of the trace.
    pub fn new(
        reader: TraceReader<R>,
        planner: &Planner,
        settings: ReplaySettings,
        contents: Option<Contents>,
    ) -> Result<Replay<R>, ReplayError> {
        Replay::with_memories(&AgedMemories::default(), reader, planner, settings, contents)
    }

    /// Starts as [`Replay::new`] does; an aged memory is built only if `memories` does not keep it.
    ///
    /// # Errors
    /// As of [`Replay::new`].
    pub fn with_memories(
        memories: &AgedMemories,
        reader: TraceReader<R>,
        planner: &Planner,
        settings: ReplaySettings,
        contents: Option<Contents>,
    ) -> Result<Replay<R>, ReplayError> {
        let ReplaySettings { unusable, clock, timing, copier, allocator, fault } = settings;
        let map = planner.map();
        let (pages, processes) = match allocator {
            None => (None, None),
            Some(settings) if reader.format().addresses == Addresses::Processes => (
                None,
                Some(RecordedProcesses::new(settings, memories.memory(&settings, map)?.into_kernel(ZeroOnFree::Off))),
            ),
            Some(settings) => (Some(Pages::new(settings, memories.memory(&settings, map)?)), None),
        };
        let mut replay = Replay {
            reader,
            planner: planner.clone(),
            unusable,
            copier,
            fault,
            arrivals: Arrivals::new(clock, timing)?,
            pages,
            processes,
            check: contents.clone().map(VirtualCheck::new),
            contents,
            data: None,
            counts: TraceCounts::default(),
            error: None,
            current: Current::Nothing,
            is_skipped: false,
            operations: Vec::new().into_iter(),
            when_taken: false,
            upcoming: None,
            line_data: None,
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
        match log_of(&mut replay.pages, &mut replay.processes) {
            None => replay.check = None,
            Some(log) if replay.check.is_none() => log.stop(),
            Some(_) => {}
        }
        replay.advance();
        Ok(replay)
    }

    /// Returns the counts, or why the trace could not be replayed to its end.
    ///
    /// # Errors
    /// If the file is malformed, a record is unusable and must not be skipped, no frame is free, or
    /// a record arrives after the latest possible cycle.
    pub fn into_outcome(mut self) -> Result<ReplayOutcome, ReplayError> {
        let wrong = self.check.take().filter(|_| self.error.is_none()).and_then(|check| {
            self.pages.iter_mut().for_each(Pages::compare);
            self.processes.iter_mut().for_each(RecordedProcesses::compare_all);
            check.finish(log_of(&mut self.pages, &mut self.processes)?)
        });
        let Replay { arrivals, counts, pages, processes, error, unusable, .. } = self;
        let (skipped, records) = (counts.skipped_records, counts.records);
        if error.is_none()
            && unusable == UnusableRecords::SkipReserved
            && skipped * 100 > records * RESERVED_PERCENT_MAX
        {
            return Err(ReplayError::ReservedRecords { skipped, records });
        }
        let counts = TraceCounts { late: arrivals.late(), ..counts };
        let of_processes = processes.map(RecordedProcesses::into_report);
        let pages = of_processes.or_else(|| pages.map(Pages::into_report));
        error.map_or(Ok(ReplayOutcome { has_times: arrivals.has_times(), counts, pages, wrong }), |error| Err(*error))
    }

    /// Advances to the next request, of the current record or of a following one that may arrive.
    fn advance(&mut self) {
        while !self.step().unwrap_or_else(|error| {
            self.error = Some(error);
            true
        }) {}
    }

    /// Plays a part of the current record, or begins the next one; `false` if that is no request, and
    /// a further step may be one.
    fn step(&mut self) -> Result<bool, Box<ReplayError>> {
        let lines = match self.current {
            Current::Lines(lines) => lines,
            Current::Placed { .. } | Current::Kernel => return self.enter_piece(),
            Current::Nothing => {
                let Some((arrival, event)) = self.next_record()? else { return Ok(true) };
                match self.enter(arrival, &event)? {
                    Entered::Lines(lines) => lines,
                    Entered::Other(is_request) => return Ok(is_request),
                }
            }
        };
        self.enter_line(lines)
    }

    /// The next record, with its arrival under this timing; `None` if there is none, or copies or fills
    /// in flight block it.
    fn next_record(&mut self) -> Result<Option<(Arrival, Event)>, Box<ReplayError>> {
        let record = if let Some(record) = self.blocked {
            self.blocked = None;
            record
        } else {
            let Some(record) = self.reader.read().map_err(|error| Box::new(error.into()))? else { return Ok(None) };
            *record
        };
        let arrival = self.arrivals.of(record.arrival);
        if self.in_flight > 0 && matches!(arrival, Arrival::AfterInstructions(_)) {
            self.blocked = Some(record);
            return Ok(None);
        }
        Ok(Some((arrival, record.event)))
    }

    /// Starts a record.
    fn enter(&mut self, arrival: Arrival, event: &Event) -> Result<Entered, Box<ReplayError>> {
        self.is_skipped = false;
        self.when_taken = arrival == Arrival::WhenTaken;
        self.counts.records += 1;
        self.arrivals.advance(arrival).map_err(|why| Box::new(self.no_arrival(why)))?;
        self.enter_event(event)
    }

    /// Sets the next request of the current record.
    fn announce(&mut self, operation: Operation) -> Result<bool, Box<ReplayError>> {
        let at = self.arrivals.now().map_err(|why| Box::new(self.no_arrival(why)))?;
        self.upcoming = Some(Upcoming { operation, at, when_taken: self.when_taken });
        Ok(true)
    }

    /// Whether the window permits another request in flight.
    const fn has_room(&self) -> bool {
        self.taken - self.served < self.window
    }

    #[cold]
    fn no_arrival(&self, why: NoArrival) -> ReplayError {
        let line = self.reader.line();
        match why {
            NoArrival::TooLate => ReplayError::TooLate { line },
            NoArrival::NoRate => ReplayError::NoRate { line },
        }
    }
}

/// What processes do, if addresses are virtual.
fn log_of<'a>(pages: &'a mut Option<Pages>, processes: &'a mut Option<RecordedProcesses>) -> Option<&'a mut EventLog> {
    let of_processes = processes.as_mut().map(|processes| &mut processes.log);
    of_processes.or(pages.as_mut().map(|pages| &mut pages.log))
}

impl<R: Read> RequestSource for Replay<R> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.upcoming.as_ref().filter(|_| self.has_room()).map(|upcoming| upcoming.at)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let has_room = self.has_room();
        let Upcoming { operation, at, when_taken } =
            self.upcoming.take_if(|upcoming| has_room && upcoming.at <= now)?;
        if when_taken {
            self.arrivals.resume(now);
        }
        let id = RequestId(self.taken);
        self.taken += 1;
        self.in_flight += u64::from(operation.is_copy());
        let mut payload = self.contents.as_ref().and_then(|contents| payload(contents, id.0, &operation));
        if let Some(payload) = &mut payload
            && let Some((offset, bytes)) = self.line_data.take()
        {
            let line = Arc::make_mut(payload);
            line[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
        self.advance();
        if let (Some(check), Some(log)) = (&mut self.check, log_of(&mut self.pages, &mut self.processes)) {
            check.request(log, &operation, payload.as_deref());
        }
        let arrival = (!when_taken).then_some(at);
        Some(Request { id, source: SourceId::default(), arrival, operation, payload })
    }

    fn wants_accesses(&self) -> bool {
        self.window < u64::MAX
    }

    fn complete(&mut self, completion: Completion) {
        self.served += 1;
        if !completion.operation.is_copy() {
            return;
        }
        self.in_flight -= 1;
        self.done = self.done.max(completion.done);
        if self.in_flight == 0 && self.blocked.is_some() {
            self.arrivals.resume(self.done);
            self.arrivals.execute(self.instructions_after);
            self.advance();
        }
    }
}
