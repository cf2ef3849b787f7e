//! Warm-up, measured region of each core, and the interval that covers the regions.
//!
//! The region of a core is a fixed part of its program, so that runs under different settings
//! compare equal instructions. It begins and ends with the dispatch of an instruction, or with the
//! end of the program. The interval lasts from the cycle in which the last core ends its warm-up to
//! the cycle in which the last core ends its region; cores that finish early keep running.

use std::cell::Cell;
use std::rc::Rc;

use super::clock::CoreCycle;
use super::core::Core;
use super::counters::CoreCounters;
use super::{Machine, MachineError};

/// Measured part of each program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Instructions of each program before its region.
    pub warm_up: u64,
    /// Instructions of each region; `None` for the rest of the program.
    pub instructions: Option<u64>,
}

/// Position of a run relative to its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// A core has not ended its warm-up.
    #[default]
    WarmUp,
    /// All warm-ups have ended.
    Measured,
    /// All regions have ended.
    Over,
}

/// State of a core at a boundary of its region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Dispatch slots since reset.
    pub(super) slots: u64,
    pub(super) counters: CoreCounters,
}

/// Boundaries of a core's region that it has reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) begin: Option<Mark>,
    pub(super) end: Option<Mark>,
    /// Instructions of the program before the next boundary; `u64::MAX` if that is the end of the
    /// program, and after both.
    pub(super) next: u64,
    /// Instructions executed when the program last began.
    pub(super) begun: u64,
}

/// Counts of all cores at the boundaries of the interval.
#[derive(Debug, Default)]
pub(super) struct Interval {
    pub(super) phase: Rc<Cell<Phase>>,
    pub(super) begin: Vec<CoreCounters>,
    pub(super) end: Vec<CoreCounters>,
}

impl Core {
    /// The present position and counts; at the end of the program, `slots` is that of the last
    /// retirement.
    fn mark(&self, slots: u64) -> Mark {
        Mark { slots, counters: self.counters.with_window(&self.pipeline) }
    }
}

impl Machine {
    /// Records the boundaries that a core has reached by dispatching instructions.
    #[inline]
    pub(super) fn mark(&mut self, index: usize) {
        while self.cores[index].counters.instructions == self.cores[index].marks.next {
            self.mark_boundary(index);
        }
    }

    #[cold]
    fn mark_boundary(&mut self, index: usize) {
        let Region { warm_up, instructions } = self.region;
        let core = &mut self.cores[index];
        let mark = Some(core.mark(core.pipeline.position()));
        if core.marks.begin.is_none() {
            core.marks.begin = mark;
            core.marks.next = instructions.map_or(u64::MAX, |instructions| warm_up + instructions);
        } else {
            core.marks.end = mark;
            core.marks.next = u64::MAX;
        }
        self.advance_phase();
    }

    /// Handles the end of a core's program: the program begins again, as a new process, while the
    /// region of any core lasts. Returns whether it does.
    ///
    /// # Errors
    /// If the program cannot begin again, and its region has not ended.
    pub(super) fn begin_again(&mut self, index: usize, at: CoreCycle) -> Result<bool, MachineError> {
        let is_over = |machine: &Machine| machine.interval.phase.get() == Phase::Over;
        let Region { warm_up, instructions } = self.region;
        let core = &mut self.cores[index];
        let executed = core.counters.instructions;
        let has_region = executed > warm_up || warm_up == 0;
        if instructions.is_none() && has_region && core.marks.end.is_none() {
            core.marks.end = Some(core.mark(at.0 * self.settings.core.width));
            self.advance_phase();
        }
        if is_over(self) {
            return Ok(false);
        }
        let core = &mut self.cores[index];
        // A program without instructions would begin again forever.
        let may_repeat = executed > core.marks.begun && (core.marks.end.is_some() || instructions.is_some());
        let error = |source| MachineError::Program { core: index, source };
        if may_repeat && core.program.restart().map_err(error)? {
            core.marks.begun = executed;
            core.translations.clear();
            core.counters.stalls.kernel += core.pipeline.delay_until(at);
            self.compare_core(index);
            self.processes.restart(index);
            return Ok(true);
        }
        if core.marks.end.is_none() {
            let needed = warm_up + instructions.unwrap_or(1);
            return Err(MachineError::TooShort { core: index, found: executed, needed });
        }
        Ok(false)
    }

    /// Begins or ends the interval when the last core has reached its boundary.
    fn advance_phase(&mut self) {
        let Interval { phase, begin, end } = &mut self.interval;
        let (cores, read) = (&self.cores, || self.cores.iter().map(|core| core.mark(0).counters).collect());
        if phase.get() == Phase::WarmUp && cores.iter().all(|core| core.marks.begin.is_some()) {
            *begin = read();
            phase.set(Phase::Measured);
        }
        if phase.get() == Phase::Measured && cores.iter().all(|core| core.marks.end.is_some()) {
            *end = read();
            phase.set(Phase::Over);
        }
    }
}
