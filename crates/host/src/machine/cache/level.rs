//! A level: a set-associative write-back cache with LRU replacement.

use std::sync::Arc;

use super::super::settings::{CacheShape, StoreMiss};
use super::latest::LatestLines;
use super::line::{LineNumber, LineSize, LineState, Removed};

/// Place of a line in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way(usize);

/// Tag of a way without a line.
const NONE: u64 = u64::MAX;

/// A cache of a level.
#[derive(Debug)]
pub(super) struct Level {
    /// 1 for an L1, 2 for an L2; 0 for a last-level cache.
    number: u8,
    line_size: LineSize,
    /// Whether a store puts a line that the cache does not hold into it.
    allocates_stores: bool,
    ways: usize,
    sets: u64,
    /// With a power of two sets, one less than that; otherwise all bits, so that the ways that a line number
    /// names are mostly behind the last one.
    mask: u64,
    latency: u64,
    /// Line numbers by set and way.
    tags: Vec<u64>,
    /// Time of the last use of each way, in uses of the cache; 0 for an empty way.
    used: Vec<u64>,
    states: Vec<LineState>,
    /// The requester for which the line of a way was prefetched, as long as no access has used it; empty
    /// as long as no line was prefetched.
    prefetched_for: Vec<Option<u8>>,
    /// Bytes of all lines.
    data: Option<Vec<u8>>,
    uses: u64,
    /// Number of insertions and removals of lines.
    changes: u64,
}

impl Level {
    /// Creates an empty cache, with data if contents are modeled.
    ///
    /// # Panics
    /// If its size is not a number of sets.
    pub(super) fn new(number: u8, shape: CacheShape, line_size: LineSize, has_data: bool) -> Level {
        let lines = (shape.bytes / line_size.bytes()) as usize;
        let sets = lines / shape.ways;
        assert!(sets > 0 && sets * shape.ways == lines, "{shape:?}");
        Level {
            number,
            line_size,
            allocates_stores: shape.store_miss == StoreMiss::Allocate,
            ways: shape.ways,
            sets: sets as u64,
            mask: if sets.is_power_of_two() { sets as u64 - 1 } else { u64::MAX },
            latency: shape.latency,
            tags: vec![NONE; lines],
            used: vec![0; lines],
            states: vec![LineState::default(); lines],
            prefetched_for: Vec::new(),
            data: has_data.then(|| vec![0; lines * line_size.bytes() as usize]),
            uses: 0,
            changes: 0,
        }
    }

    /// 1 for an L1, 2 for an L2; 0 for a last-level cache.
    pub(super) const fn number(&self) -> u8 {
        self.number
    }

    /// Size of its lines.
    #[inline]
    pub(super) const fn line_size(&self) -> LineSize {
        self.line_size
    }

    /// Whether a store puts a line that the cache does not hold into it.
    pub(super) const fn allocates_stores(&self) -> bool {
        self.allocates_stores
    }

    /// Core cycles from a load to its data on a hit.
    pub(super) const fn latency(&self) -> u64 {
        self.latency
    }

    /// Number of insertions and removals of lines so far.
    #[inline]
    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    fn set(&self, line: LineNumber) -> std::ops::Range<usize> {
        let masked = line.0 & self.mask;
        let set = if masked < self.sets { masked } else { line.0 % self.sets };
        let first = set as usize * self.ways;
        first..first + self.ways
    }

    /// The way of a line, if the cache holds it.
    #[inline]
    pub(super) fn find(&self, line: LineNumber) -> Option<Way> {
        // The check of the bounds also finds line numbers that are no number of a set.
        let start = (line.0 & self.mask) as usize * self.ways;
        match self.tags.get(start..start + self.ways) {
            Some(tags) => Level::find_among(tags, start, line),
            None => self.find_in_set(line),
        }
    }

    /// The way of a line where the number of sets is not a power of two.
    #[cold]
    #[inline(never)]
    fn find_in_set(&self, line: LineNumber) -> Option<Way> {
        let set = self.set(line);
        let start = set.start;
        Level::find_among(&self.tags[set], start, line)
    }

    /// The way of a line among those of a set, of which the first has a number.
    #[inline]
    fn find_among(tags: &[u64], start: usize, line: LineNumber) -> Option<Way> {
        // Four tags per step of the loop: most caches have that many ways, or a multiple of it.
        let (fours, rest) = tags.as_chunks::<4>();
        for (step, four) in fours.iter().enumerate() {
            if let Some(way) = four.iter().position(|&tag| tag == line.0) {
                return Some(Way(start + 4 * step + way));
            }
        }
        rest.iter().position(|&tag| tag == line.0).map(|way| Way(start + 4 * fours.len() + way))
    }

    /// Makes a line of an L1 or L2 the most recently used of its set, if the cache holds it or allocates
    /// it; returns whether it was there. The last-level cache holds the lines of the others and their
    /// state, so that nothing is written back.
    #[inline(never)]
    pub(super) fn take(&mut self, line: LineNumber, is_store: bool) -> bool {
        if let Some(way) = self.find(line) {
            self.touch(way);
            return true;
        }
        if is_store && !self.allocates_stores {
            return false;
        }
        let way = self.victim(line).expect("lines of an L1 and L2 are not pending");
        self.remove(way);
        self.insert(way, line, LineState::default());
        false
    }

    /// Makes a line the most recently used of its set.
    #[inline]
    pub(super) fn touch(&mut self, way: Way) {
        self.uses += 1;
        self.used[way.0] = self.uses;
    }

    /// State of the line in a way.
    #[inline]
    pub(super) fn state(&self, way: Way) -> LineState {
        self.states[way.0]
    }

    /// State of the line in a way, to change it.
    #[inline]
    pub(super) fn state_mut(&mut self, way: Way) -> &mut LineState {
        &mut self.states[way.0]
    }

    /// Notes that the line in a way was prefetched for a requester.
    pub(super) fn set_prefetched(&mut self, way: Way, requester: u8) {
        self.prefetched_for.resize(self.tags.len(), None);
        self.prefetched_for[way.0] = Some(requester);
    }

    /// The requester for which the line in a way was prefetched, unless it was asked before.
    #[inline]
    pub(super) fn take_prefetched(&mut self, way: Way) -> Option<u8> {
        self.prefetched_for.get_mut(way.0)?.take()
    }

    /// Data of the line in a way, where contents are modeled.
    pub(super) fn data_mut(&mut self, way: Way) -> Option<&mut [u8]> {
        let bytes = self.line_size.bytes() as usize;
        self.data.as_mut().map(|data| &mut data[way.0 * bytes..(way.0 + 1) * bytes])
    }

    /// A copy of the data of the line in a way, where contents are modeled.
    #[inline]
    pub(super) fn data(&self, way: Way) -> Option<Arc<[u8]>> {
        let bytes = self.line_size.bytes() as usize;
        self.data.as_ref().map(|data| data[way.0 * bytes..(way.0 + 1) * bytes].into())
    }

    /// The way for a new line: an empty one, else the least recently used whose data are not on
    /// their way; `None` if there is none.
    pub(super) fn victim(&self, line: LineNumber) -> Option<Way> {
        self.victim_within(line, self.ways)
    }

    /// Lines per set.
    pub(super) const fn ways(&self) -> usize {
        self.ways
    }

    /// The way for a new line among the first ones of its set, as [`Level::victim`] chooses it among all.
    #[inline]
    pub(super) fn victim_within(&self, line: LineNumber, ways: usize) -> Option<Way> {
        let start = self.set(line).start;
        let set = start..start + ways;
        let (mut victim, mut least) = (None, u64::MAX);
        for (way, (&used, state)) in self.used[set.clone()].iter().zip(&self.states[set]).enumerate() {
            if used < least && !state.is_pending {
                (victim, least) = (Some(Way(start + way)), used);
            }
        }
        victim
    }

    /// Number of ways that a line can take: those that are empty, or whose data are not on their way.
    pub(super) fn places(&self, line: LineNumber) -> usize {
        self.set(line).filter(|&way| self.tags[way] == NONE || !self.states[way].is_pending).count()
    }

    /// No lines yet, of those that the cache holds after a program has written a range.
    pub(super) fn latest_lines(&self) -> LatestLines {
        LatestLines::new(self.sets, self.ways)
    }

    /// Whether two lines belong to one set.
    pub(super) fn share_set(&self, first: LineNumber, second: LineNumber) -> bool {
        self.set(first) == self.set(second)
    }

    /// Whether a way holds no line.
    pub(super) fn is_empty(&self, way: Way) -> bool {
        self.tags[way.0] == NONE
    }

    /// Removes the line in a way, if there is one.
    pub(super) fn remove(&mut self, way: Way) -> Option<Removed> {
        let Way(at) = way;
        let line = LineNumber(std::mem::replace(&mut self.tags[at], NONE));
        let state = std::mem::take(&mut self.states[at]);
        self.used[at] = 0;
        self.changes += 1;
        (line.0 != NONE).then(|| {
            assert!(!state.is_pending, "{line:x?} is removed while its data are on their way");
            let LineState { dirty, is_copied, .. } = state;
            Removed { line, dirty, is_copied, prefetched_for: self.take_prefetched(way), data: self.data(way) }
        })
    }

    /// Puts a line in an empty way, as the most recently used.
    pub(super) fn insert(&mut self, way: Way, line: LineNumber, state: LineState) {
        assert_eq!(self.tags[way.0], NONE, "the way is empty");
        self.tags[way.0] = line.0;
        self.states[way.0] = state;
        self.changes += 1;
        self.touch(way);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::counters::Purpose;
    use super::*;

    fn fill(cache: &mut Level, line: u64) -> Option<LineNumber> {
        let way = cache.victim(LineNumber(line)).unwrap();
        let removed = cache.remove(way).map(|removed| removed.line);
        cache.insert(way, LineNumber(line), LineState::default());
        removed
    }

    /// Two sets of two ways: lines 0, 2 and 4 share set 0.
    #[test]
    fn the_least_recently_used_line_of_the_set_is_replaced() {
        let mut cache = Level::new(0, CacheShape::new(256, 2, 1), LineSize::new(64), false);
        assert_eq!((fill(&mut cache, 0), fill(&mut cache, 2), fill(&mut cache, 1)), (None, None, None));
        cache.touch(cache.find(LineNumber(0)).unwrap());
        assert_eq!(fill(&mut cache, 4), Some(LineNumber(2)));
        assert_eq!(fill(&mut cache, 6), Some(LineNumber(0)));
        assert!(cache.find(LineNumber(1)).is_some() && cache.find(LineNumber(2)).is_none());
    }

    #[test]
    fn a_line_whose_data_are_awaited_is_no_victim() {
        let mut cache = Level::new(0, CacheShape::new(128, 2, 1), LineSize::new(64), false);
        for line in [0, 1] {
            fill(&mut cache, line);
            let way = cache.find(LineNumber(line)).unwrap();
            cache.state_mut(way).is_pending = true;
        }
        assert_eq!(cache.victim(LineNumber(2)), None);
        let way = cache.find(LineNumber(1)).unwrap();
        cache.state_mut(way).is_pending = false;
        assert_eq!(cache.victim(LineNumber(2)), Some(way));
    }

    /// Of three sets, lines 0, 3 and 6 share one; and a line whose number names a place behind the last one is found.
    #[test]
    fn the_number_of_sets_may_be_any() {
        for (sets, ways) in [(3, 2), (6, 1), (5, 4), (12, 3)] {
            let shape = CacheShape::new(sets * ways * 64, ways as usize, 1);
            let mut cache = Level::new(0, shape, LineSize::new(64), false);
            for line in 1_000..1_000 + sets * ways {
                assert_eq!(fill(&mut cache, line), None, "{line}");
            }
            assert!((1_000..1_000 + sets * ways).all(|line| cache.find(LineNumber(line)).is_some()));
            assert_eq!(cache.find(LineNumber(1_000 + sets * ways)), None);
            assert_eq!(fill(&mut cache, 1_000 + sets * ways), Some(LineNumber(1_000)));
            assert!(cache.share_set(LineNumber(7), LineNumber(7 + sets)));
            assert!(sets == 1 || !cache.share_set(LineNumber(7), LineNumber(8)));
        }
    }

    /// Of four ways, a line may take the first two.
    #[test]
    fn a_bounded_line_replaces_the_least_recently_used_of_the_first_ways() {
        let mut cache = Level::new(0, CacheShape::new(256, 4, 1), LineSize::new(64), false);
        for line in 0..4 {
            fill(&mut cache, line);
        }
        cache.touch(cache.find(LineNumber(0)).unwrap());
        assert_eq!(cache.victim(LineNumber(9)), cache.find(LineNumber(1)));
        cache.touch(cache.find(LineNumber(1)).unwrap());
        assert_eq!(cache.victim(LineNumber(9)), cache.find(LineNumber(2)));
        assert_eq!(cache.victim_within(LineNumber(9), 2), cache.find(LineNumber(0)));
        assert_eq!(cache.victim_within(LineNumber(9), 1), cache.find(LineNumber(0)));
    }

    /// Four sets of three ways take twelve lines without a replacement, wherever their numbers begin.
    #[test]
    fn no_two_sets_share_a_way() {
        for first in [0, 1, 6, 1_000] {
            let mut cache = Level::new(0, CacheShape::new(12 * 64, 3, 1), LineSize::new(64), false);
            for line in first..first + 12 {
                assert_eq!(fill(&mut cache, line), None, "{line}");
                assert_eq!(cache.places(LineNumber(line)), 3);
            }
            let ways: Vec<Way> = (first..first + 12).map(|line| cache.find(LineNumber(line)).unwrap()).collect();
            assert!(ways.iter().enumerate().all(|(nth, way)| !ways[..nth].contains(way)), "{ways:?}");
            for other in first..first + 12 {
                let is_shared = cache.share_set(LineNumber(first), LineNumber(other));
                assert_eq!(is_shared, (other - first) % 4 == 0, "lines {first} and {other}");
            }
        }
    }

    #[test]
    fn a_dirty_line_keeps_the_purpose_of_its_first_store() {
        let mut cache = Level::new(0, CacheShape::new(128, 2, 1), LineSize::new(64), false);
        fill(&mut cache, 0);
        let way = cache.find(LineNumber(0)).unwrap();
        assert_eq!(cache.state(way).dirty, None);
        for purpose in [Purpose::KernelCopy, Purpose::Program, Purpose::KernelZero] {
            cache.state_mut(way).mark_dirty(purpose);
            assert_eq!(cache.state(way).dirty, Some(Purpose::KernelCopy), "{purpose:?}");
        }
        assert_eq!(cache.remove(way).unwrap().dirty, Some(Purpose::KernelCopy));
    }
}
