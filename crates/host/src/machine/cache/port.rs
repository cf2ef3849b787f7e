//! Accesses to lines that the caches of a requester hold.

use super::super::counters::{LineCounts, Purpose};
use super::access::{Access, AccessKind};
use super::level::{Level, Way};
use super::line::LineNumber;

/// The caches in front of a requester.
#[derive(Debug)]
pub struct Port<'caches> {
    /// Levels before the last one, L1 first.
    pub(super) upper: &'caches mut [Level],
    pub(super) last_level: &'caches mut Level,
    pub(super) counts: &'caches mut [LineCounts; Purpose::ALL.len()],
    pub(super) in_order: InOrder,
}

/// Accesses that can make requests although the caches hold their line, and therefore take place in the
/// order of the accesses of all requesters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InOrder {
    None,
    /// Stores, which are written through.
    Stores,
    /// All, which a prefetcher observes.
    All,
}

/// Result of an access.
#[derive(Clone, Copy, Debug)]
pub enum Lookup {
    /// The access is done; its data are there after some cycles.
    Hit {
        /// Core cycles from a load to its data.
        cycles: u64,
        /// The place of the line.
        way: Way,
    },
    /// The access is a request to the caches, which have changed nothing.
    Away(Away),
}

/// A line of which the caches hold no data, or to which an access may make requests.
#[derive(Clone, Copy, Debug)]
pub struct Away {
    /// Its place.
    pub(super) way: Option<Way>,
    /// Whether the caches hold its data.
    pub(super) is_there: bool,
    /// Changes of the last-level cache before the lookup.
    changes: u64,
}

impl Away {
    /// Whether the line has no place.
    #[inline]
    pub const fn is_absent(&self) -> bool {
        self.way.is_none()
    }
}

impl Port<'_> {
    /// Executes an access if the last-level cache holds the line, and the access makes no request.
    #[inline]
    pub fn access(&mut self, access: &Access) -> Lookup {
        let line = self.last_level.line_size().line(access.address);
        let found = self.last_level.find(line);
        let is_there = found.is_some_and(|way| !self.last_level.state(way).is_pending);
        let is_store = access.kind != AccessKind::Load;
        let Some(way) = found.filter(|_| is_there && !self.in_order.contains(is_store)) else {
            return Lookup::Away(Away { way: found, is_there, changes: self.last_level.changes() });
        };
        self.counts[access.purpose as usize].hits += 1;
        if is_store {
            self.last_level.mark_dirty(way, access.purpose);
        }
        if self.last_level.state(way).is_copied && access.purpose == Purpose::Program {
            self.last_level.state_mut(way).is_copied = false;
        }
        let cycles = if self.upper.is_empty() {
            self.last_level.touch(way);
            self.last_level.latency()
        } else {
            self.serve(line, way, access)
        };
        Lookup::Hit { cycles, way }
    }

    /// The latency of the first level that holds a line of the last level; the levels before take the
    /// line.
    #[inline(never)]
    fn serve(&mut self, line: LineNumber, way: Way, access: &Access) -> u64 {
        let is_store = access.kind != AccessKind::Load;
        for level in self.upper.iter_mut() {
            if level.take(line, is_store) {
                self.counts[access.purpose as usize].count_hit_of(level.number());
                return level.latency();
            }
        }
        self.last_level.touch(way);
        self.last_level.latency()
    }

    /// Whether the caches still hold no data of a line.
    pub fn is_still_away(&self, away: &Away) -> bool {
        !away.is_there
            && away.changes == self.last_level.changes()
            && away.way.is_none_or(|way| self.last_level.state(way).is_pending)
    }
}

impl InOrder {
    #[inline]
    const fn contains(self, is_store: bool) -> bool {
        match self {
            InOrder::None => false,
            InOrder::Stores => is_store,
            InOrder::All => true,
        }
    }
}
