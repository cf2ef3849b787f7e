//! What is done, or will be at a known instant, until its source hears of it.

use dram_spec::{Cycle, Cycles, PhysicalAddress};
use rowclone::Operation;

use crate::access::{Access, Kind, RowCommands};
use crate::request::{CommandCounts, Completion, RequestId};

/// A request of one line, where contents are not modelled: it needs no slot, for it is kept with its access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    pub(crate) id: RequestId,
    pub(crate) arrival: Cycle,
    /// Its place among the requests taken, above how many bytes it has, which are at most a line: in one word, for it is handed on often.
    order_and_bytes: u64,
    address: PhysicalAddress,
}

impl Alone {
    /// Of an access that has a slot for its request.
    pub(crate) const NONE: Alone =
        Alone { id: RequestId(0), arrival: Cycle::ZERO, order_and_bytes: 0, address: PhysicalAddress(0) };

    const BYTES_BITS: u32 = 8;

    /// Of more bytes than a line, their number is cut off: nobody asks for it.
    #[inline]
    pub(crate) fn new(id: RequestId, arrival: Cycle, order: u64, address: PhysicalAddress, bytes: u64) -> Alone {
        let bytes = bytes % (1 << Alone::BYTES_BITS);
        Alone { id, arrival, order_and_bytes: order << Alone::BYTES_BITS | bytes, address }
    }

    fn bytes(&self) -> u64 {
        self.order_and_bytes % (1 << Alone::BYTES_BITS)
    }
}

/// The slot of a request that is kept with its access.
pub(crate) const ALONE: u32 = u32::MAX;

/// A request that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    /// When.
    pub(crate) at: Cycle,
    /// Its slot; [`ALONE`], and then all counts, else the order.
    pub(crate) slot: u32,
    pub(crate) kind: Kind,
    row_commands: RowCommands,
    /// Never, where there was none.
    first_command: Cycle,
    alone: Alone,
}

impl Done {
    /// One that has a slot.
    pub(crate) fn with_slot(at: Cycle, order: u64, slot: u32) -> Done {
        let alone = Alone::new(RequestId(0), Cycle::ZERO, order, PhysicalAddress(0), 0);
        let (kind, first_command) = (Kind::Read, Cycle::NEVER);
        Done { at, slot, kind, row_commands: RowCommands::NONE, first_command, alone }
    }

    /// One whose access was served by a RD or WR at `now`.
    #[inline]
    pub(crate) fn served(at: Cycle, access: &Access, kind: Kind, now: Cycle) -> Done {
        let &Access { alone, row_commands, .. } = access;
        let first_command = access.first_command.min(now);
        Done { at, slot: ALONE, kind, row_commands, first_command, alone }
    }

    /// A read that needed no command.
    pub(crate) fn forwarded(at: Cycle, alone: Alone) -> Done {
        let first_command = Cycle::NEVER;
        Done { at, slot: ALONE, kind: Kind::Read, row_commands: RowCommands::NONE, first_command, alone }
    }

    /// By what they are delivered.
    fn key(&self) -> (Cycle, u64) {
        (self.at, self.alone.order_and_bytes)
    }

    /// From its arrival to when it is done.
    pub(crate) fn response(&self) -> Cycles {
        self.at.since(self.alone.arrival)
    }

    /// What its source hears of it.
    #[inline]
    pub(crate) fn complete(&self) -> Completion {
        let Alone { id, arrival, address, .. } = self.alone;
        let bytes = self.alone.bytes();
        let has_command = self.first_command < Cycle::NEVER;
        let is_read = self.kind == Kind::Read;
        Completion {
            id,
            operation: if is_read { Operation::Read { address, bytes } } else { Operation::Write { address, bytes } },
            arrival,
            first_command: has_command.then_some(self.first_command),
            done: self.at,
            commands: CommandCounts {
                activates: u64::from(self.row_commands.activates()),
                precharges: u64::from(self.row_commands.precharges()),
                reads: u64::from(has_command && is_read),
                writes: u64::from(has_command && !is_read),
                ..CommandCounts::default()
            },
            served: None,
            data: None,
        }
    }
}

/// All that is done: by its instant, then in the order in which it was taken. A ring, in which each is written where it lies.
#[derive(Debug)]
pub(crate) struct DoneList {
    /// As many as a power of two.
    ring: Vec<Done>,
    /// The place of the first, and that after the last; modulo the ring's length.
    first: usize,
    end: usize,
    /// When the first of them is done; never, if there is none.
    at: Cycle,
    /// No earlier than when the last of them is done.
    last: Cycle,
}

impl Default for DoneList {
    fn default() -> DoneList {
        let nothing = Done::with_slot(Cycle::ZERO, 0, ALONE);
        DoneList { ring: vec![nothing; 64], first: 0, end: 0, at: Cycle::NEVER, last: Cycle::ZERO }
    }
}

impl DoneList {
    /// When the first is done; never, if none will be at a known instant.
    #[inline]
    pub(crate) fn at(&self) -> Cycle {
        self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        number & (self.ring.len() - 1)
    }

    /// A request whose access was served by a RD or WR at `now`. Most are done after all others.
    #[inline]
    pub(crate) fn push_served(&mut self, at: Cycle, access: &Access, kind: Kind, now: Cycle) {
        if at <= self.last || self.end - self.first == self.ring.len() {
            return self.push_served_among(at, access, kind, now);
        }
        let place = self.place(self.end);
        self.ring[place] = Done::served(at, access, kind, now);
        self.end += 1;
        self.last = at;
        self.at = self.at.min(at);
    }

    /// The same where it may not be the last, or there is no room.
    #[inline(never)]
    fn push_served_among(&mut self, at: Cycle, access: &Access, kind: Kind, now: Cycle) {
        self.push(Done::served(at, access, kind, now));
    }

    /// One more.
    pub(crate) fn push(&mut self, done: Done) {
        if self.end - self.first == self.ring.len() {
            let start = self.place(self.first);
            self.ring.rotate_left(start);
            (self.first, self.end) = (0, self.ring.len());
            self.ring.resize(2 * self.end, done);
        }
        let mut number = self.end;
        while number > self.first && self.ring[self.place(number - 1)].key() > done.key() {
            let (from, to) = (self.place(number - 1), self.place(number));
            self.ring[to] = self.ring[from];
            number -= 1;
        }
        let place = self.place(number);
        self.ring[place] = done;
        self.end += 1;
        self.last = self.last.max(done.at);
        self.at = self.at.min(done.at);
    }

    /// The first; it is one of them no more.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Done {
        let first = self.ring[self.place(self.first)];
        self.first += 1;
        self.at = if self.is_empty() { Cycle::NEVER } else { self.ring[self.place(self.first)].at };
        first
    }
}
