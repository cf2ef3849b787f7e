//! Conversion of records to another format.

use std::io::Write;
use std::num::NonZeroU32;

use dram_spec::{AddressMap, Clock, Cycle, LINE_BYTES, Location, Min, PhysicalAddress};

use super::format::{Addresses, Format, RecordTiming};
use super::record::{Arrival, Event, Record, in_rank};
use super::writer::TraceWriter;
use crate::{ErrorKind, LineError};

/// Bytes of a line, as the size of an access.
const LINE: NonZeroU32 = NonZeroU32::new(LINE_BYTES as u32).expect("a line has bytes");

/// Coordinates in messages.
pub fn place_of(location: Location, group: Option<u8>) -> String {
    group.map_or_else(|| location.to_string(), |group| format!("bank group {group} with {location}"))
}

/// A memory system, as far as traces refer to it.
#[derive(Clone, Debug)]
pub struct ConvertSystem {
    /// Converts addresses to DRAM coordinates, and back.
    pub map: AddressMap,
    /// Converts times to clocks.
    pub clock: Clock,
}

/// Writes records of any format in one format.
///
/// Accesses are divided into lines, and writebacks become writes, where the format requires it.
/// Arrivals are converted, or dropped if the format has none: `docs/formats.md` lists what each
/// format loses.
#[derive(Debug)]
pub struct Converter<W> {
    writer: TraceWriter<W>,
    to: &'static Format,
    system: Option<ConvertSystem>,
    /// Whether records that the format cannot express are left out.
    drops: bool,
    dropped: u64,
    arrivals: Arrivals,
    scratch: Vec<u8>,
}

/// The time of the records so far, in clocks.
#[derive(Debug)]
pub(super) struct Arrivals {
    instructions_per_clock: f64,
    now: u64,
    /// The latest clock so far.
    latest: u64,
    /// Clock from which instructions count, and the instructions since.
    since: u64,
    instructions: u64,
}

impl<W: Write> Converter<W> {
    /// Creates a converter. `instructions_per_clock` converts instructions to clocks, finite and
    /// above 0.
    pub fn new(
        output: W,
        to: &'static Format,
        system: Option<ConvertSystem>,
        instructions_per_clock: f64,
        drops: bool,
    ) -> Self {
        let arrivals = Arrivals::new(instructions_per_clock);
        Converter { writer: TraceWriter::new(output, to), to, system, drops, dropped: 0, arrivals, scratch: Vec::new() }
    }

    /// Converts and writes a record.
    ///
    /// # Errors
    /// If the record cannot be converted, or the output fails. [`ErrorKind::Unsupported`] only if such records are not
    /// left out.
    pub fn push(&mut self, record: &Record) -> Result<(), LineError> {
        let (first, others) = self.arrival(record.arrival)?;
        let events = match self.events(record.event) {
            Ok(events) => events,
            Err(error) => return self.unless_dropped(error),
        };
        for (number, event) in events.into_iter().enumerate() {
            self.write(&Record { arrival: if number == 0 { first } else { others }, event })?;
        }
        Ok(())
    }

    /// Counts a record that is left out, or returns its error.
    fn unless_dropped(&mut self, error: LineError) -> Result<(), LineError> {
        if !(self.drops && matches!(error.kind(), ErrorKind::Unsupported)) {
            return Err(error);
        }
        self.dropped += 1;
        Ok(())
    }

    /// The output, and the number of records left out.
    pub fn finish(self) -> (W, u64) {
        (self.writer.into_inner(), self.dropped)
    }

    fn write(&mut self, record: &Record) -> Result<(), LineError> {
        match self.writer.write_record(record) {
            Ok(()) => Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::Other) => Err(self.to.lacks(record.event.what())),
            Err(error) => self.unless_dropped(error),
        }
    }

    /// Arrival of a record in the target format, and that of more records at the same time.
    fn arrival(&mut self, arrival: Arrival) -> Result<(Arrival, Arrival), LineError> {
        let to = self.to.timing;
        let one = |arrival| Ok((arrival, arrival));
        match (to, arrival) {
            (RecordTiming::None, _) | (RecordTiming::Times, Arrival::WhenTaken) => return one(Arrival::WhenTaken),
            (RecordTiming::Times, Arrival::AtPicoseconds(_)) => return one(arrival),
            (RecordTiming::Instructions, arrival) => {
                let instructions = if let Arrival::AfterInstructions(count) = arrival { count } else { 0 };
                return Ok((Arrival::AfterInstructions(instructions), Arrival::AfterInstructions(0)));
            }
            (RecordTiming::AtCycles | RecordTiming::AfterCycles | RecordTiming::Times, _) => {}
        }
        let before = self.arrivals.latest;
        let clock = self.system.as_ref().map(|system| system.clock);
        let now = self.arrivals.advance(arrival, clock).ok_or_else(|| self.no_system("a time"))??;
        match to {
            RecordTiming::AfterCycles => {
                // A record whose time precedes that of an earlier one arrives with that one.
                let passed = now.saturating_sub(before);
                Ok((Arrival::AfterCycles(dram_spec::Cycles(passed)), Arrival::AfterCycles(dram_spec::Cycles(0))))
            }
            _ => one(Arrival::AtCycle(Cycle(now))),
        }
    }

    /// The events that express an event in the target format.
    fn events(&mut self, event: Event) -> Result<Vec<Event>, LineError> {
        let mut events = vec![event];
        for step in [Self::without_coordinates, Self::without_writeback, Self::with_size, Self::with_coordinates] {
            let mut next = Vec::with_capacity(events.len());
            for event in events {
                let parts = if self.refusal(&event).is_none() { None } else { step(self, event)? };
                match parts {
                    Some(parts) => next.extend(parts),
                    None => next.push(event),
                }
            }
            events = next;
        }
        for event in &mut events {
            if self.refusal(event).is_some()
                && let Event::Copy { instructions, .. } | Event::Fill { instructions, .. } = event
            {
                *instructions = 0;
            }
            if let Some(what) = self.refusal(event) {
                return Err(self.to.lacks(what));
            }
        }
        Ok(events)
    }

    /// What the target format cannot express of an event; `None` if it expresses the event.
    fn refusal(&mut self, event: &Event) -> Option<&'static str> {
        let arrival = match self.to.timing {
            RecordTiming::None | RecordTiming::Times => Arrival::WhenTaken,
            RecordTiming::Instructions => Arrival::AfterInstructions(0),
            RecordTiming::AtCycles => Arrival::AtCycle(Cycle::ZERO),
            RecordTiming::AfterCycles => Arrival::AfterCycles(dram_spec::Cycles(0)),
        };
        self.scratch.clear();
        let record = Record { arrival, event: *event };
        self.to.write.map_or(Some("a trace"), |write| write(&record, &mut self.scratch).err())
    }

    fn without_coordinates(&mut self, event: Event) -> Result<Option<Vec<Event>>, LineError> {
        let Event::Located { access, location, group } = event else { return Ok(None) };
        let map = &self.system_for("an access by DRAM coordinates")?.map;
        let in_rank = in_rank(location, group, map.geometry().topology());
        let address = in_rank.and_then(|location| map.address(location));
        let address = address.ok_or_else(|| outside(&place_of(location, group)))?;
        Ok(Some(vec![Event::of_bytes(access, address, None)]))
    }

    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "a step of `events`")]
    fn without_writeback(&mut self, event: Event) -> Result<Option<Vec<Event>>, LineError> {
        let Event::Read { address, bytes, writeback: Some(victim) } = event else { return Ok(None) };
        let read = Event::Read { address, bytes, writeback: None };
        Ok(Some(vec![read, Event::Write { address: victim, bytes: None }]))
    }

    /// Divides an access with a size into lines; gives an access of a line its size.
    #[expect(clippy::unnecessary_wraps, reason = "a step of `events`")]
    fn with_size(&mut self, event: Event) -> Result<Option<Vec<Event>>, LineError> {
        let Ok((access, address, bytes)) = event.as_bytes() else { return Ok(None) };
        let first = address.0 / LINE_BYTES;
        let Some(bytes) = bytes else {
            let sized = Event::of_bytes(access, PhysicalAddress(first * LINE_BYTES), Some(LINE));
            return Ok(self.refusal(&sized).is_none().then(|| vec![sized]));
        };
        let lines = first..=address.0.saturating_add(u64::from(bytes.get()) - 1) / LINE_BYTES;
        let line = |number| Event::of_bytes(access, PhysicalAddress(number * LINE_BYTES), None);
        Ok(Some(lines.map(line).collect()))
    }

    fn with_coordinates(&mut self, event: Event) -> Result<Option<Vec<Event>>, LineError> {
        let (Ok((access, address, None)), Addresses::Coordinates) = (event.as_bytes(), self.to.addresses) else {
            return Ok(None);
        };
        let line = PhysicalAddress(address.0 / LINE_BYTES * LINE_BYTES);
        let map = &self.system_for("an address")?.map;
        let mut location = map.locate(line).ok_or_else(|| outside(&format!("address {address}")))?;
        let topology = map.geometry().topology();
        let mut group = None;
        if topology.has_groups() {
            group = Some(location.bank.bank / topology.banks_per_group);
            location.bank.bank %= topology.banks_per_group;
        }
        Ok(Some(vec![Event::Located { access, location, group }]))
    }

    /// The error for a record that can be converted only with the address map or the clock of a memory.
    fn no_system(&self, what: &str) -> LineError {
        let message = format!("{what} can be converted to the format `{}` only with a memory system", self.to.name);
        LineError::new(message, "name the memory, for example `--system configs/ddr3-1600-8gb-dimm.toml`")
    }

    fn system_for(&self, what: &'static str) -> Result<&ConvertSystem, LineError> {
        self.system.as_ref().ok_or_else(|| self.no_system(what))
    }
}

/// The error for an address or coordinates that the memory does not have.
fn outside(place: &str) -> LineError {
    LineError::new(format!("the memory system has no {place}"), "name a larger memory with `--system`")
}

/// The error for a time that is too late to be counted in clocks.
fn too_late() -> LineError {
    LineError::new("the time is too late", "correct the time")
}

impl Arrivals {
    pub(super) const fn new(instructions_per_clock: f64) -> Arrivals {
        Arrivals { instructions_per_clock, now: 0, latest: 0, since: 0, instructions: 0 }
    }

    /// The arrival of a record, independent of other records: a cycle, a time, or none.
    pub(super) fn absolute(&mut self, arrival: Arrival) -> Arrival {
        match arrival {
            Arrival::WhenTaken | Arrival::AtPicoseconds(_) => arrival,
            _ => match self.advance(arrival, None) {
                Some(Ok(at)) => Arrival::AtCycle(Cycle(at)),
                _ => arrival,
            },
        }
    }

    /// Advances to a record; `None` if a clock is required.
    fn advance(&mut self, arrival: Arrival, clock: Option<Clock>) -> Option<Result<u64, LineError>> {
        let at = match arrival {
            Arrival::WhenTaken => return Some(Ok(self.now)),
            Arrival::AfterInstructions(count) => {
                self.instructions = self.instructions.saturating_add(count);
                #[expect(clippy::cast_sign_loss, reason = "neither count is below 0")]
                let clocks = (self.instructions as f64 / self.instructions_per_clock).round() as u64;
                self.now = self.since.saturating_add(clocks);
                self.latest = self.latest.max(self.now);
                return Some(Ok(self.now));
            }
            Arrival::AtCycle(at) => at.0,
            Arrival::AfterCycles(cycles) => match self.latest.checked_add(cycles.0) {
                Some(at) => at,
                None => return Some(Err(too_late())),
            },
            Arrival::AtPicoseconds(ps) if ps <= u64::MAX / 16 => clock?.at_least(Min::ps(ps)).0,
            Arrival::AtPicoseconds(_) => return Some(Err(too_late())),
        };
        (self.now, self.since, self.instructions, self.latest) = (at, at, 0, self.latest.max(at));
        Some(Ok(at))
    }
}
