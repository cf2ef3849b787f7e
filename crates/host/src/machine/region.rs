//! Warm-up, measured region of each core, and the interval that covers the regions.
//!
//! The region of a core is a fixed part of its program, so that runs under different settings
//! compare equal instructions. It begins and ends with the dispatch of an instruction, or with the
//! end of the program. The interval lasts from the cycle in which the last core ends its warm-up to
//! the cycle in which the last core ends its region; cores that finish early keep running.

use std::cell::Cell;
use std::rc::Rc;

use super::clock::CoreCycle;
use super::counters::CoreCounters;
use super::error::MachineError;
use super::settings::Region;

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

/// Figures of a core after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreOutcome {
    /// Counts of the region.
    pub counters: CoreCounters,
    /// Core cycles of the region: up to its last dispatch or, at the end of the program, to the
    /// retirement of the last instruction and the end of the last copy.
    pub cycles: CoreCycle,
    /// Counts of the interval that covers the regions of all cores.
    pub interval: CoreCounters,
}

/// State of a core at a boundary of its region.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoreMark {
    /// Dispatch slots since reset.
    pub(super) slots: u64,
    pub(super) counters: CoreCounters,
}

/// Boundaries of a core's region that it has reached.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    begin: Option<CoreMark>,
    end: Option<CoreMark>,
    /// Instructions executed when the program last began.
    begun: u64,
}

/// The regions of all cores, and their interval.
#[derive(Debug)]
pub(super) struct Regions {
    /// That of each core.
    by_core: Vec<Region>,
    marks: Vec<Marks>,
    phase: Rc<Cell<Phase>>,
    /// Counts of all cores at the boundaries of the interval.
    begin: Vec<CoreCounters>,
    end: Vec<CoreCounters>,
}

impl Regions {
    /// No boundary reached, of the region of each core.
    pub(super) fn new(regions: Vec<Region>) -> Regions {
        let marks = vec![Marks::default(); regions.len()];
        Regions { by_core: regions, marks, phase: Rc::default(), begin: Vec::new(), end: Vec::new() }
    }

    /// The phase of the run, which changes as the run proceeds.
    pub(super) const fn phase(&self) -> &Rc<Cell<Phase>> {
        &self.phase
    }

    /// Whether the regions of all cores have ended.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.phase.get() == Phase::Over
    }

    /// Records that a core has reached its next boundary; returns the instructions of its program before
    /// the boundary after it, `u64::MAX` if there is none or if that is the end of the program.
    pub(super) fn reached(&mut self, core: usize, mark: &CoreMark) -> u64 {
        let Region { warm_up, instructions } = self.by_core[core];
        let marks = &mut self.marks[core];
        if marks.begin.is_none() {
            marks.begin = Some(*mark);
            return instructions.map_or(u64::MAX, |instructions| warm_up + instructions);
        }
        marks.end = Some(*mark);
        u64::MAX
    }

    /// Records the end of a core's program, at which its region ends if it is the rest of the program.
    pub(super) fn program_ended(&mut self, core: usize, mark: &CoreMark) {
        let Region { warm_up, instructions } = self.by_core[core];
        let has_region = mark.counters.instructions > warm_up || warm_up == 0;
        let marks = &mut self.marks[core];
        if instructions.is_none() && has_region && marks.end.is_none() {
            marks.end = Some(*mark);
        }
    }

    /// Begins or ends the interval when the last core has reached its boundary. `read` returns the counts
    /// of all cores.
    pub(super) fn advance_phase(&mut self, read: impl Fn() -> Vec<CoreCounters>) {
        if self.phase.get() == Phase::WarmUp && self.marks.iter().all(|marks| marks.begin.is_some()) {
            self.begin = read();
            self.phase.set(Phase::Measured);
        }
        if self.phase.get() == Phase::Measured && self.marks.iter().all(|marks| marks.end.is_some()) {
            self.end = read();
            self.phase.set(Phase::Over);
        }
    }

    /// Whether a program that has ended may begin again after a number of instructions. One without
    /// instructions would begin again forever.
    pub(super) fn may_repeat(&self, core: usize, executed: u64) -> bool {
        let Marks { end, begun, .. } = self.marks[core];
        executed > begun && (end.is_some() || self.by_core[core].instructions.is_some())
    }

    /// Records that a program begins again.
    pub(super) fn repeats(&mut self, core: usize, executed: u64) {
        self.marks[core].begun = executed;
    }

    /// Checks that the region of a program that does not begin again has ended.
    ///
    /// # Errors
    /// If it has not.
    pub(super) fn require_end(&self, core: usize, executed: u64) -> Result<(), MachineError> {
        let Region { warm_up, instructions } = self.by_core[core];
        match self.marks[core].end {
            Some(_) => Ok(()),
            None => Err(MachineError::TooShort { core, found: executed, needed: warm_up + instructions.unwrap_or(1) }),
        }
    }

    /// Figures of each core after a run.
    ///
    /// # Panics
    /// If a region has not ended.
    pub(super) fn outcomes(&self, width: u64) -> Vec<CoreOutcome> {
        let intervals = self.begin.iter().zip(&self.end);
        let outcome = |(marks, (&from, &to)): (&Marks, (&CoreCounters, &CoreCounters))| {
            let Marks { begin: Some(begin), end: Some(end), .. } = marks else { unreachable!("all regions ended") };
            let cycles = CoreCycle((end.slots - begin.slots).div_ceil(width));
            CoreOutcome { counters: end.counters - begin.counters, cycles, interval: to - from }
        };
        self.marks.iter().zip(intervals).map(outcome).collect()
    }
}
