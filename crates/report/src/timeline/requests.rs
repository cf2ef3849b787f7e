//! Requests in progress, and which of their lines have been served: so that a command finds the request that it serves.

use std::collections::BTreeMap;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use memctrl::RequestId;
use rowclone::Operation;

/// The place of a request among those taken: the smaller, the older.
pub(super) type Order = u64;

/// The lines that hold a byte of a range, and which of them have been served.
#[derive(Clone, Debug)]
struct Lines {
    first: u64,
    count: u64,
    /// A bit a line, made when the first is served.
    served: Vec<u64>,
}

impl Lines {
    fn new(start: PhysicalAddress, bytes: u64) -> Lines {
        let first = start.0 / LINE_BYTES;
        Lines { first, count: (start.0 + bytes).div_ceil(LINE_BYTES) - first, served: Vec::new() }
    }

    const NONE: Lines = Lines { first: 0, count: 0, served: Vec::new() };

    fn index(&self, line: PhysicalAddress) -> Option<u64> {
        (line.0 / LINE_BYTES).checked_sub(self.first).filter(|&index| index < self.count)
    }

    fn is_waiting(&self, line: PhysicalAddress) -> bool {
        let Some(index) = self.index(line) else { return false };
        self.served.get((index / 64) as usize).is_none_or(|word| word & (1 << (index % 64)) == 0)
    }

    fn serve(&mut self, line: PhysicalAddress) {
        let Some(index) = self.index(line) else { return };
        self.served.resize(self.count.div_ceil(64) as usize, 0);
        self.served[(index / 64) as usize] |= 1 << (index % 64);
    }
}

/// A request in progress.
#[derive(Clone, Debug)]
struct Pending {
    id: RequestId,
    operation: Operation,
    /// What it reads out of rows.
    reads: Lines,
    /// What it writes.
    writes: Lines,
}

impl Pending {
    fn new(id: RequestId, operation: Operation) -> Pending {
        let target = Lines::new(operation.target(), operation.bytes());
        let (reads, writes) = match operation {
            Operation::Copy { src, bytes, .. } => (Lines::new(src, bytes), target),
            Operation::Read { .. } => (target, Lines::NONE),
            Operation::Init { .. } | Operation::Write { .. } => (Lines::NONE, target),
        };
        Pending { id, operation, reads, writes }
    }

    /// How many bytes of a line it writes.
    fn bytes_of(&self, line: PhysicalAddress) -> u64 {
        let (start, end) = (self.operation.target().0, self.operation.target().0 + self.operation.bytes());
        end.min(line.0 + LINE_BYTES).saturating_sub(start.max(line.0))
    }

    const fn is_copy(&self) -> bool {
        matches!(self.operation, Operation::Copy { .. } | Operation::Init { .. })
    }
}

/// How many requests of each kind are in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Depths {
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) copies: u64,
}

/// The requests in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    taken: Order,
    pending: BTreeMap<Order, Pending>,
    pub(super) depths: Depths,
}

impl Requests {
    /// A request was taken.
    pub(super) fn taken(&mut self, id: RequestId, operation: Operation) -> Order {
        let order = self.taken;
        self.taken += 1;
        self.pending.insert(order, Pending::new(id, operation));
        *self.depth(&operation) += 1;
        order
    }

    /// A request is done.
    pub(super) fn done(&mut self, id: RequestId) -> Option<Order> {
        let order = self.pending.iter().find(|(_, pending)| pending.id == id).map(|(&order, _)| order)?;
        let pending = self.pending.remove(&order)?;
        *self.depth(&pending.operation) -= 1;
        Some(order)
    }

    fn depth(&mut self, operation: &Operation) -> &mut u64 {
        match operation {
            Operation::Read { .. } => &mut self.depths.reads,
            Operation::Write { .. } => &mut self.depths.writes,
            Operation::Copy { .. } | Operation::Init { .. } => &mut self.depths.copies,
        }
    }

    /// A line was written, in whatever way: the copy or initialisation that it was written for, if it was for one, and how many bytes of
    /// the line that is about.
    ///
    /// Of several that write a line, the controller serves the oldest first.
    pub(super) fn written(&mut self, line: PhysicalAddress) -> Option<(Order, u64)> {
        let (&order, pending) = self.pending.iter_mut().find(|(_, pending)| pending.writes.is_waiting(line))?;
        pending.writes.serve(line);
        pending.is_copy().then(|| (order, pending.bytes_of(line)))
    }

    /// A line was read over the channel: the copy or initialisation that it was read for, if it was for one, and the line that it will be
    /// written to.
    ///
    /// A read that waits for the line is taken to be what it was read for.
    pub(super) fn read(&mut self, line: PhysicalAddress) -> Option<(Order, PhysicalAddress)> {
        let is_read = |pending: &Pending| matches!(pending.operation, Operation::Read { .. });
        if let Some(read) = self.pending.values_mut().find(|pending| is_read(pending) && pending.reads.is_waiting(line))
        {
            read.reads.serve(line);
            return None;
        }
        let copies = || self.pending.iter().filter(|(_, pending)| pending.is_copy());
        if let Some((&order, _)) = copies().find(|(_, pending)| pending.reads.is_waiting(line)) {
            let pending = self.pending.get_mut(&order)?;
            pending.reads.serve(line);
            let (src, dst) = (pending.operation.src()?, pending.operation.target());
            let written = dst.0 + (line.0.max(src.0) - src.0);
            return Some((order, PhysicalAddress(written / LINE_BYTES * LINE_BYTES)));
        }
        // A line that is written in part is read first, so that the rest of it stays.
        let is_ragged = |pending: &Pending| pending.writes.is_waiting(line) && pending.bytes_of(line) < LINE_BYTES;
        let (&order, _) = copies().find(|(_, pending)| is_ragged(pending))?;
        Some((order, line))
    }

    /// A line was written with others, for this copy.
    pub(super) fn written_for(&mut self, order: Order, line: PhysicalAddress) {
        if let Some(pending) = self.pending.get_mut(&order) {
            pending.writes.serve(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn copy(src: u64, dst: u64, bytes: u64) -> Operation {
        Operation::Copy { src: PhysicalAddress(src), dst: PhysicalAddress(dst), bytes }
    }

    #[test]
    fn of_two_copies_to_one_line_the_older_is_served_first() {
        let mut requests = Requests::default();
        let older = requests.taken(RequestId(7), copy(0, 0x1000, 128));
        let newer = requests.taken(RequestId(3), copy(0x2000, 0x1000, 128));
        let line = PhysicalAddress(0x1040);
        assert_eq!(requests.written(line), Some((older, 64)));
        assert_eq!(requests.written(line), Some((newer, 64)));
        assert_eq!(requests.written(line), None, "nobody waits for a third");
        assert_eq!((requests.depths.copies, requests.done(RequestId(7))), (2, Some(older)));
        assert_eq!(requests.depths.copies, 1);
    }

    #[test]
    fn a_write_before_a_copy_is_not_taken_for_it() {
        let mut requests = Requests::default();
        requests.taken(RequestId(0), Operation::Write { address: PhysicalAddress(0x1000), bytes: 64 });
        let order = requests.taken(RequestId(1), copy(0, 0x1000, 64));
        assert_eq!(requests.written(PhysicalAddress(0x1000)), None);
        assert_eq!(requests.written(PhysicalAddress(0x1000)), Some((order, 64)));
    }

    #[test]
    fn a_line_is_read_for_the_read_that_waits_for_it_and_else_for_the_copy() {
        let mut requests = Requests::default();
        let order = requests.taken(RequestId(0), copy(0x20, 0x1010, 64));
        requests.taken(RequestId(1), Operation::Read { address: PhysicalAddress(0), bytes: 64 });
        assert_eq!(requests.read(PhysicalAddress(0)), None);
        assert_eq!(requests.read(PhysicalAddress(0)), Some((order, PhysicalAddress(0x1000))));
        assert_eq!(requests.read(PhysicalAddress(0x40)), Some((order, PhysicalAddress(0x1000))), "its byte 0x40");
        assert_eq!(requests.read(PhysicalAddress(0x1040)), Some((order, PhysicalAddress(0x1040))), "to be merged");
        assert_eq!(requests.read(PhysicalAddress(0x1080)), None);
        assert_eq!(requests.written(PhysicalAddress(0x1040)), Some((order, 16)), "the last 16 bytes");
    }
}
