//! Accesses to lines that the caches of a requester hold.

use super::super::counters::{LineCounts, Purpose};
use super::access::{Access, AccessKind};
use super::level::{Level, Way};

/// The caches in front of a requester.
#[derive(Debug)]
pub struct Port<'caches> {
    pub(super) l1: Option<&'caches mut Level>,
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

/// A line of which the caches hold no data.
#[derive(Clone, Copy, Debug)]
pub struct Away {
    /// The place to which it is on its way.
    pub(super) way: Option<Way>,
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
    /// Executes an access if the last-level cache holds the line. Each kind of caller has an instance, so that
    /// the compiler inlines it as the function of one caller.
    #[inline]
    pub fn access<const IS_DEFERRABLE: bool>(&mut self, access: &Access) -> Lookup {
        let line = access.line();
        let found = self.last_level.find(line);
        let Some(way) = found.filter(|&way| !self.last_level.state(way).is_pending) else {
            return Lookup::Away(Away { way: found, changes: self.last_level.changes() });
        };
        let counts = &mut self.counts[access.purpose as usize];
        counts.hits += 1;
        let l1 = self.l1.as_deref_mut();
        let l1_cycles = l1.and_then(|l1| l1.take(line).then(|| l1.latency()));
        let cycles = l1_cycles.unwrap_or_else(|| {
            self.last_level.touch(way);
            self.last_level.latency()
        });
        counts.l1_hits += u64::from(l1_cycles.is_some());
        if access.kind != AccessKind::Load {
            self.last_level.mark_dirty(way, access.purpose);
        }
        Lookup::Hit { cycles, way }
    }

    /// Whether the caches still hold no data of a line.
    pub fn is_still_away(&self, away: &Away) -> bool {
        away.changes == self.last_level.changes() && away.way.is_none_or(|way| self.last_level.state(way).is_pending)
    }
}
