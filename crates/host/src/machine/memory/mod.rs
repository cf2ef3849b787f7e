//! The memory as requesters see it: the caches, what is on its way, and the check of loads.
//!
//! Cores, copiers, devices and the kernel access memory here, and nowhere else. What the caches return is sent to
//! the controller, after the latency of the last-level cache.

mod check;
mod devices;

use dram_spec::{Operation, PhysicalAddress};
use memctrl::Completion;

use super::bulk::Bulk;
use super::cache::{Answer, Arrival, Caches, DirtyData, Lack, LineRequest, LineRequestKind};
use super::clock::CoreCycle;
use super::counters::Purpose;
use super::interconnect::{Agent, HeldEntry, Interconnect, Message, Requester};
use super::settings::MachineSettings;
use crate::defects::{Planted, is_planted};
use crate::flat_memory::FlatMemory;

// The interface of the caches, as far as requesters use it.
pub use super::cache::{
    Access, Away, Invalidated, Lacking, LineNumber, LineSize, LoadOrStore, Lookup, OnMiss, Port, Scope, StoreData,
    Ticket, Way,
};

pub use self::check::{CoherenceCheck, Executed, WrongLoad};
pub use self::devices::{Injected, InjectedLine, bytes_over_channels};

/// Caches, what is on its way, and the check.
#[derive(Debug)]
pub struct Memory {
    /// The caches. What they return to be written is sent by the methods of the memory.
    pub caches: Caches,
    /// What is on its way between cores, devices and the controller.
    pub interconnect: Interconnect,
    /// Where contents are modeled.
    pub check: Option<CoherenceCheck>,
    /// Latency of the last-level caches.
    latency: u64,
    /// Messages that are sent when lines in flight are there.
    repeated: Vec<(LineNumber, Agent, Message)>,
    /// A line that a device writes for a core while it is on its way to an access.
    pub conflict: Option<(usize, PhysicalAddress)>,
}

/// Answer to an access to a line of which the caches hold no data.
#[derive(Clone, Copy, Debug)]
pub enum Response {
    /// The access is done; its data are there after some core cycles.
    Done(u64),
    /// The store is done, and occupies an entry of the store buffer until the controller accepts the write-back of
    /// the line that made room for it.
    Evicts,
    /// The access completes when the data arrive.
    Waits(Ticket),
    /// The access cannot be accepted yet: it lacks an MSHR or a place in the cache.
    LacksLine,
    /// The access cannot be accepted yet: it lacks an entry of the write buffer.
    LacksWriteEntry,
}

impl Memory {
    /// Creates the memory of cores, some of which lack upper levels of the caches. Loads are compared with
    /// a flat memory, if there is one.
    pub fn new(settings: &MachineSettings, lacking: impl Iterator<Item = Lacking>, flat: Option<FlatMemory>) -> Memory {
        let caches = Caches::new(settings, lacking, flat.is_some());
        let check = flat.map(|flat| CoherenceCheck::new(flat, caches.line_size()));
        let interconnect = Interconnect::new(settings.bus);
        Memory {
            caches,
            interconnect,
            check,
            latency: settings.last_level.latency,
            repeated: Vec::new(),
            conflict: None,
        }
    }

    /// Size of the lines of the caches.
    pub const fn line_size(&self) -> LineSize {
        self.caches.line_size()
    }

    /// Checks an access that was executed at the port of a core, where contents are modeled.
    #[inline]
    pub fn check_access(&mut self, core: usize, access: &Access, way: Way) {
        self.perform(core, access, None, way);
    }

    /// Executes an access on the flat memory, in program order, before it is executed at the caches; `None`
    /// unless contents are modeled.
    pub fn execute(&mut self, access: &Access) -> Option<Box<Executed>> {
        self.check.as_mut().map(|check| Box::new(check.execute_early(access)))
    }

    /// Checks an access as [`Memory::check_access`] does, which may have been executed on the flat memory.
    #[inline]
    pub fn perform(&mut self, core: usize, access: &Access, executed: Option<Box<Executed>>, way: Way) {
        if let Some(check) = &mut self.check
            && let Some(data) = self.caches.data_mut(core, way)
        {
            check.access(core, data, access, executed);
        }
    }

    /// Executes an access that the port of a core has not executed, at a cycle. It may have been executed on
    /// the flat memory, which is taken unless the access is refused.
    #[inline]
    pub fn request(
        &mut self,
        core: usize,
        access: &Access,
        away: &Away,
        at: CoreCycle,
        executed: &mut Option<Box<Executed>>,
    ) -> Response {
        let (answer, leaves) = (self.caches.request(core, access, away), self.after_lookup(at));
        let response = match answer {
            Answer::Refused(Lack::Line) => return Response::LacksLine,
            Answer::Refused(Lack::WriteEntry) => return Response::LacksWriteEntry,
            Answer::Hit { cycles, way } => {
                self.perform(core, access, executed.take(), way);
                Response::Done(cycles)
            }
            Answer::Stored(way) => {
                self.perform(core, access, executed.take(), way);
                if self.send_all(leaves, HeldEntry::EntryOfVictim) { Response::Evicts } else { Response::Done(0) }
            }
            Answer::Past => {
                if let Some(check) = &mut self.check {
                    check.store_past(access, executed.take());
                }
                Response::Done(0)
            }
            Answer::Waits(ticket) => self.wait(core, access, ticket, executed),
        };
        if self.caches.has_further_requests() {
            self.request_further(core, access, answer);
        }
        self.send(leaves);
        response
    }

    /// Makes the requests that follow an access: a store leaves, and prefetchers want lines.
    #[inline(never)]
    fn request_further(&mut self, core: usize, access: &Access, answer: Answer) {
        if self.caches.leaves(access, answer) {
            let data = self.check.as_ref().map(|check| check.expected(access.address, access.bytes));
            self.caches.buffer_store(core, access, data.as_deref());
        }
        self.caches.prefetch_after_access(core);
    }

    #[inline]
    fn wait(&mut self, core: usize, access: &Access, ticket: Ticket, executed: &mut Option<Box<Executed>>) -> Response {
        if let Some(check) = &mut self.check {
            check.access_later(core, ticket, access, executed.take());
        }
        Response::Waits(ticket)
    }

    /// Stores past the caches, at a cycle. The store occupies an entry of the store buffer until the
    /// controller accepts it, and replaces the line in the core's own caches.
    pub fn store_past(
        &mut self,
        core: usize,
        access: &Access,
        at: CoreCycle,
        executed: &mut Option<Box<Executed>>,
    ) -> Invalidated {
        let (Access { address, bytes, purpose, .. }, leaves) = (*access, self.after_lookup(at));
        let invalidated = self.invalidate(core, (address, bytes), purpose, Scope::Own, leaves);
        let payload = self.check.as_mut().map(|check| check.store_past(access, executed.take()));
        self.caches.count(core, purpose).non_temporal += 1;
        self.interconnect.send(
            Requester::core(core),
            leaves,
            Operation::Write { address, bytes },
            payload,
            HeldEntry::StoreEntry,
        );
        invalidated
    }

    /// The cycle in which a request leaves the last-level cache after an access.
    pub const fn after_lookup(&self, at: CoreCycle) -> CoreCycle {
        CoreCycle(at.0 + self.latency)
    }

    /// Sends the requests that the caches have made, which leave at a cycle.
    #[inline]
    pub fn send(&mut self, leaves: CoreCycle) {
        if self.caches.has_requests() {
            self.send_all(leaves, HeldEntry::Nothing);
        }
    }

    /// Sends the requests that the caches have made; returns whether a write-back occupies an entry of
    /// the store buffer.
    #[inline(never)]
    fn send_all(&mut self, leaves: CoreCycle, of_write_back: HeldEntry) -> bool {
        let (interconnect, mut takes_entry) = (&mut self.interconnect, false);
        self.caches.take_requests(|LineRequest { requester, address, bytes, kind }| {
            let (operation, payload, holds) = match kind {
                LineRequestKind::Read => (Operation::Read { address, bytes }, None, HeldEntry::Nothing),
                LineRequestKind::WriteBack(data) => (Operation::Write { address, bytes }, data, of_write_back),
                LineRequestKind::Write(data) => (Operation::Write { address, bytes }, data, HeldEntry::Nothing),
                LineRequestKind::LastOfEntry(data) => {
                    (Operation::Write { address, bytes }, data, HeldEntry::WriteEntry)
                }
            };
            takes_entry |= holds == HeldEntry::EntryOfVictim;
            interconnect.send(Requester::core(requester), leaves, operation, payload, holds);
        });
        takes_entry
    }

    /// Sends a copy or zeroing to the controller, which leaves at a cycle.
    pub fn copy(&mut self, core: usize, operation: Operation, leaves: CoreCycle) {
        self.apply(&operation);
        self.interconnect.send(Requester::core(core), leaves, operation, None, HeldEntry::Nothing);
    }

    /// Executes a copy or zeroing for the check alone.
    pub fn apply(&mut self, operation: &Operation) {
        if let Some(check) = &mut self.check {
            check.apply(operation);
        }
    }

    /// A copy of a core begins, after which its program accesses the lines anew.
    pub fn begin_copy(&mut self, core: usize, Bulk { src, dst, bytes }: &Bulk) {
        if let Some(src) = *src {
            self.caches.copied(core, (src, *bytes));
            self.caches.copied(core, (*dst, *bytes));
        }
    }

    /// Removes the lines of a range from caches. A dirty line that the range covers in part is written
    /// back, on behalf of a purpose; the write-back leaves at a cycle.
    pub fn invalidate(
        &mut self,
        core: usize,
        (address, bytes): (PhysicalAddress, u64),
        purpose: Purpose,
        scope: Scope,
        leaves: CoreCycle,
    ) -> Invalidated {
        if is_planted(Planted::NoInvalidation) {
            return Invalidated::default();
        }
        let dirty_data = |is_whole| if is_whole { DirtyData::Discarded } else { DirtyData::WrittenBack(Some(purpose)) };
        let lines = self.line_size().lines(address, bytes).map(|(line, is_whole)| (line, dirty_data(is_whole)));
        // Before the write-back of any line of the range.
        self.caches.flush_stores(address, bytes);
        let done = self.caches.invalidate(core, lines, scope).whole();
        self.send(leaves);
        done
    }

    /// Removes lines from the private caches of other cores; dirty ones are written back, and leave at a
    /// cycle.
    pub fn flush_others(&mut self, core: usize, lines: impl Iterator<Item = LineNumber>, leaves: CoreCycle) {
        let lines = lines.map(|line| (line, DirtyData::WrittenBack(None)));
        let _ = self.caches.invalidate(core, lines, Scope::Others).whole();
        self.send(leaves);
    }

    /// Sends the stores to a range that are in write buffers; they leave at a cycle.
    pub fn flush_stores(&mut self, address: PhysicalAddress, bytes: u64, leaves: CoreCycle) {
        self.caches.flush_stores(address, bytes);
        self.send(leaves);
    }

    /// Writes a dirty line of a core's last-level cache to memory on behalf of a purpose; the write
    /// leaves at a cycle, and the line stays in the cache.
    pub fn clean(&mut self, core: usize, line: LineNumber, purpose: Purpose, leaves: CoreCycle) {
        self.caches.clean(core, line, purpose);
        self.send(leaves);
    }

    /// Puts a line with its data into a core's last-level cache; returns whether there was a place. The
    /// write-back of the line that it replaces leaves at a cycle.
    pub fn insert(
        &mut self,
        core: usize,
        line: LineNumber,
        (dirty, data): (Option<Purpose>, Option<&[u8]>),
        leaves: CoreCycle,
    ) -> bool {
        let is_inserted = self.caches.insert(core, line, dirty, data);
        self.send(leaves);
        is_inserted
    }

    /// Puts a line that the program has written, with the contents at reset, into an empty place of a
    /// core's last-level cache, if there is one and the cache allocates lines of stores.
    pub fn insert_written(&mut self, core: usize, line: LineNumber) {
        let size = self.line_size();
        if let Some(way) = self.caches.insert_in_empty(core, line, Purpose::Program)
            && let Some(check) = &self.check
            && let Some(data) = self.caches.data_mut(core, way)
        {
            data.copy_from_slice(&check.expected(size.address(line), size.bytes()));
        }
    }

    /// Accepts the data of a line that a core has requested, at a cycle; returns its ticket, if accesses
    /// wait for it.
    pub fn arrived(&mut self, core: usize, completion: &Completion, at: CoreCycle) -> Option<Ticket> {
        let size = self.line_size();
        let line = size.line(completion.operation.target());
        let Arrival { ticket, way } = self.caches.arrived(core, line);
        if !self.repeated.is_empty() {
            self.send_repeated(line, at);
        }
        if let Some(check) = &mut self.check {
            let mut past_caches = vec![0; size.bytes() as usize];
            let place = way.and_then(|way| self.caches.data_mut(core, way));
            let data = place.unwrap_or(&mut past_caches);
            data.copy_from_slice(completion.data.as_deref().expect("contents are modeled"));
            if let Some(ticket) = ticket {
                check.arrived(core, ticket, data);
            }
        }
        self.send(self.after_lookup(at));
        ticket
    }
}
