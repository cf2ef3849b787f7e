//! Long runs of equal instructions without memory access: where a window of them leaves the core as it was, only
//! later, all further ones do so, and are not simulated one by one.

use trace_io::program::Needs;

use super::super::counters::{Purpose, StallSlots};
use super::Core;
use super::pipeline::{Pipeline, Slot};

/// The state of a core within a run.
#[derive(Debug)]
pub(super) struct Mark {
    /// Instructions of the run that are left.
    left: u64,
    pipeline: Pipeline,
    /// Slots in which the next instruction does not dispatch because of one that dispatches alone.
    alone: u64,
    stalls: StallSlots,
}

impl Core {
    /// Whether the effect of an instruction depends on the pipeline alone.
    fn may_repeat(&self, needs: Needs, purpose: Purpose) -> bool {
        let is_quiet_past = purpose != Purpose::Program
            || self.counters.instructions - self.quiet_at >= needs.after.into_iter().max().map_or(0, u64::from);
        is_quiet_past && !self.units.are_limited(needs.class) && !self.overlap.is_active() && self.deferred.is_empty()
    }

    /// Repeats the window of instructions since a mark, if that leaves the core as it was, until fewer than a
    /// window of the run are left or the limit is reached; returns the number of instructions. Sets the mark once
    /// per window.
    pub(super) fn repeat(
        &mut self,
        mark: &mut Option<Mark>,
        left: u64,
        (needs, purpose): (Needs, Purpose),
        Slot(limit): Slot,
    ) -> u64 {
        let window = self.settings.window;
        let is_between = mark.as_ref().is_some_and(|mark| mark.left - left < window);
        if is_between || left < window || !self.may_repeat(needs, purpose) {
            return 0;
        }
        // Only instructions that dispatch alone depend on the place in a cycle.
        let is_paired = self.settings.classes.of(needs.class).is_paired;
        let alone = self.not_with_previous.0.saturating_sub(self.pipeline.position());
        let mut repeated = 0;
        if let Some(mark) = mark.as_ref().filter(|mark| mark.alone == alone)
            && let Some(slots) = self.pipeline.shift_from(&mark.pipeline)
            && (is_paired || slots.is_multiple_of(self.settings.width))
        {
            let times = (left / window).min(limit.saturating_sub(self.pipeline.position()) / slots);
            let stalls = self.counters.stalls - mark.stalls;
            self.counters.stalls.operand += times * stalls.operand;
            self.counters.stalls.unit += times * stalls.unit;
            self.pipeline.shift(&mark.pipeline, times);
            self.not_with_previous.0 += times * slots;
            repeated = times * window;
            self.counters.count_instructions(purpose, repeated);
        }
        let pipeline = self.pipeline.clone();
        *mark = Some(Mark { left: left - repeated, pipeline, alone, stalls: self.counters.stalls });
        repeated
    }
}
