//! A core: pipeline, store buffer, load queue, and the steps of its program.
//!
//! The core has no access to the caches. It accesses lines at its port of the memory, waits for tickets, and executes
//! the [`Work`] that the kernel and the copier give it.

mod accesses;
mod awaited;
mod deferred;
mod interrupts;
mod issue;
mod overlap;
mod pending_copies;
mod pipeline;
mod repetition;
mod steps;
mod translations;
mod units;
mod work;

use trace_io::LineError;
use trace_io::program::{InstructionClass, Step};
use trace_io::trace::Recorded;

use self::awaited::Awaited;
use self::deferred::Deferred;
use self::issue::{Dispatch, LoadStoreQueue};
use self::overlap::Overlap;
use self::pending_copies::PendingCopies;
use self::steps::AwayStep;
use self::units::Units;
use super::clock::CoreCycle;
use super::counters::{CoreCounters, StallSlots};
use super::memory::OnMiss;
use super::packet::Packet;
use super::programs::{Program, StepsAhead};
use super::settings::CoreSettings;

pub use self::pipeline::{EntryId, Pipeline, Slot};
pub use self::steps::Pause;
pub use self::translations::{Translations, within};
pub use self::work::{Advance, Bounds, NextAct, Stall, Work};

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
    queue: LoadStoreQueue,
    units: Units,
    /// Instructions that have not begun, and accesses that the caches have not accepted.
    deferred: Deferred,
    /// Copies in progress with which loads and stores are compared.
    pending: PendingCopies,
    overlap: Overlap,
    /// Whether integer instructions have a latency of one cycle and need no unit.
    is_integer_plain: bool,
    /// Whether that holds for loads and stores, too, and the load/store queue has no limit.
    is_all_plain: bool,
    /// The first slot in which an instruction may dispatch after one that dispatches alone.
    not_with_previous: Slot,
    /// Instructions of the program when the core was last without instructions in progress.
    quiet_at: u64,
    /// Whether misses of its program take a place in the caches.
    on_miss: OnMiss,
    /// Interrupts by which a device will report the end of copies, each before any instruction.
    pub interrupts_due: u64,
    /// Frames of pages that the program has used.
    pub translations: Translations,
    /// Counts of the core; those of lines are kept by the caches.
    pub counters: CoreCounters,
    /// Instructions of the program before the next boundary of the region.
    pub boundary: u64,
    stall: Option<Stall>,
    /// The cycle in which a stalled access tries again without an event.
    retry_at: Option<CoreCycle>,
    /// When the next instruction dispatches, if its slot was too late at the last attempt.
    waiting: Option<Dispatch>,
    /// Slot in which the copy or zeroing began that the core executes.
    copy_from: Option<u64>,
    /// The end of the latest pending copy that was completed.
    copies_end: CoreCycle,
    /// When the core acts next.
    pub next: NextAct,
}

impl Core {
    /// Creates a core that has executed nothing, with a boundary of its region. It gets tickets of the
    /// caches that are less than `tickets`.
    pub fn new(
        index: usize,
        settings: &CoreSettings,
        tickets: usize,
        program: Box<dyn Program>,
        boundary: u64,
    ) -> Core {
        let is_cached = program.recorded() != Recorded::BehindLastLevel;
        let classes = &settings.classes;
        let is_integer_plain = classes.is_plain(InstructionClass::Integer);
        let are_accesses_plain = [InstructionClass::Load, InstructionClass::Store].map(|it| classes.is_plain(it));
        Core {
            index,
            settings: *settings,
            program,
            steps: StepsAhead::default(),
            work: Vec::new(),
            away: None,
            pipeline: Pipeline::new(settings.order, settings.width, settings.window),
            awaited: Awaited::new(tickets),
            stores: 0,
            queue: LoadStoreQueue::new(settings.load_store_queue),
            units: Units::new(classes),
            deferred: Deferred::default(),
            pending: PendingCopies::default(),
            overlap: Overlap::default(),
            is_integer_plain,
            is_all_plain: is_integer_plain && are_accesses_plain == [true; 2] && settings.load_store_queue.is_none(),
            not_with_previous: Slot(0),
            quiet_at: 0,
            on_miss: if is_cached { OnMiss::Allocate } else { OnMiss::Bypass },
            interrupts_due: 0,
            translations: Translations::new(),
            counters: CoreCounters::default(),
            boundary,
            stall: None,
            retry_at: None,
            waiting: None,
            copy_from: None,
            copies_end: CoreCycle(0),
            next: NextAct::Blocked,
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
    pub fn read_steps(&mut self) -> Result<bool, LineError> {
        self.steps.read(&mut *self.program)
    }

    /// Begins the program again; returns whether it can.
    ///
    /// # Errors
    /// If the program cannot be read again.
    pub fn restart(&mut self) -> Result<bool, LineError> {
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
    pub fn proceed(&mut self, outcome: Advance, rest: Step) {
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
        let work = std::mem::take(&mut self.work);
        work.iter().any(|work| !matches!(work, Work::CopyEnd))
    }

    /// How far the core may act: instructions without memory access before `run`, hits before `hit`, and
    /// actions that affect others before `until`.
    #[inline]
    pub fn bounds(&self, run: CoreCycle, hit: CoreCycle, until: CoreCycle) -> Bounds {
        let bounds = Bounds { run: self.pipeline.first_slot(run), hit: self.pipeline.first_slot(hit), until };
        if self.deferred.is_empty() && self.pending.is_empty() { bounds } else { self.bounds_beside_deferred(bounds) }
    }

    /// Whether instructions without operands need nothing but a slot, a window entry and their line.
    #[inline]
    fn is_plain(&self) -> bool {
        self.is_all_plain && self.deferred.is_empty() && self.pending.is_empty()
    }

    /// Whether instructions wait for operands, or accesses for the caches.
    #[inline]
    pub fn is_deferring(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// When the core acts next, given when it next dispatches.
    pub fn next_beside_deferred(&self, dispatch: NextAct) -> NextAct {
        match (self.deferred.first_access(&self.pipeline), dispatch) {
            ((CoreCycle::NEVER, _), next) => next,
            ((at, _), NextAct::At(dispatch)) => NextAct::At(at.min(dispatch)),
            ((at, _), NextAct::Blocked | NextAct::Ended) => NextAct::At(at),
        }
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

    /// The cycle after all instructions, lines and pending copies; `None` while any is in progress.
    pub fn ended(&self) -> Option<CoreCycle> {
        self.finished().filter(|_| self.pending.is_empty()).map(|at| at.max(self.copies_end))
    }

    /// The cycle in which a core without instructions, lines and stores in progress acts, if it is
    /// before `until`.
    ///
    /// # Errors
    /// The outcome of an attempt to act; the core stalls if anything is in progress.
    pub fn quiet_before(&mut self, until: CoreCycle) -> Result<CoreCycle, Advance> {
        self.at_rest_before(self.finished(), until)
    }

    /// The cycle in which a core acts that also has no pending copies, if it is before `until`.
    ///
    /// # Errors
    /// As of [`Self::quiet_before`].
    pub fn idle_before(&mut self, until: CoreCycle) -> Result<CoreCycle, Advance> {
        self.at_rest_before(self.ended(), until)
    }

    /// Waits for an event before an action of the kernel or of a copier. Slots in which an in-order core awaits a load
    /// do not count.
    pub const fn stall_for_event(&mut self) -> Advance {
        if !self.pipeline.is_blocked() {
            self.stall = Some(Stall::Drain);
        }
        Advance::Blocked
    }

    fn at_rest_before(&mut self, finished: Option<CoreCycle>, until: CoreCycle) -> Result<CoreCycle, Advance> {
        match finished.filter(|_| self.stores == 0) {
            Some(at) if at < until => {
                self.quiet_at = self.counters.instructions;
                self.queue.clear();
                Ok(at)
            }
            Some(at) => Err(Advance::Later(at)),
            None => Err(self.stall_for_event()),
        }
    }

    /// Counts a `memcopy` or a `meminit` of the program, which takes no entry of the window by itself.
    pub fn count_copy(&mut self) {
        self.counters.instructions += 1;
        self.queue.count_without_entry();
    }

    /// Dispatches nothing before a cycle; the slots count for a cause.
    pub fn delay_until(&mut self, at: CoreCycle, cause: impl Fn(&mut StallSlots) -> &mut u64) {
        *cause(&mut self.counters.stalls) += self.pipeline.delay_until(at);
    }

    /// Dispatches nothing for some cycles of the kernel.
    pub fn pause(&mut self, cycles: u64) -> Advance {
        if cycles == 0 {
            return Advance::Done;
        }
        let Some(slot) = self.pipeline.next_slot() else { return Advance::Blocked };
        let begin = self.pipeline.cycle(slot);
        let end = CoreCycle(begin.0 + cycles);
        if self.overlap.is_active() {
            self.overlap.advance(begin, end);
        }
        self.delay_until(end, |stalls| &mut stalls.kernel);
        Advance::Done
    }

    /// Begins a copy or zeroing in the first slot in which the core could dispatch.
    pub fn begin_copy(&mut self) -> bool {
        let is_new = self.copy_from.is_none();
        if is_new {
            self.copy_from = Some(self.position());
            self.add(Work::CopyEnd);
        }
        is_new
    }

    /// Ends the copy or zeroing in the first slot in which the core continues.
    pub fn end_copy(&mut self) -> Advance {
        let from = self.copy_from.take().expect("it has begun");
        self.counters.copy_slots += self.position() - from;
        Advance::Done
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
    pub const fn stall_for_device(&mut self) -> Advance {
        self.stall = Some(Stall::Device);
        Advance::Blocked
    }

    /// Waits for packets.
    pub const fn idle(&mut self) -> Advance {
        self.stall = Some(Stall::Idle);
        Advance::Blocked
    }

    /// Whether the core waits for packets.
    pub fn is_idle(&self) -> bool {
        self.stall == Some(Stall::Idle)
    }

    /// Passes to the program which packets have arrived.
    pub fn receive(&mut self, packets: &[Packet]) {
        self.program.receive(packets);
    }

    /// Whether the core waits for a place in the queue of a device.
    pub fn lacks_device(&self) -> bool {
        self.stall == Some(Stall::Device)
    }

    /// Whether the core waits for an MSHR, or for a place in the cache.
    pub fn lacks_mshr(&self) -> bool {
        self.stall == Some(Stall::Mshr) || self.deferred.has_refused()
    }

    /// Ends the stall of a blocked core after an event for which it may have waited; returns whether the
    /// core can try again.
    pub fn wake(&mut self, at: CoreCycle) -> bool {
        // A core that attempts accesses at a known cycle may be stalled, too.
        let acts = self.next != NextAct::Blocked && !self.is_deferring() && self.stall.is_none();
        if acts || self.stall == Some(Stall::Copier) {
            return false;
        }
        self.deferred.retry(at);
        self.end_stall(at);
        true
    }

    /// Ends the stall, if there is one, at a cycle in which the core tries again.
    fn end_stall(&mut self, at: CoreCycle) {
        self.retry_at = None;
        if let Some(stall) = self.stall.take() {
            let before = self.position();
            self.delay_until(at, |stalls| stall.slots(stalls));
            if matches!(stall, Stall::Device | Stall::PendingCopy) {
                self.counters.copy_slots += self.position() - before;
            }
        }
    }

    /// The counts, without those of lines.
    pub fn counters(&self) -> CoreCounters {
        let mut counters = self.counters;
        counters.stalls.window = self.pipeline.window_stall();
        let now = self.pipeline.cycle(Slot(self.pipeline.position()));
        (counters.pending_copy_cycles, counters.overlapped_copy_cycles) = self.overlap.counted(now);
        counters
    }
}
