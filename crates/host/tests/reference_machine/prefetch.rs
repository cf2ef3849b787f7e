//! Prefetchers of the levels, and lines that they request.

use std::collections::VecDeque;

use host::machine::{MachineSettings, PrefetchSettings, PrefetcherKind};

use crate::access::Access;
use crate::cache::Line;
use crate::machine::ReferenceMachine;
use crate::processes::PAGE;

/// Pages and streams that a prefetcher follows.
const PAGES: usize = 16;
const STREAMS: usize = 8;

/// An access as a prefetcher observes it.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    pub line: u64,
    /// Whether the level lacks the line, or its data are in flight.
    pub is_missing: bool,
    /// Whether it is the first use of a prefetched line.
    pub is_first_use: bool,
}

/// A sequence of lines; without a direction after one access.
#[derive(Clone, Copy, Debug)]
struct Stream {
    last: u64,
    direction: Option<i64>,
    /// The farthest line that it has named.
    named: u64,
}

/// What a prefetcher has observed; the latest used one of each list is the last.
#[derive(Clone, Debug, Default)]
pub struct Prefetcher {
    /// Pages with their last line, and the distance of it from the one before.
    pages: VecDeque<(u64, u64, Option<i64>)>,
    streams: VecDeque<Stream>,
}

impl Prefetcher {
    /// The lines that follow an access, within its page.
    pub fn observe(
        &mut self,
        kind: PrefetcherKind,
        settings: PrefetchSettings,
        lines_per_page: u64,
        access: Observed,
    ) -> Vec<u64> {
        let Observed { line, is_missing, is_first_use } = access;
        let page = line / lines_per_page;
        let PrefetchSettings { degree, distance, .. } = settings;
        let lines = |steps: &mut dyn Iterator<Item = u64>, stride: i64| -> Vec<u64> {
            let lines = steps.filter_map(|step| line.checked_add_signed(stride * step.cast_signed()));
            lines.filter(|line| line / lines_per_page == page).collect()
        };
        match kind {
            PrefetcherKind::NextLine if is_missing || is_first_use => lines(&mut (distance..distance + degree), 1),
            PrefetcherKind::None | PrefetcherKind::NextLine => Vec::new(),
            PrefetcherKind::Stride => {
                let stride = self.stride(page, line);
                stride.map_or(Vec::new(), |stride| lines(&mut (distance..distance + degree), stride))
            }
            PrefetcherKind::Stream => {
                let Some(stream) = self.stream(line, is_missing) else { return Vec::new() };
                let Some(direction) = stream.direction else { return Vec::new() };
                let mut ahead = lines(&mut (1..distance + degree), direction);
                ahead.retain(|line| (line.cast_signed() - stream.named.cast_signed()) * direction > 0);
                if let Some(&farthest) = ahead.last() {
                    stream.named = farthest;
                }
                ahead
            }
        }
    }

    /// The distance of the last two accesses to a page, if it equals the one before.
    fn stride(&mut self, page: u64, line: u64) -> Option<i64> {
        let known = self.pages.iter().position(|(other, ..)| *other == page).and_then(|at| self.pages.remove(at));
        if known.is_none() && self.pages.len() == PAGES {
            self.pages.pop_front();
        }
        let (last, before) = known.map_or((None, None), |(_, last, before)| (Some(last), before));
        let distance = last.map(|last| line.cast_signed() - last.cast_signed());
        if distance == Some(0) {
            self.pages.push_back((page, line, before));
            return None;
        }
        self.pages.push_back((page, line, distance));
        distance.filter(|distance| before == Some(*distance))
    }

    /// The stream of which an access is part, if it goes on.
    fn stream(&mut self, line: u64, is_missing: bool) -> Option<&mut Stream> {
        let direction_of = |stream: &Stream| match stream.direction {
            _ if line == stream.last => Some(0),
            Some(direction) => (stream.last.checked_add_signed(direction) == Some(line)).then_some(direction),
            None => (is_missing && line.abs_diff(stream.last) == 1)
                .then_some(line.cast_signed() - stream.last.cast_signed()),
        };
        let found = (0..self.streams.len()).rev().find_map(|at| Some((at, direction_of(&self.streams[at])?)));
        if let Some((at, direction)) = found {
            let mut stream = self.streams.remove(at)?;
            if direction != 0 {
                // The lines up to this one are not requested again.
                let named = if stream.direction.is_none() { line } else { stream.named };
                stream = Stream { last: line, direction: Some(direction), named };
            }
            self.streams.push_back(stream);
            return self.streams.back_mut().filter(|_| direction != 0);
        }
        if is_missing {
            if self.streams.len() == STREAMS {
                self.streams.pop_front();
            }
            self.streams.push_back(Stream { last: line, direction: None, named: line });
        }
        None
    }
}

/// A line that a prefetcher has requested from memory.
#[derive(Clone, Copy, Debug)]
pub struct Prefetch {
    pub core: usize,
    pub line: u64,
    /// The level of the prefetcher: 1, 2, or 3 for the last one.
    level: usize,
    /// Whether an access has taken a place for it.
    pub has_place: bool,
    /// Whether the line has changed in memory.
    is_stale: bool,
}

impl ReferenceMachine {
    /// The prefetch of a line by a core.
    pub fn prefetch_of(&self, core: usize, line: u64) -> Option<&Prefetch> {
        self.prefetches.iter().find(|prefetch| prefetch.line == line && prefetch.core == core)
    }

    /// Whether an access waits for a line that is being prefetched.
    pub fn has_joined_prefetch(&self, at: usize, line: u64) -> bool {
        self.prefetch_of(at, line).is_some_and(|prefetch| prefetch.has_place)
    }

    /// Whether a prefetch that is to be dropped keeps accesses to its line waiting.
    pub fn awaits_stale_prefetch(&self, at: usize, line: u64) -> bool {
        self.prefetch_of(at, line).is_some_and(|prefetch| prefetch.is_stale)
    }

    /// An access waits for a line that is being prefetched, and takes a place for it if it takes any; returns
    /// whether it is.
    pub fn join_prefetch(&mut self, at: usize, line: u64) -> bool {
        let is = |prefetch: &&mut Prefetch| prefetch.line == line && prefetch.core == at;
        let Some(prefetch) = self.prefetches.iter_mut().find(is) else { return false };
        prefetch.has_place = true;
        self.cores[at].count_prefetch(|counts| &mut counts.late);
        true
    }

    /// The line changes in memory or in a cache: its data will be dropped, but not on their way to a cache that keeps
    /// it.
    pub fn drop_prefetches(&mut self, line: u64, keeps: Option<usize>) {
        let cache_of = |core| Some(self.settings.sharing.cache_of(core));
        let is = |prefetch: &&mut Prefetch| prefetch.line == line && cache_of(prefetch.core) != keeps;
        for prefetch in self.prefetches.iter_mut().filter(is).filter(|prefetch| !prefetch.is_stale) {
            prefetch.is_stale = true;
            self.cores[prefetch.core].count_prefetch(|counts| &mut counts.dropped);
        }
    }

    /// Whether an access is the first use of a prefetched line.
    pub fn use_prefetched(&mut self, shared: usize, line: u64) -> bool {
        let core = self.caches[shared].get(line).and_then(|found| found.prefetched_by.take());
        if let Some(core) = core {
            self.cores[core].count_prefetch(|counts| &mut counts.useful);
        }
        core.is_some()
    }

    /// The prefetchers of the levels that an access reaches observe it; returns the levels and lines of their requests.
    pub fn observe(
        &mut self,
        at: usize,
        Access { line, .. }: Access,
        found: Option<bool>,
        is_first_use: bool,
    ) -> Vec<(usize, u64)> {
        let MachineSettings { l1, l2, last_level, lines, .. } = self.settings;
        let lines_per_page = PAGE / lines.bytes;
        let core = &mut self.cores[at];
        let upper: Vec<(usize, bool)> =
            core.levels.iter().map(|level| (level.number as usize, level.cache.holds(line))).collect();
        let mut requests = Vec::new();
        for (level, is_held) in upper.into_iter().chain([(3, found.is_some())]) {
            let kind = [l1, l2, Some(last_level)][level - 1].map_or(PrefetcherKind::None, |shape| shape.prefetcher);
            let is_missing = !is_held || found != Some(false);
            let observed = Observed { line, is_missing, is_first_use };
            let ahead = core.prefetchers[level - 1].observe(kind, lines.prefetch, lines_per_page, observed);
            requests.extend(ahead.into_iter().map(|line| (level, line)));
            if is_held {
                break;
            }
        }
        requests
    }

    /// Requests lines for levels.
    pub fn prefetch(&mut self, at: usize, now: u64, requests: Vec<(usize, u64)>) {
        for (level, line) in requests {
            self.prefetch_line(at, now, level, line);
        }
    }

    /// Requests a line for a level.
    fn prefetch_line(&mut self, at: usize, now: u64, level: usize, line: u64) {
        let shared = self.cache_of(at);
        if let Some(found) = self.caches[shared].find(line) {
            if !found.is_in_flight {
                self.cores[at].levels.enter(line, level);
            }
            return;
        }
        let registers = self.prefetches.iter().filter(|prefetch| prefetch.core == at).count();
        let has_stores = self.cores.iter().any(|core| core.write_buffer.iter().any(|entry| entry.holds(line)));
        let is_on_its_way = self.prefetch_of(at, line).is_some() || self.cores[at].mshrs.contains(&line);
        let is_copied = self.cores[at].pending.iter().any(|copy| copy.touches(line));
        let is_arriving = self.network.as_ref().is_some_and(|network| network.is_arriving(line));
        if registers == self.settings.lines.prefetch.mshrs || has_stores || is_on_its_way || is_copied || is_arriving {
            return;
        }
        self.cores[at].count_prefetch(|counts| &mut counts.requested);
        self.prefetches.push(Prefetch { core: at, line, level, has_place: false, is_stale: false });
        self.read(at, now + self.settings.last_level.latency, line);
    }

    /// The data of a prefetched line are there; returns whether the line was prefetched.
    pub fn receive_prefetch(&mut self, now: u64, core: usize, line: u64) -> bool {
        let is = |prefetch: &Prefetch| prefetch.core == core && prefetch.line == line;
        let Some(at) = self.prefetches.iter().position(is) else { return false };
        let Prefetch { level, has_place, is_stale, .. } = self.prefetches.remove(at);
        if has_place {
            return false;
        }
        if is_stale {
            return true;
        }
        let cache = &self.caches[self.cache_of(core)];
        // Another core may have requested the line, too.
        if cache.holds(line) || !cache.has_place(line) {
            self.cores[core].count_prefetch(|counts| &mut counts.dropped);
            return true;
        }
        let leaves = now + self.settings.last_level.latency;
        self.insert(core, leaves, Line { prefetched_by: Some(core), ..Line::clean(line) });
        self.cores[core].levels.enter(line, level);
        true
    }
}
