//! A recorded trace, played without cores: its copies and fills one after another, at the addresses that were recorded.

use std::io::Read;

use dram_spec::{Cycle, PhysicalAddress};
use memctrl::{Completion, Request, RequestId, RequestSource};
use rowclone::{Operation, PlanError, Planner};
use trace_io::ramulatorsharp::{Reader, Record, TraceError};

/// What to do with a record that this memory cannot take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnusableRecords {
    /// Stop, and name it.
    #[default]
    Refuse,
    /// Leave it out, and count it.
    Skip,
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
}

impl ReplayError {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            ReplayError::Trace(error) => error.help(),
            ReplayError::Record { source, .. } => {
                format!("{}; or leave such records out with `unusable_records = \"skip\"`", source.help())
            }
        }
    }
}

/// A record that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its line.
    pub line: u64,
    /// Why.
    pub why: PlanError,
}

/// What a trace held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// `R` records: read, and counted.
    pub accesses: u64,
    /// `C` records played.
    pub copies: u64,
    /// `S` records played.
    pub fills: u64,
    /// Records left out because they reach past the end of the memory.
    pub skipped_outside: u64,
    /// Records left out because they touch a reserved row.
    pub skipped_reserved: u64,
    /// The first few records left out.
    pub skipped: Vec<Skipped>,
    /// `R` records whose address lies outside the memory: counted, for they are not played.
    pub accesses_outside: u64,
}

/// How many left-out records are named; all are counted.
const SKIPPED_NAMED: usize = 5;

/// Plays the copies and fills of a trace, each when the one before is done.
pub struct Replay<'a, R: Read> {
    reader: Reader<R>,
    planner: &'a Planner,
    unusable: UnusableRecords,
    counts: TraceCounts,
    error: Option<ReplayError>,
    upcoming: Option<Operation>,
    taken: u64,
    in_flight: bool,
    now: Cycle,
}

impl<'a, R: Read> Replay<'a, R> {
    /// From the first record.
    pub fn new(reader: Reader<R>, planner: &'a Planner, unusable: UnusableRecords) -> Replay<'a, R> {
        let mut replay = Replay {
            reader,
            planner,
            unusable,
            counts: TraceCounts::default(),
            error: None,
            upcoming: None,
            taken: 0,
            in_flight: false,
            now: Cycle::ZERO,
        };
        replay.advance();
        replay
    }

    /// What the trace held, or why it could not be played to its end.
    ///
    /// # Errors
    /// A malformed file, or an unusable record that was to be refused.
    pub fn into_counts(self) -> Result<TraceCounts, ReplayError> {
        self.error.map_or(Ok(self.counts), Err)
    }

    /// Reads on to the next copy or fill.
    fn advance(&mut self) {
        self.upcoming = None;
        while self.upcoming.is_none() && self.error.is_none() {
            match self.reader.next() {
                None => return,
                Some(Err(error)) => self.error = Some(error.into()),
                Some(Ok(record)) => self.enter(record),
            }
        }
    }

    fn enter(&mut self, record: Record) {
        let operation = match record {
            Record::Access { read, writeback, .. } => {
                let end = self.planner.map().geometry().bytes();
                let outside = |address: PhysicalAddress| address.0 >= end;
                self.counts.accesses += 1;
                self.counts.accesses_outside += u64::from(outside(read) || writeback.is_some_and(outside));
                return;
            }
            Record::Copy { dst, src, bytes, .. } => Operation::Copy { src, dst, bytes },
            Record::Fill { dst, value, bytes, .. } => Operation::Init { dst, bytes, value },
        };
        match (self.planner.check(&operation), self.unusable) {
            (Ok(()), _) => {
                match operation {
                    Operation::Copy { .. } => self.counts.copies += 1,
                    _ => self.counts.fills += 1,
                }
                self.upcoming = Some(operation);
            }
            (Err(source), UnusableRecords::Refuse) => {
                self.error = Some(ReplayError::Record { line: self.reader.line(), source });
            }
            (Err(why), UnusableRecords::Skip) => {
                match why {
                    PlanError::Reserved { .. } => self.counts.skipped_reserved += 1,
                    PlanError::PastEnd { .. } | PlanError::ZeroBytes => self.counts.skipped_outside += 1,
                }
                if self.counts.skipped.len() < SKIPPED_NAMED {
                    self.counts.skipped.push(Skipped { line: self.reader.line(), why });
                }
            }
        }
    }
}

impl<R: Read> RequestSource for Replay<'_, R> {
    fn next_arrival(&self) -> Option<Cycle> {
        (self.upcoming.is_some() && !self.in_flight).then_some(self.now)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let operation = self.upcoming.take()?;
        self.in_flight = true;
        let id = RequestId(self.taken);
        self.taken += 1;
        Some(Request { id, arrival, operation, payload: None })
    }

    fn complete(&mut self, completion: Completion) {
        self.in_flight = false;
        self.now = completion.done;
        self.advance();
    }
}
