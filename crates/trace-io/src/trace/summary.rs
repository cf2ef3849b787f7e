//! Summary of the records of a trace.

use std::io::Read;

use dram_spec::LINE_BYTES;
use rustc_hash::FxHashMap;

use super::copies::Amount;
use super::reader::TraceReader;
use super::record::{AccessKind, Arrival, Event, OsEvent, Record};
use crate::LineError;

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;
/// Maximum number of pages of which the lines are stored; a bound on memory.
const PAGES_MAX: usize = 1 << 22;

/// Counts of a trace's records, and the addresses that they contain.
#[derive(Clone, Debug, Default)]
pub struct TraceSummary {
    /// All records.
    pub records: u64,
    /// Reads.
    pub reads: u64,
    /// Writes that are records of their own.
    pub writes: u64,
    /// Writebacks of reads.
    pub writebacks: u64,
    /// Copies, and their bytes.
    pub copies: Amount,
    /// Fills, and their bytes.
    pub fills: Amount,
    /// Reads and writes by DRAM coordinates. They are among the reads and writes, and have no
    /// address.
    pub located: u64,
    /// Page faults.
    pub faults: u64,
    /// Forks.
    pub forks: u64,
    /// Ends of an address space: exits, and programs that replace others.
    pub exits: u64,
    /// Instructions between records.
    pub instructions: u64,
    /// Last time in ps, if records have times in a unit.
    pub last_ps: Option<u64>,
    /// Last cycle of the trace's clock, if records have cycles.
    pub last_cycle: Option<u64>,
    /// Records whose cycle or time precedes the latest one before them, in its unit.
    pub late: u64,
    /// Lowest and highest byte address of a record.
    pub addresses: Option<(u64, u64)>,
    /// Accessed lines of each page, one bit per line.
    lines: FxHashMap<u64, u64>,
    is_capped: bool,
}

impl TraceSummary {
    /// Reads a trace to its end. Memory grows with the pages that the trace accesses, up to a bound.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of<R: Read>(reader: TraceReader<R>) -> Result<TraceSummary, LineError> {
        let mut summary = TraceSummary::default();
        for record in reader {
            summary.add(&record?);
        }
        Ok(summary)
    }

    /// Accessed pages of 4 KiB.
    pub fn pages(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Bytes of the accessed 64-byte lines.
    pub fn footprint_bytes(&self) -> u64 {
        self.lines.values().map(|lines| u64::from(lines.count_ones())).sum::<u64>() * LINE_BYTES
    }

    /// Whether the trace accesses more pages than are counted, so that pages and footprint are lower
    /// bounds.
    pub const fn is_capped(&self) -> bool {
        self.is_capped
    }

    /// Adds a record.
    pub fn add(&mut self, record: &Record) {
        self.records += 1;
        match record.arrival {
            Arrival::WhenTaken => {}
            Arrival::AfterInstructions(instructions) => {
                self.instructions = self.instructions.saturating_add(instructions);
            }
            Arrival::AtCycle(at) => {
                self.late += u64::from(Some(at.0) < self.last_cycle);
                self.last_cycle = self.last_cycle.max(Some(at.0));
            }
            Arrival::AfterCycles(cycles) => {
                self.last_cycle = Some(self.last_cycle.unwrap_or(0).saturating_add(cycles.0));
            }
            Arrival::AtPicoseconds(at) => {
                self.late += u64::from(Some(at) < self.last_ps);
                self.last_ps = self.last_ps.max(Some(at));
            }
        }
        match record.event {
            Event::Read { address, bytes, writeback } => {
                self.reads += 1;
                self.touch(address.0, bytes.map_or(1, |bytes| bytes.get().into()));
                if let Some(victim) = writeback {
                    self.writebacks += 1;
                    self.touch(victim.0, 1);
                }
            }
            Event::Write { address, bytes } => {
                self.writes += 1;
                self.touch(address.0, bytes.map_or(1, |bytes| bytes.get().into()));
            }
            Event::Located { access, .. } => {
                self.located += 1;
                match access {
                    AccessKind::Read => self.reads += 1,
                    AccessKind::Write => self.writes += 1,
                }
            }
            Event::Copy { dst, src, bytes, .. } => {
                self.copies.add(bytes);
                self.touch(dst.0, bytes);
                self.touch(src.0, bytes);
            }
            Event::Fill { dst, bytes, .. } => {
                self.fills.add(bytes);
                self.touch(dst.0, bytes);
            }
            Event::Os(OsEvent::Fault { address, .. }) => {
                self.faults += 1;
                self.touch(address.0, 1);
            }
            Event::Os(OsEvent::Fork { .. }) => self.forks += 1,
            Event::Os(OsEvent::Exec { .. } | OsEvent::Exit { .. }) => self.exits += 1,
        }
    }

    /// Records that a range is accessed, whose end the record's check has found to exist.
    fn touch(&mut self, first: u64, bytes: u64) {
        let last = first.saturating_add(bytes - 1);
        let (lowest, highest) = self.addresses.unwrap_or((first, last));
        self.addresses = Some((lowest.min(first), highest.max(last)));
        for page in first / PAGE_BYTES..=last / PAGE_BYTES {
            if self.lines.len() == PAGES_MAX && !self.lines.contains_key(&page) {
                self.is_capped = true;
                return;
            }
            let in_page = |address: u64| (address % PAGE_BYTES) / LINE_BYTES;
            let from = if page == first / PAGE_BYTES { in_page(first) } else { 0 };
            let to = if page == last / PAGE_BYTES { in_page(last) } else { PAGE_BYTES / LINE_BYTES - 1 };
            *self.lines.entry(page).or_default() |= (u64::MAX << from) & (u64::MAX >> (63 - to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> TraceSummary {
        TraceSummary::of(TraceReader::new(text.as_bytes(), None).unwrap()).unwrap()
    }

    #[test]
    fn a_summary_is_that_by_hand() {
        let found = summary("R 1008 40 9\nC 8000 10fc0 4096 30\nS 2000 7 65 5\nR 1000 0 5\n");
        assert_eq!((found.records, found.reads, found.writes, found.writebacks), (4, 2, 0, 1));
        assert_eq!((found.copies, found.fills), (Amount { count: 1, bytes: 4096 }, Amount { count: 1, bytes: 65 }));
        assert_eq!((found.instructions, found.last_cycle, found.last_ps), (14, None, None));
        assert_eq!(found.addresses, Some((0x40, 0x11fbf)));
        // Pages 0, 1, 2, 8, 0x10 and 0x11; 64 + 64 lines of the copy, 2 of the fill, 2 others.
        assert_eq!((found.pages(), found.footprint_bytes()), (6, 132 * 64));
        assert!(!found.is_capped());
    }

    #[test]
    fn times_of_each_kind_have_their_last() {
        let found = summary("R 0x0 @5\nW 0x40 @9ns\nR 0xffffffffffffffc0 @9001ps\n");
        assert_eq!((found.last_cycle, found.last_ps), (Some(5), Some(9001)));
        assert_eq!((found.reads, found.writes, found.pages(), found.footprint_bytes()), (2, 1, 2, 192));
        let clocks =
            TraceReader::new(&b"3: read 0x0\n4: write 0x40\n"[..], crate::trace::Format::named("rstl")).unwrap();
        assert_eq!(TraceSummary::of(clocks).unwrap().last_cycle, Some(7));
    }

    #[test]
    fn the_memory_of_a_summary_is_bounded() {
        let found = summary("ZERO 0x0 1\n");
        assert_eq!(found.pages(), 1);
        let found = summary("ZERO 0x0 18446744073709551615\n");
        assert!(found.is_capped() && found.pages() == PAGES_MAX as u64);
    }
}
