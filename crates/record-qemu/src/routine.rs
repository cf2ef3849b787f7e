//! Routines that copy or set memory, derived from their accesses: the interface of qemu shows no registers.

use std::collections::BTreeSet;

use trace_io::recording::{MemoryAccess, Routine};

/// Fewest bytes of a call that is marked: a cache line.
const BYTES_MIN: u64 = 64;
/// Most bytes of a load that is not of the source, but of a constant of the routine.
const CONSTANT_MAX: u64 = 8;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Span {
    /// The bytes of an access.
    pub fn of(access: MemoryAccess) -> Span {
        Span { start: access.address, end: access.address.wrapping_add(access.bytes()) }
    }

    fn bytes(self) -> u64 {
        self.end.wrapping_sub(self.start)
    }
}

/// A call of a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The routine.
    pub routine: Routine,
    /// First byte written.
    pub dst: u64,
    /// Number of bytes.
    pub bytes: u64,
}

impl Call {
    /// The call that has these accesses, of which the first number says whether it is a store: all stores together
    /// write one range, and the loads read one range of equal size, or none.
    pub fn of(accesses: &(impl Iterator<Item = (bool, Span)> + Clone), byte: impl Fn(u64) -> u8) -> Option<Call> {
        let stores = || accesses.clone().filter(|(is_store, _)| *is_store).map(|(_, span)| span);
        let whole = stores().reduce(|a, b| Span { start: a.start.min(b.start), end: a.end.max(b.end) })?;
        if whole.bytes() < BYTES_MIN {
            return None;
        }
        let [written] = ranges(stores().collect())[..] else { return None };
        let loads = accesses.clone().filter(|(is_store, _)| !is_store).map(|(_, span)| span);
        let mut read = ranges(loads.collect());
        read.retain(|range| range.bytes() > CONSTANT_MAX);
        let (dst, bytes) = (written.start, written.bytes());
        let routine = match read[..] {
            [] => Routine::Set { value: byte(dst) },
            [Span { start: src, end }] if end.wrapping_sub(src) == bytes => {
                if src.abs_diff(dst) < bytes {
                    Routine::Move { src }
                } else {
                    Routine::Copy { src }
                }
            }
            _ => return None,
        };
        Some(Call { routine, dst, bytes })
    }

    /// The copy or clearing of one page that has these accesses: the stores write a page, and the loads read one or
    /// none. Further accesses save registers on the stack, so that each is loaded and stored.
    pub fn of_page(accesses: &(impl Iterator<Item = (bool, Span)> + Clone)) -> Option<Call> {
        let of = |kind| accesses.clone().filter(move |(is_store, _)| *is_store == kind).map(|(_, span)| span);
        let (dst, saved) = page(of(true));
        let (src, restored) = page(of(false));
        if saved != restored {
            return None;
        }
        let routine = src.map_or(Routine::ClearPage, |src| Routine::CopyPage { src });
        Some(Call { routine, dst: dst?, bytes: PAGE })
    }
}

/// The first page that spans cover as a whole, and the other spans, in order.
fn page(spans: impl Iterator<Item = Span> + Clone) -> (Option<u64>, Vec<Span>) {
    let in_page = |span: &Span, page: u64| span.start / PAGE == page && (span.end - 1) / PAGE == page;
    let pages: BTreeSet<u64> = spans.clone().map(|span| span.start / PAGE).collect();
    let is_whole = |page: &u64| {
        ranges(spans.clone().filter(|span| in_page(span, *page)).collect())
            == [Span { start: page * PAGE, end: (page + 1) * PAGE }]
    };
    let found = pages.into_iter().find(is_whole);
    let mut others: Vec<Span> = spans.filter(|span| found.is_none_or(|page| !in_page(span, page))).collect();
    others.sort_unstable();
    (found.map(|page| page * PAGE), others)
}

/// Joins spans that overlap or adjoin.
fn ranges(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, range| {
        let joined = next.start <= range.end;
        if joined {
            range.end = range.end.max(next.end);
        }
        joined
    });
    spans
}
