//! Division of an operation into blocks, one window of destination addresses at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use dram_spec::address::Stride;
use dram_spec::{Channel, LINE_BYTES, Location, Operation, PhysicalAddress, Row, SubarrayId};

use crate::block::{Block, Part, PartKind, PieceOrder, Sources};
use crate::faulty::RowAddress;
use crate::mechanism::Held;
use crate::mechanism::{Coverage, Shared};
use crate::reason::{MAX_WINDOW_BYTES, Reason};
use crate::stripe::{Piece, Stripe};

/// Iterator over the blocks of one operation. Blocks that share a bank must start in this order.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The last block.
    block: Block,
    /// The destination addresses that are still to be planned.
    rest: Range<u64>,
    division: Division,
    /// The blocks of the present window, and the number handed out.
    drafts: Drafts,
    taken: usize,
    /// Channels on which each of these blocks is repeated, and for how many of them the last one stands.
    channels: u64,
    alike: u64,
    written: Written,
}

/// Division of the destination.
#[derive(Clone, Copy, Debug)]
enum Division {
    /// Aligned windows of `window_bytes`, each divided by rows.
    Rows { window_bytes: u64 },
    /// Aligned pieces of `piece_bytes`, for overlap at a distance below the window size.
    Pieces { piece_bytes: u64, reason: Reason },
}

/// Whole rows that hold the value of an initialization (other than zero) by now.
#[derive(Clone, Debug, Default)]
struct Written {
    /// First such row per channel and rank: the source of the other rows of the rank.
    first: BTreeMap<(Channel, u8), RowAddress>,
    /// First such row per subarray that is not remapped.
    sound: BTreeMap<SubarrayId, Row>,
}

impl Blocks {
    pub(crate) fn new(shared: Arc<Shared>, operation: Operation) -> Blocks {
        let mut blocks = Blocks {
            block: Block::new(shared, operation),
            rest: 0..0,
            division: Division::Rows { window_bytes: 0 },
            drafts: Drafts::default(),
            taken: 0,
            channels: 1,
            alike: 1,
            written: Written::default(),
        };
        blocks.restart(operation);
        blocks
    }

    /// Begins another operation of the same memory, which was checked, in the same place.
    pub fn restart(&mut self, operation: Operation) {
        let (start, bytes) = (operation.target().0, operation.bytes());
        let granularity = self.block.shared.map.granularity();
        let window_bytes = granularity.min(MAX_WINDOW_BYTES);
        (self.block.operation, self.block.order) = (operation, PieceOrder::Ascending);
        self.rest = start..start + bytes;
        self.division = Division::Rows { window_bytes };
        self.drafts.clear();
        (self.taken, self.channels, self.alike, self.block.turn) = (0, 1, 1, 0);
        // Most operations write no value, and to clear an empty map costs more than to compare.
        if !self.written.first.is_empty() {
            self.written = Written::default();
        }
        let Some(PhysicalAddress(src)) = operation.src() else { return };
        let distance = src.abs_diff(start);
        if distance == 0 {
            self.rest = start..start;
        } else if distance < bytes {
            if src < start {
                self.block.order = PieceOrder::Descending;
            }
            if distance < window_bytes {
                let reason = Reason::Overlap { distance, granularity };
                self.division = Division::Pieces { piece_bytes: self.block.shared.map.geometry().row_bytes(), reason };
            }
        }
    }

    /// Takes the next window of at most `bytes` bytes, aligned to a multiple of `bytes`.
    fn take(&mut self, bytes: u64) -> Range<u64> {
        match self.block.order {
            PieceOrder::Ascending => {
                let end = ((self.rest.start / bytes + 1) * bytes).min(self.rest.end);
                std::mem::replace(&mut self.rest.start, end)..end
            }
            PieceOrder::Descending => {
                let start = ((self.rest.end - 1) / bytes * bytes).max(self.rest.start);
                start..std::mem::replace(&mut self.rest.end, start)
            }
        }
    }

    /// A piece that crosses rows as it likes.
    fn overlapping(&mut self, window: &Range<u64>, reason: Reason) {
        let (dst_column, dst) = place(self.block.locate(window.start));
        let piece = Piece { dst: Stripe::from(window.clone()), dst_column, src_column: dst_column };
        self.drafts.add(&self.block.shared, dst, PartKind::Channel(reason), piece);
    }

    /// Cuts a window at runs and at ragged lines, and gathers the pieces by row.
    ///
    /// Where source and destination stay within a block of the map's [`Stride`], each row has one piece of many runs.
    fn cut(&mut self, window: &Range<u64>) {
        let run_bytes = self.block.shared.map.run_bytes();
        let Stride { bytes: stride, span } = self.block.shared.map.stride();
        let (src, dst) = (self.block.operation.src(), self.block.operation.target());
        let src_of = |address: u64| src.map(|src| address - dst.0 + src.0);
        let by_channel = self.everything_by_channel();
        let is_even = |address: u64| address.is_multiple_of(stride);
        // Of source and destination rows that differ in nothing but the channel, the first is cut.
        let repeats = by_channel.is_none() && is_even(window.start) && is_even(window.end);
        let repeats = repeats && src_of(window.start).is_some_and(is_even);
        self.channels = if repeats { self.block.shared.channels_in_turn } else { 1 };
        let mut address = window.start;
        while address < window.end {
            let left = (next(address, span).min(window.end) - address) / stride;
            let left_of_src = src_of(address).map_or(left, |src| (next(src, span) - src) / stride);
            let is_many = is_even(address) && by_channel.is_none();
            let count = if is_many { left.min(left_of_src).max(1) } else { 1 };
            let period_end = next(address, stride).min(window.end);
            let cut_end = if self.channels > 1 { address + run_bytes } else { period_end };
            while address < cut_end {
                let (dst_column, dst) = place(self.block.locate(address));
                let run_end = next(address, run_bytes).min(window.end);
                let whole_end = run_end / LINE_BYTES * LINE_BYTES;
                let (end, kind, src_column) = if let Some(reason) = by_channel {
                    (run_end, PartKind::Channel(reason), dst_column)
                } else if !address.is_multiple_of(LINE_BYTES) || whole_end <= address {
                    (next(address, LINE_BYTES).min(window.end), PartKind::Channel(Reason::PartialLine), dst_column)
                } else if let Some(src) = src_of(address) {
                    let (src_column, row) = place(self.block.locate(src));
                    (whole_end.min(address + (next(src, run_bytes) - src)), PartKind::From(row), src_column)
                } else {
                    (whole_end, PartKind::Lines, dst_column)
                };
                let ranges = Stripe { start: address, bytes: end - address, stride, count };
                self.drafts.add(&self.block.shared, dst, kind, Piece { dst: ranges, dst_column, src_column });
                address = end;
            }
            address = period_end + (count - 1) * stride;
        }
    }

    /// Why no byte can stay in DRAM, whatever the geometry, if so.
    fn everything_by_channel(&self) -> Option<Reason> {
        match self.block.operation {
            Operation::Read { .. } | Operation::Write { .. } => Some(Reason::NotACopy),
            Operation::Init { .. } => None,
            Operation::Copy { src, dst, .. } => {
                let by = dst.0.abs_diff(src.0) % LINE_BYTES;
                (by != 0).then_some(Reason::LineMisaligned { by })
            }
        }
    }

    /// Gives the parts of the block their sources.
    fn finish(&mut self) {
        let coverage = self.coverage(self.block.parts.iter().map(|part| part.bytes).sum());
        for index in 0..self.block.parts.len() {
            let part = &self.block.parts[index];
            let sources = match part.kind {
                PartKind::From(src) => Sources::Row { src, coverage },
                PartKind::Lines => self.init_sources(part.dst, coverage),
                PartKind::Channel(_) => continue,
            };
            self.block.parts[index].sources = sources;
        }
    }

    fn init_sources(&mut self, dst: RowAddress, coverage: Coverage) -> Sources {
        let shared = &self.block.shared;
        if matches!(self.block.operation, Operation::Init { value: 0, .. }) && shared.support.zero_rows {
            return Sources::ZeroRows { coverage };
        }
        if let Err(reason) = coverage.reason() {
            return Sources::None(reason);
        }
        let subarray = shared.map.geometry().subarray(dst.row);
        let subarray = SubarrayId { channel: dst.channel, bank: dst.bank, subarray };
        let rank = (dst.channel, dst.bank.rank);
        let sources = match self.written.first.get(&rank).copied() {
            None => Sources::None(Reason::FirstRowIsWritten),
            Some(first) => Sources::Held(Held { first, near: self.written.sound.get(&subarray).copied() }),
        };
        self.written.first.entry(rank).or_insert(dst);
        if !shared.faulty.contains(dst) {
            self.written.sound.entry(subarray).or_insert(dst.row);
        }
        sources
    }

    fn coverage(&self, covered: u64) -> Coverage {
        let row_bytes = self.block.shared.map.geometry().row_bytes();
        if covered == row_bytes {
            return Coverage::Whole;
        }
        let granularity = self.block.shared.map.granularity();
        let (start, operation_bytes) = (self.block.operation.target().0, self.block.operation.bytes());
        let holds_a_block = start.next_multiple_of(granularity) + granularity <= start + operation_bytes;
        let covers_others = granularity <= MAX_WINDOW_BYTES && holds_a_block
            || granularity == row_bytes && operation_bytes >= row_bytes;
        if covers_others {
            Coverage::Ragged(Reason::PartialRow { covered, row_bytes, operation_bytes, granularity })
        } else {
            Coverage::TooSmall(self.block.shared.uncovered(covered, operation_bytes))
        }
    }
}

/// The parts of each destination row of a window, in the order of their first bytes.
#[derive(Clone, Debug, Default)]
struct Drafts {
    /// The first `count` are in use.
    rows: Vec<Vec<Part>>,
    count: usize,
    /// The draft of the last piece.
    last: usize,
}

impl Drafts {
    fn clear(&mut self) {
        (self.count, self.last) = (0, 0);
    }

    /// Adds a piece of a row. Pieces come by rising address.
    fn add(&mut self, shared: &Arc<Shared>, dst: RowAddress, kind: PartKind, piece: Piece) {
        let used = &self.rows[..self.count];
        let is_of_row = |parts: &Vec<Part>| parts[0].dst == dst;
        // Mostly it is the row of the piece before, or the rows come in turn.
        let turns = [self.last, self.last + 1, 0];
        let known = turns.into_iter().find(|&index| used.get(index).is_some_and(is_of_row));
        let known = known.or_else(|| used.iter().position(is_of_row));
        self.last = known.unwrap_or(self.count);
        if known.is_none() {
            self.count += 1;
            if self.rows.len() < self.count {
                self.rows.push(Vec::new());
            }
            self.rows[self.last].clear();
        }
        let parts = &mut self.rows[self.last];
        match parts.iter_mut().find(|part| part.kind == kind) {
            Some(part) => part.add(piece),
            None => parts.push(Part::new(shared, dst, kind, piece)),
        }
    }
}

/// The first multiple of `step` after an address.
fn next(address: u64, step: u64) -> u64 {
    (address / step + 1) * step
}

impl Blocks {
    /// The next block, and the number of blocks for which it stands, at most `most`: itself and
    /// following ones that differ from it in nothing but the channel ([`Block::shift`]).
    pub fn take_next(&mut self, most: u64) -> Option<(&Block, u64)> {
        if self.block.turn + self.alike < self.channels {
            self.block.advance(self.alike);
        } else {
            if self.taken == self.drafts.count {
                self.next_window()?;
            }
            std::mem::swap(&mut self.block.parts, &mut self.drafts.rows[self.taken]);
            self.block.turn = 0;
            self.taken += 1;
        }
        self.finish();
        self.alike = most.min(self.channels - self.block.turn);
        Some((&self.block, self.alike))
    }

    /// Plans the blocks of the next window, if there is one.
    fn next_window(&mut self) -> Option<()> {
        if self.rest.is_empty() {
            return None;
        }
        self.drafts.clear();
        self.taken = 0;
        match self.division {
            Division::Rows { window_bytes } => {
                let window = self.take(window_bytes);
                self.cut(&window);
            }
            Division::Pieces { piece_bytes, reason } => {
                let window = self.take(piece_bytes);
                self.overlapping(&window, reason);
            }
        }
        Some(())
    }
}

impl Iterator for Blocks {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        self.take_next(1).map(|(block, _)| block.clone())
    }
}

fn place(location: Location) -> (dram_spec::Column, RowAddress) {
    let Location { channel, bank, row, column, offset: _ } = location;
    (column, RowAddress { channel, bank, row })
}
