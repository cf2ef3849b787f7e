//! Lines that a device puts into a cache.
#![cfg_attr(not(test), expect(dead_code, reason = "no device injects lines yet"))]

use super::super::counters::Purpose;
use super::super::settings::WritePolicy;
use super::Caches;
use super::coherence::{DirtyData, Scope};
use super::line::{LineNumber, LineState, Removed};

/// A line is on its way to a requester: the injection has changed nothing, and can be repeated once the
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

impl Caches {
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
        if (0..self.requesters.len()).any(|other| self.is_in_flight(other, line)) {
            return Err(InFlight);
        }
        self.invalidate(requester, [(line, DirtyData::Discarded)].into_iter(), Scope::All);
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
