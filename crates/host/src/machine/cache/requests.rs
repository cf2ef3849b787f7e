//! Requests of the caches to memory, and the stores that leave through the write buffers.

use std::collections::VecDeque;
use std::sync::Arc;

use dram_spec::{LINE_BYTES, PhysicalAddress};

use super::super::counters::write_bursts;
use super::super::settings::WritePolicy;
use super::access::Access;
use super::line::{LineNumber, LineRequest, LineRequestKind, LineSize, Removed};
use super::port::Away;
use super::write_buffer::BufferedLine;
use super::{Answer, Caches};
use crate::defects::{Planted, is_planted};

/// Requests in the order in which they leave.
#[derive(Debug, Default)]
pub(super) struct LineRequests(VecDeque<LineRequest>);

impl LineRequests {
    pub(super) fn read(&mut self, requester: usize, size: LineSize, line: LineNumber) {
        let (address, bytes) = (size.address(line), size.bytes());
        self.0.push_back(LineRequest { requester, address, bytes, kind: LineRequestKind::Read });
    }

    pub(super) fn write_line(&mut self, requester: usize, size: LineSize, removed: Removed) {
        let (address, bytes) = (size.address(removed.line), size.bytes());
        self.0.push_back(LineRequest { requester, address, bytes, kind: LineRequestKind::WriteBack(removed.data) });
    }
}

impl Caches {
    /// Takes the requests that the caches have made, in the order in which they leave.
    #[inline]
    pub fn take_requests(&mut self, mut take: impl FnMut(LineRequest)) {
        while let Some(request) = self.requests.0.pop_front() {
            take(request);
        }
    }

    /// Whether the caches have made requests that have not been taken.
    #[inline]
    pub fn has_requests(&self) -> bool {
        !self.requests.0.is_empty()
    }

    /// Whether an access may make requests after its own: its store leaves, or prefetchers want lines.
    #[inline]
    pub const fn has_further_requests(&self) -> bool {
        self.are_hits_requests || self.passes_stores
    }

    /// Whether a store that is written through has an entry of the write buffer. One that brings its line
    /// into the cache takes a new entry: an older one leaves before the line is read.
    pub(super) fn has_write_entry(&self, requester: usize, access: &Access, away: &Away) -> bool {
        let buffer = &self.requesters[requester].write_buffer;
        if away.is_absent() && !self.passes(access, away) {
            !buffer.is_full()
        } else {
            buffer.has_room(access.line(self.line_size))
        }
    }

    /// Whether an access, with its answer, is a store that leaves through the write buffer.
    #[inline]
    pub fn leaves(&self, access: &Access, answer: Answer) -> bool {
        answer == Answer::Past || self.writes_through(access)
    }

    /// Puts a store into the write buffer of a requester, which had room.
    pub fn buffer_store(&mut self, requester: usize, access: &Access, data: Option<&[u8]>) {
        let (size, line) = (self.line_size, access.line(self.line_size));
        let range = (size.offset(access.address), access.bytes);
        let buffer = &mut self.requesters[requester].write_buffer;
        for entry in buffer.store(line, size.bytes(), access.purpose, range, data) {
            self.send_entry(requester, &entry);
        }
    }

    /// Sends the stores of all write buffers to a line.
    #[inline]
    pub(super) fn flush(&mut self, line: LineNumber) {
        if (self.write == WritePolicy::WriteThrough || self.passes_stores) && !is_planted(Planted::NoFlush) {
            self.flush_buffers(line);
        }
    }

    #[inline(never)]
    fn flush_buffers(&mut self, line: LineNumber) {
        for requester in 0..self.requesters.len() {
            if let Some(entry) = self.requesters[requester].write_buffer.flush(line) {
                self.send_entry(requester, &entry);
            }
        }
    }

    /// Sends the stores of all write buffers to the lines of a range.
    pub fn flush_stores(&mut self, address: PhysicalAddress, bytes: u64) {
        self.line_size.lines(address, bytes).for_each(|(line, _)| self.flush(line));
    }

    /// Sends an entry of a write buffer: a write per run of consecutive bytes.
    fn send_entry(&mut self, requester: usize, entry: &BufferedLine) {
        let start = self.line_size.address(entry.line).0;
        let mut runs = entry.runs().peekable();
        while let Some(run) = runs.next() {
            let data = entry.data.as_ref().map(|data| Arc::from(&data[run.start as usize..run.end as usize]));
            let is_last = runs.peek().is_none();
            let kind = if is_last { LineRequestKind::LastOfEntry(data) } else { LineRequestKind::Write(data) };
            let (address, bytes) = (PhysicalAddress(start + run.start), run.end - run.start);
            self.requests.0.push_back(LineRequest { requester, address, bytes, kind });
            let counts = self.count(requester, entry.purpose);
            counts.buffered += 1;
            counts.buffered_bursts += write_bursts(address.0 % LINE_BYTES, bytes);
            counts.buffered_bytes += bytes;
        }
    }

    /// Frees an entry of a requester's write buffer, whose last write the controller has accepted.
    pub fn write_accepted(&mut self, requester: usize) {
        self.requesters[requester].write_buffer.accepted();
    }
}
