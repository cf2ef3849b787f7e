//! The memory as requesters see it: the caches, the requests on their way to the controller, and the
//! check of loads.
//!
//! Cores, copiers and the kernel access memory here, and nowhere else. What the caches return is sent to
//! the controller, after the latency of the last-level cache.

mod check;
mod outbox;

use dram_core::Line;
use dram_spec::{LINE_BYTES, Operation, PhysicalAddress};
use memctrl::Completion;

use self::outbox::Outbox;
use super::cache::{Answer, Caches, DirtyData, Inserted, WriteBack};
use super::clock::CoreCycle;
use super::counters::Purpose;
use super::settings::MachineSettings;
use crate::decisions::{Decided, Decisions};

// The interface of the caches, as far as requesters use it.
pub use super::cache::{
    Access, AccessKind, Away, Invalidated, LineNumber, Lookup, OnMiss, Port, Scope, StoreData, Ticket, Way, lines,
};

pub use self::check::{CoherenceCheck, Executed, WrongLoad};

/// Caches, requests to the controller, and the check.
#[derive(Debug)]
pub struct Memory {
    /// The caches. What they return to be written is sent by the methods of the memory.
    pub caches: Caches,
    /// Requests to the controller.
    pub outbox: Outbox,
    /// Where contents are modeled.
    pub check: Option<CoherenceCheck>,
    /// Latency of the last-level caches.
    latency: u64,
}

/// Answer to an access to a line of which the caches hold no data.
#[derive(Clone, Copy, Debug)]
pub enum Response {
    /// The store is done.
    Done,
    /// The access completes when the data arrive.
    Waits(Ticket),
    /// The access cannot be accepted yet.
    Refused,
}

impl Memory {
    /// Creates the memory of cores, some of which lack the L1.
    pub fn new(
        settings: &MachineSettings,
        has_l1: impl Iterator<Item = bool>,
        check: Option<CoherenceCheck>,
    ) -> Memory {
        Memory {
            caches: Caches::new(settings, has_l1, check.is_some()),
            outbox: Outbox::default(),
            check,
            latency: settings.last_level.latency,
        }
    }

    /// Checks an access that was executed at the port of a core, where contents are modeled.
    #[inline]
    pub fn check_access(&mut self, core: usize, access: &Access, way: Way) {
        self.perform(core, access, None, way);
    }

    /// Executes an access on the flat memory, in program order, before it is executed at the caches; `None`
    /// unless contents are modeled.
    pub fn execute(&mut self, access: &Access) -> Option<Box<Executed>> {
        self.check.as_mut().map(|check| Box::new(check.execute(access)))
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

    /// Requests a line of which the caches hold no data, at a cycle. The access may have been executed on the
    /// flat memory, which is taken unless the request is refused.
    #[inline]
    pub fn request(
        &mut self,
        core: usize,
        access: &Access,
        away: &Away,
        at: CoreCycle,
        executed: &mut Option<Box<Executed>>,
    ) -> Response {
        match self.caches.request(core, access, away) {
            Answer::Refused => Response::Refused,
            Answer::Stored { way, replaced } => {
                self.write(core, replaced, self.after_lookup(at));
                self.perform(core, access, executed.take(), way);
                Response::Done
            }
            Answer::Merged(ticket) => self.wait(core, access, ticket, executed),
            Answer::Read { ticket, replaced } => {
                let leaves = self.after_lookup(at);
                self.write(core, replaced, leaves);
                let read = Operation::Read { address: access.line().address(), bytes: LINE_BYTES };
                self.outbox.send(core, leaves, read, None, false);
                self.wait(core, access, ticket, executed)
            }
        }
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
        data: StoreData,
        at: CoreCycle,
        executed: &mut Option<Box<Executed>>,
    ) -> Invalidated {
        let Access { address, bytes, purpose, .. } = *access;
        let invalidated = self.invalidate(core, (address, bytes), purpose, Scope::Own, at);
        let payload = self.check.as_mut().map(|check| check.store_past((address, bytes), data, executed.take()));
        self.caches.count(core, purpose).non_temporal += 1;
        let leaves = self.after_lookup(at);
        self.outbox.send(core, leaves, Operation::Write { address, bytes }, payload, true);
        invalidated
    }

    /// The cycle in which a request leaves the last-level cache after an access.
    pub const fn after_lookup(&self, at: CoreCycle) -> CoreCycle {
        CoreCycle(at.0 + self.latency)
    }

    fn write(&mut self, core: usize, write_back: impl IntoIterator<Item = WriteBack>, leaves: CoreCycle) {
        for WriteBack { line, data } in write_back {
            let write = Operation::Write { address: line.address(), bytes: LINE_BYTES };
            self.outbox.send(core, leaves, write, data, false);
        }
    }

    /// Sends a copy or zeroing to the controller, which leaves at a cycle.
    pub fn copy(&mut self, core: usize, operation: Operation, leaves: CoreCycle) {
        self.apply(&operation);
        self.outbox.send(core, leaves, operation, None, false);
    }

    /// Executes a copy or zeroing for the check alone.
    pub fn apply(&mut self, operation: &Operation) {
        if let Some(check) = &mut self.check {
            check.apply(operation);
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
        if !Decided::invalidates_destination() {
            return Invalidated::default();
        }
        let dirty_data = |is_whole| if is_whole { DirtyData::Discarded } else { DirtyData::WrittenBack(Some(purpose)) };
        let lines = lines(address, bytes).map(|(line, is_whole)| (line, dirty_data(is_whole)));
        let (done, write_backs) = self.caches.invalidate(core, lines, scope);
        self.write(core, write_backs, leaves);
        done
    }

    /// Removes lines from the private caches of other cores; dirty ones are written back, and leave at a
    /// cycle.
    pub fn flush_others(&mut self, core: usize, lines: impl Iterator<Item = LineNumber>, leaves: CoreCycle) {
        let lines = lines.map(|line| (line, DirtyData::WrittenBack(None)));
        let (_, write_backs) = self.caches.invalidate(core, lines, Scope::Others);
        self.write(core, write_backs, leaves);
    }

    /// Writes a dirty line of a core's last-level cache to memory on behalf of a purpose; the write
    /// leaves at a cycle, and the line stays in the cache.
    pub fn clean(&mut self, core: usize, line: LineNumber, purpose: Purpose, leaves: CoreCycle) {
        let write_back = self.caches.clean(core, line, purpose);
        self.write(core, write_back, leaves);
    }

    /// Puts a line with its data into a core's last-level cache; returns whether there was a place. The
    /// write-back of the line that it replaces leaves at a cycle.
    pub fn insert(
        &mut self,
        core: usize,
        line: LineNumber,
        (dirty, data): (Option<Purpose>, Option<Line>),
        leaves: CoreCycle,
    ) -> bool {
        match self.caches.insert(core, line, dirty, data) {
            Inserted::Refused => false,
            Inserted::Replaced(write_back) => {
                self.write(core, write_back, leaves);
                true
            }
        }
    }

    /// Puts a dirty line of the program, with the contents at reset, into an empty place of a core's
    /// last-level cache, if there is one.
    pub fn insert_written(&mut self, core: usize, line: LineNumber) {
        if let Some(way) = self.caches.insert_in_empty(core, line, Purpose::Program)
            && let Some(check) = &self.check
            && let Some(data) = self.caches.data_mut(core, way)
        {
            data.copy_from_slice(&check.expected(line.address(), LINE_BYTES));
        }
    }

    /// Accepts the data of a line that a core has requested; returns its ticket.
    pub fn arrived(&mut self, core: usize, completion: &Completion) -> Ticket {
        let (ticket, way) = self.caches.arrived(core, LineNumber::of(completion.operation.target()));
        if let Some(check) = &mut self.check {
            let mut past_caches = [0; LINE_BYTES as usize];
            let place = way.and_then(|way| self.caches.data_mut(core, way));
            let data = place.unwrap_or(&mut past_caches);
            data.copy_from_slice(completion.data.as_deref().expect("contents are modeled"));
            check.arrived(core, ticket, data);
        }
        ticket
    }
}
