//! Accesses to lines that the caches of a requester hold.

use super::super::counters::{LineCounts, Purpose};
use super::access::{Access, LoadOrStore};
use super::level::{Level, Way};
use super::line::{LineNumber, LineSize};

/// The caches in front of a requester.
#[derive(Debug)]
pub struct Port<'caches> {
    /// Levels before the last one, L1 first.
    pub(super) upper: &'caches mut [Level],
    pub(super) last_level: &'caches mut Level,
    pub(super) counts: &'caches mut [LineCounts; Purpose::ALL.len()],
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
    /// The caches hold no data of the line, and have changed nothing.
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
    /// Size of the lines.
    #[inline]
    pub const fn line_size(&self) -> LineSize {
        self.last_level.line_size()
    }

    /// Executes an access if the last-level cache holds the line. Each kind of caller has an instance, so that
    /// the compiler inlines it as the function of one caller.
    #[inline]
    pub fn access<const IS_DEFERRABLE: bool>(&mut self, access: &Access) -> Lookup {
        let line = self.last_level.line_size().line(access.address);
        let away = |way, level: &Level| Lookup::Away(Away { way, is_there: false, changes: level.changes() });
        let Some(way) = self.last_level.find(line) else { return away(None, self.last_level) };
        let state = self.last_level.state_mut(way);
        if state.is_special() {
            if state.is_pending {
                return away(Some(way), self.last_level);
            }
            state.is_copied &= access.purpose != Purpose::Program;
        }
        if access.kind != LoadOrStore::Load {
            state.mark_dirty(access.purpose);
        }
        self.counts[access.purpose as usize].hits += 1;
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
        let is_store = access.kind != LoadOrStore::Load;
        for level in self.upper.iter_mut() {
            if level.take(line, is_store) {
                self.counts[access.purpose as usize].count_hit_of(level.number());
                return level.latency();
            }
        }
        self.last_level.touch(way);
        self.last_level.latency()
    }

    /// Looks a line up for an access that may make requests.
    pub(super) fn look_up(&self, line: LineNumber) -> Away {
        let way = self.last_level.find(line);
        let is_there = way.is_some_and(|way| !self.last_level.state(way).is_pending);
        Away { way, is_there, changes: self.last_level.changes() }
    }

    /// Whether the caches still hold no data of a line.
    pub fn is_still_away(&self, away: &Away) -> bool {
        !away.is_there
            && away.changes == self.last_level.changes()
            && away.way.is_none_or(|way| self.last_level.state(way).is_pending)
    }
}
