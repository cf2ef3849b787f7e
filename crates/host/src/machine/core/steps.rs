//! Execution of the steps of a program, as far as they affect no other core.

use trace_io::program::{InstructionClass, Needs, Step};

use super::super::counters::Purpose;
use super::super::memory::{Access, Away, LoadOrStore, Memory, Port, StoreData};
use super::accesses::{Attempt, word_bytes};
use super::pipeline::Slot;
use super::{Advance, Bounds, Core};

/// Why a core executes no further step alone.
#[derive(Clone, Copy, Debug)]
pub enum Pause {
    /// The first step waits, or is done.
    Waits(Advance),
    /// The first step is another one, or its page is not known, or there is none.
    Step,
}

/// A load or store of the program to a line of which the caches hold no data.
#[derive(Clone, Copy, Debug)]
pub(super) struct AwayStep {
    access: Access,
    away: Away,
}

/// Where the steps that a core can execute alone end.
enum End {
    /// The first step is the access of [`Core::away`], which can dispatch in a slot.
    Away(Slot),
    Pause(Pause),
}

impl Core {
    /// Executes steps up to the first one that waits, that is after a boundary of the region, or that is
    /// neither instructions without memory access nor an access whose page is known.
    #[inline]
    pub fn run(&mut self, memory: &mut Memory, bounds: Bounds) -> Pause {
        if !self.is_plain() {
            return Pause::Step;
        }
        loop {
            let mut port = memory.caches.port(self.index);
            let end = self.retry(&port, bounds).unwrap_or_else(|| self.run_steps(&mut port, bounds));
            let slot = match end {
                End::Away(slot) => slot,
                End::Pause(pause) => return pause,
            };
            let at = match self.cycle_before(slot, bounds.until) {
                Ok(at) => at,
                Err(later) => return Pause::Waits(later),
            };
            let AwayStep { access, away } = self.away.expect("it is first");
            let outcome = self.access_away(&access, &away, (slot, at), memory);
            if outcome.is_unfinished() {
                return Pause::Waits(outcome);
            }
            self.away = None;
            self.steps.advance();
            if self.counters.instructions == self.boundary {
                return Pause::Waits(outcome);
            }
        }
    }

    /// Executes steps as [`Self::run`] does, up to an access to a line of which the caches hold no data.
    #[inline(never)]
    fn run_steps(&mut self, port: &mut Port<'_>, bounds: Bounds) -> End {
        self.away = None;
        while let Some(step) = self.steps.first() {
            if self.counters.instructions >= self.boundary {
                return End::Pause(Pause::Waits(Advance::Part));
            }
            let (address, kind) = match step {
                Step::Compute { mut instructions } => {
                    match self.run_plain::<true>(&mut instructions, Purpose::Program, bounds) {
                        Advance::Done => self.steps.advance(),
                        Advance::Part => self.steps.replace(Step::Compute { instructions }),
                        waits => return End::Pause(Pause::Waits(waits)),
                    }
                    continue;
                }
                Step::Load { address } => (address, LoadOrStore::Load),
                Step::Store { address } => (address, LoadOrStore::Store(StoreData::Tag)),
                _ => return End::Pause(Pause::Step),
            };
            let Some(address) = self.translations.find(address, kind != LoadOrStore::Load) else {
                return End::Pause(Pause::Step);
            };
            // The number of bytes matters to requests.
            let mut access = Access { address, bytes: 0, kind, purpose: Purpose::Program, on_miss: self.on_miss };
            match self.hit::<true>(port, &access, bounds) {
                Attempt::Hit(_) => self.steps.advance(),
                Attempt::Away(slot, away) => {
                    access.bytes = word_bytes(address, port.line_size());
                    self.away = Some(AwayStep { access, away });
                    return End::Away(slot);
                }
                Attempt::Waits(outcome) => return End::Pause(Pause::Waits(outcome)),
            }
        }
        End::Pause(Pause::Step)
    }

    /// Repeats the access of [`Core::away`], if there is one and the caches still lack its line.
    fn retry(&self, port: &Port<'_>, bounds: Bounds) -> Option<End> {
        if !port.is_still_away(&self.away?.away) {
            return None;
        }
        Some(match self.pipeline.next_slot() {
            Some(slot) if slot < bounds.hit => End::Away(slot),
            Some(slot) => End::Pause(Pause::Waits(Advance::Later(self.pipeline.cycle(slot)))),
            None => End::Pause(Pause::Waits(Advance::Blocked)),
        })
    }

    /// Dispatches instructions without memory access before the limit, up to a boundary of the region;
    /// `count` is the number of those left.
    #[inline]
    pub fn run_instructions(&mut self, count: &mut u64, purpose: Purpose, bounds: Bounds) -> Advance {
        // One by one, where an interrupt may come between two of them.
        if self.is_integer_plain && !self.overlap.is_active() && self.interrupts_due == 0 {
            self.run_plain::<false>(count, purpose, bounds)
        } else {
            self.run_class(count, Needs::class(InstructionClass::Integer), purpose, bounds)
        }
    }

    /// Dispatches instructions that need no unit and have a latency of one cycle. The loop over steps has an
    /// instance of its own, so that the compiler inlines it there.
    #[inline]
    fn run_plain<const IS_IN_LOOP: bool>(
        &mut self,
        count: &mut u64,
        purpose: Purpose,
        Bounds { run: limit, .. }: Bounds,
    ) -> Advance {
        let Some(slot) = self.pipeline.next_slot() else { return Advance::Blocked };
        if slot >= limit {
            return Advance::Later(self.pipeline.cycle(slot));
        }
        let most = if purpose == Purpose::Program { self.boundary - self.counters.instructions } else { u64::MAX };
        let mut some = most.min(*count);
        if some > limit.0 - slot.0 {
            // As many slots as the cycles before the limit have, the current one included.
            some = some.min((limit.0 - slot.0).next_multiple_of(self.pipeline.width()));
        }
        let done = self.pipeline.run(some);
        self.counters.count_instructions(purpose, done);
        *count -= done;
        if *count == 0 { Advance::Done } else { Advance::Part }
    }
}
