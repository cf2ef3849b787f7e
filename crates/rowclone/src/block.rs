//! Block of an operation (the bytes of one destination row) and its parts.

use std::sync::Arc;

use dram_spec::{Channel, Column, LINE_BYTES, Location, PhysicalAddress};
use smallvec::{SmallVec, smallvec};

use crate::blocks::PartKind;
use crate::faulty::RowAddress;
use crate::mechanism::{Copied, Held, IN_DRAM, InDram, MECHANISMS, Route};
use crate::planner::Shared;
use crate::program::{Program, StepList, Thread};
use crate::reason::Reason;
use crate::rules::Coverage;
use crate::step::{ColumnRun, Line, Run, RunWrite, Step};
use crate::stripe::Stripe;
use dram_spec::Mechanism;
use dram_spec::Operation;

/// Bytes of an operation in one destination row, within one granularity-aligned block of
/// destination addresses.
///
/// If source and destination overlap at a distance below the granularity, a block is a range of
/// consecutive destination addresses instead, at most one row long and possibly in several rows.
#[derive(Clone, Debug)]
pub struct Block {
    pub(crate) shared: Arc<Shared>,
    pub(crate) operation: Operation,
    pub(crate) direction: Direction,
    pub(crate) parts: Vec<Part>,
    /// Place of its channel among those on which it is repeated.
    pub(crate) turn: u64,
}

/// Difference between two blocks whose rows differ in nothing but the channel.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// From an address to that of the other block.
    bytes: u64,
    /// The bits in which the numbers of the channels differ.
    channels: u8,
}

impl Shift {
    fn channel(self, Channel(channel): Channel) -> Channel {
        Channel(channel ^ self.channels)
    }

    fn line(self, Line { address, location }: Line) -> Line {
        let address = PhysicalAddress(address.0 + self.bytes);
        Line { address, location: Location { channel: self.channel(location.channel), ..location } }
    }

    fn step(self, step: &Step) -> Step {
        let shifted = |run: Run| Run { first: self.line(run.first), ..run };
        match *step {
            Step::Read { bank, run } => Step::Read { bank, run: shifted(run) },
            Step::Write { bank, write } => Step::Write { bank, write: RunWrite { run: shifted(write.run), ..write } },
            Step::Open { .. }
            | Step::LeaveRow { .. }
            | Step::CopyOpen { .. }
            | Step::Close { .. }
            | Step::Transfer { .. } => *step,
        }
    }

    /// The program of the other block that corresponds to one of this block.
    pub fn program(self, program: &Program, spare: &mut Vec<StepList>) -> Program {
        let threads = program.threads.iter().map(|thread| {
            let mut shifted = Thread::on(self.channel(thread.channel), spare);
            shifted.steps.extend(thread.steps.iter().map(|step| self.step(step)));
            shifted
        });
        Program { threads: threads.collect(), ..*program }
    }
}

/// Order in which the pieces of a block must be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
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

/// Destination bytes of one row, in ranges that follow each other there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The destination addresses.
    pub(crate) dst: Stripe,
    /// The column of the first byte.
    pub(crate) dst_column: Column,
    /// Source column of the first byte; without a source address, the destination column.
    pub(crate) src_column: Column,
}

impl Piece {
    /// Source and destination columns of the whole lines, where a run has `run_lines`.
    pub(crate) fn columns(&self, run_lines: u16) -> impl Iterator<Item = ColumnRun> {
        let Piece { src_column, dst_column, dst } = *self;
        let (lines, ranges) = ((dst.bytes / LINE_BYTES) as u16, dst.count as u16);
        let (count, runs) = if lines == run_lines { (lines * ranges, 1) } else { (lines, ranges) };
        (0..runs).map(move |run| ColumnRun { src: src_column, dst: dst_column, count }.after(run * run_lines))
    }
}

impl Block {
    /// No part.
    pub(crate) fn new(shared: Arc<Shared>, operation: Operation) -> Block {
        Block { shared, operation, direction: Direction::Ascending, parts: Vec::new(), turn: 0 }
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
            _ if !memory.chip.offers(index) => Err(Reason::NotOffered),
            Sources::Row { src, coverage } => {
                in_dram.copy(memory, &Copied { src, dst, pieces: &self.pieces, coverage })
            }
            Sources::ZeroRows { coverage } => in_dram.zero(memory, dst, coverage),
            Sources::Held(held) => in_dram.value(memory, &held, dst),
        };
        Some((in_dram, route))
    }
}
