//! Snoops of devices.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::Purpose;

use crate::bulk::Range;
use crate::machine::ReferenceMachine;
use crate::traffic::{Holds, Sender};

/// The device that acts: the core for which it does, and on whose behalf lines are written back.
#[derive(Clone, Copy, Debug)]
pub struct Snooper {
    pub core: usize,
    pub purpose: Purpose,
    /// Number of the device.
    pub device: u16,
}

impl ReferenceMachine {
    /// Snoops a line for reading, with answers in a cycle: a dirty line is passed to the device, which writes it.
    /// Returns the cycle in which the device has it, or else that of the answers.
    pub fn snoop_for_reading(&mut self, now: u64, answers: u64, snooper: Snooper, line: u64) -> u64 {
        self.cores[snooper.core].counters.coherence.lookups += 1;
        let on_its_way = self.drop_write_back(now, line);
        let mut is_dirty = false;
        for cache in &mut self.caches {
            is_dirty |= cache.get(line).is_some_and(|found| found.dirty.take().is_some());
        }
        let Some(holds) = on_its_way.or(is_dirty.then_some(Holds::Nothing)) else { return answers };
        self.pass_line(answers, snooper, (line, holds), is_dirty)
    }

    /// Snoops a range within a line for writing: it leaves all caches, and a dirty line that is covered in part is
    /// passed to the device. Returns the cycle as above.
    pub fn snoop_for_writing(&mut self, now: u64, answers: u64, snooper: Snooper, range: Range) -> u64 {
        let line = range.from / self.settings.lines.bytes;
        self.cores[snooper.core].counters.coherence.lookups += 1;
        let on_its_way = self.drop_write_back(now, line);
        let mut is_dirty = false;
        self.drop_prefetches(line, None);
        for cache in 0..self.caches.len() {
            let Some(found) = self.caches[cache].remove(line) else { continue };
            self.leave_l1s(cache, line);
            self.cores[snooper.core].counters.coherence.invalidated += 1;
            is_dirty |= found.dirty.is_some();
        }
        let is_dirty = is_dirty && !self.is_whole(line, range.from, range.bytes);
        let mut there = answers;
        if let Some(holds) = on_its_way {
            there = self.pass_line(there, snooper, (line, holds), false);
        }
        there = self.pass_entries(there, line, snooper.device);
        if is_dirty { self.pass_line(there, snooper, (line, Holds::Nothing), true) } else { there }
    }

    /// Passes a line that was dirty in a cache, or whose write-back was counted when it was replaced, from a cycle on.
    /// The device writes it; returns the cycle in which it has it.
    fn pass_line(&mut self, from: u64, snooper: Snooper, (line, holds): (u64, Holds), is_dirty: bool) -> u64 {
        let bytes = self.settings.lines.bytes;
        let is_counted = is_dirty && !self.cores[snooper.core].is_over();
        let counters = &mut self.cores[snooper.core].counters;
        counters.coherence.written_back += u64::from(is_dirty);
        counters.of(snooper.purpose).write_backs += u64::from(is_counted);
        let operation = Operation::Write { address: PhysicalAddress(line * bytes), bytes };
        let there = self.bus.data(from, bytes);
        self.push(Sender::Passed { core: snooper.core, device: snooper.device }, there, operation, holds);
        there
    }
}
