//! A set-associative write-back cache with LRU replacement.

use dram_core::Line;
use dram_spec::LINE_BYTES;

use super::core::{Access, AccessKind};
use super::counters::Purpose;

/// Number of a line: its physical address divided by 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(pub u64);

impl LineNumber {
    /// Address of the first byte.
    pub const fn address(self) -> dram_spec::PhysicalAddress {
        dram_spec::PhysicalAddress(self.0 * LINE_BYTES)
    }

    /// The line that contains an address.
    pub const fn of(address: dram_spec::PhysicalAddress) -> LineNumber {
        LineNumber(address.0 / LINE_BYTES)
    }
}

/// Size and latency of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Bytes of data: ways x 64 x a power of two.
    pub bytes: u64,
    /// Lines per set.
    pub ways: usize,
    /// Core cycles from a load to its data on a hit.
    pub latency: u64,
}

/// State of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineState {
    /// Whether its data are on their way from memory, or a copy in DRAM of its data is in progress.
    pub is_pending: bool,
    /// Who made it dirty; `None` if it is clean.
    pub dirty: Option<Purpose>,
}

/// Place of a line in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way(usize);

/// A line removed from a cache.
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    /// The line.
    pub line: LineNumber,
    /// Who made it dirty, if it was.
    pub dirty: Option<Purpose>,
    /// Its data, where contents are modeled.
    pub data: Option<Line>,
}

/// Tag of a way without a line.
const NONE: u64 = u64::MAX;

/// A cache.
#[derive(Debug)]
pub struct Cache {
    ways: usize,
    sets: u64,
    latency: u64,
    /// Line numbers by set and way.
    tags: Vec<u64>,
    /// Time of the last use of each way, in uses of the cache; 0 for an empty way.
    used: Vec<u64>,
    states: Vec<LineState>,
    data: Option<Vec<Line>>,
    uses: u64,
    /// Number of insertions and removals of lines.
    changes: u64,
}

impl Cache {
    /// Creates an empty cache, with data if contents are modeled.
    ///
    /// # Panics
    /// If the number of sets is not a power of two.
    pub fn new(shape: CacheShape, has_data: bool) -> Cache {
        let lines = (shape.bytes / LINE_BYTES) as usize;
        let sets = lines / shape.ways;
        assert!(sets.is_power_of_two() && sets * shape.ways == lines, "{shape:?}");
        Cache {
            ways: shape.ways,
            sets: sets as u64,
            latency: shape.latency,
            tags: vec![NONE; lines],
            used: vec![0; lines],
            states: vec![LineState::default(); lines],
            data: has_data.then(|| vec![[0; LINE_BYTES as usize]; lines]),
            uses: 0,
            changes: 0,
        }
    }

    /// Core cycles from a load to its data on a hit.
    pub const fn latency(&self) -> u64 {
        self.latency
    }

    /// Number of insertions and removals of lines so far.
    #[inline]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    fn set(&self, line: LineNumber) -> std::ops::Range<usize> {
        let first = (line.0 & (self.sets - 1)) as usize * self.ways;
        first..first + self.ways
    }

    /// The way of a line, if the cache holds it.
    #[inline]
    pub fn find(&self, line: LineNumber) -> Option<Way> {
        let set = self.set(line);
        let start = set.start;
        self.tags[set].iter().position(|&tag| tag == line.0).map(|way| Way(start + way))
    }

    /// Makes a line of an L1 the most recently used of its set; returns whether it was there. The
    /// last-level cache holds the lines of the L1 and their state, so that nothing is written back.
    #[inline(never)]
    pub fn take(&mut self, line: LineNumber) -> bool {
        if let Some(way) = self.find(line) {
            self.touch(way);
            return true;
        }
        let way = self.victim(line).expect("no line of an L1 is pending");
        self.remove(way);
        self.insert(way, line, LineState::default());
        false
    }

    /// Makes a line the most recently used of its set.
    #[inline]
    pub fn touch(&mut self, way: Way) {
        self.uses += 1;
        self.used[way.0] = self.uses;
    }

    /// State of the line in a way.
    #[inline]
    pub fn state(&self, way: Way) -> LineState {
        self.states[way.0]
    }

    /// State of the line in a way, to change it.
    #[inline]
    pub fn state_mut(&mut self, way: Way) -> &mut LineState {
        &mut self.states[way.0]
    }

    /// Records who made the line in a way dirty, if an access is a store and the line was clean.
    #[inline]
    pub(super) fn mark_dirty(&mut self, way: Way, access: &Access) {
        if access.kind != AccessKind::Load {
            let state = self.state_mut(way);
            state.dirty = state.dirty.or(Some(access.purpose));
        }
    }

    /// Data of the line in a way, where contents are modeled.
    pub fn data_mut(&mut self, way: Way) -> Option<&mut Line> {
        self.data.as_mut().map(|data| &mut data[way.0])
    }

    /// The way for a new line: an empty one, else the least recently used whose data are not on
    /// their way; `None` if there is none.
    pub fn victim(&self, line: LineNumber) -> Option<Way> {
        let set = self.set(line);
        let start = set.start;
        let (mut victim, mut least) = (None, u64::MAX);
        for (way, (&used, state)) in self.used[set.clone()].iter().zip(&self.states[set]).enumerate() {
            if used < least && !state.is_pending {
                (victim, least) = (Some(Way(start + way)), used);
            }
        }
        victim
    }

    /// Number of ways that a line can take: those that are empty, or whose data are not on their way.
    pub fn places(&self, line: LineNumber) -> usize {
        self.set(line).filter(|&way| self.tags[way] == NONE || !self.states[way].is_pending).count()
    }

    /// Whether two lines belong to one set.
    pub fn share_set(&self, first: LineNumber, second: LineNumber) -> bool {
        self.set(first) == self.set(second)
    }

    /// Whether a way holds no line.
    pub fn is_empty(&self, way: Way) -> bool {
        self.tags[way.0] == NONE
    }

    /// Removes the line in a way, if there is one.
    pub fn remove(&mut self, way: Way) -> Option<Removed> {
        let Way(at) = way;
        let line = LineNumber(std::mem::replace(&mut self.tags[at], NONE));
        let state = std::mem::take(&mut self.states[at]);
        self.used[at] = 0;
        self.changes += 1;
        (line.0 != NONE).then(|| {
            assert!(!state.is_pending, "line {:#x} is removed while its data are on their way", line.address().0);
            Removed { line, dirty: state.dirty, data: self.data.as_ref().map(|data| data[at]) }
        })
    }

    /// Puts a line in an empty way, as the most recently used.
    pub fn insert(&mut self, way: Way, line: LineNumber, state: LineState) {
        assert_eq!(self.tags[way.0], NONE, "the way is empty");
        self.tags[way.0] = line.0;
        self.states[way.0] = state;
        self.changes += 1;
        self.touch(way);
    }
}

#[cfg(test)]
mod tests {
    use super::super::coherence_check::StoreData;
    use super::*;

    fn fill(cache: &mut Cache, line: u64) -> Option<LineNumber> {
        let way = cache.victim(LineNumber(line)).unwrap();
        let removed = cache.remove(way).map(|removed| removed.line);
        cache.insert(way, LineNumber(line), LineState::default());
        removed
    }

    /// Two sets of two ways: lines 0, 2 and 4 share set 0.
    #[test]
    fn the_least_recently_used_line_of_the_set_is_replaced() {
        let mut cache = Cache::new(CacheShape { bytes: 256, ways: 2, latency: 1 }, false);
        assert_eq!((fill(&mut cache, 0), fill(&mut cache, 2), fill(&mut cache, 1)), (None, None, None));
        cache.touch(cache.find(LineNumber(0)).unwrap());
        assert_eq!(fill(&mut cache, 4), Some(LineNumber(2)));
        assert_eq!(fill(&mut cache, 6), Some(LineNumber(0)));
        assert!(cache.find(LineNumber(1)).is_some() && cache.find(LineNumber(2)).is_none());
    }

    #[test]
    fn a_line_whose_data_are_awaited_is_no_victim() {
        let mut cache = Cache::new(CacheShape { bytes: 128, ways: 2, latency: 1 }, false);
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

    /// Four sets of three ways take twelve lines without a replacement, wherever their numbers begin.
    #[test]
    fn no_two_sets_share_a_way() {
        for first in [0, 1, 6, 1_000] {
            let mut cache = Cache::new(CacheShape { bytes: 12 * 64, ways: 3, latency: 1 }, false);
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

    /// The first store decides who made a line dirty; a load does not.
    #[test]
    fn a_dirty_line_keeps_the_purpose_of_its_first_store() {
        let mut cache = Cache::new(CacheShape { bytes: 128, ways: 2, latency: 1 }, false);
        fill(&mut cache, 0);
        let way = cache.find(LineNumber(0)).unwrap();
        let access = |kind, purpose| Access { address: LineNumber(0).address(), bytes: 64, kind, purpose };
        let zero = StoreData::Zero;
        for (kind, purpose, dirty) in [
            (AccessKind::Load, Purpose::Program, None),
            (AccessKind::Store(zero), Purpose::KernelCopy, Some(Purpose::KernelCopy)),
            (AccessKind::Store(zero), Purpose::Program, Some(Purpose::KernelCopy)),
            (AccessKind::WholeLine(zero), Purpose::KernelZero, Some(Purpose::KernelCopy)),
            (AccessKind::Load, Purpose::KernelData, Some(Purpose::KernelCopy)),
        ] {
            cache.mark_dirty(way, &access(kind, purpose));
            assert_eq!(cache.state(way).dirty, dirty, "{kind:?} {purpose:?}");
        }
        assert_eq!(cache.remove(way).unwrap().dirty, Some(Purpose::KernelCopy));
    }
}
