//! The instruction window of a core: when instructions dispatch and retire.
//!
//! Time is counted in slots: a cycle has as many slots as the core is wide. Instructions dispatch
//! and retire in program order, at most one per slot each. An instruction retires at least a cycle
//! after its dispatch, and not before its data are there. Its window entry can be used again a
//! cycle later. A run of instructions without memory access advances in one step, because the slots
//! of its instructions are consecutive.

use std::collections::VecDeque;

use super::clock::CoreCycle;

/// Whether a core dispatches past a load whose data are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A load blocks the instructions after it until its data are there.
    InOrder,
    /// Instructions dispatch until the window is full.
    OutOfOrder,
}

impl Order {
    /// Both orders and their names in configurations.
    pub const NAMES: [(&'static str, Order); 2] = [("in-order", Order::InOrder), ("out-of-order", Order::OutOfOrder)];
}

/// A position in time: cycle x width + slot of the cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u64);

/// A dispatched memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryId(u64);

/// Consecutive instructions of the window.
#[derive(Clone, Copy, Debug)]
struct Entry {
    count: u64,
    /// Slot of the first instruction's dispatch.
    dispatched: u64,
    /// First slot in which the first instruction may retire; `None` while its data are awaited.
    ready: Option<u64>,
    /// Slot in which the first instruction retires; valid once it is resolved.
    retires: u64,
}

/// Window, dispatch and retirement of a core.
#[derive(Debug)]
pub struct Pipeline {
    order: Order,
    width: u64,
    window: u64,
    /// First slot in which the next instruction may dispatch, apart from the window.
    next: u64,
    entries: VecDeque<Entry>,
    /// Number of the first entry.
    first: u64,
    /// Entries at the front whose retirement is known.
    resolved: usize,
    /// First slot in which the next unresolved entry may retire.
    next_retire: u64,
    /// Instructions in `entries`.
    occupancy: u64,
    /// The load that blocks an in-order core.
    blocking: Option<EntryId>,
    window_stall: u64,
}

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
            entries: VecDeque::new(),
            first: 0,
            resolved: 0,
            next_retire: 0,
            occupancy: 0,
            blocking: None,
            window_stall: 0,
        }
    }

    /// The cycle of a slot.
    pub const fn cycle(&self, slot: Slot) -> CoreCycle {
        CoreCycle(slot.0 / self.width)
    }

    /// The slot in which the next instruction can dispatch; `None` if that depends on awaited data.
    pub fn next_slot(&self) -> Option<Slot> {
        if self.blocking.is_some() {
            return None;
        }
        if self.occupancy < self.window {
            return Some(Slot(self.next));
        }
        if self.resolved == 0 {
            return None;
        }
        Some(Slot(self.next.max(self.entries[0].retires + self.width)))
    }

    /// Dispatches up to `count` instructions without memory access; returns how many. Fewer means
    /// that the next one waits for data.
    pub fn run(&mut self, count: u64) -> u64 {
        let mut left = count;
        while left > 0 {
            let Some((slot, taken)) = self.reserve(left) else { break };
            left -= taken;
            let ready = slot + self.width;
            let is_resolved = self.resolved == self.entries.len();
            match self.entries.back_mut() {
                Some(last) if is_resolved && last.dispatched + last.count == slot && ready <= self.next_retire => {
                    last.count += taken;
                    self.next_retire += taken;
                }
                _ => self.push(taken, slot, Some(ready)),
            }
            left -= self.skip(left);
        }
        count - left
    }

    /// Instructions that can be dispatched in one step, because the window holds only one run that
    /// dispatches and retires in consecutive slots: they shift that run.
    fn skip(&mut self, left: u64) -> u64 {
        let is_steady = self.resolved == 1 && self.entries.len() == 1 && self.occupancy == self.window;
        let Some(run) = self.entries.front_mut().filter(|run| is_steady && run.retires + self.width <= self.next)
        else {
            return 0;
        };
        run.dispatched += left;
        run.retires += left;
        self.next += left;
        self.next_retire += left;
        left
    }

    /// Dispatches a memory instruction in [`Self::next_slot`]. `latency` is the number of cycles
    /// until its data are there, or `None` if [`Self::arrive`] will report them.
    ///
    /// # Panics
    /// If the next instruction cannot dispatch.
    pub fn dispatch(&mut self, latency: Option<u64>) -> EntryId {
        let (slot, _) = self.reserve(1).expect("the caller has asked for the slot");
        let ready = latency.map(|cycles| slot + cycles.max(1) * self.width);
        let id = EntryId(self.first + self.entries.len() as u64);
        self.push(1, slot, ready);
        if self.order == Order::InOrder {
            match ready {
                None => self.blocking = Some(id),
                Some(ready) if latency > Some(1) => self.next = self.next.max(ready),
                Some(_) => {}
            }
        }
        id
    }

    /// Reports that the data of an instruction are there at a cycle.
    ///
    /// # Panics
    /// If they were there before.
    pub fn arrive(&mut self, id: EntryId, at: CoreCycle) {
        let ready = at.0 * self.width;
        let entry = &mut self.entries[(id.0 - self.first) as usize];
        assert!(entry.ready.is_none(), "data arrive once");
        entry.ready = Some(ready.max(entry.dispatched + self.width));
        self.resolve();
        if self.blocking == Some(id) {
            self.blocking = None;
            self.next = self.next.max(ready);
        }
    }

    /// Dispatches nothing before a cycle. Returns the slots by which the next instruction is
    /// delayed.
    pub fn delay_until(&mut self, at: CoreCycle) -> u64 {
        let delay = (at.0 * self.width).saturating_sub(self.next);
        self.next += delay;
        delay
    }

    /// The cycle after the last retirement, and after all delays; `None` while data are awaited.
    pub fn drained(&self) -> Option<CoreCycle> {
        let is_resolved = self.resolved == self.entries.len();
        is_resolved.then(|| CoreCycle(self.next_retire.max(self.next).div_ceil(self.width)))
    }

    /// Slots in which no instruction could dispatch because the window was full.
    pub const fn window_stall(&self) -> u64 {
        self.window_stall
    }

    /// Dispatch slots of consecutive instructions: the first, and how many of `wanted` follow it
    /// without a gap.
    fn reserve(&mut self, wanted: u64) -> Option<(u64, u64)> {
        let slot = self.next_slot()?.0;
        let room = self.window - self.occupancy;
        let count = if room > 0 { wanted.min(room) } else { self.free(wanted) };
        self.window_stall += slot - self.next;
        self.occupancy += count;
        self.next = slot + count;
        Some((slot, count))
    }

    /// Removes up to `wanted` instructions of the first entry.
    fn free(&mut self, wanted: u64) -> u64 {
        let front = &mut self.entries[0];
        let count = wanted.min(front.count);
        (front.count, front.dispatched, front.retires) =
            (front.count - count, front.dispatched + count, front.retires + count);
        if front.count == 0 {
            self.entries.pop_front();
            self.first += 1;
            self.resolved -= 1;
        }
        self.occupancy -= count;
        count
    }

    fn push(&mut self, count: u64, dispatched: u64, ready: Option<u64>) {
        self.entries.push_back(Entry { count, dispatched, ready, retires: 0 });
        self.resolve();
    }

    /// Computes the retirement of entries up to the first whose data are awaited.
    fn resolve(&mut self) {
        while let Some(entry) = self.entries.get_mut(self.resolved) {
            let Some(ready) = entry.ready else { break };
            entry.retires = self.next_retire.max(ready);
            self.next_retire = entry.retires + entry.count;
            self.resolved += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    /// The load takes entry 0 of 128: 127 instructions follow it, in slots 1 to 127.
    #[test]
    fn the_window_limits_the_instructions_behind_a_load() {
        let mut pipeline = Pipeline::new(Order::OutOfOrder, 3, 128);
        let load = pipeline.dispatch(None);
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
        let load = pipeline.dispatch(None);
        assert_eq!(pipeline.run(5), 0);
        pipeline.arrive(load, CoreCycle(40));
        assert_eq!((pipeline.run(5), pipeline.next_slot()), (5, Some(Slot(45))));
        pipeline.dispatch(Some(10));
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
                pipeline.dispatch(Some(latency));
                instructions.extend(std::iter::repeat_n(1, run as usize));
                instructions.push(latency);
            }
            let (dispatched, retired) = plain(width, window as usize, &instructions);
            prop_assert_eq!(pipeline.next, dispatched + 1);
            prop_assert_eq!(pipeline.drained(), Some(CoreCycle((retired + 1).div_ceil(width))));
        }
    }
}
