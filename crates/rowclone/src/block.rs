//! Block of an operation (the bytes of one destination row) and its parts.

use std::sync::Arc;

use dram_spec::{Channel, Location, Mechanism, Operation, PhysicalAddress};
use smallvec::{SmallVec, smallvec};

use crate::faulty::RowAddress;
use crate::mechanism::{Copied, Held, IN_DRAM, InDram, MECHANISMS, Route};
use crate::mechanism::{Coverage, Shared};
use crate::reason::Reason;
use crate::stripe::Piece;

/// Bytes of an operation in one destination row, within one granularity-aligned block of
/// destination addresses.
///
/// If source and destination overlap at a distance below the granularity, a block is a range of
/// consecutive destination addresses instead, at most one row long and possibly in several rows.
#[derive(Clone, Debug)]
pub struct Block {
    pub(crate) shared: Arc<Shared>,
    pub(crate) operation: Operation,
    pub(crate) order: PieceOrder,
    pub(crate) parts: Vec<Part>,
    /// Place of its channel among those on which it is repeated.
    pub(crate) turn: u64,
}

/// Difference between two blocks whose rows differ in nothing but the channel.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// From an address to that of the other block.
    pub(crate) bytes: u64,
    /// The bits in which the numbers of the channels differ.
    channels: u8,
}

impl Shift {
    pub(crate) fn channel(self, Channel(channel): Channel) -> Channel {
        Channel(channel ^ self.channels)
    }
}

/// Order in which the pieces of a block must be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceOrder {
    Ascending,
    Descending,
}

/// Part of a block with one set of possible mechanisms: lines from one source row, lines to
/// initialize, or bytes that need the channel.
#[derive(Clone, Debug)]
pub struct Part {
    shared: Arc<Shared>,
    pub(crate) pieces: SmallVec<[Piece; 1]>,
    pub(crate) bytes: u64,
    pub(crate) dst: RowAddress,
    pub(crate) kind: PartKind,
    pub(crate) sources: Sources,
}

/// Property that the bytes of one part of a destination row have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    /// Whole lines from this row.
    From(RowAddress),
    /// Whole lines of an initialization.
    Lines,
    /// Bytes that need the channel under any geometry.
    Channel(Reason),
}

/// Rows inside the DRAM from which a part can be copied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sources {
    /// The source row of a copy.
    Row { src: RowAddress, coverage: Coverage },
    /// The zero rows.
    ZeroRows { coverage: Coverage },
    /// Rows that hold the value of an initialization.
    Held(Held),
    /// None: every mechanism except the channel is impossible.
    None(Reason),
}

impl Block {
    /// No part.
    pub(crate) fn new(shared: Arc<Shared>, operation: Operation) -> Block {
        Block { shared, operation, order: PieceOrder::Ascending, parts: Vec::new(), turn: 0 }
    }

    /// Location of an address of the operation.
    #[inline]
    pub(crate) fn locate(&self, address: u64) -> Location {
        self.shared.map.locate(PhysicalAddress(address)).expect("the operation was checked to lie in the memory")
    }

    /// Difference to a block for which this one stands ([`Blocks::take_next`](crate::Blocks::take_next)).
    pub fn shift(&self, number: u64) -> Shift {
        let run_bytes = self.shared.map.run_bytes();
        // The map is linear (XOR).
        let Channel(channels) = self.locate((self.turn ^ (self.turn + number)) * run_bytes).channel;
        Shift { bytes: number * run_bytes, channels }
    }

    /// Becomes a block for which this one stands.
    pub(crate) fn advance(&mut self, number: u64) {
        let shift = self.shift(number);
        self.turn += number;
        for part in &mut self.parts {
            part.dst.channel = shift.channel(part.dst.channel);
            if let PartKind::From(src) = &mut part.kind {
                src.channel = shift.channel(src.channel);
            }
            part.pieces.iter_mut().for_each(|piece| piece.dst.start += shift.bytes);
        }
    }

    /// The parts, at least one.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl Part {
    /// One piece of a row, which goes over the channel unless it gets [`Sources`].
    pub(crate) fn new(shared: &Arc<Shared>, dst: RowAddress, kind: PartKind, piece: Piece) -> Part {
        let reason = if let PartKind::Channel(reason) = kind { reason } else { Reason::NotACopy };
        let (shared, pieces) = (Arc::clone(shared), smallvec![piece]);
        Part { shared, pieces, bytes: piece.dst.total(), dst, kind, sources: Sources::None(reason) }
    }

    /// Adds a piece of the same row and kind.
    pub(crate) fn add(&mut self, piece: Piece) {
        self.bytes += piece.dst.total();
        self.pieces.push(piece);
    }

    /// Bytes of the operation that it covers.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Destination row (of a read: the row read; of an overlapping copy: the row of the lowest
    /// byte).
    pub const fn dst(&self) -> RowAddress {
        self.dst
    }

    /// Source row of a copy, if the part consists of whole lines of one row.
    pub const fn src(&self) -> Option<RowAddress> {
        if let PartKind::From(src) = self.kind { Some(src) } else { None }
    }

    /// Whether a mechanism can execute the part.
    ///
    /// # Errors
    ///
    /// The reason why the mechanism is impossible. Of several reasons, the one to remove first:
    /// coverage of the row before the location of the rows, the location before columns and
    /// remapped rows.
    pub fn allows(&self, mechanism: Mechanism) -> Result<(), Reason> {
        self.route(mechanism).map_or(Ok(()), |(_, route)| route.map(|_| ()))
    }

    /// The possible mechanism of the highest rank.
    pub fn best(&self) -> Mechanism {
        let possible = |&mechanism: &Mechanism| self.allows(mechanism).is_ok();
        MECHANISMS.into_iter().find(possible).unwrap_or(Mechanism::CHANNEL)
    }

    /// The route of a mechanism, or the reason why it is impossible; `None` for the channel.
    pub(crate) fn route(&self, mechanism: Mechanism) -> Option<(&'static dyn InDram, Result<Route, Reason>)> {
        let index = IN_DRAM.iter().position(|(other, _)| *other == mechanism)?;
        let (in_dram, memory, dst) = (IN_DRAM[index].1, &*self.shared, self.dst);
        let route = match self.sources {
            Sources::None(reason) => Err(reason),
            _ if !memory.support.offers(index) => Err(Reason::NotOffered),
            Sources::Row { src, coverage } => {
                in_dram.copy(memory, &Copied { src, dst, pieces: &self.pieces, coverage })
            }
            Sources::ZeroRows { coverage } => in_dram.zero(memory, dst, coverage),
            Sources::Held(held) => in_dram.value(memory, &held, dst),
        };
        Some((in_dram, route))
    }
}
