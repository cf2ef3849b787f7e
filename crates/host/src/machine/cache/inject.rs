//! Lines that a device puts into a cache.

use super::super::counters::Purpose;
use super::super::settings::{InjectionLevel, InjectionSettings, WritePolicy};
use super::Caches;
use super::line::{LineNumber, LineState};
use crate::defects::{Planted, is_planted};

impl Caches {
    /// Whether a line is on its way to accesses of any requester.
    pub fn is_in_any_flight(&self, line: LineNumber) -> bool {
        (0..self.requesters.len()).any(|requester| self.is_in_flight(requester, line))
    }

    /// Whether an injected line must also be written to memory.
    pub const fn injects_clean(&self) -> bool {
        matches!(self.write, WritePolicy::WriteThrough)
    }

    /// Puts a line that no cache holds, and that is in flight to no access, into the caches of a requester from a
    /// level on; returns whether there was a place. It is dirty on behalf of a purpose; with write-through it is
    /// clean.
    pub fn inject(
        &mut self,
        requester: usize,
        settings: &InjectionSettings,
        line: LineNumber,
        (purpose, data): (Purpose, Option<&[u8]>),
    ) -> bool {
        let is_dirty = !self.injects_clean() && !is_planted(Planted::CleanInjection);
        let state = LineState { dirty: is_dirty.then_some(purpose), ..LineState::default() };
        let last_level = &self.last_level[self.level_of(requester)];
        let Some(way) = last_level.victim_within(line, settings.ways(last_level.ways())) else { return false };
        self.replace_in(requester, way, line, state);
        if let (Some(place), Some(data)) = (self.data_mut(requester, way), data) {
            place.copy_from_slice(data);
        }
        let number = match settings.level {
            InjectionLevel::L1 => 1,
            InjectionLevel::L2 => 2,
            InjectionLevel::LastLevel => 3,
        };
        for level in self.requesters[requester].upper.iter_mut().filter(|level| level.number() >= number) {
            let way =
                level.victim_within(line, settings.ways(level.ways())).expect("lines of an L1 and L2 are not pending");
            level.remove(way);
            level.insert(way, line, LineState::default());
        }
        true
    }
}
