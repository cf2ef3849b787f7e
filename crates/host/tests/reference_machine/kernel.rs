//! Events of the kernel: its data, and frames that pages get without a page fault.

use host::machine::{Purpose, StoreMiss, WritePolicy};

use crate::cache::Line;
use crate::core::{Address, Work};
use crate::machine::ReferenceMachine;
use crate::processes::{Datum, PAGE};

impl ReferenceMachine {
    /// Adds the work of an event: for each page its time, then a load and a store of each datum.
    pub fn use_kernel_data(&mut self, at: usize, now: u64, pages: Vec<Vec<Datum>>, cycles: u64) {
        let mut work = Vec::new();
        for page in pages {
            work.push(Work::Time(cycles));
            for datum in page {
                let kernel = self.settings.kernel;
                let bytes = match datum {
                    Datum::Entry { .. } => kernel.page_table_entry_bytes,
                    Datum::Descriptor { .. } => kernel.page_descriptor_bytes,
                };
                if bytes == 0 {
                    continue;
                }
                let (address, new) = self.processes.address_of(at, datum, bytes);
                if let Some(frame) = new {
                    self.clean(at, now, frame);
                }
                let address = Address::Physical(address);
                work.extend([
                    Work::Load(address, Purpose::KernelData),
                    Work::Store(address, bytes, Purpose::KernelData),
                ]);
            }
        }
        self.cores[at].push_front(work);
    }

    /// A range that the program wrote before the run.
    pub fn fill(&mut self, at: usize, address: u64, bytes: u64) {
        for page in address / PAGE..=(address + bytes - 1) / PAGE {
            if self.processes.translate(at, page * PAGE, true).is_none() {
                self.processes.fault(at, page * PAGE, true);
            }
        }
        // The lines written last, as many as fit in each set, where the cache has empty ways.
        let (shared, dirty) = (self.cache_of(at), Some(Purpose::Program));
        let dirty = dirty.filter(|_| self.settings.lines.write == WritePolicy::WriteBack);
        if self.settings.last_level.store_miss == StoreMiss::NoAllocate {
            return;
        }
        let line_bytes = self.settings.lines.bytes;
        let mut last = Vec::new();
        for line in (address / line_bytes..=(address + bytes - 1) / line_bytes).rev() {
            let number = self.processes.translate(at, line * line_bytes, true).expect("it has a frame") / line_bytes;
            let cache = &self.caches[shared];
            let in_set = last.iter().filter(|other| cache.set_of(**other) == cache.set_of(number)).count();
            if in_set < self.settings.last_level.ways {
                last.push(number);
            }
        }
        for number in last.into_iter().rev() {
            let cache = &mut self.caches[shared];
            if cache.get(number).is_none() && cache.has_empty_way(number) {
                cache.insert(Line { dirty, ..Line::clean(number) });
            }
        }
    }

    /// Gives pages frames.
    pub fn give_frames(&mut self, at: usize, now: u64, address: u64, bytes: u64) {
        for page in address / PAGE..=(address + bytes - 1) / PAGE {
            if let Some(frame) = self.processes.give_frame(at, page * PAGE) {
                self.clean(at, now, frame);
            }
        }
    }

    /// Removes the lines of a frame, and of those given together with it, from the caches of other cores,
    /// and writes dirty ones back.
    pub fn clean(&mut self, at: usize, now: u64, frame: u64) {
        let (own, leaves) = (self.cache_of(at), now + self.settings.last_level.latency);
        let unit = self.processes.unit_bytes();
        let start = frame / unit * unit;
        for line in self.lines(start, unit) {
            self.empty_entries(now, line);
            self.drop_prefetches(line, Some(own));
            for other in (0..self.caches.len()).filter(|other| *other != own) {
                let Some(found) = self.caches[other].remove(line) else { continue };
                self.leave_l1s(other, line);
                if let Some(purpose) = found.dirty {
                    self.cores[at].counters.of(purpose).write_backs += 1;
                    self.write(at, leaves, line);
                }
            }
        }
    }
}
