//! The caches: levels, lines in flight, and coherence.
//!
//! A requester has an L1 and an L2, if there are any, and a last-level cache, which it may share. It
//! accesses the lines that its caches hold at its [`Port`]; the answer to a
//! [`request`](Caches::request) of another line is a ticket that completes when the data
//! [arrive](Caches::arrived). Copies, devices and the kernel look up, invalidate and insert lines
//! (`coherence`, `snoop`). The caches send nothing: their requests to memory wait until they are
//! [taken](Caches::take_requests).

mod access;
mod coherence;
mod copied;
mod inject;
mod latest;
mod level;
mod line;
mod mshr;
mod port;
mod prefetches;
mod requests;
#[cfg(test)]
mod tests;
mod write_buffer;

use std::ops::Range;

use self::copied::Absent;
use self::level::Level;
use self::line::Removed;
use self::mshr::{Mshrs, User};
use self::prefetches::{Found, Prefetches};
use self::requests::LineRequests;
use self::write_buffer::WriteBuffer;
use super::counters::{LineCounts, PrefetchCounts, Purpose};
use super::settings::{MachineSettings, StoreMiss, WritePolicy};

pub use self::access::{Access, LoadOrStore, OnMiss, StoreData};
pub use self::coherence::{DirtyData, Invalidated, Scope};
pub use self::level::Way;
pub use self::line::{LineNumber, LineRequest, LineRequestKind, LineSize, LineState};
pub use self::mshr::Ticket;
pub use self::port::{Away, Lookup, Port};
pub use self::prefetches::Arrival;

/// The caches of all requesters.
#[derive(Debug)]
pub struct Caches {
    line_size: LineSize,
    write: WritePolicy,
    /// Whether a store whose line the last level lacks goes past it.
    passes_stores: bool,
    has_prefetcher: bool,
    are_hits_requests: bool,
    last_level: Vec<Level>,
    requesters: Vec<RequesterCaches>,
    requests: LineRequests,
    absent_copied: Absent,
    /// Lines of which nothing is prefetched, by copy.
    barred: Vec<(u64, Range<LineNumber>)>,
}

/// What a requester has of its own, apart from a private last-level cache.
#[derive(Debug)]
struct RequesterCaches {
    /// L1 and L2, as far as there are any.
    upper: Vec<Level>,
    /// Index of its last-level cache.
    last_level: usize,
    mshrs: Mshrs,
    write_buffer: WriteBuffer,
    prefetches: Prefetches,
    /// Accesses, by purpose.
    counts: [LineCounts; Purpose::ALL.len()],
    /// Misses of the program that are its first accesses to lines of copies since.
    misses_after_copies: u64,
}

/// Caches that a requester lacks because its accesses were recorded behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// None.
    None,
    /// The L1.
    L1,
    /// The L1 and the L2.
    UpperLevels,
}

/// What a request lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// An MSHR, or a place: all lines of the set are in flight.
    Line,
    /// An entry of the write buffer.
    WriteEntry,
}

/// Answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It cannot be accepted yet.
    Refused(Lack),
    /// The access is done; its data are there after some cycles.
    Hit {
        /// Core cycles from a load to its data.
        cycles: u64,
        /// The place of the line.
        way: Way,
    },
    /// The store of a whole line is done without data from memory; this is the place of the line.
    Stored(Way),
    /// The store goes past the caches.
    Past,
    /// The access completes when the data of its line arrive.
    Waits(Ticket),
}

impl Caches {
    /// Creates empty caches, with data if contents are modeled.
    pub fn new(settings: &MachineSettings, lacking: impl Iterator<Item = Lacking>, has_data: bool) -> Caches {
        let line_size = LineSize::new(settings.lines.bytes);
        let requesters: Vec<RequesterCaches> =
            lacking.enumerate().map(|(number, lacking)| RequesterCaches::new(settings, number, lacking)).collect();
        let levels = requesters.iter().map(|requester| requester.last_level + 1).max().unwrap_or_default();
        let last_level = |_| Level::new(0, settings.last_level, line_size, has_data);
        let has_prefetcher = requesters.iter().any(|requester| requester.prefetches.has_prefetcher());
        Caches {
            line_size,
            write: settings.lines.write,
            passes_stores: settings.last_level.store_miss == StoreMiss::NoAllocate,
            has_prefetcher,
            are_hits_requests: has_prefetcher || settings.lines.write == WritePolicy::WriteThrough,
            last_level: (0..levels).map(last_level).collect(),
            requesters,
            requests: LineRequests::default(),
            absent_copied: Absent::default(),
            barred: Vec::new(),
        }
    }

    /// Size of the lines.
    pub const fn line_size(&self) -> LineSize {
        self.line_size
    }

    /// Index of the last-level cache of a requester.
    fn level_of(&self, requester: usize) -> usize {
        self.requesters[requester].last_level
    }

    /// The caches in front of a requester.
    #[inline]
    pub fn port(&mut self, requester: usize) -> Port<'_> {
        let RequesterCaches { upper, last_level, counts, .. } = &mut self.requesters[requester];
        Port { upper, last_level: &mut self.last_level[*last_level], counts }
    }

    /// Number above all tickets of a requester.
    pub fn tickets(&self) -> usize {
        self.requesters.iter().map(|requester| requester.mshrs.tickets()).max().unwrap_or_default()
    }

    /// Whether accesses can make requests although the caches hold their line: stores that are written
    /// through, and accesses that a prefetcher observes. They take place in the order of the accesses of
    /// all requesters, by [`Caches::request`] after a [look-up](Caches::look_up).
    #[inline]
    pub const fn are_hits_requests(&self) -> bool {
        self.are_hits_requests
    }

    /// Looks up the line of an access where hits are requests.
    pub fn look_up(&mut self, requester: usize, access: &Access) -> Away {
        let line = access.line(self.line_size);
        self.port(requester).look_up(line)
    }

    /// Accesses of a requester, by purpose.
    pub fn counts(&self, requester: usize) -> &[LineCounts; Purpose::ALL.len()] {
        &self.requesters[requester].counts
    }

    /// Misses of a requester's program that are its first accesses to lines since their copies.
    pub fn misses_after_copies(&self, requester: usize) -> u64 {
        self.requesters[requester].misses_after_copies
    }

    /// Prefetches of a requester.
    pub fn prefetch_counts(&self, requester: usize) -> PrefetchCounts {
        self.requesters[requester].prefetches.counts
    }

    /// Accesses of a requester on behalf of a purpose.
    pub fn count(&mut self, requester: usize, purpose: Purpose) -> &mut LineCounts {
        &mut self.requesters[requester].counts[purpose as usize]
    }

    /// Data of a line of a requester's last-level cache, where contents are modeled.
    pub fn data_mut(&mut self, requester: usize, way: Way) -> Option<&mut [u8]> {
        let level = self.level_of(requester);
        self.last_level[level].data_mut(way)
    }

    /// Executes an access that its port has not executed.
    #[inline]
    pub fn request(&mut self, requester: usize, access: &Access, away: &Away) -> Answer {
        if self.writes_through(access) && !self.has_write_entry(requester, access, away) {
            let lacks_line = away.is_absent() && !self.has_room_for(requester, access);
            return Answer::Refused(if lacks_line { Lack::Line } else { Lack::WriteEntry });
        }
        match away.way {
            Some(way) if away.is_there => self.hit(requester, access, way),
            Some(way) => self.merge(requester, access, way),
            None if self.passes(access, away) => self.pass(requester, access),
            None if access.stores_line() => self.store_line(requester, access),
            None => self.miss(requester, access),
        }
    }

    /// Whether a store that lacks a place in the store buffer also lacks an MSHR, or waits for data that are dropped.
    pub fn lacks_mshr(&self, requester: usize, access: &Access, away: &Away) -> bool {
        let mshrs = &self.requesters[requester].mshrs;
        let lacks = match mshrs.user(access.line(self.line_size)) {
            Some(user) => user == User::NoRequester,
            None => mshrs.is_full(),
        };
        lacks && away.is_absent() && !access.stores_line()
    }

    /// Whether a store begins only with a free entry of the store buffer: it waits there for its line, or for the
    /// write-back of a victim.
    #[inline]
    pub fn needs_entry(&self, access: &Access, away: &Away) -> bool {
        !away.is_there && !self.passes(access, away)
    }

    /// Whether a store to a line that no cache holds goes past the caches.
    #[inline]
    fn passes(&self, access: &Access, away: &Away) -> bool {
        let is_store = access.kind != LoadOrStore::Load && access.on_miss == OnMiss::Allocate;
        self.passes_stores && is_store && away.is_absent()
    }

    /// Whether an access is a store that is written to memory at once, wherever its line is.
    #[inline]
    fn writes_through(&self, access: &Access) -> bool {
        self.write == WritePolicy::WriteThrough && access.kind != LoadOrStore::Load
    }

    /// Who made a line dirty that an access stores to, or brings in.
    fn dirty(&self, access: &Access) -> Option<Purpose> {
        let is_store = access.kind != LoadOrStore::Load;
        (is_store && self.write == WritePolicy::WriteBack).then_some(access.purpose)
    }

    /// Whether a requester has an MSHR and a place for the line of an access that no cache holds.
    fn has_room_for(&self, requester: usize, access: &Access) -> bool {
        let (mshrs, line) = (&self.requesters[requester].mshrs, access.line(self.line_size));
        let has_mshr = access.stores_line() || !mshrs.is_full() || mshrs.user(line).is_some();
        has_mshr && self.last_level[self.level_of(requester)].victim(line).is_some()
    }

    /// An access to a line of the last-level cache that may make requests.
    #[inline(never)]
    fn hit(&mut self, requester: usize, access: &Access, way: Way) -> Answer {
        let line = access.line(self.line_size);
        let found = self.used(requester, way);
        self.is_first_since_copy(requester, (line, Some(way)), access.purpose);
        let level = self.enter_upper(requester, access);
        let RequesterCaches { upper, last_level, counts, .. } = &mut self.requesters[requester];
        let counts = &mut counts[access.purpose as usize];
        counts.hits += 1;
        let cycles = if let Some(level) = upper.get(level) {
            counts.count_hit_of(level.number());
            level.latency()
        } else {
            let last_level = &mut self.last_level[*last_level];
            last_level.touch(way);
            last_level.latency()
        };
        self.mark_dirty(requester, access, way);
        self.observe(requester, line, level, found);
        Answer::Hit { cycles, way }
    }

    /// An access to a line whose data are on their way to a place in the cache.
    #[inline(never)]
    fn merge(&mut self, requester: usize, access: &Access, way: Way) -> Answer {
        let line = access.line(self.line_size);
        let level = self.enter_upper(requester, access);
        let last_level = self.level_of(requester);
        self.last_level[last_level].touch(way);
        self.mark_dirty(requester, access, way);
        self.is_first_since_copy(requester, (line, Some(way)), access.purpose);
        self.count(requester, access.purpose).merged += 1;
        self.observe(requester, line, level, Found::Missing);
        let mshr = self.requesters[requester].mshrs.find(line);
        Answer::Waits(mshr.expect("a program shares no line with others").ticket)
    }

    /// A load, or a store that needs the line, of a line that the cache does not hold, and which is
    /// requested unless it is in flight. A load that bypasses the caches takes no place.
    #[inline(never)]
    fn miss(&mut self, requester: usize, access: &Access) -> Answer {
        let line = access.line(self.line_size);
        // Otherwise a line without a place is not in flight.
        let may_be_in_flight = self.has_prefetcher || access.on_miss == OnMiss::Bypass;
        let wanted = if may_be_in_flight { self.requesters[requester].mshrs.user(line) } else { None };
        let needs_mshr = match wanted {
            Some(User::NoRequester) => return Answer::Refused(Lack::Line),
            Some(User::Accesses(_)) => return self.merge_past(requester, access),
            Some(User::Prefetcher(_)) => false,
            None => true,
        };
        if needs_mshr && self.requesters[requester].mshrs.is_full() {
            return Answer::Refused(Lack::Line);
        }
        let mut way = None;
        if access.on_miss == OnMiss::Allocate {
            way = self.last_level[self.level_of(requester)].victim(line);
            if way.is_none() {
                return Answer::Refused(Lack::Line);
            }
        }
        if needs_mshr {
            self.flush(line);
            self.requests.read(requester, self.line_size, line);
        }
        if let Some(way) = way {
            let state = LineState { is_pending: true, dirty: self.dirty(access), ..LineState::default() };
            self.replace_in(requester, way, line, state);
        }
        let follows_copy = self.is_first_since_copy(requester, (line, way), access.purpose);
        let ticket = if needs_mshr {
            self.requesters[requester].misses_after_copies += u64::from(follows_copy);
            self.count(requester, access.purpose).misses += 1;
            self.requesters[requester].mshrs.take(line, User::Accesses(way))
        } else {
            self.count(requester, access.purpose).merged += 1;
            self.requesters[requester].prefetches.counts.late += 1;
            let mshr = self.requesters[requester].mshrs.find(line).expect("the line is in flight");
            mshr.user = User::Accesses(way);
            mshr.ticket
        };
        if way.is_some() {
            let level = self.enter_upper(requester, access);
            self.observe(requester, line, level, Found::Missing);
        }
        Answer::Waits(ticket)
    }

    /// An access to a line on its way past the caches.
    fn merge_past(&mut self, requester: usize, access: &Access) -> Answer {
        self.count(requester, access.purpose).merged += 1;
        let mshr = self.requesters[requester].mshrs.find(access.line(self.line_size));
        Answer::Waits(mshr.expect("the line is in flight").ticket)
    }

    /// A store of a whole line that the cache does not hold, which takes a place without a request.
    #[inline(never)]
    fn store_line(&mut self, requester: usize, access: &Access) -> Answer {
        let line = access.line(self.line_size);
        let state = LineState { dirty: self.dirty(access), ..LineState::default() };
        let Some(way) = self.replace(requester, line, state) else { return Answer::Refused(Lack::Line) };
        self.flush(line);
        self.drop_prefetches(line, |it| it == requester);
        let level = self.enter_upper(requester, access);
        self.observe(requester, line, level, Found::Missing);
        self.count(requester, access.purpose).allocated += 1;
        Answer::Stored(way)
    }

    /// A store past the caches, which lack its line and do not allocate it.
    #[inline(never)]
    fn pass(&mut self, requester: usize, access: &Access) -> Answer {
        let line = access.line(self.line_size);
        if !self.requesters[requester].write_buffer.has_room(line) {
            return Answer::Refused(Lack::WriteEntry);
        }
        self.drop_prefetches(line, |it| it == requester);
        let level = self.requesters[requester].upper.len();
        self.observe(requester, line, level, Found::Missing);
        self.count(requester, access.purpose).passed += 1;
        Answer::Past
    }

    fn mark_dirty(&mut self, requester: usize, access: &Access, way: Way) {
        if let Some(purpose) = self.dirty(access) {
            let level = self.level_of(requester);
            self.last_level[level].state_mut(way).mark_dirty(purpose);
        }
    }

    /// Puts the line of an access into the L1 and the L2 of a requester, up to the level that holds it
    /// already; returns the index of that level among all of the requester.
    fn enter_upper(&mut self, requester: usize, access: &Access) -> usize {
        let (line, is_store) = (access.line(self.line_size), access.kind != LoadOrStore::Load);
        let upper = &mut self.requesters[requester].upper;
        let found = upper.iter_mut().position(|level| level.take(line, is_store));
        found.unwrap_or(self.requesters[requester].upper.len())
    }

    /// Puts a line in a requester's last-level cache; returns its way, or `None` if all lines of the set
    /// are in flight.
    fn replace(&mut self, requester: usize, line: LineNumber, state: LineState) -> Option<Way> {
        let way = self.last_level[self.level_of(requester)].victim(line)?;
        self.replace_in(requester, way, line, state);
        Some(way)
    }

    /// Puts a line in a way of a requester's last-level cache.
    fn replace_in(&mut self, requester: usize, way: Way, line: LineNumber, state: LineState) {
        let level = self.level_of(requester);
        if let Some(removed) = self.remove(level, way)
            && removed.dirty.is_some()
        {
            self.write_back(requester, removed, None);
        }
        let is_copied = self.copied_enters(line);
        self.last_level[level].insert(way, line, LineState { is_copied, ..state });
    }

    /// Removes the line in a way of a last-level cache, if there is one, also from the caches above it.
    fn remove(&mut self, level: usize, way: Way) -> Option<Removed> {
        let removed = self.last_level[level].remove(way)?;
        for requester in self.requesters.iter_mut().filter(|requester| requester.last_level == level) {
            for upper in &mut requester.upper {
                if let Some(way) = upper.find(removed.line) {
                    upper.remove(way);
                }
            }
        }
        if removed.is_copied {
            self.copied_left(removed.line);
        }
        if let Some(requester) = removed.prefetched_for {
            self.requesters[usize::from(requester)].prefetches.counts.useless += 1;
        }
        Some(removed)
    }

    /// Writes a removed line back on behalf of a requester, if it was dirty; returns whether it was.
    /// `purpose` replaces the purpose that made the line dirty.
    fn write_back(&mut self, requester: usize, removed: Removed, purpose: Option<Purpose>) -> bool {
        let Some(dirty) = removed.dirty else { return false };
        self.count(requester, purpose.unwrap_or(dirty)).write_backs += 1;
        self.requests.write_line(requester, self.line_size, removed);
        true
    }
}

impl RequesterCaches {
    fn new(settings: &MachineSettings, number: usize, lacking: Lacking) -> RequesterCaches {
        let line_size = LineSize::new(settings.lines.bytes);
        let lacks = match lacking {
            Lacking::None => 0,
            Lacking::L1 => 1,
            Lacking::UpperLevels => 2,
        };
        let shapes = [settings.l1, settings.l2].into_iter().zip(1..).skip(lacks);
        let shapes: Vec<_> = shapes.filter_map(|(shape, number)| Some((number, shape?))).collect();
        let prefetchers = shapes.iter().map(|(_, shape)| shape.prefetcher).chain([settings.last_level.prefetcher]);
        let prefetches = Prefetches::new(prefetchers, settings.lines.prefetch);
        RequesterCaches {
            upper: shapes.into_iter().map(|(number, shape)| Level::new(number, shape, line_size, false)).collect(),
            last_level: settings.sharing.cache_of(number),
            mshrs: Mshrs::new(settings.core.mshrs, prefetches.mshrs()),
            write_buffer: WriteBuffer::new(settings.lines.write_buffer, settings.lines.merging),
            prefetches,
            counts: Default::default(),
            misses_after_copies: 0,
        }
    }
}
