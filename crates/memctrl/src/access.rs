//! Accesses of a channel, before and after they enter the queues.

use dram_spec::address::PhysicalAddress;
use dram_spec::{BankIndex, Column, Cycle, RequestId, Row, SourceId};

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// RD.
    Read,
    /// WR.
    Write,
}

impl AccessKind {
    /// The opposite kind.
    #[must_use]
    #[inline]
    pub const fn other(self) -> AccessKind {
        match self {
            AccessKind::Read => AccessKind::Write,
            AccessKind::Write => AccessKind::Read,
        }
    }
}

/// Age of an access or a thread: a cycle, and an order within it. Smaller is older.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub(crate) u64);

impl Stamp {
    /// Bits of the order; cycles are below 2^40.
    const ORDER_BITS: u32 = 12;
    /// Order of threads: after all accesses of the cycle.
    const LAST: u64 = (1 << Self::ORDER_BITS) - 1;

    /// Older than any access.
    pub(crate) const OLDEST: Stamp = Stamp(0);

    /// Stamp of the access that is queued as number `order` in a cycle.
    ///
    /// # Panics
    /// If a cycle has more accesses than stamps.
    #[inline]
    pub(crate) fn of_access(at: Cycle, order: u64) -> Stamp {
        assert!(order + 1 < Self::LAST, "a channel queues fewer than {} accesses in a cycle", Self::LAST);
        Stamp(at.0 << Self::ORDER_BITS | (order + 1))
    }

    /// Stamp of a thread that begins, or begins a term, in a cycle.
    pub(crate) const fn of_thread(at: Cycle) -> Stamp {
        Stamp(at.0 << Self::ORDER_BITS | Self::LAST)
    }

    /// The cycle.
    #[inline]
    pub const fn cycle(self) -> Cycle {
        Cycle(self.0 >> Self::ORDER_BITS)
    }
}

/// An access in a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueuedAccess {
    pub(crate) access: LineAccess,
    stamp: Stamp,
    /// Cycle of the first row command issued for the access; [`Cycle::NEVER`] without any.
    pub(crate) first_command: Cycle,
    /// Its links in the list of its bank, and in that of its row.
    pub(crate) in_bank: Links,
    pub(crate) in_row: Links,
    pub(crate) row: RowOutcome,
    /// Whether a copy waits for the access.
    pub(crate) is_awaited: bool,
}

/// Places in the pool of the accesses before and after one in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) before: u16,
    pub(crate) after: u16,
}

impl Links {
    /// Links of an access that is in no list yet.
    const NONE: Links = Links { before: u16::MAX, after: u16::MAX };
}

/// Row-buffer outcome of an access, from the row commands issued for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowOutcome {
    /// Neither ACT nor PRE.
    Hit,
    /// ACT, and no PRE.
    Miss,
    /// PRE.
    Conflict,
}

impl QueuedAccess {
    /// Creates an access as it enters its queue, without row commands.
    #[inline]
    pub(crate) fn new(access: LineAccess, stamp: Stamp) -> QueuedAccess {
        let (first_command, row, is_awaited) = (Cycle::NEVER, RowOutcome::Hit, false);
        QueuedAccess { access, stamp, first_command, in_bank: Links::NONE, in_row: Links::NONE, row, is_awaited }
    }

    /// Age.
    #[inline]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Identifier of its request.
    #[inline]
    pub const fn id(&self) -> RequestId {
        self.access.id
    }

    /// Source of its request.
    #[inline]
    pub const fn source(&self) -> SourceId {
        self.access.source
    }

    /// Bank.
    #[inline]
    pub const fn bank(&self) -> BankIndex {
        self.access.bank
    }

    /// Row.
    #[inline]
    pub const fn row(&self) -> Row {
        self.access.row
    }

    /// Column.
    #[inline]
    pub const fn column(&self) -> Column {
        self.access.column
    }

    /// Kind.
    #[inline]
    pub const fn kind(&self) -> AccessKind {
        self.access.kind
    }
}

/// An access to a line, before it enters its queue and in its [`QueuedAccess`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineAccess {
    pub(crate) id: RequestId,
    /// Arrival of its request; [`Cycle::NEVER`] until the acceptance of one without.
    pub(crate) arrival: Cycle,
    /// Address of its line.
    pub(crate) address: PhysicalAddress,
    /// Slot of its request in the front end; from [`LineAccess::UNREPORTED`] on if the line is the whole
    /// request and its completion is not reported.
    pub(crate) slot: u32,
    pub(crate) row: Row,
    pub(crate) column: Column,
    pub(crate) source: SourceId,
    pub(crate) bank: BankIndex,
    pub(crate) kind: AccessKind,
    /// Hash of its line (`queues::line_hash`).
    pub(crate) filter: u8,
}

impl LineAccess {
    /// No slot.
    pub(crate) const NO_SLOT: u32 = u32::MAX;
    /// Slots from this one on are in no table: they are [`LineAccess::NO_SLOT`], or number the data of
    /// writes whose completion is only counted.
    pub(crate) const UNREPORTED: u32 = 1 << 31;

    /// No access.
    pub(crate) const NONE: LineAccess = LineAccess {
        id: RequestId(0),
        arrival: Cycle::NEVER,
        address: PhysicalAddress(0),
        slot: LineAccess::NO_SLOT,
        row: Row(0),
        column: Column(0),
        source: SourceId(0),
        bank: BankIndex::FIRST,
        kind: AccessKind::Read,
        filter: 0,
    };
}
