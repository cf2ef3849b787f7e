//! A core: pipeline, store buffer, load queue, and the steps of its program.
//!
//! The core knows no cache. It accesses lines at its port of the memory, waits for tickets, and executes
//! the [`Work`] that the kernel and the copier give it.

mod accesses;
mod awaited;
mod pipeline;
mod steps;
mod translations;
mod work;

use trace_io::program::{ProgramError, Step};
use trace_io::trace::Recorded;

use self::awaited::Awaited;
use self::steps::AwayStep;
use super::clock::CoreCycle;
use super::counters::{CoreCounters, StallSlots};
use super::memory::OnMiss;
use super::packet::Packet;
use super::programs::{Program, StepsAhead};
use super::settings::CoreSettings;

pub use self::pipeline::{Pipeline, Slot};
pub use self::steps::Pause;
pub use self::translations::{Translations, within};
pub use self::work::{Limits, Next, Outcome, Stall, Work};

/// A core and its program.
#[derive(Debug)]
pub struct Core {
    /// Number of the core.
    index: usize,
    settings: CoreSettings,
    program: Box<dyn Program>,
    /// The next steps, the first of which may have begun.
    steps: StepsAhead,
    /// Work before the rest of the step, last first.
    work: Vec<Work>,
    /// The first step, if it was found to be an access to a line of which the caches hold no data.
    away: Option<AwayStep>,
    pipeline: Pipeline,
    awaited: Awaited,
    /// Store buffer entries in use.
    stores: usize,
    /// Whether misses of its program take a place in the caches.
    on_miss: OnMiss,
    /// Frames of pages that the program has used.
    pub translations: Translations,
    /// Counts of the core; those of lines are kept by the caches.
    pub counters: CoreCounters,
    /// Instructions of the program before the next boundary of the region.
    pub boundary: u64,
    stall: Option<Stall>,
    /// When the core acts next.
    pub next: Next,
}

impl Core {
    /// Creates a core that has executed nothing, with a boundary of its region.
    pub fn new(index: usize, settings: CoreSettings, program: Box<dyn Program>, boundary: u64) -> Core {
        let is_cached = program.recorded() != Recorded::BehindLastLevel;
        Core {
            index,
            settings,
            program,
            steps: StepsAhead::default(),
            work: Vec::new(),
            away: None,
            pipeline: Pipeline::new(settings.order, settings.width, settings.window),
            awaited: Awaited::new(settings.mshrs),
            stores: 0,
            on_miss: if is_cached { OnMiss::Allocate } else { OnMiss::Bypass },
            translations: Translations::new(),
            counters: CoreCounters::default(),
            boundary,
            stall: None,
            next: Next::Blocked,
        }
    }

    /// Number of the core.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Reads further steps; `false` at the end of the program.
    ///
    /// # Errors
    /// If the program cannot be read further.
    pub fn read_steps(&mut self) -> Result<bool, ProgramError> {
        self.steps.read(&mut *self.program)
    }

    /// Begins the program again; returns whether it can.
    ///
    /// # Errors
    /// If the program cannot be read again.
    pub fn restart(&mut self) -> Result<bool, ProgramError> {
        let can = self.program.restart()?;
        if can {
            self.translations.clear();
        }
        Ok(can)
    }

    /// The first step that is not executed.
    #[inline]
    pub fn first_step(&self) -> Option<Step> {
        self.steps.first()
    }

    /// Proceeds after an attempt to execute the first step, of which the rest may be left.
    #[inline]
    pub fn proceed(&mut self, outcome: Outcome, rest: Step) {
        if outcome.is_unfinished() {
            self.steps.replace(rest);
        } else {
            self.steps.advance();
        }
    }

    /// Adds work that precedes what the core was to do.
    pub fn add(&mut self, work: Work) {
        self.work.push(work);
    }

    /// Takes the work that comes first.
    #[inline]
    pub fn take_work(&mut self) -> Option<Work> {
        self.work.pop()
    }

    /// Drops the rest of the program; returns whether work was left.
    pub fn abandon(&mut self) -> bool {
        self.steps.clear();
        self.away = None;
        !std::mem::take(&mut self.work).is_empty()
    }

    /// How far the core may act: instructions without memory access before `run`, hits before `hit`, and
    /// actions that affect others before `until`.
    #[inline]
    pub const fn limits(&self, run: CoreCycle, hit: CoreCycle, until: CoreCycle) -> Limits {
        Limits { run: self.pipeline.first_slot(run), hit: self.pipeline.first_slot(hit), until }
    }

    /// The first slot in which the next instruction may dispatch, apart from the window.
    pub const fn position(&self) -> u64 {
        self.pipeline.position()
    }

    /// The first cycle in which the next instruction may dispatch, apart from the window; `None` if an
    /// in-order core awaits the data of a load.
    pub fn next_cycle(&self) -> Option<CoreCycle> {
        self.pipeline.next_cycle()
    }

    /// The cycle after the last instruction and the last line; `None` while any is in progress.
    pub fn finished(&self) -> Option<CoreCycle> {
        self.pipeline.drained().filter(|_| self.awaited.is_empty())
    }

    /// The cycle in which a core without instructions, lines and stores in progress acts, if it is
    /// before `until`.
    ///
    /// # Errors
    /// The outcome of an attempt to act; the core stalls if anything is in progress.
    pub fn quiet_before(&mut self, until: CoreCycle) -> Result<CoreCycle, Outcome> {
        match self.finished().filter(|_| self.stores == 0) {
            Some(at) if at < until => Ok(at),
            Some(at) => Err(Outcome::Later(at)),
            None => {
                if !self.pipeline.is_blocked() {
                    self.stall = Some(Stall::Drain);
                }
                Err(Outcome::Blocked)
            }
        }
    }

    /// Dispatches nothing before a cycle; the slots count for a cause.
    pub fn delay_until(&mut self, at: CoreCycle, cause: impl Fn(&mut StallSlots) -> &mut u64) {
        *cause(&mut self.counters.stalls) += self.pipeline.delay_until(at);
    }

    /// Dispatches nothing for some cycles of the kernel.
    pub fn pause(&mut self, cycles: u64) -> Outcome {
        if cycles == 0 {
            return Outcome::Done;
        }
        let Some(slot) = self.pipeline.next_slot() else { return Outcome::Blocked };
        let end = CoreCycle(self.pipeline.cycle(slot).0 + cycles);
        self.delay_until(end, |stalls| &mut stalls.kernel);
        Outcome::Done
    }

    /// Waits for the end of a copy or zeroing.
    pub fn wait_for_copier(&mut self) {
        self.stall = Some(Stall::Copier);
    }

    /// Ends the wait for a copy or zeroing at a cycle.
    pub fn copier_done(&mut self, at: CoreCycle) {
        self.stall = None;
        self.delay_until(at, |stalls| &mut stalls.controller_copy);
    }

    /// Waits for a place in the queue of a device.
    pub const fn stall_for_device(&mut self) -> Outcome {
        self.stall = Some(Stall::Device);
        Outcome::Blocked
    }

    /// Waits for packets.
    pub const fn idle(&mut self) -> Outcome {
        self.stall = Some(Stall::Idle);
        Outcome::Blocked
    }

    /// Whether the core waits for packets.
    pub fn is_idle(&self) -> bool {
        self.stall == Some(Stall::Idle)
    }

    /// Tells the program which packets have arrived.
    pub fn receive(&mut self, packets: &[Packet]) {
        self.program.receive(packets);
    }

    /// Whether the core waits for a place in the queue of a device.
    pub fn lacks_device(&self) -> bool {
        self.stall == Some(Stall::Device)
    }

    /// Whether the core waits for an MSHR, or for a place in the cache.
    pub fn lacks_mshr(&self) -> bool {
        self.stall == Some(Stall::Mshr)
    }

    /// Ends the stall of a blocked core after an event for which it may have waited; returns whether the
    /// core can try again.
    pub fn wake(&mut self, at: CoreCycle) -> bool {
        if self.next != Next::Blocked || self.stall == Some(Stall::Copier) {
            return false;
        }
        match self.stall.take() {
            None => {}
            Some(Stall::Mshr) => self.delay_until(at, |stalls| &mut stalls.mshr),
            Some(Stall::StoreBuffer) => self.delay_until(at, |stalls| &mut stalls.store_buffer),
            Some(Stall::Drain) => self.delay_until(at, |stalls| &mut stalls.kernel),
            Some(Stall::Idle) => self.delay_until(at, |stalls| &mut stalls.idle),
            Some(Stall::Device) => self.delay_until(at, |stalls| &mut stalls.controller_copy),
            Some(Stall::Copier) => unreachable!("excluded above"),
        }
        true
    }

    /// The counts, without those of lines.
    pub const fn counters(&self) -> CoreCounters {
        let mut counters = self.counters;
        counters.stalls.window = self.pipeline.window_stall();
        counters
    }
}
