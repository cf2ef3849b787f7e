//! The instruction window of a core: when instructions dispatch and retire.
//!
//! Time is counted in slots: a cycle has as many slots as the core is wide. Instructions dispatch
//! and retire in program order, at most one per slot each. An instruction retires at least a cycle
//! after its dispatch, and not before its result is there. Its window entry can be used again a
//! cycle later. A long run of instructions without memory access advances in one step once the slots of
//! its instructions are consecutive.

use trace_io::program::InstructionClass;

use super::super::clock::CoreCycle;
use super::super::settings::Order;
use super::units::Units;

/// A position in time: cycle x width + slot of the cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u64);

/// The window entry of a dispatched instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryId(usize);

/// An instruction of the window.
#[derive(Clone, Copy, Debug, Default)]
struct WindowEntry {
    /// If the retirement of the instruction is known: the first slot in which the entry can be used again;
    /// otherwise the first slot in which the instruction may retire, and [`AWAITED`] until its result is known.
    free: u64,
    /// The first slot in which the result is there, or [`AWAITED`].
    result: u64,
}

/// Window, dispatch and retirement of a core.
#[derive(Clone, Debug)]
pub struct Pipeline {
    order: Order,
    width: u64,
    window: u64,
    /// First slot in which the next instruction may dispatch, apart from the window.
    next: u64,
    /// Number of the instructions from the oldest one whose retirement is not known to the latest.
    unresolved: u64,
    /// First slot in which the oldest of them, or else the next instruction, may retire.
    next_retire: u64,
    /// The entries of the window, a ring that begins full of instructions that left it before slot 0.
    entries: Box<[WindowEntry]>,
    /// The entry of the next instruction, which is that of the oldest one.
    place: usize,
    /// The load that blocks an in-order core.
    blocking: Option<EntryId>,
    window_stall: u64,
}

/// Marks an instruction whose result is awaited: the slot in which it is there is not known.
const AWAITED: u64 = 1 << 63;

impl Pipeline {
    /// Creates an empty window at cycle 0.
    ///
    /// # Panics
    /// If the width is 0, or the window is smaller than two cycles of instructions.
    pub fn new(order: Order, width: u64, window: u64) -> Pipeline {
        assert!(width > 0 && window >= 2 * width, "width {width}, window {window}");
        Pipeline {
            order,
            width,
            window,
            next: 0,
            unresolved: 0,
            next_retire: 0,
            entries: vec![WindowEntry::default(); window as usize].into(),
            place: 0,
            blocking: None,
            window_stall: 0,
        }
    }

    /// The slots by which all of the state is later than an earlier one, if no data are awaited.
    pub(super) fn shift_from(&self, earlier: &Pipeline) -> Option<u64> {
        let slots = self.next - earlier.next;
        let is_later = |now: u64, then: u64| now == then + slots;
        let are_later = self
            .entries
            .iter()
            .zip(&earlier.entries)
            .all(|(now, then)| is_later(now.free, then.free) && is_later(now.result, then.result));
        let is_known = self.unresolved == 0 && earlier.unresolved == 0 && !self.is_blocked();
        let is_same = self.place == earlier.place && is_later(self.next_retire, earlier.next_retire) && are_later;
        (is_known && is_same && slots > 0).then_some(slots)
    }

    /// Applies the change since an earlier state `times` more times.
    pub(super) fn shift(&mut self, earlier: &Pipeline, times: u64) {
        let slots = times * (self.next - earlier.next);
        self.window_stall += times * (self.window_stall - earlier.window_stall);
        self.next += slots;
        self.next_retire += slots;
        for entry in &mut self.entries {
            entry.free += slots;
            entry.result += slots;
        }
    }

    /// Slots per cycle.
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// The cycle of a slot.
    pub const fn cycle(&self, slot: Slot) -> CoreCycle {
        CoreCycle(slot.0 / self.width)
    }

    /// The first slot of a cycle.
    pub const fn first_slot(&self, at: CoreCycle) -> Slot {
        Slot(at.0 * self.width)
    }

    /// The slot some cycles after another one.
    pub(super) const fn plus(&self, slot: Slot, cycles: u64) -> Slot {
        Slot(slot.0 + cycles * self.width)
    }

    /// The first slot from `from` on in which an instruction of a class can begin: a unit that becomes free
    /// is free from the first slot of a cycle on.
    #[inline]
    pub(super) fn begin(&self, units: &Units, class: InstructionClass, from: Slot) -> Slot {
        if !units.are_limited(class) {
            return from;
        }
        from.max(self.first_slot(CoreCycle(units.earliest(class, self.cycle(from).0))))
    }

    /// Occupies a unit of a class from the slot on in which an instruction begins. No instruction will begin in a
    /// cycle before that of `now`.
    #[inline]
    pub(super) fn occupy(&self, units: &mut Units, class: InstructionClass, begin: Slot, now: Slot) {
        if units.are_limited(class) {
            units.take(class, self.cycle(begin).0, self.cycle(now).0);
        }
    }

    /// The slot in which the next instruction can dispatch; `None` if that depends on awaited data.
    #[inline]
    pub fn next_slot(&self) -> Option<Slot> {
        (self.room() > 0).then(|| Slot(self.next.max(self.entries[self.place].free)))
    }

    /// The first cycle in which the next instruction may dispatch, apart from the window; `None`
    /// if an in-order core awaits the data of a load.
    pub fn next_cycle(&self) -> Option<CoreCycle> {
        (!self.is_blocked()).then(|| self.cycle(Slot(self.next)))
    }

    /// Whether an in-order core awaits the data of a load.
    pub const fn is_blocked(&self) -> bool {
        self.blocking.is_some()
    }

    /// Number of instructions that can dispatch before awaited data are there.
    #[inline]
    fn room(&self) -> u64 {
        if self.blocking.is_some() {
            0
        } else if self.unresolved == 0 {
            u64::MAX
        } else {
            self.window - self.unresolved
        }
    }

    /// Whether an instruction is the oldest whose retirement is not known.
    pub(super) fn is_oldest(&self, id: EntryId) -> bool {
        self.unresolved > 0 && self.oldest_unresolved() == id.0
    }

    /// The first slot in which the oldest instruction whose retirement is not known may retire, apart from its
    /// result: the one after the previous retirement.
    pub(super) const fn oldest_since(&self) -> u64 {
        self.next_retire
    }

    /// The entry of the oldest instruction whose retirement is not known.
    fn oldest_unresolved(&self) -> usize {
        let age = self.unresolved as usize;
        if age <= self.place { self.place - age } else { self.place + self.entries.len() - age }
    }

    /// Dispatches up to `count` instructions without memory access; returns how many. Fewer means
    /// that the next one waits for data.
    #[inline]
    pub fn run(&mut self, count: u64) -> u64 {
        let (first, count) = (self.next, count.min(self.room()));
        if count <= (self.entries.len() - self.place) as u64 {
            self.run_some(count as usize);
        } else {
            self.run_around(count);
        }
        self.window_stall += self.next - first - count;
        count
    }

    /// Dispatches more instructions without memory access than there are entries up to the end of
    /// the ring.
    #[inline(never)]
    fn run_around(&mut self, mut count: u64) {
        while count > 0 {
            if count > self.window && self.is_steady() {
                self.skip(count);
                return;
            }
            let some = (self.entries.len() - self.place).min(count as usize);
            self.run_some(some);
            count -= some as u64;
        }
    }

    /// Dispatches instructions without memory access, one by one, at most up to the end of the ring.
    #[inline]
    fn run_some(&mut self, count: usize) {
        let is_resolved = self.unresolved == 0;
        // In registers, which the writes to the window do not change.
        let (mut next, mut next_retire, width) = (self.next, self.next_retire, self.width);
        for entry in &mut self.entries[self.place..self.place + count] {
            let slot = next.max(entry.free);
            next = slot + 1;
            *entry = WindowEntry { free: slot + width, result: slot + width };
            if is_resolved {
                let retires = next_retire.max(slot + width);
                next_retire = retires + 1;
                entry.free = retires + width;
            }
        }
        (self.next, self.next_retire) = (next, next_retire);
        self.advance(count);
        if !is_resolved {
            self.unresolved += count as u64;
        }
    }

    /// Proceeds to a later instruction, at most to the end of the ring.
    #[inline]
    fn advance(&mut self, count: usize) {
        self.place += count;
        if self.place == self.entries.len() {
            self.place = 0;
        }
    }

    /// Whether all further instructions without memory access dispatch and retire in consecutive
    /// slots. The retirements of a full window are then consecutive, neither its oldest instruction
    /// delays the next one, nor does the dispatch of this one delay its retirement.
    fn is_steady(&self) -> bool {
        let oldest_free = self.entries[self.place].free;
        oldest_free + self.window == self.next_retire + self.width
            && oldest_free <= self.next
            && self.next + self.width <= self.next_retire
    }

    /// Dispatches instructions in the steady state: more than the window has entries.
    fn skip(&mut self, count: u64) {
        self.next += count;
        self.next_retire += count;
        self.place = 0;
        let first_free = self.next_retire + self.width - self.window;
        let first_ready = self.next + self.width - self.window;
        for (entry, (free, result)) in self.entries.iter_mut().zip((first_free..).zip(first_ready..)) {
            *entry = WindowEntry { free, result };
        }
    }

    /// Dispatches a memory instruction in [`Self::next_slot`]. `latency` is the number of cycles
    /// until its data are there, 0 for a store, or `None` if [`Self::arrive`] will report them.
    #[inline]
    pub fn dispatch(&mut self, slot: Slot, latency: Option<u64>) -> EntryId {
        let id = EntryId(self.place);
        let ready = slot.0 + latency.unwrap_or(1).max(1) * self.width;
        self.window_stall += slot.0 - self.next;
        self.next = slot.0 + 1;
        let free = match latency {
            Some(_) if self.unresolved == 0 => self.retire(ready),
            _ => {
                self.unresolved += 1;
                if latency.is_some() { ready } else { ready | AWAITED }
            }
        };
        self.entries[id.0] = WindowEntry { free, result: if latency.is_some() { ready } else { AWAITED } };
        self.advance(1);
        if self.order == Order::InOrder {
            match latency {
                None => self.blocking = Some(id),
                Some(0) => {}
                Some(_) => self.next = self.next.max(ready),
            }
        }
        id
    }

    /// Dispatches an instruction in a slot, with the first slot in which it may retire.
    fn enter(&mut self, slot: Slot, ready: u64) -> EntryId {
        let id = EntryId(self.place);
        self.window_stall += slot.0 - self.next;
        self.next = slot.0 + 1;
        let is_known = self.unresolved == 0 && ready & AWAITED == 0;
        self.unresolved += u64::from(!is_known);
        self.entries[id.0] = WindowEntry { free: if is_known { self.retire(ready) } else { ready }, result: ready };
        self.advance(1);
        id
    }

    /// Dispatches an instruction whose result is there in a slot, a cycle after its dispatch or later.
    pub(super) fn dispatch_with_result(&mut self, slot: Slot, result: Slot) -> EntryId {
        self.enter(slot, result.0.max(slot.0 + self.width))
    }

    /// Dispatches an instruction whose result [`Self::resolve`] will report. It blocks no dispatch.
    pub(super) fn dispatch_awaited(&mut self, slot: Slot) -> EntryId {
        self.enter(slot, (slot.0 + self.width) | AWAITED)
    }

    /// Dispatches nothing in an in-order core until the result of the latest instruction, a load, is there.
    pub(super) fn block_on(&mut self, load: EntryId, result: Option<Slot>) {
        if self.order == Order::InOrder {
            match result {
                None => self.blocking = Some(load),
                Some(ready) => self.next = self.next.max(ready.0),
            }
        }
    }

    /// Passes slots in which the next instruction does not dispatch: those before `window` because the window
    /// was full.
    pub(super) fn pass(&mut self, window: Slot, until: Slot) {
        self.window_stall += window.0 - self.next;
        self.next = until.0;
    }

    /// The entry of the instruction at a distance before the next one; `None` if it has left the window.
    pub(super) fn entry_before(&self, distance: u64) -> Option<EntryId> {
        let place = self.place as u64;
        (distance < self.window).then(|| {
            EntryId(if distance <= place { place - distance } else { place + self.window - distance } as usize)
        })
    }

    /// The first slot in which the result of an instruction of the window is there; `None` if it is awaited.
    pub(super) fn result(&self, id: EntryId) -> Option<Slot> {
        let ready = self.entries[id.0].result;
        (ready & AWAITED == 0).then_some(Slot(ready))
    }

    /// The slots from one on in which known results of instructions of the window are there.
    pub(super) fn results_after(&self, Slot(from): Slot) -> impl Iterator<Item = Slot> {
        let is_later = move |&&ready: &&u64| ready > from && ready & AWAITED == 0;
        self.entries.iter().map(|entry| &entry.result).filter(is_later).map(|&ready| Slot(ready))
    }

    /// The first slot in which the window entry of the instruction at a distance before the next one can be used
    /// again; `None` if its retirement is not known.
    pub(super) fn entry_free(&self, distance: u64) -> Option<Slot> {
        match self.entry_before(distance) {
            None => Some(Slot(0)),
            Some(id) => (distance > self.unresolved).then(|| Slot(self.entries[id.0].free)),
        }
    }

    /// Retires an instruction; returns the first slot in which its window entry can be used again.
    #[inline]
    fn retire(&mut self, ready: u64) -> u64 {
        let slot = self.next_retire.max(ready);
        self.next_retire = slot + 1;
        slot + self.width
    }

    /// Reports that the data of an instruction are there at a cycle.
    ///
    /// # Panics
    /// If they were there before.
    pub fn arrive(&mut self, id: EntryId, at: CoreCycle) {
        self.resolve(id, self.first_slot(at));
    }

    /// Reports the first slot in which the awaited result of an instruction is there.
    ///
    /// # Panics
    /// If it is known.
    pub(super) fn resolve(&mut self, id: EntryId, Slot(ready): Slot) {
        let entry = &mut self.entries[id.0];
        assert!(entry.free & AWAITED != 0, "data arrive once");
        let result = (entry.free & !AWAITED).max(ready);
        *entry = WindowEntry { free: result, result };
        while self.unresolved > 0 {
            let oldest = self.oldest_unresolved();
            let may_retire = self.entries[oldest].free;
            if may_retire & AWAITED != 0 {
                break;
            }
            self.entries[oldest].free = self.retire(may_retire);
            self.unresolved -= 1;
        }
        if self.blocking == Some(id) {
            self.blocking = None;
            self.next = self.next.max(ready);
        }
    }

    /// Dispatches nothing before a cycle. Returns the slots by which the next instruction is
    /// delayed.
    pub fn delay_until(&mut self, at: CoreCycle) -> u64 {
        self.delay_to(self.first_slot(at))
    }

    /// As [`Self::delay_until`], before a slot.
    pub(super) fn delay_to(&mut self, Slot(slot): Slot) -> u64 {
        let delay = slot.saturating_sub(self.next);
        self.next += delay;
        delay
    }

    /// The slot in which the latest instruction retires; `None` while its data are awaited.
    pub(super) fn last_retirement(&self) -> Option<Slot> {
        (self.unresolved == 0).then(|| Slot(self.next_retire.saturating_sub(1)))
    }

    /// The cycle after the last retirement, and after all delays; `None` while data are awaited.
    pub fn drained(&self) -> Option<CoreCycle> {
        (self.unresolved == 0).then(|| CoreCycle(self.next_retire.max(self.next).div_ceil(self.width)))
    }

    /// First slot in which the next instruction may dispatch, apart from the window.
    pub const fn position(&self) -> u64 {
        self.next
    }

    /// Slots in which no instruction could dispatch because the window was full.
    pub const fn window_stall(&self) -> u64 {
        self.window_stall
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dispatch(pipeline: &mut Pipeline, latency: Option<u64>) -> EntryId {
        let slot = pipeline.next_slot().unwrap();
        pipeline.dispatch(slot, latency)
    }

    const fn paper() -> (u64, u64) {
        (3, 128)
    }

    #[test]
    fn a_run_takes_a_slot_per_instruction() {
        let (width, window) = paper();
        for order in [Order::InOrder, Order::OutOfOrder] {
            let mut pipeline = Pipeline::new(order, width, window);
            assert_eq!(pipeline.run(3_000_000), 3_000_000);
            assert_eq!(pipeline.next_slot(), Some(Slot(3_000_000)));
            assert_eq!(pipeline.drained(), Some(CoreCycle(1_000_001)), "the last instructions retire a cycle later");
        }
    }

    /// From the third window on, windows of a chain of results are alike, and some of them are passed at once.
    #[test]
    fn windows_of_a_chain_repeat() {
        let mut pipeline = Pipeline::new(Order::OutOfOrder, 3, 8);
        let window = |pipeline: &mut Pipeline| {
            let before = pipeline.clone();
            for _ in 0..8 {
                let slot = pipeline.next_slot().unwrap();
                let from = pipeline.entry_before(1).and_then(|entry| pipeline.result(entry)).unwrap_or_default();
                pipeline.dispatch_with_result(slot, pipeline.plus(slot.max(from), 2));
            }
            before
        };
        assert_eq!([0; 4].map(|_| window(&mut pipeline)).map(|before| pipeline.shift_from(&before))[0], None);
        let (mut one_by_one, before) = (pipeline.clone(), window(&mut pipeline));
        // A result per two cycles.
        assert_eq!(pipeline.shift_from(&before), Some(8 * 6));
        pipeline.shift(&before, 5);
        (0..6).for_each(|_| drop(window(&mut one_by_one)));
        assert_eq!(format!("{pipeline:?}"), format!("{one_by_one:?}"));
    }

    /// The load takes entry 0 of 128: 127 instructions follow it, in slots 1 to 127.
    #[test]
    fn the_window_limits_the_instructions_behind_a_load() {
        let mut pipeline = Pipeline::new(Order::OutOfOrder, 3, 128);
        let load = dispatch(&mut pipeline, None);
        assert_eq!(pipeline.run(1000), 127);
        assert_eq!((pipeline.next_slot(), pipeline.drained()), (None, None));
        pipeline.arrive(load, CoreCycle(100));
        // The load retires in slot 300, and its entry can be used in slot 303.
        assert_eq!(pipeline.next_slot(), Some(Slot(303)));
        assert_eq!(pipeline.run(873), 873);
        assert_eq!(pipeline.next_slot(), Some(Slot(303 + 873)));
        assert_eq!(pipeline.window_stall(), 303 - 128);
        assert_eq!(pipeline.drained(), Some(CoreCycle((300_u64 + 1001).div_ceil(3))));
    }

    #[test]
    fn an_in_order_core_waits_for_each_load() {
        let mut pipeline = Pipeline::new(Order::InOrder, 1, 8);
        let load = dispatch(&mut pipeline, None);
        assert_eq!(pipeline.run(5), 0);
        pipeline.arrive(load, CoreCycle(40));
        assert_eq!((pipeline.run(5), pipeline.next_slot()), (5, Some(Slot(45))));
        dispatch(&mut pipeline, Some(10));
        assert_eq!(pipeline.next_slot(), Some(Slot(55)));
    }

    /// Slots of dispatch and retirement, an instruction at a time, by the rules of the page.
    fn plain(width: u64, window: usize, instructions: &[u64]) -> (u64, u64) {
        let (mut dispatched, mut retired) = (Vec::<u64>::new(), Vec::<u64>::new());
        for (index, &latency) in instructions.iter().enumerate() {
            let after = dispatched.last().map_or(0, |slot| slot + 1);
            let free = index.checked_sub(window).map_or(0, |index| retired[index] + width);
            let slot = after.max(free);
            dispatched.push(slot);
            retired.push((slot + latency.max(1) * width).max(retired.last().map_or(0, |slot| slot + 1)));
        }
        (*dispatched.last().unwrap(), *retired.last().unwrap())
    }

    proptest! {
        /// Runs and loads of any latency take the slots that a model without runs gives them.
        #[test]
        fn runs_take_the_slots_of_single_instructions(
            width in 1..4_u64,
            window in 8..20_u64,
            steps in prop::collection::vec((0..60_u64, 1..40_u64), 1..40),
        ) {
            let mut pipeline = Pipeline::new(Order::OutOfOrder, width, window);
            let mut instructions = Vec::new();
            for (run, latency) in steps {
                prop_assert_eq!(pipeline.run(run), run);
                dispatch(&mut pipeline, Some(latency));
                instructions.extend(std::iter::repeat_n(1, run as usize));
                instructions.push(latency);
            }
            let (dispatched, retired) = plain(width, window as usize, &instructions);
            prop_assert_eq!(pipeline.next, dispatched + 1);
            prop_assert_eq!(pipeline.drained(), Some(CoreCycle((retired + 1).div_ceil(width))));
        }
    }
}
