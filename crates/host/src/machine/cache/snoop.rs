//! Accesses of devices, which have no cache, to lines that caches may hold.
//!
//! The protocol is MEI: a line is modified (dirty) or exclusive (clean) in one last-level cache, or in
//! none. A device reads or writes memory after a snoop of all caches, or injects lines into a cache.
#![cfg_attr(not(test), expect(dead_code, reason = "the devices of the machine use it"))]

use std::sync::Arc;

use dram_spec::PhysicalAddress;

use super::super::counters::Purpose;
use super::super::settings::WritePolicy;
use super::Caches;
use super::line::{LineNumber, LineState, Removed};

/// What becomes of dirty lines that a device reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirtyRead {
    /// They are written back, and become clean; the device reads memory.
    WrittenBack,
    /// The cache passes their data to the device, and keeps them dirty; memory is not read.
    Passed,
}

/// A line is on its way to a requester: the snoop has changed nothing, and can be repeated once the
/// line is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight;

/// The level into which a line is injected; it also enters the levels behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectLevel {
    /// The L1 of a requester.
    L1,
    /// Its L2, or without one, the last level.
    L2,
    /// Its last-level cache.
    LastLevel,
}

/// Counts of a snoop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnoopCounts {
    /// Lines looked up.
    pub lookups: u64,
    /// Lines that caches held.
    pub lines: u64,
    /// Dirty lines written back.
    pub written_back: u64,
}

/// A dirty line whose data a cache passes to a device, with the data where contents are modeled.
pub type PassedLine = (LineNumber, Option<Arc<[u8]>>);

impl Caches {
    /// Whether a line of a range is on its way to a requester, or held.
    fn is_any_in_flight(&self, address: PhysicalAddress, bytes: u64) -> bool {
        let mut lines = self.line_size.lines(address, bytes);
        lines.any(|(line, _)| (0..self.requesters.len()).any(|requester| self.is_in_flight(requester, line)))
    }

    /// Snoops the caches before a device reads a range. The device then reads memory, apart from the
    /// lines that are passed to it. Write-backs are made in the name of `source`.
    ///
    /// # Errors
    /// A line is in flight.
    pub fn snoop_read(
        &mut self,
        source: usize,
        (address, bytes): (PhysicalAddress, u64),
        dirty_read: DirtyRead,
    ) -> Result<(SnoopCounts, Vec<PassedLine>), InFlight> {
        if self.is_any_in_flight(address, bytes) {
            return Err(InFlight);
        }
        let (mut counts, mut passed) = (SnoopCounts::default(), Vec::new());
        for (line, _) in self.line_size.lines(address, bytes) {
            counts.lookups += 1;
            self.flush(line);
            let Some((level, way)) = self.find_anywhere(line) else { continue };
            counts.lines += 1;
            let level = &mut self.last_level[level];
            let (state, data) = (level.state(way), level.data(way));
            if state.dirty.is_none() {
                continue;
            }
            match dirty_read {
                DirtyRead::Passed => passed.push((line, data)),
                DirtyRead::WrittenBack => {
                    level.state_mut(way).dirty = None;
                    let written = Removed { line, dirty: state.dirty, prefetched_for: None, is_copied: false, data };
                    self.requests.write_line(source, self.line_size, written);
                    counts.written_back += 1;
                }
            }
        }
        Ok((counts, passed))
    }

    /// Snoops the caches before a device writes a range: they lose its lines. A dirty line that the range
    /// covers in part is written back first, in the name of `source`; the device then writes memory.
    ///
    /// # Errors
    /// A line is in flight.
    pub fn snoop_write(
        &mut self,
        source: usize,
        (address, bytes): (PhysicalAddress, u64),
    ) -> Result<SnoopCounts, InFlight> {
        if self.is_any_in_flight(address, bytes) {
            return Err(InFlight);
        }
        let mut counts = SnoopCounts::default();
        for (line, is_whole) in self.line_size.lines(address, bytes) {
            counts.lookups += 1;
            self.flush(line);
            self.drop_prefetches(line, |_| true);
            let Some((level, way)) = self.find_anywhere(line) else { continue };
            counts.lines += 1;
            let removed = self.remove(level, way).expect("the way holds the line");
            if removed.dirty.is_some() && !is_whole {
                self.requests.write_line(source, self.line_size, removed);
                counts.written_back += 1;
            }
        }
        Ok(counts)
    }

    /// Injects a line that a device writes into the caches of a requester from a level on; returns whether
    /// there was a place. Other caches lose the line. It is dirty on behalf of a purpose; with
    /// write-through it is clean, and written to memory. Without a place the device writes memory.
    ///
    /// # Errors
    /// The line is in flight.
    pub fn inject(
        &mut self,
        requester: usize,
        to: InjectLevel,
        line: LineNumber,
        (purpose, data): (Purpose, Option<&[u8]>),
    ) -> Result<bool, InFlight> {
        let range = (self.line_size.address(line), self.line_size.bytes());
        self.snoop_write(requester, range)?;
        let is_written = self.write == WritePolicy::WriteThrough;
        let state = LineState { dirty: (!is_written).then_some(purpose), ..LineState::default() };
        let Some(way) = self.replace(requester, line, state) else { return Ok(false) };
        if let (Some(place), Some(data)) = (self.data_mut(requester, way), data) {
            place.copy_from_slice(data);
        }
        let number = match to {
            InjectLevel::L1 => 1,
            InjectLevel::L2 => 2,
            InjectLevel::LastLevel => 3,
        };
        for level in self.requesters[requester].upper.iter_mut().filter(|level| level.number() >= number) {
            level.take(line, false);
        }
        if is_written {
            let data = data.map(Into::into);
            let written = Removed { line, dirty: Some(purpose), prefetched_for: None, is_copied: false, data };
            self.requests.write_line(requester, self.line_size, written);
        }
        Ok(true)
    }
}
