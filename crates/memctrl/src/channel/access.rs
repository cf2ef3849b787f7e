//! Accesses of a channel, before and after they enter the queues.

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
    /// Bits of a stamp; cycles are below 2^40.
    pub(crate) const BITS: u32 = 52;
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
    stamp: Stamp,
    id: RequestId,
    /// Slot of its request in the front end.
    pub(crate) slot: u32,
    /// Index of the line within the request.
    pub(crate) line: u32,
    column: Column,
    row: Row,
    source: SourceId,
    bank: BankIndex,
    /// Hash of its line.
    pub(super) filter: u8,
    kind: AccessKind,
    /// Row commands issued for the access.
    pub(crate) row_commands: RowCommands,
    /// Cycle of the first of them; [`Cycle::NEVER`] without any.
    pub(crate) first_command: Cycle,
    /// Whether a copy waits for the access.
    pub(crate) is_awaited: bool,
}

/// Row commands issued for an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowCommands {
    pub(crate) precharged: bool,
    pub(crate) activated: bool,
}

impl QueuedAccess {
    /// Creates an access as it enters its queue, without row commands.
    #[inline]
    pub(super) fn new(access: &Access, stamp: Stamp) -> QueuedAccess {
        let Access { id, slot, line, kind, source, bank, row, column, filter } = *access;
        QueuedAccess {
            stamp,
            id,
            slot,
            line,
            column,
            row,
            source,
            bank,
            filter,
            kind,
            row_commands: RowCommands::default(),
            first_command: Cycle::NEVER,
            is_awaited: false,
        }
    }

    /// Age.
    #[inline]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Identifier of its request.
    #[inline]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// Source of its request.
    #[inline]
    pub const fn source(&self) -> SourceId {
        self.source
    }

    /// Bank.
    #[inline]
    pub const fn bank(&self) -> BankIndex {
        self.bank
    }

    /// Row.
    #[inline]
    pub const fn row(&self) -> Row {
        self.row
    }

    /// Column.
    #[inline]
    pub const fn column(&self) -> Column {
        self.column
    }

    /// Kind.
    #[inline]
    pub const fn kind(&self) -> AccessKind {
        self.kind
    }
}

/// An access that has not entered its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) id: RequestId,
    pub(crate) slot: u32,
    pub(crate) line: u32,
    pub(crate) kind: AccessKind,
    pub(crate) source: SourceId,
    pub(crate) bank: BankIndex,
    pub(crate) row: Row,
    pub(crate) column: Column,
    /// Hash of its line ([`super::line_hash`]).
    pub(crate) filter: u8,
}
