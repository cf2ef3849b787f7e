//! Long runs of equal instructions without memory access: where a window of them leaves the core as it was, only
//! later, all further ones do so, and are not simulated one by one.

use trace_io::program::Needs;

use super::super::counters::{Purpose, StallSlots};
use super::Core;
use super::pipeline::{Pipeline, Slot};

/// The state of a core within a run.
#[derive(Debug)]
pub(super) struct RunState {
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

    /// Repeats the window of instructions since an earlier state, if that leaves the core as it was, until fewer than a
    /// window of the run are left or the limit is reached; returns the number of instructions. Keeps the state once
    /// per window.
    pub(super) fn repeat(
        &mut self,
        earlier: &mut Option<RunState>,
        left: u64,
        (needs, purpose): (Needs, Purpose),
        Slot(limit): Slot,
    ) -> u64 {
        let window = self.settings.window;
        let is_between = earlier.as_ref().is_some_and(|earlier| earlier.left - left < window);
        if is_between || left < window || !self.may_repeat(needs, purpose) {
            return 0;
        }
        // Only instructions that dispatch alone depend on the place in a cycle.
        let is_paired = self.settings.classes.of(needs.class).is_paired;
        let alone = self.not_with_previous.0.saturating_sub(self.pipeline.position());
        let mut repeated = 0;
        if let Some(earlier) = earlier.as_ref().filter(|earlier| earlier.alone == alone)
            && let Some(slots) = self.pipeline.shift_from(&earlier.pipeline)
            && (is_paired || slots.is_multiple_of(self.settings.width))
        {
            let times = (left / window).min(limit.saturating_sub(self.pipeline.position()) / slots);
            let stalls = self.counters.stalls - earlier.stalls;
            self.counters.stalls.operand += times * stalls.operand;
            self.counters.stalls.unit += times * stalls.unit;
            self.pipeline.shift(&earlier.pipeline, times);
            self.not_with_previous.0 += times * slots;
            repeated = times * window;
            self.counters.count_instructions(purpose, repeated);
        }
        let pipeline = self.pipeline.clone();
        *earlier = Some(RunState { left: left - repeated, pipeline, alone, stalls: self.counters.stalls });
        repeated
    }
}
