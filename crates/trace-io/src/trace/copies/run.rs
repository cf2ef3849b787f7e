//! A run of writes in order that may be a copy or a fill.

use super::span::{AddressOrder, Recent, Span};

/// Consecutive writes, in the order of their addresses, with their possible sources.
#[derive(Clone, Debug)]
pub(super) struct WriteRun {
    pub(super) order: AddressOrder,
    /// Bytes written.
    pub(super) dst: Span,
    /// Line of the trace with the first write.
    pub(super) line: u64,
    /// Numbers of the first and last write.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The last piece.
    piece: Span,
    pub(super) origins: Vec<CandidateSource>,
    /// Numbers of the writes, until the origin is chosen.
    pub(super) writes: Vec<u64>,
    /// Equally good origins when it was chosen, at least 1; 0 before.
    pub(super) choices: u64,
    /// Line of its first read or write, and pieces that belong to it, once its origin is chosen.
    pub(super) begin_line: u64,
    pub(super) pieces: u64,
}

/// Possible origin of the data of a run.
#[derive(Clone, Debug)]
pub(super) struct CandidateSource {
    pub(super) from: Data,
    /// Whether the piece before the first source was not read.
    begins: bool,
    /// First bytes and numbers of the reads, until the origin is chosen. Empty for a fill.
    pub(super) reads: Vec<(u64, u64)>,
    /// Number of the first read.
    pub(super) first_read: u64,
}

/// Origin of the data of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// Bytes that were read: source address minus destination address, modulo 2^64.
    Memory(u64),
    /// Zeros, by the data of the trace.
    Zeros,
}

/// A write, as far as runs use it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteAt {
    pub(super) at: Span,
    pub(super) number: u64,
    /// Whether the trace says that all its bytes are 0.
    pub(super) is_zero: bool,
}

impl Data {
    /// The source of a byte of the destination.
    const fn at(self, dst: u64) -> u64 {
        match self {
            Data::Memory(delta) => dst.wrapping_add(delta),
            Data::Zeros => dst,
        }
    }

    /// The source of a span of the destination; `None` for zeros, and if it does not exist.
    pub(super) fn source(self, of: Span) -> Option<Span> {
        if self == Data::Zeros {
            return None;
        }
        let start = self.at(of.start);
        start.checked_add(of.bytes - 1).map(|_| Span { start, ..of })
    }
}

impl WriteRun {
    /// The run of two writes side by side, if the sources of both are known. `sources` are first
    /// bytes of recent reads.
    pub(super) fn begin(
        (first, second): (WriteAt, WriteAt),
        order: AddressOrder,
        line: u64,
        sources: impl Iterator<Item = u64>,
        reads: &Recent,
    ) -> Option<WriteRun> {
        let mut origins: Vec<CandidateSource> = Vec::new();
        for source in sources {
            let from = Data::Memory(source.wrapping_sub(first.at.start));
            if source == first.at.start || origins.iter().any(|origin| origin.from == from) {
                continue;
            }
            let Some(one) = from.source(first.at).and_then(|at| reads.unused(at, first.number)) else { continue };
            let Some(two) = from.source(second.at).and_then(|at| reads.unused(at, second.number)) else { continue };
            let before = from.source(first.at).and_then(|at| at.beside(order.opposite()));
            let begins = before.is_none_or(|at| reads.unused(at, first.number).is_none());
            let starts = [first.at.start, second.at.start].map(|start| from.at(start));
            let reads = vec![(starts[0], one.number), (starts[1], two.number)];
            origins.push(CandidateSource { from, begins, reads, first_read: one.number });
        }
        if first.is_zero && second.is_zero {
            origins.push(CandidateSource {
                from: Data::Zeros,
                begins: true,
                reads: Vec::new(),
                first_read: first.number,
            });
        }
        let mut dst = first.at;
        dst.grow(second.at);
        (!origins.is_empty()).then_some(WriteRun {
            order,
            dst,
            line,
            first: first.number,
            last: second.number,
            piece: second.at,
            origins,
            writes: vec![first.number, second.number],
            choices: 0,
            begin_line: line,
            pieces: 0,
        })
    }

    /// Number of its first write or read.
    pub(super) fn begin_number(&self) -> u64 {
        self.origins.iter().map(|origin| origin.first_read).fold(self.first, u64::min)
    }

    /// Whether its origin is chosen.
    pub(super) const fn is_chosen(&self) -> bool {
        self.choices > 0
    }

    /// Whether a write continues the order of addresses.
    pub(super) fn precedes(&self, at: Span) -> bool {
        match self.order {
            AddressOrder::Up => self.dst.last().checked_add(1) == Some(at.start),
            AddressOrder::Down => at.last().checked_add(1) == Some(self.dst.start),
        }
    }

    /// Adds a write; returns its read, by first byte and number, if the origin is chosen and is
    /// memory. Origins without such a read are dropped; `Err` if none is left.
    pub(super) fn extend(&mut self, write: WriteAt, reads: &Recent) -> Result<Option<(u64, u64)>, ()> {
        let WriteAt { at, number, is_zero } = write;
        let dst = self.dst;
        let read_of = |origin: &CandidateSource| match origin.from {
            Data::Zeros => is_zero.then_some((at.start, number)),
            // A source that the run has written holds other bytes than before the run.
            from @ Data::Memory(_) => {
                let source = from.source(at).filter(|source| !source.overlaps(dst))?;
                reads.unused(source, number).map(|entry| (source.start, entry.number))
            }
        };
        let found: Vec<Option<(u64, u64)>> = self.origins.iter().map(read_of).collect();
        if found.iter().all(Option::is_none) {
            return Err(());
        }
        let is_chosen = self.is_chosen();
        let (mut of_chosen, mut found) = (None, found.into_iter());
        self.origins.retain_mut(|origin| {
            let read = found.next().flatten();
            match read {
                Some(_) if origin.from == Data::Zeros => {}
                Some(read) if is_chosen => of_chosen = Some(read),
                Some(read) => origin.reads.push(read),
                None => {}
            }
            read.is_some()
        });
        if is_chosen {
            self.pieces += 1 + u64::from(of_chosen.is_some());
        } else {
            self.writes.push(number);
        }
        self.dst.grow(at);
        (self.last, self.piece) = (number, at);
        Ok(of_chosen)
    }

    /// Whether an access of other origin changes or observes what the run has done.
    pub(super) fn is_disturbed(&self, at: Span, is_write: bool) -> bool {
        let is_source =
            |origin: &CandidateSource| origin.from.source(self.dst).is_some_and(|source| source.overlaps(at));
        self.dst.overlaps(at) || is_write && self.origins.iter().any(is_source)
    }

    /// Indices of the best origins: those whose source begins and, at the end of the run, ends with
    /// it, as far as is known before piece `now`. Reads before zeros.
    pub(super) fn best(&self, now: u64, is_over: bool, reads: &Recent) -> Vec<usize> {
        let score = |origin: &CandidateSource| {
            let after = origin.from.source(self.piece).and_then(|at| at.beside(self.order));
            let ends = is_over && after.is_none_or(|at| reads.unused(at, now).is_none());
            (origin.from != Data::Zeros, u8::from(origin.begins) + u8::from(ends))
        };
        let most = self.origins.iter().map(score).max();
        (0..self.origins.len()).filter(|&index| Some(score(&self.origins[index])) == most).collect()
    }

    /// Chooses an origin; returns the numbers of its writes except the last, and its reads.
    pub(super) fn choose(&mut self, index: usize, choices: u64) -> (Vec<u64>, Vec<(u64, u64)>) {
        self.choices = choices.max(1);
        let mut origin = self.origins.swap_remove(index);
        let reads = std::mem::take(&mut origin.reads);
        self.origins = vec![origin];
        let mut writes = std::mem::take(&mut self.writes);
        self.pieces = (writes.len() + reads.len()) as u64;
        writes.pop();
        (writes, reads)
    }
}
