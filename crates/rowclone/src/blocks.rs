//! Division of an operation into blocks, one window of destination addresses at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::vec;

use dram_spec::{Channel, LINE_BYTES, Location, PhysicalAddress, Row, SubarrayId};
use rustc_hash::FxHashMap;

use crate::block::{Block, Direction, Part, Piece, Routes};
use crate::faulty::RowAddress;
use crate::planner::{MAX_WINDOW_BYTES, Shared};
use crate::reason::Reason;
use crate::rules::Coverage;
use dram_spec::Operation;

/// Iterator over the blocks of one operation. Blocks that share a bank must start in this order.
#[derive(Clone, Debug)]
pub struct Blocks {
    shared: Arc<Shared>,
    operation: Operation,
    /// The destination addresses that are still to be planned.
    rest: std::ops::Range<u64>,
    direction: Direction,
    shape: Shape,
    /// What has been cut and not handed out.
    drafts: vec::IntoIter<Draft>,
    written: Written,
}

/// Division of the destination.
#[derive(Clone, Copy, Debug)]
enum Shape {
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

/// Property that the bytes of one part of a destination row have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whole lines from this row.
    From(RowAddress),
    /// Whole lines of an initialisation.
    Lines,
    /// Bytes that need the channel under any geometry.
    Channel(Reason),
}

/// A destination row's share while its pieces are gathered.
#[derive(Clone, Debug)]
struct Draft {
    dst: RowAddress,
    parts: Vec<(Kind, Vec<Piece>)>,
}

impl Blocks {
    pub(crate) fn new(shared: Arc<Shared>, operation: Operation) -> Blocks {
        let (start, bytes) = (operation.target().0, operation.bytes());
        let window_bytes = shared.map.granularity().min(MAX_WINDOW_BYTES);
        let mut blocks = Blocks {
            rest: start..start + bytes,
            direction: Direction::Ascending,
            shape: Shape::Rows { window_bytes },
            drafts: Vec::new().into_iter(),
            written: Written::default(),
            operation,
            shared,
        };
        if let Some(PhysicalAddress(src)) = operation.src() {
            let distance = src.abs_diff(start);
            if distance == 0 {
                blocks.rest = start..start;
            } else if distance < bytes {
                if src < start {
                    blocks.direction = Direction::Descending;
                }
                if distance < window_bytes {
                    let granularity = blocks.shared.map.granularity();
                    let reason = Reason::Overlap { distance, granularity };
                    blocks.shape = Shape::Pieces { piece_bytes: blocks.shared.map.geometry().row_bytes(), reason };
                }
            }
        }
        blocks
    }

    /// Takes the next window of up to so many bytes, aligned to them.
    fn take(&mut self, bytes: u64) -> std::ops::Range<u64> {
        match self.direction {
            Direction::Ascending => {
                let end = ((self.rest.start / bytes + 1) * bytes).min(self.rest.end);
                std::mem::replace(&mut self.rest.start, end)..end
            }
            Direction::Descending => {
                let start = ((self.rest.end - 1) / bytes * bytes).max(self.rest.start);
                start..std::mem::replace(&mut self.rest.end, start)
            }
        }
    }

    fn block(&self, parts: Vec<Part>) -> Block {
        Block { shared: Arc::clone(&self.shared), operation: self.operation, direction: self.direction, parts }
    }

    fn locate(&self, address: u64) -> Location {
        self.shared.map.locate(PhysicalAddress(address)).expect("the operation was checked to lie in the memory")
    }

    /// A piece that crosses rows as it likes.
    fn overlapping(&self, window: &std::ops::Range<u64>, reason: Reason) -> Block {
        let (dst_column, dst) = place(self.locate(window.start));
        let bytes = window.end - window.start;
        let piece = Piece { dst: window.start, bytes, dst_column, src_column: dst_column };
        self.block(vec![Part { pieces: vec![piece], bytes, dst, src: None, routes: Routes::channel_only(reason) }])
    }

    /// Cuts a window at runs and at ragged lines, and gathers the pieces by row.
    fn drafts(&self, window: std::ops::Range<u64>) -> Vec<Draft> {
        let run_bytes = self.shared.map.run_bytes();
        let next = |address: u64, step: u64| (address / step + 1) * step;
        let src_of = |dst: u64| self.operation.src().map(|src| dst - self.operation.target().0 + src.0);
        let everything_by_channel = match self.operation {
            Operation::Read { .. } | Operation::Write { .. } => Some(Reason::NotACopy),
            Operation::Init { .. } => None,
            Operation::Copy { src, dst, .. } => {
                let by = dst.0.abs_diff(src.0) % LINE_BYTES;
                (by != 0).then_some(Reason::LineMisaligned { by })
            }
        };
        let mut drafts: Vec<Draft> = Vec::with_capacity(1);
        let mut by_row: FxHashMap<RowAddress, usize> = FxHashMap::default();
        let mut address = window.start;
        while address < window.end {
            let (dst_column, dst) = place(self.locate(address));
            let run_end = next(address, run_bytes).min(window.end);
            let whole_end = run_end / LINE_BYTES * LINE_BYTES;
            let (end, kind, src_column) = if let Some(reason) = everything_by_channel {
                (run_end, Kind::Channel(reason), dst_column)
            } else if !address.is_multiple_of(LINE_BYTES) || whole_end <= address {
                (next(address, LINE_BYTES).min(window.end), Kind::Channel(Reason::PartialLine), dst_column)
            } else if let Some(src) = src_of(address) {
                let (src_column, row) = place(self.locate(src));
                (whole_end.min(address + (next(src, run_bytes) - src)), Kind::From(row), src_column)
            } else {
                (whole_end, Kind::Lines, dst_column)
            };
            let piece = Piece { dst: address, bytes: end - address, dst_column, src_column };
            let new = drafts.len();
            let index = match drafts.last() {
                None => new,
                Some(last) if last.dst == dst => new - 1,
                // Most windows are one row's: the first needs no entry.
                Some(_) if drafts[0].dst == dst => 0,
                Some(_) => *by_row.entry(dst).or_insert(new),
            };
            if index == new {
                drafts.push(Draft { dst, parts: Vec::with_capacity(1) });
            }
            let parts = &mut drafts[index].parts;
            match parts.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, pieces)) => pieces.push(piece),
                None => parts.push((kind, vec![piece])),
            }
            address = end;
        }
        drafts
    }

    fn finish(&mut self, Draft { dst, parts }: Draft) -> Block {
        let covered = parts.iter().flat_map(|(_, pieces)| pieces).map(|piece| piece.bytes).sum();
        let coverage = self.coverage(covered);
        let parts = parts
            .into_iter()
            .map(|(kind, pieces)| {
                let (src, routes) = match kind {
                    Kind::From(src) => (Some(src), self.shared.copy_routes(src, dst, &pieces, coverage)),
                    Kind::Lines => (None, self.init_routes(dst, coverage)),
                    Kind::Channel(reason) => (None, Routes::channel_only(reason)),
                };
                Part { bytes: pieces.iter().map(|piece| piece.bytes).sum(), pieces, dst, src, routes }
            })
            .collect();
        self.block(parts)
    }

    fn init_routes(&mut self, dst: RowAddress, coverage: Coverage) -> Routes {
        if matches!(self.operation, Operation::Init { value: 0, .. }) {
            return self.shared.zero_routes(dst, coverage);
        }
        if let Coverage::Ragged(reason) | Coverage::TooSmall(reason) = coverage {
            return Routes::channel_only(reason);
        }
        let subarray = self.shared.map.geometry().subarray(dst.row);
        let subarray = SubarrayId { channel: dst.channel, bank: dst.bank, subarray };
        let rank = (dst.channel, dst.bank.rank);
        let routes = match self.written.first.get(&rank).copied() {
            None => Routes::channel_only(Reason::FirstRowIsWritten),
            Some(first) => self.shared.value_routes(first, self.written.sound.get(&subarray).copied(), dst),
        };
        self.written.first.entry(rank).or_insert(dst);
        if !self.shared.faulty.contains(dst) {
            self.written.sound.entry(subarray).or_insert(dst.row);
        }
        routes
    }

    fn coverage(&self, covered: u64) -> Coverage {
        let row_bytes = self.shared.map.geometry().row_bytes();
        if covered == row_bytes {
            return Coverage::Whole;
        }
        let granularity = self.shared.map.granularity();
        let (start, operation_bytes) = (self.operation.target().0, self.operation.bytes());
        let holds_a_block = start.next_multiple_of(granularity) + granularity <= start + operation_bytes;
        let covers_others = granularity <= MAX_WINDOW_BYTES && holds_a_block
            || granularity == row_bytes && operation_bytes >= row_bytes;
        if covers_others {
            Coverage::Ragged(Reason::PartialRow { covered, row_bytes, operation_bytes, granularity })
        } else {
            Coverage::TooSmall(self.shared.uncovered(covered, operation_bytes))
        }
    }
}

impl Iterator for Blocks {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        loop {
            if let Some(draft) = self.drafts.next() {
                return Some(self.finish(draft));
            }
            if self.rest.is_empty() {
                return None;
            }
            match self.shape {
                Shape::Rows { window_bytes } => {
                    let window = self.take(window_bytes);
                    self.drafts = self.drafts(window).into_iter();
                }
                Shape::Pieces { piece_bytes, reason } => {
                    let window = self.take(piece_bytes);
                    return Some(self.overlapping(&window, reason));
                }
            }
        }
    }
}

fn place(location: Location) -> (dram_spec::Column, RowAddress) {
    let Location { channel, bank, row, column, offset: _ } = location;
    (column, RowAddress { channel, bank, row })
}
