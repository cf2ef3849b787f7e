//! Interrupts of a DMA engine, and loads of its status line, which wait for less than an event of the kernel does.

use super::super::clock::CoreCycle;
use super::pipeline::Slot;
use super::{Advance, Core, Stall};

impl Core {
    /// Takes an interrupt that arrived at a cycle, where an instruction could dispatch.
    pub fn interrupt(&mut self, at: CoreCycle, cycles: u64) -> Advance {
        if self.has_slot() {
            self.pass_waits(self.pipeline.first_slot(at));
            self.delay_until(at, |stalls| &mut stalls.kernel);
        }
        self.pause(cycles)
    }

    /// Whether no instruction waits for data, operands or an older access, and no store is in the store buffer.
    pub fn is_settled(&self) -> bool {
        self.finished().is_some() && self.stores == 0
    }

    /// The cycle of the next slot, once the core is settled, if it is before `until`. Instructions may retire later.
    ///
    /// # Errors
    /// The outcome of an attempt to act; the core stalls until it is settled.
    pub fn settled_before(&mut self, until: CoreCycle) -> Result<CoreCycle, Advance> {
        if !self.is_settled() {
            return Err(self.stall_for_event());
        }
        let at = self.pipeline.cycle(Slot(self.position()));
        if at < until { Ok(at) } else { Err(Advance::Later(at)) }
    }

    /// Goes on in the slot in which the latest instruction retires, if its cycle, which it returns, is before `until`.
    /// The slots after its data count for a cause.
    ///
    /// # Errors
    /// The outcome of an attempt to go on; the core stalls until the data are there.
    pub fn go_on_after_retirement(&mut self, until: CoreCycle, cause: Stall) -> Result<CoreCycle, Advance> {
        let Some(slot) = self.pipeline.last_retirement() else { return Err(self.stall_for_event()) };
        let at = self.pipeline.cycle(slot);
        if at >= until {
            return Err(Advance::Later(at));
        }
        *cause.slots(&mut self.counters.stalls) += self.pipeline.delay_to(slot);
        Ok(at)
    }
}
