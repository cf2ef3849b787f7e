//! Accesses of devices, which lie beside the controller and have no cache.

use std::sync::Arc;

use dram_core::Line;
use dram_spec::{LINE_BYTES, Mechanism, Operation, PhysicalAddress};
use memctrl::Completion;

use super::super::cache::{DirtyData, LineNumber, Scope, StoreData, WriteBack, lines};
use super::super::clock::CoreCycle;
use super::super::counters::{CoherenceCounts, Purpose};
use super::super::interconnect::{Outgoing, Requester};
use super::Memory;
use crate::decisions::{Decided, Decisions};
use crate::virtual_memory::Owner;

/// Result of a snoop.
#[derive(Clone, Copy, Debug)]
pub struct Snooped {
    /// The cycle in which the device has it.
    pub at: CoreCycle,
    /// Whether a cache held the line dirty, and passed it to the device.
    pub is_dirty: bool,
    /// The data of the dirty line, where contents are modeled.
    pub data: Option<Line>,
}

impl Memory {
    /// Sends a request of a device, which leaves at a cycle; returns its number.
    pub fn device_request(
        &mut self,
        requester: Requester,
        leaves: CoreCycle,
        operation: Operation,
        payload: Option<Arc<[u8]>>,
    ) -> u64 {
        self.interconnect.send(requester, leaves, operation, payload, false)
    }

    /// Executes a store of a device for the check; returns the bytes that it writes, where contents are modeled.
    pub fn device_store(&mut self, address: PhysicalAddress, bytes: u64) -> Option<Arc<[u8]>> {
        self.check.as_mut().map(|check| check.store_past(address, bytes, StoreData::Tag))
    }

    /// Executes a store of a device to memory of a process for the check; returns the bytes that it writes, where
    /// contents are modeled.
    pub fn device_store_for(
        &mut self,
        (core, process): (usize, u32),
        (address, virtual_address): (PhysicalAddress, PhysicalAddress),
        bytes: u64,
    ) -> Option<Arc<[u8]>> {
        let data = self.device_store(address, bytes)?;
        let check = self.check.as_mut()?;
        check.memories.write(Owner::OfCore(core, process), virtual_address.0, &data);
        Some(data)
    }

    /// Compares bytes that a device has read on behalf of a core, where contents are modeled.
    pub fn check_device_load(&mut self, core: usize, address: PhysicalAddress, found: Option<&[u8]>) {
        if let (Some(check), Some(found)) = (&mut self.check, found) {
            check.compare(core, address, found);
        }
    }

    /// Looks up a line in the caches for a device that reads it, and knows the result at a cycle. A cache
    /// that holds the line dirty, or whose write-back of it is on its way, passes it to the device, which
    /// writes it to memory; the line stays in the cache, clean.
    pub fn snoop_for_read(
        &mut self,
        requester: Requester,
        line: LineNumber,
        purpose: Purpose,
        counts: &mut CoherenceCounts,
        known: CoreCycle,
    ) -> Snooped {
        counts.lookups += 1;
        if let Some(Outgoing { payload: data, .. }) = self.interconnect.take_write_back(line.address()) {
            let passed = data.as_deref().map(|data| data.try_into().expect("a line"));
            let at = self.write_for(requester, [WriteBack { line, data }], known);
            return Snooped { at, is_dirty: true, data: passed };
        }
        let held = self.caches.snoop(requester.core, line).filter(|(state, _)| state.dirty.is_some());
        let Some((_, data)) = held.filter(|_| Decided::writes_source_back()) else {
            return Snooped { at: known, is_dirty: false, data: None };
        };
        let write_back = self.caches.clean(requester.core, line, purpose);
        counts.written_back += 1;
        Snooped { at: self.write_for(requester, write_back, known), is_dirty: true, data }
    }

    /// Removes the lines of a range from the caches, for a device that writes the range and knows the result
    /// at a cycle; returns the cycle from which it may write. A dirty line that the range covers in part is
    /// passed to the device, which writes it to memory first.
    pub fn snoop_for_write(
        &mut self,
        requester: Requester,
        (address, bytes): (PhysicalAddress, u64),
        purpose: Purpose,
        counts: &mut CoherenceCounts,
        known: CoreCycle,
    ) -> CoreCycle {
        if !Decided::invalidates_destination() {
            return known;
        }
        let on_their_way: Vec<WriteBack> = lines(address, bytes)
            .filter_map(|(line, _)| {
                let Outgoing { payload: data, .. } = self.interconnect.take_write_back(line.address())?;
                Some(WriteBack { line, data })
            })
            .collect();
        let known = self.write_for(requester, on_their_way, known);
        let dirty_data = |is_whole| if is_whole { DirtyData::Discarded } else { DirtyData::WrittenBack(Some(purpose)) };
        let lines = lines(address, bytes).map(|(line, is_whole)| (line, dirty_data(is_whole)));
        let (done, write_backs) = self.caches.invalidate(requester.core, lines, Scope::All);
        done.add_to(counts);
        counts.lookups += done.lookups;
        self.write_for(requester, write_backs, known)
    }

    /// Removes a line that a device wrote while it was in flight from the caches of a core.
    pub fn drop_line(&mut self, core: usize, line: LineNumber) {
        if Decided::invalidates_destination() {
            let _ = self.caches.invalidate(core, [(line, DirtyData::Discarded)].into_iter(), Scope::Own);
        }
    }

    /// Passes dirty lines to a device, which writes them; returns the cycle in which it has them.
    fn write_for(
        &mut self,
        requester: Requester,
        write_backs: impl IntoIterator<Item = WriteBack>,
        mut at: CoreCycle,
    ) -> CoreCycle {
        for WriteBack { line, data } in write_backs {
            at = self.interconnect.passed(LINE_BYTES, at);
            self.device_request(requester, at, Operation::Write { address: line.address(), bytes: LINE_BYTES }, data);
        }
        at
    }
}

/// Bytes of a copy or zeroing of the controller that crossed the memory channels.
pub fn bytes_over_channels(completion: &Completion) -> u64 {
    let channel = completion.served.iter().filter(|(mechanism, _, _)| *mechanism == Mechanism::CHANNEL);
    channel.map(|(_, _, parts)| parts.bytes).sum()
}
