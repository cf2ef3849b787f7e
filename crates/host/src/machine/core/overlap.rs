//! Cycles in which copies of an engine are pending, and those of them in which other instructions advance.

use super::super::clock::CoreCycle;

/// Counts of the cycles of pending copies. Nothing is recorded while no copy is pending.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// Copies that are pending.
    pending: usize,
    /// The first cycle from which on copies have been pending without interruption.
    begin: u64,
    /// A bit per cycle from `begin` on, 64 in an item: whether an instruction advances in the cycle.
    advanced: Vec<u64>,
    /// Loads whose lines are awaited.
    awaited: usize,
    /// The cycle from which on any has been awaited.
    awaited_since: u64,
    cycles: u64,
    overlapped: u64,
}

/// Items that are counted at once while copies are pending, and half of those that are kept before: far more
/// cycles than instructions are recorded in advance.
const ITEMS: usize = 1 << 12;

impl Overlap {
    /// Whether a copy is pending.
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.pending > 0
    }

    /// Begins a copy at a cycle; `awaited` is the number of loads whose lines are awaited. Returns whether it is
    /// the only copy: instructions in progress then advance from this cycle on.
    pub(super) fn begin(&mut self, at: CoreCycle, awaited: usize) -> bool {
        self.pending += 1;
        if self.pending > 1 {
            return false;
        }
        self.begin = at.0;
        self.advanced.clear();
        (self.awaited, self.awaited_since) = (awaited, at.0);
        true
    }

    /// Records that an instruction advances from a cycle on until before another one.
    pub(super) fn advance(&mut self, from: CoreCycle, until: CoreCycle) {
        if self.advanced.len() > 2 * ITEMS {
            self.count_oldest();
        }
        self.record(from, until);
    }

    fn record(&mut self, CoreCycle(from): CoreCycle, CoreCycle(until): CoreCycle) {
        let (first, end) = (from.max(self.begin) - self.begin, until.max(self.begin) - self.begin);
        if first >= end {
            return;
        }
        let (first_item, last_item) = ((first / 64) as usize, ((end - 1) / 64) as usize);
        if self.advanced.len() <= last_item {
            self.advanced.resize(last_item + 1, 0);
        }
        for item in first_item..=last_item {
            let (from, to) = (first.max(item as u64 * 64) % 64, end.min(item as u64 * 64 + 64) - item as u64 * 64);
            self.advanced[item] |= bits_before(to) & !bits_before(from);
        }
    }

    /// Records that a load awaits its line from a cycle on.
    pub(super) fn await_line(&mut self, at: CoreCycle) {
        if self.awaited == 0 {
            self.awaited_since = at.0;
        }
        self.awaited += 1;
    }

    /// Records that the line of a load is there at a cycle.
    pub(super) fn line_arrived(&mut self, at: CoreCycle) {
        self.awaited -= 1;
        if self.awaited == 0 {
            self.advance(CoreCycle(self.awaited_since), at);
        }
    }

    /// Ends a copy at a cycle.
    pub(super) fn end(&mut self, at: CoreCycle) {
        if self.pending == 1 {
            (self.cycles, self.overlapped) = self.counted(at);
        }
        self.pending -= 1;
    }

    /// Counts the oldest items, before which nothing will be recorded.
    #[cold]
    fn count_oldest(&mut self) {
        let until = self.begin + ITEMS as u64 * 64;
        if self.awaited > 0 {
            self.record(CoreCycle(self.awaited_since), CoreCycle(until));
            self.awaited_since = self.awaited_since.max(until);
        }
        self.overlapped += ones(&self.advanced[..ITEMS]);
        self.cycles += until - self.begin;
        self.advanced.drain(..ITEMS);
        self.begin = until;
    }

    /// Cycles of copies before a cycle, each cycle once; and those of them in which instructions advanced, as far
    /// as that is known.
    pub(super) fn counted(&self, at: CoreCycle) -> (u64, u64) {
        if self.pending == 0 {
            return (self.cycles, self.overlapped);
        }
        let cycles = at.0.saturating_sub(self.begin);
        let awaited = if self.awaited > 0 { self.awaited_since.max(self.begin) - self.begin } else { cycles };
        // Instructions advance in all cycles from the one on from which a line is awaited.
        let before = awaited.min(cycles);
        let (whole, rest) = ((before / 64) as usize, before % 64);
        let in_rest = self.advanced.get(whole).map_or(0, |item| item & bits_before(rest));
        let recorded = ones(&self.advanced[..whole.min(self.advanced.len())]) + u64::from(in_rest.count_ones());
        (self.cycles + cycles, self.overlapped + recorded + cycles - before)
    }
}

/// Number of cycles in which an instruction advances.
fn ones(items: &[u64]) -> u64 {
    items.iter().map(|item| u64::from(item.count_ones())).sum()
}

/// The lowest bits of an item, up to 64.
const fn bits_before(bit: u64) -> u64 {
    if bit >= 64 { u64::MAX } else { (1 << bit) - 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn at(cycle: u64) -> CoreCycle {
        CoreCycle(cycle)
    }

    /// Cycles 100 to 299: instructions in 100 to 109 and 150 to 249, of which 240 to 249 twice; the one until
    /// 400 counts up to the end.
    #[test]
    fn each_cycle_of_a_copy_counts_once() {
        let mut overlap = Overlap::default();
        assert!(overlap.begin(at(100), 0) && overlap.is_active());
        overlap.advance(at(90), at(110));
        overlap.advance(at(150), at(250));
        overlap.advance(at(240), at(250));
        overlap.advance(at(290), at(400));
        overlap.end(at(300));
        assert_eq!((overlap.counted(at(500)), overlap.is_active()), ((200, 10 + 100 + 10), false));
        assert!(overlap.begin(at(350), 0));
        overlap.end(at(360));
        assert_eq!(overlap.counted(at(500)), (210, 120), "what was recorded before does not count");
    }

    /// One load awaits its line when the copy begins, until 120; two others from 140 on, one until 160, the other
    /// beyond the end.
    #[test]
    fn awaited_lines_advance_up_to_their_arrival_or_the_end() {
        let mut overlap = Overlap::default();
        overlap.begin(at(100), 1);
        overlap.line_arrived(at(120));
        overlap.await_line(at(140));
        overlap.await_line(at(150));
        overlap.line_arrived(at(160));
        assert_eq!(overlap.counted(at(150)), (50, 20 + 10), "the copy is pending");
        overlap.end(at(200));
        assert_eq!(overlap.counted(at(500)), (100, 20 + 60));
    }

    #[test]
    fn copies_that_overlap_are_one_interval() {
        let mut overlap = Overlap::default();
        assert!(overlap.begin(at(10), 0));
        assert!(!overlap.begin(at(20), 0));
        overlap.end(at(40));
        overlap.advance(at(45), at(47));
        overlap.end(at(50));
        assert_eq!(overlap.counted(at(50)), (40, 2));
    }

    /// A million cycles, in every second of which an instruction advances, and then a load awaits its line for a
    /// million.
    #[test]
    fn a_long_interval_is_counted_in_parts() {
        let mut overlap = Overlap::default();
        overlap.begin(at(7), 0);
        (0..500_000).for_each(|pair| overlap.advance(at(7 + 2 * pair), at(8 + 2 * pair)));
        assert!(overlap.advanced.len() <= 2 * ITEMS + 1);
        overlap.await_line(at(1_000_007));
        (0..500_000).for_each(|pair| overlap.advance(at(1_000_007 + 2 * pair), at(1_000_008 + 2 * pair)));
        overlap.line_arrived(at(2_000_007));
        overlap.end(at(2_000_007));
        assert_eq!(overlap.counted(at(2_000_007)), (2_000_000, 1_500_000));
    }

    proptest! {
        #[test]
        fn cycles_are_those_of_a_set(
            begin in 0..200_u64,
            length in 0..300_u64,
            parts in prop::collection::vec((0..600_u64, 0..200_u64), 0..20),
        ) {
            let mut overlap = Overlap::default();
            overlap.begin(at(begin), 0);
            for &(from, cycles) in &parts {
                overlap.advance(at(from), at(from + cycles));
            }
            overlap.end(at(begin + length));
            let is_advanced = |cycle: &u64| parts.iter().any(|&(from, cycles)| (from..from + cycles).contains(cycle));
            let expected = (begin..begin + length).filter(is_advanced).count() as u64;
            prop_assert_eq!(overlap.counted(at(2_000)), (length, expected));
        }
    }
}
