//! Segments in flight on a channel: what each would do next, kept until something happens to it.

use dram_core::{Device, Kind};
use dram_spec::{BankId, Command, Cycle};

use crate::channel::ChannelState;
use crate::copy::{Age, Copying};
use crate::scheduler::bits;
use crate::slots::Slots;
use crate::spot::{MOST_BANKS, index};

/// The segments that hold banks of a channel, each at a place of its own here.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    all: [Flight; MOST_BANKS],
    /// Places, as a mask, that are used.
    there: u32,
    /// Those that something has happened to since they were last looked at.
    stale: u32,
    /// Those whose next column access is a TRANSFER.
    with_transfers: u32,
    /// The row command that could come next in each bank.
    rows: [Row; MOST_BANKS],
    /// Banks, as a mask, where there is one.
    with_rows: u32,
    /// The oldest with a column access, and whether that is known.
    oldest: Option<usize>,
    oldest_is_known: bool,
    /// Whether the oldest goes on, and for how long.
    pub(crate) run: Option<Run>,
}

/// A segment that goes first with its column accesses, while nothing happens but these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Its place.
    pub(crate) place: usize,
    /// The banks, as a mask, whose accesses may have a command: none of them has an older RD or WR.
    pub(crate) usable: u32,
    /// When the first row command can go, at the earliest: column accesses go up to then.
    pub(crate) until: Cycle,
}

/// A segment in flight, as far as it goes over one channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight {
    /// Its slot.
    pub(crate) slot: u32,
    /// Which of its streams this is.
    pub(crate) stream: usize,
    pub(crate) age: Age,
    /// The column access that comes next, once its rows are open and its data is on the way.
    pub(crate) access: Option<Column>,
    /// Banks, as a mask, where a row command of it could come next.
    rows: u32,
}

/// A command that could come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) command: Command,
    /// What its rank holds back.
    pub(crate) kind: Kind,
    /// Until when its banks hold it back.
    pub(crate) held_by_banks: Cycle,
}

impl Next {
    fn new(device: &Device, command: Command) -> Next {
        // A rank that sleeps is woken by its own command; then this is asked again.
        let (kind, held_by_banks) = device.held_in_banks(&command).unwrap_or((Kind::Pre, Cycle::NEVER));
        Next { command, kind, held_by_banks }
    }

    /// The same of the next column, after a RD or WR.
    #[inline]
    pub(crate) fn further(&mut self, device: &Device) {
        if let Command::Read { column, .. } | Command::Write { column, .. } = &mut self.command {
            let to = dram_spec::Column(column.0 + 1);
            self.go_to(device, to);
        }
    }

    /// The same of another column, after a RD or WR.
    #[inline]
    fn go_to(&mut self, device: &Device, to: dram_spec::Column) {
        if let Command::Read { bank, column, .. } | Command::Write { bank, column, .. } = &mut self.command {
            *column = to;
            self.held_by_banks = device.held_by_bank(*bank, self.kind);
        }
    }
}

/// A column access, and from when on its data allows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) next: Next,
    pub(crate) data_from: Cycle,
}

/// A row command, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) next: Next,
    /// The place of its segment.
    pub(crate) place: usize,
    /// The bank among those of the stream, in the order in which the plan uses them.
    pub(crate) lane: usize,
    /// The age of the segment, then that order.
    pub(crate) order: u64,
}

impl Default for Row {
    fn default() -> Row {
        let command = Command::Precharge { bank: BankId::default() };
        Row { next: Next { command, kind: Kind::Pre, held_by_banks: Cycle::NEVER }, place: 0, lane: 0, order: 0 }
    }
}

impl Flights {
    pub(crate) fn is_empty(&self) -> bool {
        self.there == 0
    }

    /// One more, which holds banks that no other does.
    pub(crate) fn push(&mut self, slot: u32, stream: usize) {
        let place = (!self.there).trailing_zeros() as usize;
        assert!(place < MOST_BANKS, "each holds a bank");
        self.all[place] = Flight { slot, stream, ..Flight::default() };
        self.there |= 1 << place;
        self.oldest_is_known = false;
        self.touch(place);
    }

    /// The segment in a slot holds no bank of the channel any more.
    pub(crate) fn leave(&mut self, slot: u32) {
        if let Some(place) = self.place_of(slot) {
            self.touch(place);
            let others = !(1 << place);
            self.there &= others;
            self.stale &= others;
            self.with_transfers &= others;
            self.oldest_is_known = false;
        }
    }

    fn place_of(&self, slot: u32) -> Option<usize> {
        bits(self.there).find(|&place| self.all[place].slot == slot)
    }

    /// What any of them would do next may be another now.
    pub(crate) fn touch_all(&mut self) {
        bits(self.there).for_each(|place| self.touch(place));
    }

    /// What one of them would do next may be another now; so may be who goes first.
    pub(crate) fn touch(&mut self, place: usize) {
        self.stale |= 1 << place;
        // Perhaps it holds a bank no more, and another will.
        self.with_rows &= !std::mem::take(&mut self.all[place % MOST_BANKS].rows);
        self.run = None;
    }

    /// The segment at a place.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> &Flight {
        &self.all[place % MOST_BANKS]
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Flight)> {
        bits(self.there).map(|place| (place, self.at(place)))
    }

    /// The row command that could come next in a bank.
    pub(crate) fn row_in(&self, bank: usize) -> &Row {
        &self.rows[bank % MOST_BANKS]
    }

    /// The row commands that could come next in a rank, by bank.
    pub(crate) fn rows_of(&self, rank: usize) -> impl Iterator<Item = (usize, &Row)> {
        bits(self.with_rows & 0xFF << (8 * rank)).map(|bank| (bank, self.row_in(bank)))
    }

    /// Whether the next column access of any is a TRANSFER.
    pub(crate) fn any_transfers(&self) -> bool {
        self.with_transfers != 0
    }

    /// The oldest with a column access.
    #[inline]
    pub(crate) fn oldest(&mut self) -> Option<usize> {
        if !std::mem::replace(&mut self.oldest_is_known, true) {
            let with_access = self.iter().filter(|(_, flight)| flight.access.is_some());
            self.oldest = with_access.min_by_key(|(_, flight)| flight.age).map(|(place, _)| place);
        }
        self.oldest
    }

    fn look_at(&mut self, place: usize, device: &Device, segments: &Slots<Copying>, staging_lines: usize) {
        let flight = &mut self.all[place];
        let segment = &segments[flight.slot];
        let stream = &segment.streams[flight.stream];
        let before = (flight.age, flight.access.is_some());
        flight.age = segment.age();
        flight.access = None;
        if let (false, Some((kind, command))) = (segment.giving_way, stream.next_access()) {
            let from = segment.from(kind, device.timings().write_latency(), staging_lines);
            flight.access = from.map(|data_from| Column { next: Next::new(device, command), data_from });
        }
        if before != (flight.age, flight.access.is_some()) {
            self.oldest_is_known = false;
        }
        let is_transfer = flight.access.as_ref().is_some_and(|access| access.next.kind == Kind::Transfer);
        self.with_transfers = self.with_transfers & !(1 << place) | u32::from(is_transfer) << place;
        for (lane, bank, command) in stream.row_commands(segment.giving_way) {
            let bank = index(bank);
            let order = flight.age.then(lane);
            self.rows[bank] = Row { next: Next::new(device, command), place, lane, order };
            flight.rows |= 1 << bank;
        }
        self.with_rows |= flight.rows;
    }
}

impl ChannelState {
    /// Finds out what segments would do next, where that is not known.
    #[inline]
    pub(crate) fn look_at_flights(&mut self, segments: &Slots<Copying>, staging_lines: usize) {
        for place in bits(std::mem::take(&mut self.flights.stale)) {
            self.flights.look_at(place, &self.device, segments, staging_lines);
        }
    }

    /// A segment has made a column access, and would make another like it, of that column.
    #[inline]
    pub(crate) fn goes_on(&mut self, place: usize, to: dram_spec::Column) {
        if let Some(Column { next, .. }) = &mut self.flights.all[place % MOST_BANKS].access {
            next.go_to(&self.device, to);
        }
    }

    /// When a segment's column access can go.
    #[inline]
    pub(crate) fn earliest_next(&self, next: &Next) -> Cycle {
        next.held_by_banks.max(self.device.held_by(next.command.rank()).until(next.kind))
    }

    /// What the segment in a slot would do next, may be another now; so may be who goes first.
    pub(crate) fn touch(&mut self, slot: u32) {
        if let Some(place) = self.flights.place_of(slot) {
            self.flights.touch(place);
        }
        self.forget_prepared();
        self.look_at = Cycle::ZERO;
    }
}
