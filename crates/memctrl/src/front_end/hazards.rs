//! Hazards between accesses and copies. Rules 6 and 9 of `docs/controller.md`.

use std::ops::Range;

use dram_spec::{LINE_BYTES, Operation, PhysicalAddress};

use crate::access::{AccessKind, LineAccess};

/// Lines that a copy reads and writes, as byte ranges of whole lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyLines {
    reads: Range<u64>,
    writes: Range<u64>,
}

/// The byte range of all lines that contain a byte of a range.
#[inline]
pub(crate) fn whole_lines(first: PhysicalAddress, bytes: u64) -> Range<u64> {
    first.0 / LINE_BYTES * LINE_BYTES..(first.0 + bytes).next_multiple_of(LINE_BYTES)
}

/// Whether a range consists of whole lines.
#[inline]
pub(crate) fn is_whole_lines(first: PhysicalAddress, bytes: u64) -> bool {
    (first.0 | bytes).is_multiple_of(LINE_BYTES)
}

impl CopyLines {
    /// Lines of an operation that is executed as a copy: not a read, and not a write of whole
    /// lines.
    pub(crate) fn new(operation: &Operation) -> CopyLines {
        let lines = |first| whole_lines(first, operation.bytes());
        CopyLines { reads: operation.src().map_or(0..0, lines), writes: lines(operation.target()) }
    }

    /// Whether an access of a line must not pass the copy.
    #[inline]
    pub(crate) fn conflicts(&self, kind: AccessKind, line: PhysicalAddress) -> bool {
        self.writes.contains(&line.0) || (kind == AccessKind::Write && self.reads.contains(&line.0))
    }
}

/// A copy that is not delivered.
#[derive(Clone, Debug)]
struct Undelivered {
    slot: u32,
    accepted: u64,
    lines: CopyLines,
}

/// An access that waits for copies.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    pub(crate) channel: dram_spec::Channel,
    pub(crate) access: LineAccess,
    /// Position of its request in the order of acceptance.
    accepted: u64,
    /// Number of copies that it waits for.
    copies: u32,
}

/// Undelivered copies, and the accesses that wait for them.
#[derive(Debug, Default)]
pub(crate) struct Hazards {
    /// In any order.
    copies: Vec<Undelivered>,
    /// In order of acceptance.
    blocked: Vec<Blocked>,
}

impl Hazards {
    /// Number of undelivered copies.
    #[inline]
    pub(crate) fn copies(&self) -> usize {
        self.copies.len()
    }

    /// Number of undelivered copies for which an access of a line must wait.
    #[inline]
    pub(crate) fn conflicts(&self, kind: AccessKind, line: PhysicalAddress) -> u32 {
        self.copies.iter().filter(|copy| copy.lines.conflicts(kind, line)).count() as u32
    }

    /// Adds an access that waits for `copies` copies.
    pub(crate) fn block(&mut self, channel: dram_spec::Channel, access: LineAccess, accepted: u64, copies: u32) {
        self.blocked.push(Blocked { channel, access, accepted, copies });
    }

    /// Whether any access is blocked.
    #[inline]
    pub(crate) fn is_any_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// The newest blocked access of a kind to a line.
    pub(crate) fn newest_blocked(&self, kind: AccessKind, line: PhysicalAddress) -> Option<&Blocked> {
        self.blocked.iter().rev().find(|blocked| blocked.access.kind == kind && blocked.access.address == line)
    }

    /// Adds an accepted copy; returns the number of blocked accesses for which it must wait.
    pub(crate) fn copy_accepted(&mut self, slot: u32, accepted: u64, lines: CopyLines) -> u32 {
        let conflicts = |blocked: &&Blocked| lines.conflicts(blocked.access.kind, blocked.access.address);
        let waits_for = self.blocked.iter().filter(conflicts).count() as u32;
        self.copies.push(Undelivered { slot, accepted, lines });
        waits_for
    }

    /// The copies that wait for an access of a line, which is issued now.
    pub(crate) fn waiting_for(&self, kind: AccessKind, line: PhysicalAddress) -> impl Iterator<Item = u32> {
        // Copies accepted before the access were delivered before it was queued.
        let waits = move |copy: &&Undelivered| copy.lines.conflicts(kind, line);
        self.copies.iter().filter(waits).map(|copy| copy.slot)
    }

    /// Removes a delivered copy; returns the accesses that wait for no further copy, in order of
    /// acceptance.
    pub(crate) fn copy_delivered(&mut self, slot: u32) -> Vec<Blocked> {
        let at = self.copies.iter().position(|copy| copy.slot == slot).expect("a copy is delivered once");
        let copy = self.copies.swap_remove(at);
        for blocked in &mut self.blocked {
            if blocked.accepted > copy.accepted && copy.lines.conflicts(blocked.access.kind, blocked.access.address) {
                blocked.copies -= 1;
            }
        }
        self.blocked.extract_if(.., |blocked| blocked.copies == 0).collect()
    }
}

#[cfg(test)]
mod tests;
