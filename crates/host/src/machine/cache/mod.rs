//! The caches: levels, lines in flight, and coherence.
//!
//! A requester has an L1, if there is one, and a last-level cache, private or shared. It accesses
//! the lines that its caches hold at its [`Port`]; the answer to a [`request`](Caches::request) of
//! another line is a ticket that completes when the data [arrive](Caches::arrived). Copies, devices
//! and the kernel look up, invalidate and insert lines (`coherence`). The caches send nothing: what
//! must be written to memory is returned.

mod access;
mod coherence;
mod latest;
mod level;
mod line;
mod mshr;
mod port;
#[cfg(test)]
mod tests;

use dram_core::Line;

use self::level::Level;
use self::line::Removed;
use self::mshr::Mshrs;
use super::counters::{LineCounts, Purpose};
use super::settings::{MachineSettings, Sharing};

pub use self::access::{Access, AccessKind, OnMiss, StoreData};
pub use self::coherence::{DirtyData, Inserted, Invalidated, Scope};
pub use self::level::Way;
pub use self::line::{LineNumber, LineState, WriteBack, lines};
pub use self::mshr::Ticket;
pub use self::port::{Away, Lookup, Port};

/// The caches of all requesters.
#[derive(Debug)]
pub struct Caches {
    sharing: Sharing,
    /// The last-level caches: one per requester, or one.
    last_level: Vec<Level>,
    requesters: Vec<Requester>,
}

/// What a requester has of its own, apart from a private last-level cache.
#[derive(Debug)]
struct Requester {
    l1: Option<Level>,
    mshrs: Mshrs,
    /// Accesses, by purpose.
    counts: [LineCounts; Purpose::ALL.len()],
}

/// Answer to a request of a line of which the caches hold no data.
#[derive(Debug)]
#[must_use = "a dirty line must be written to memory"]
pub enum Answer {
    /// It cannot be accepted yet: without a free MSHR, or with all lines of the set in flight.
    Refused,
    /// The store is done without data from memory.
    Stored {
        /// The place of the line.
        way: Way,
        /// The line that it replaces, if it was dirty.
        replaced: Option<WriteBack>,
    },
    /// The line was already requested.
    Merged(Ticket),
    /// The line must be read, after the write-back.
    Read {
        /// Of the line.
        ticket: Ticket,
        /// The line that it replaces, if it was dirty.
        replaced: Option<WriteBack>,
    },
}

impl Caches {
    /// Creates empty caches, with data if contents are modeled. Some requesters lack the L1.
    pub fn new(settings: &MachineSettings, has_l1: impl Iterator<Item = bool>, has_data: bool) -> Caches {
        let requester = |has_l1| Requester {
            l1: settings.l1.filter(|_| has_l1).map(|shape| Level::new(shape, false)),
            mshrs: Mshrs::new(settings.core.mshrs),
            counts: Default::default(),
        };
        let requesters: Vec<Requester> = has_l1.map(requester).collect();
        let levels = match settings.sharing {
            Sharing::Private => requesters.len(),
            Sharing::Shared => 1,
        };
        let last_level = (0..levels).map(|_| Level::new(settings.last_level, has_data)).collect();
        Caches { sharing: settings.sharing, last_level, requesters }
    }

    /// Index of the last-level cache of a requester.
    const fn level_of(&self, requester: usize) -> usize {
        match self.sharing {
            Sharing::Private => requester,
            Sharing::Shared => 0,
        }
    }

    /// The caches in front of a requester.
    #[inline]
    pub fn port(&mut self, requester: usize) -> Port<'_> {
        let level = self.level_of(requester);
        let Requester { l1, counts, .. } = &mut self.requesters[requester];
        Port { l1: l1.as_mut(), last_level: &mut self.last_level[level], counts }
    }

    /// Accesses of a requester, by purpose.
    pub fn counts(&self, requester: usize) -> &[LineCounts; Purpose::ALL.len()] {
        &self.requesters[requester].counts
    }

    /// Accesses of a requester on behalf of a purpose.
    pub fn count(&mut self, requester: usize, purpose: Purpose) -> &mut LineCounts {
        &mut self.requesters[requester].counts[purpose as usize]
    }

    /// Data of a line of a requester's last-level cache, where contents are modeled.
    pub fn data_mut(&mut self, requester: usize, way: Way) -> Option<&mut Line> {
        let level = self.level_of(requester);
        self.last_level[level].data_mut(way)
    }

    /// Requests a line of which the caches hold no data.
    #[inline]
    pub fn request(&mut self, requester: usize, access: &Access, away: &Away) -> Answer {
        match away.way {
            Some(way) => self.merge(requester, access, Some(way)),
            None if access.stores_line() => self.store_line(requester, access),
            None if access.on_miss == OnMiss::Bypass && self.is_requested(requester, access.line()) => {
                self.merge(requester, access, None)
            }
            None => self.miss(requester, access),
        }
    }

    /// Whether a request needs an MSHR, and the requester has none.
    pub fn lacks_mshr(&self, requester: usize, away: &Away) -> bool {
        away.is_absent() && self.requesters[requester].mshrs.is_full()
    }

    /// Whether a requester has requested a line.
    fn is_requested(&self, requester: usize, line: LineNumber) -> bool {
        self.requesters[requester].mshrs.find(line).is_some()
    }

    /// An access to a line whose data are on their way, to a place in the cache or past it.
    #[inline(never)]
    fn merge(&mut self, requester: usize, access: &Access, way: Option<Way>) -> Answer {
        if let Some(way) = way {
            self.enter_l1(requester, access.line());
            let level = self.level_of(requester);
            self.last_level[level].touch(way);
            if access.kind != AccessKind::Load {
                self.last_level[level].mark_dirty(way, access.purpose);
            }
        }
        self.count(requester, access.purpose).merged += 1;
        let ticket = self.requesters[requester].mshrs.find(access.line());
        Answer::Merged(ticket.expect("a program shares no line with others"))
    }

    /// An access to a line that the cache does not hold, which is requested. One that takes no place
    /// is a load.
    #[inline(never)]
    fn miss(&mut self, requester: usize, access: &Access) -> Answer {
        if self.requesters[requester].mshrs.is_full() {
            return Answer::Refused;
        }
        let (mut way, mut replaced) = (None, None);
        if access.on_miss == OnMiss::Allocate {
            let is_store = access.kind != AccessKind::Load;
            let state = LineState { is_pending: true, dirty: is_store.then_some(access.purpose) };
            let Some((place, removed)) = self.replace(requester, access.line(), state) else { return Answer::Refused };
            (way, replaced) = (Some(place), self.written_back(requester, removed, None));
            self.enter_l1(requester, access.line());
        }
        self.count(requester, access.purpose).misses += 1;
        let ticket = self.requesters[requester].mshrs.take(access.line(), way);
        Answer::Read { ticket, replaced }
    }

    /// A store of a whole line that the cache does not hold, which takes a place without a request.
    #[inline(never)]
    fn store_line(&mut self, requester: usize, access: &Access) -> Answer {
        let state = LineState { is_pending: false, dirty: Some(access.purpose) };
        let Some((way, removed)) = self.replace(requester, access.line(), state) else { return Answer::Refused };
        self.enter_l1(requester, access.line());
        self.count(requester, access.purpose).allocated += 1;
        Answer::Stored { way, replaced: self.written_back(requester, removed, None) }
    }

    /// Puts a line into the L1 of a requester, if there is one.
    fn enter_l1(&mut self, requester: usize, line: LineNumber) {
        if let Some(l1) = &mut self.requesters[requester].l1 {
            l1.take(line);
        }
    }

    /// Puts a line in a requester's last-level cache; returns its way and the line that it replaces,
    /// or `None` if all lines of the set are in flight.
    fn replace(&mut self, requester: usize, line: LineNumber, state: LineState) -> Option<(Way, Option<Removed>)> {
        let level = self.level_of(requester);
        let way = self.last_level[level].victim(line)?;
        let removed = self.remove(level, way);
        self.last_level[level].insert(way, line, state);
        Some((way, removed))
    }

    /// Removes the line in a way of a last-level cache, if there is one, also from the L1s above it.
    fn remove(&mut self, level: usize, way: Way) -> Option<Removed> {
        let removed = self.last_level[level].remove(way)?;
        let is_shared = self.sharing == Sharing::Shared;
        for (index, requester) in self.requesters.iter_mut().enumerate() {
            if let Some(l1) = requester.l1.as_mut().filter(|_| is_shared || index == level)
                && let Some(way) = l1.find(removed.line)
            {
                l1.remove(way);
            }
        }
        Some(removed)
    }

    /// The write-back of a removed line, if it was dirty. `purpose` replaces the purpose that made the
    /// line dirty.
    fn written_back(
        &mut self,
        requester: usize,
        removed: Option<Removed>,
        purpose: Option<Purpose>,
    ) -> Option<WriteBack> {
        let Removed { line, dirty, data } = removed?;
        self.count(requester, purpose.unwrap_or(dirty?)).write_backs += 1;
        Some(WriteBack { line, data: data.map(|data| data[..].into()) })
    }

    /// Accepts the data of a line that a requester has requested; returns the ticket, and the place of
    /// the line if it has one.
    pub fn arrived(&mut self, requester: usize, line: LineNumber) -> (Ticket, Option<Way>) {
        let level = self.level_of(requester);
        let mshr = self.requesters[requester].mshrs.complete(line);
        if let Some(way) = mshr.way {
            self.last_level[level].state_mut(way).is_pending = false;
        }
        (mshr.ticket, mshr.way)
    }
}
