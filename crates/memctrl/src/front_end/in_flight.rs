//! Requests that are accepted and not delivered.

use std::sync::Arc;

use dram_core::LineBytes;
use dram_spec::{Cycle, LINE_BYTES, Operation, PhysicalAddress, RequestId, SourceId};

use super::copies::CopyState;
use crate::request::{Completion, Request};
use crate::stats::PartTally;

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) id: RequestId,
    pub(crate) source: SourceId,
    pub(crate) operation: Operation,
    /// Arrival; [`Cycle::NEVER`] until the acceptance of a request without one.
    pub(crate) arrival: Cycle,
    /// Position in the order of acceptance.
    pub(crate) accepted: u64,
    /// Lines of a read or write that are not served.
    pub(crate) lines_left: u32,
    first_command: Cycle,
    done: Cycle,
    payload: Option<Arc<[u8]>>,
    data: Option<Vec<u8>>,
    /// Additional state of a copy.
    pub(crate) copy: Option<Box<CopyState>>,
}

impl InFlight {
    /// Records that a line, or the copy, was accepted.
    #[inline]
    pub(crate) fn accepted_at(&mut self, now: Cycle) {
        self.arrival = self.arrival.min(now);
    }

    /// Records that the first command was issued at `at` or before.
    #[inline]
    pub(crate) fn commanded(&mut self, at: Cycle) {
        self.first_command = self.first_command.min(at);
    }

    /// Records that the request completes at `done` or later.
    #[inline]
    pub(crate) fn lasts_until(&mut self, done: Cycle) {
        self.done = self.done.max(done);
    }

    #[inline]
    pub(crate) fn done(&self) -> Cycle {
        self.done
    }

    /// Cycle of the first command, if any.
    #[inline]
    pub(crate) fn first_command(&self) -> Option<Cycle> {
        (self.first_command != Cycle::NEVER).then_some(self.first_command)
    }

    /// Allocates the buffer of a read.
    pub(crate) fn keep_data(&mut self) {
        // Most reads have one line, for which an allocation is faster than one of zeros.
        self.data = Some(std::iter::repeat_n(0, self.operation.bytes() as usize).collect());
    }

    /// Stores a line that was read.
    pub(crate) fn line_read(&mut self, address: PhysicalAddress, bytes: &LineBytes) {
        let target = self.operation.target();
        if let Some(data) = &mut self.data {
            let (range, from) = overlap(target, data.len() as u64, address);
            let length = range.len();
            data[range].copy_from_slice(&bytes[from..from + length]);
        }
    }

    /// Data of a write, if contents are modeled.
    pub(crate) fn payload(&self) -> Option<&[u8]> {
        self.payload.as_deref()
    }

    /// The request's bytes in a line, and their offset in the line.
    pub(crate) fn bytes_of_line(&self, address: PhysicalAddress) -> Option<(&[u8], usize)> {
        let payload = self.payload.as_deref()?;
        let (range, from) = overlap(self.operation.target(), payload.len() as u64, address);
        Some((&payload[range], from))
    }
}

/// The part of `bytes` bytes from `target` in the line at `address`: its range, and its offset in
/// the line.
fn overlap(target: PhysicalAddress, bytes: u64, address: PhysicalAddress) -> (std::ops::Range<usize>, usize) {
    let (start, end) = (target.0.max(address.0), (target.0 + bytes).min(address.0 + LINE_BYTES));
    ((start - target.0) as usize..(end - target.0) as usize, (start - address.0) as usize)
}

/// Requests in flight, by slot.
#[derive(Debug, Default)]
pub(crate) struct InFlightTable {
    /// Free slots contain completed requests.
    slots: Vec<InFlight>,
    free: Vec<u32>,
    /// Copies that are done, for their memory.
    #[expect(clippy::vec_box, reason = "requests hold boxes, and these are used again")]
    pub(super) copies_done: Vec<Box<CopyState>>,
    accepted: u64,
}

impl InFlightTable {
    /// The next position in the order of acceptance.
    #[inline]
    pub(crate) fn next_accepted(&mut self) -> u64 {
        let accepted = self.accepted;
        self.accepted += 1;
        accepted
    }

    /// Adds a request; returns its slot.
    #[inline]
    pub(crate) fn insert(&mut self, request: Request) -> u32 {
        let Request { id, source, arrival, operation, payload } = request;
        let (arrival, accepted) = (arrival.unwrap_or(Cycle::NEVER), self.next_accepted());
        let (first_command, done) = (Cycle::NEVER, Cycle::ZERO);
        let Some(slot) = self.free.pop() else {
            let (lines_left, data, copy) = (0, None, None);
            self.slots.push(InFlight {
                id,
                source,
                operation,
                arrival,
                accepted,
                lines_left,
                first_command,
                done,
                payload,
                data,
                copy,
            });
            return self.slots.len() as u32 - 1;
        };
        // The completed request has no data or copy left. Assigned field by field, to avoid copies
        // in memory.
        let place = &mut self.slots[slot as usize];
        (place.id, place.source, place.operation, place.arrival) = (id, source, operation, arrival);
        (place.accepted, place.first_command, place.done) = (accepted, first_command, done);
        if payload.is_some() {
            place.payload = payload;
        }
        slot
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &InFlight {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut InFlight {
        &mut self.slots[slot as usize]
    }

    /// Gives a request that is done back.
    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) -> Completion {
        self.free.push(slot);
        let in_flight = &mut self.slots[slot as usize];
        in_flight.payload = None;
        // A write of partial lines has programs, but no parts to report.
        let is_write = matches!(in_flight.operation, Operation::Write { .. });
        let served = in_flight.copy.take().map_or_else(PartTally::default, |mut copy| {
            let tally = std::mem::take(&mut copy.tally);
            self.copies_done.push(copy);
            if is_write { PartTally::default() } else { tally }
        });
        Completion {
            id: in_flight.id,
            source: in_flight.source,
            operation: in_flight.operation,
            arrival: in_flight.arrival,
            first_command: in_flight.first_command(),
            done: in_flight.done,
            served,
            data: in_flight.data.take(),
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }
}

#[cfg(test)]
mod tests;
