//! Prefetches: lines that are requested before an access.

use std::ops::Range;

use dram_spec::address::FRAME_BYTES;

use super::super::counters::PrefetchCounts;
use super::super::prefetcher::{Observed, Prefetcher, prefetcher};
use super::super::settings::{PrefetchSettings, PrefetcherKind};
use super::level::Way;
use super::line::{LineNumber, LineState};
use super::mshr::{Ticket, User};
use super::{Caches, RequesterCaches};
use crate::defects::{Planted, is_planted};

/// The prefetchers of a requester, and their counts.
#[derive(Debug)]
pub(super) struct Prefetches {
    /// By level.
    prefetchers: Vec<Option<Box<dyn Prefetcher>>>,
    mshrs: usize,
    pub(super) counts: PrefetchCounts,
    /// The last access, if the prefetchers have not observed it: line, level that it reached, and how it
    /// found the line.
    seen: Option<(LineNumber, usize, Found)>,
    /// Lines that a prefetcher wants; empty between accesses.
    wanted: Vec<u64>,
}

impl Prefetches {
    pub(super) fn new(kinds: impl Iterator<Item = PrefetcherKind>, settings: PrefetchSettings) -> Prefetches {
        let prefetchers: Vec<_> = kinds.map(|kind| prefetcher(kind, settings)).collect();
        let mshrs = if prefetchers.iter().any(Option::is_some) { settings.mshrs } else { 0 };
        Prefetches { prefetchers, mshrs, counts: PrefetchCounts::default(), seen: None, wanted: Vec::new() }
    }

    pub(super) const fn has_prefetcher(&self) -> bool {
        self.mshrs > 0
    }

    pub(super) const fn mshrs(&self) -> usize {
        self.mshrs
    }
}

/// How an access finds its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No cache holds its data.
    Missing,
    /// The last-level cache holds them.
    There,
    /// It was prefetched, and this is its first use.
    Prefetched,
}

/// A line whose data are there.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The ticket of the accesses that wait for it, if there are any.
    pub ticket: Option<Ticket>,
    /// Its place, if it has one.
    pub way: Option<Way>,
}

impl Caches {
    /// Notes an access that reached a level, for the prefetchers of the levels that it passed.
    #[inline]
    pub(super) fn observe(&mut self, requester: usize, line: LineNumber, level: usize, found: Found) {
        if self.has_prefetcher {
            self.requesters[requester].prefetches.seen = Some((line, level, found));
        }
    }

    /// Shows the access that has been noted to the prefetchers, and requests the lines that they want.
    #[inline]
    pub fn prefetch_after_access(&mut self, requester: usize) {
        if self.has_prefetcher
            && let Some(seen) = self.requesters[requester].prefetches.seen.take()
        {
            self.prefetch_after(requester, seen);
        }
    }

    #[inline(never)]
    fn prefetch_after(&mut self, requester: usize, (line, reached, found): (LineNumber, usize, Found)) {
        let lines_per_page = FRAME_BYTES / self.line_size.bytes();
        for level in 0..=reached {
            let Prefetches { prefetchers, wanted, .. } = &mut self.requesters[requester].prefetches;
            let Some(prefetcher) = &mut prefetchers[level] else { continue };
            let (is_hit, is_first_use) = (found != Found::Missing && level == reached, found == Found::Prefetched);
            let observed = Observed { line: line.0, is_hit, is_first_use, lines_per_page };
            let mut wanted = std::mem::take(wanted);
            prefetcher.observe(&observed, &mut wanted);
            wanted.drain(..).for_each(|line| self.prefetch(requester, level, LineNumber(line)));
            self.requesters[requester].prefetches.wanted = wanted;
        }
    }

    /// Prefetches a line for the caches of a requester from a level on. It requests nothing if the line
    /// is there or on its way, if stores to it have not left, or without a free MSHR of prefetches.
    fn prefetch(&mut self, requester: usize, level: usize, line: LineNumber) {
        let last_level = &self.last_level[self.level_of(requester)];
        if let Some(way) = last_level.find(line) {
            if !last_level.state(way).is_pending {
                self.requesters[requester].enter(line, level);
            }
            return;
        }
        let is_written = self.requesters.iter().any(|it| it.write_buffer.holds(line));
        let RequesterCaches { mshrs, prefetches, .. } = &mut self.requesters[requester];
        let is_barred = self.barred.iter().any(|(_, lines)| lines.contains(&line));
        if is_written || is_barred || !mshrs.can_prefetch() || mshrs.find(line).is_some() {
            return;
        }
        mshrs.take(line, User::Prefetcher(level as u8));
        prefetches.counts.requested += 1;
        self.requests.read(requester, self.line_size, line);
    }

    /// How an access finds a line; the first use of one that was prefetched is counted.
    pub(super) fn used(&mut self, requester: usize, way: Way) -> Found {
        let level = self.level_of(requester);
        let prefetched_for = self.last_level[level].take_prefetched(way);
        let Some(prefetched_for) = prefetched_for else { return Found::There };
        self.requesters[usize::from(prefetched_for)].prefetches.counts.useful += 1;
        Found::Prefetched
    }

    /// Requests no prefetches of lines that a copy of a device reads or writes, until it is complete.
    pub fn bar_prefetches(&mut self, copy: u64, lines: Range<LineNumber>) {
        self.barred.push((copy, lines));
    }

    /// Ends the bar of a copy.
    pub fn admit_prefetches(&mut self, copy: u64) {
        self.barred.retain(|(other, _)| *other != copy);
    }

    /// Drops the prefetches in flight of a line that changes in memory.
    pub(super) fn drop_prefetches(&mut self, line: LineNumber, concerns: impl Fn(usize) -> bool) {
        if !self.has_prefetcher {
            return;
        }
        for (index, RequesterCaches { mshrs, prefetches, .. }) in self.requesters.iter_mut().enumerate() {
            if !is_planted(Planted::StalePrefetch)
                && concerns(index)
                && let Some(mshr) = mshrs.find(line)
                && let User::Prefetcher(_) = mshr.user
            {
                mshr.user = User::NoRequester;
                prefetches.counts.dropped += 1;
            }
        }
    }

    /// Accepts the data of a line that a requester has requested.
    pub fn arrived(&mut self, requester: usize, line: LineNumber) -> Arrival {
        let last_level = self.level_of(requester);
        let mshr = self.requesters[requester].mshrs.complete(line);
        match mshr.user {
            User::Accesses(way) => {
                if let Some(way) = way {
                    self.last_level[last_level].state_mut(way).is_pending = false;
                }
                Arrival { ticket: Some(mshr.ticket), way }
            }
            User::Prefetcher(level) => Arrival { ticket: None, way: self.prefetched(requester, level.into(), line) },
            User::NoRequester => Arrival { ticket: None, way: None },
        }
    }

    /// Puts a prefetched line into the caches of a requester from a level on, unless it is there by now,
    /// or all lines of its set are in flight.
    fn prefetched(&mut self, requester: usize, level: usize, line: LineNumber) -> Option<Way> {
        let is_there = self.last_level[self.level_of(requester)].find(line).is_some();
        let way = if is_there { None } else { self.replace(requester, line, LineState::default()) };
        if let Some(way) = way {
            let last_level = self.level_of(requester);
            self.last_level[last_level].set_prefetched(way, requester as u8);
            self.requesters[requester].enter(line, level);
        } else {
            self.requesters[requester].prefetches.counts.dropped += 1;
        }
        way
    }
}

impl RequesterCaches {
    /// Puts a line into the levels from one on, apart from the last one.
    pub(super) fn enter(&mut self, line: LineNumber, level: usize) {
        for level in self.upper.iter_mut().skip(level) {
            level.take(line, false);
        }
    }
}
