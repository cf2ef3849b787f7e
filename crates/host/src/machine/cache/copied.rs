//! Lines of copies that their program has not accessed since.
//!
//! A line of the source or the destination of a copy awaits its first access. While a last-level cache holds
//! it, its state says so; otherwise it is in [`Absent`]. A miss of the program then follows the copy.

use std::collections::BTreeMap;

use dram_spec::PhysicalAddress;

use super::super::counters::Purpose;
use super::Caches;
use super::level::Way;
use super::line::LineNumber;

/// Lines of copies that await their first access, and that no last-level cache holds: a bit of each, by their numbers
/// divided by 64.
#[derive(Debug, Default)]
pub(super) struct Absent(BTreeMap<u64, u64>);

impl Absent {
    /// Adds a line.
    fn add(&mut self, LineNumber(line): LineNumber) {
        *self.0.entry(line / 64).or_default() |= 1 << (line % 64);
    }

    /// Removes a line; returns whether it was there.
    fn take(&mut self, LineNumber(line): LineNumber) -> bool {
        let Some(lines) = self.0.get_mut(&(line / 64)) else { return false };
        let (bit, before) = (1 << (line % 64), *lines);
        *lines &= !bit;
        if *lines == 0 {
            self.0.remove(&(line / 64));
        }
        before & bit != 0
    }
}

impl Caches {
    /// The lines of a range of a copy await the first access of the program of a requester.
    pub fn copied(&mut self, requester: usize, (address, bytes): (PhysicalAddress, u64)) {
        let level = self.level_of(requester);
        for (line, _) in self.line_size.lines(address, bytes) {
            match self.last_level[level].find(line) {
                Some(way) => self.last_level[level].state_mut(way).is_copied = true,
                None => self.absent_copied.add(line),
            }
        }
    }

    /// A line that awaits its first access has left its last-level cache.
    pub(super) fn copied_left(&mut self, line: LineNumber) {
        self.absent_copied.add(line);
    }

    /// Whether a line that enters a last-level cache awaits its first access.
    pub(super) fn copied_enters(&mut self, line: LineNumber) -> bool {
        !self.absent_copied.0.is_empty() && self.absent_copied.take(line)
    }

    /// The program of a requester accesses a line, which has a place unless the access bypasses the caches;
    /// returns whether that is the first access since a copy.
    pub(super) fn is_first_since_copy(
        &mut self,
        requester: usize,
        (line, way): (LineNumber, Option<Way>),
        purpose: Purpose,
    ) -> bool {
        if purpose != Purpose::Program {
            return false;
        }
        match way {
            Some(way) => {
                let level = self.level_of(requester);
                std::mem::take(&mut self.last_level[level].state_mut(way).is_copied)
            }
            None => self.copied_enters(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_taken_once() {
        let mut absent = Absent::default();
        for line in [0, 63, 64, 63] {
            absent.add(LineNumber(line));
        }
        let taken = [1, 63, 63, 0, 64, 64].map(|line| absent.take(LineNumber(line)));
        assert_eq!(taken, [false, true, false, true, true, false]);
        assert!(absent.0.is_empty());
    }
}
