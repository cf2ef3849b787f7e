//! Accesses of devices, which lie beside the controller and have no cache.

use std::sync::Arc;

use dram_spec::{Mechanism, Operation, PhysicalAddress};
use memctrl::Completion;

use super::super::cache::{
    Access, DirtyData, LineNumber, LineRequest, LineRequestKind, LoadOrStore, OnMiss, Scope, StoreData,
};
use super::super::clock::CoreCycle;
use super::super::counters::{CoherenceCounts, Purpose};
use super::super::interconnect::{Agent, HeldEntry, Message, Outgoing, Requester};
use super::super::settings::InjectionSettings;
use super::Memory;
use crate::defects::{Planted, is_planted};
use crate::virtual_memory::Owner;

/// Result of a snoop.
#[derive(Clone, Debug)]
pub struct Snooped {
    /// The cycle in which the device has it.
    pub at: CoreCycle,
    /// Whether a cache held the line dirty, and passed it to the device.
    pub is_dirty: bool,
    /// The data of the dirty line, where contents are modeled.
    pub data: Option<Arc<[u8]>>,
}

/// A line that a device injects into the caches of a core.
#[derive(Clone, Copy, Debug)]
pub struct InjectedLine {
    /// First byte of the line.
    pub address: PhysicalAddress,
    /// Core and number of the process to whose memory the line belongs.
    pub owner: (usize, u32),
    /// Virtual address of its first byte.
    pub virtual_address: PhysicalAddress,
}

/// Result of an injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Injected {
    /// The line is in the caches; with write-through, the device writes it to memory by this request, too.
    Cached(Option<u64>),
    /// There was no place: the device writes the line to memory by this request.
    Written(u64),
    /// The line is on its way to an access: nothing has changed.
    InFlight,
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
        self.interconnect.send(requester, leaves, operation, payload, HeldEntry::Nothing)
    }

    /// Executes a store of a device for the check; returns the bytes that it writes, where contents are modeled.
    pub fn device_store(&mut self, address: PhysicalAddress, bytes: u64) -> Option<Arc<[u8]>> {
        let (kind, purpose) = (LoadOrStore::Store(StoreData::Tag), Purpose::KernelData);
        let access = Access { address, bytes, kind, purpose, on_miss: OnMiss::Bypass };
        self.check.as_mut().map(|check| check.store_past(&access, None))
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

    /// Looks up a line in the caches at a cycle for a device that reads it, and knows the result at another one. A
    /// cache that holds the line dirty, or whose write-back of it is on its way, passes it to the device, which
    /// writes it to memory; the line stays in the cache, clean.
    pub fn snoop_for_read(
        &mut self,
        requester: Requester,
        line: LineNumber,
        purpose: Purpose,
        counts: &mut CoherenceCounts,
        (at, known): (CoreCycle, CoreCycle),
    ) -> Snooped {
        counts.lookups += 1;
        if let Some(taken) = self.take_write_back(line, at) {
            let data = taken.payload.clone();
            return Snooped { at: self.write_for(requester, [taken], known), is_dirty: true, data };
        }
        let held = self.caches.snoop(requester.core, line).filter(|(state, _)| state.dirty.is_some());
        let Some((_, data)) = held.filter(|_| !is_planted(Planted::NoSourceWriteBack)) else {
            return Snooped { at: known, is_dirty: false, data: None };
        };
        self.caches.clean(requester.core, line, purpose);
        counts.written_back += 1;
        Snooped { at: self.send_for(requester, known), is_dirty: true, data }
    }

    /// Removes the lines of a range from the caches at a cycle, for a device that writes the range and knows the
    /// result at another one; returns the cycle from which it may write. A dirty line that the range covers in part is
    /// passed to the device, which writes it to memory first.
    pub fn snoop_for_write(
        &mut self,
        requester: Requester,
        (address, bytes): (PhysicalAddress, u64),
        purpose: Purpose,
        counts: &mut CoherenceCounts,
        (at, known): (CoreCycle, CoreCycle),
    ) -> CoreCycle {
        if is_planted(Planted::NoInvalidation) {
            return known;
        }
        let size = self.line_size();
        let on_their_way: Vec<_> =
            size.lines(address, bytes).filter_map(|(line, _)| self.take_write_back(line, at)).collect();
        let known = self.write_for(requester, on_their_way, known);
        let dirty_data = |is_whole| if is_whole { DirtyData::Discarded } else { DirtyData::WrittenBack(Some(purpose)) };
        let lines = size.lines(address, bytes).map(|(line, is_whole)| (line, dirty_data(is_whole)));
        let done = self.caches.invalidate(requester.core, lines, Scope::All);
        if let Some(line) = done.in_flight {
            self.conflict.get_or_insert((requester.core, size.address(line)));
        }
        done.add_to(counts);
        counts.lookups += done.lookups;
        self.send_for(requester, known)
    }

    /// Injects a line that a device writes into the caches of a core, at a cycle. Other caches lose the line. The
    /// write-back of the line that it replaces leaves after the latency of the last-level cache.
    pub fn inject(
        &mut self,
        requester: Requester,
        line: &InjectedLine,
        (core, settings): (usize, &InjectionSettings),
        counts: &mut CoherenceCounts,
        at: CoreCycle,
    ) -> Injected {
        let (size, bytes) = (self.line_size(), self.line_size().bytes());
        let number = size.line(line.address);
        if self.caches.is_in_any_flight(number) {
            return Injected::InFlight;
        }
        let ready = self.snoop_for_write(requester, (line.address, bytes), Purpose::Network, counts, (at, at));
        let data = self.device_store_for(line.owner, (line.address, line.virtual_address), bytes);
        let has_place = self.caches.inject(core, settings, number, (Purpose::Network, data.as_deref()));
        self.send(self.after_lookup(at));
        if has_place && !self.caches.injects_clean() {
            return Injected::Cached(None);
        }
        let write = Operation::Write { address: line.address, bytes };
        let request = self.device_request(requester, ready, write, data);
        if has_place { Injected::Cached(Some(request)) } else { Injected::Written(request) }
    }

    /// Sends a message again when a line that is in flight is there.
    pub fn repeat(&mut self, address: PhysicalAddress, to: Agent, message: Message) {
        let line = self.line_size().line(address);
        self.repeated.push((line, to, message));
    }

    /// Sends the messages that wait for a line, which is there at a cycle.
    #[cold]
    pub(super) fn send_repeated(&mut self, line: LineNumber, at: CoreCycle) {
        let (interconnect, repeated) = (&mut self.interconnect, &mut self.repeated);
        repeated.retain(|&(other, to, message)| {
            if other == line {
                interconnect.post(to, to, message, at);
            }
            other != line
        });
    }

    /// Takes the write-back of a line that is on its way to the controller at a cycle, if there is one.
    fn take_write_back(&mut self, line: LineNumber, at: CoreCycle) -> Option<Outgoing> {
        let size = self.line_size();
        self.interconnect.take_write_back(size.address(line), size.bytes(), at)
    }

    /// Removes a line that a device wrote while it was in flight to a core from the caches of the core or, before its
    /// data are there, from the others.
    pub fn drop_line(&mut self, core: usize, line: LineNumber, scope: Scope) {
        if !is_planted(Planted::NoInvalidation) {
            let _ = self.caches.invalidate(core, [(line, DirtyData::Discarded)].into_iter(), scope).whole();
        }
    }

    /// Passes write-backs to a device, which makes them; returns the cycle in which it has them. They keep their
    /// entries.
    fn write_for(
        &mut self,
        requester: Requester,
        write_backs: impl IntoIterator<Item = Outgoing>,
        mut at: CoreCycle,
    ) -> CoreCycle {
        for Outgoing { operation, payload, core, holds, .. } in write_backs {
            at = self.interconnect.passed(self.line_size().bytes(), at);
            let core = if holds == HeldEntry::Nothing { requester.core } else { core.into() };
            self.interconnect.send(Requester { core, ..requester }, at, operation, payload, holds);
        }
        at
    }

    /// Passes what the caches have to write to a device, which writes it; returns the cycle in which it has
    /// all of it.
    fn send_for(&mut self, requester: Requester, mut at: CoreCycle) -> CoreCycle {
        let interconnect = &mut self.interconnect;
        self.caches.take_requests(|LineRequest { requester: core, address, bytes, kind }| {
            let (data, holds) = match kind {
                LineRequestKind::Read => unreachable!("a snoop reads nothing"),
                LineRequestKind::WriteBack(data) | LineRequestKind::Write(data) => (data, HeldEntry::Nothing),
                LineRequestKind::LastOfEntry(data) => (data, HeldEntry::WriteEntry),
            };
            at = interconnect.passed(bytes, at);
            let requester = Requester { core, ..requester };
            interconnect.send(requester, at, Operation::Write { address, bytes }, data, holds);
        });
        at
    }
}

/// Bytes of a copy or zeroing of the controller that crossed the memory channels.
pub fn bytes_over_channels(completion: &Completion) -> u64 {
    let channel = completion.served.iter().filter(|(mechanism, _, _)| *mechanism == Mechanism::CHANNEL);
    channel.map(|(_, _, parts)| parts.bytes).sum()
}
