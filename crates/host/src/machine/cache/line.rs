//! Lines: their size, numbers and states, and those that leave a cache.

use std::ops::Range;
use std::sync::Arc;

use dram_spec::PhysicalAddress;

use super::super::counters::Purpose;

/// Number of a line: its physical address divided by the size of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(pub u64);

/// Size of the lines of all caches, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSize {
    /// Its logarithm to base 2.
    shift: u32,
}

impl LineSize {
    /// Lines of `bytes` bytes.
    ///
    /// # Panics
    /// If that is no power of two.
    pub const fn new(bytes: u64) -> LineSize {
        assert!(bytes.is_power_of_two(), "lines of a power of two bytes");
        LineSize { shift: bytes.trailing_zeros() }
    }

    /// Bytes of a line.
    pub const fn bytes(self) -> u64 {
        1 << self.shift
    }

    /// The line that contains an address.
    pub const fn line(self, address: PhysicalAddress) -> LineNumber {
        LineNumber(address.0 >> self.shift)
    }

    /// Address of the first byte of a line.
    pub const fn address(self, line: LineNumber) -> PhysicalAddress {
        PhysicalAddress(line.0 << self.shift)
    }

    /// Offset of an address in its line.
    pub const fn offset(self, address: PhysicalAddress) -> u64 {
        address.0 & (self.bytes() - 1)
    }

    /// Lines that a range overlaps, from the first to behind the last.
    pub const fn span(self, address: PhysicalAddress, bytes: u64) -> Range<LineNumber> {
        let end = PhysicalAddress(address.0 + bytes - 1);
        self.line(address)..LineNumber(self.line(end).0 + 1)
    }

    /// Lines that a range overlaps, and whether the range covers each as a whole.
    pub fn lines(self, address: PhysicalAddress, bytes: u64) -> impl Iterator<Item = (LineNumber, bool)> {
        let (start, end) = (address.0, address.0 + bytes);
        (start >> self.shift..end.div_ceil(self.bytes())).map(move |line| {
            let is_whole = line << self.shift >= start && (line + 1) << self.shift <= end;
            (LineNumber(line), is_whole)
        })
    }
}

/// State of a line. Its size is a power of two, so that states are found without a multiplication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(4))]
pub struct LineState {
    /// Whether its data are on their way from memory, or it is held.
    pub is_pending: bool,
    /// Who made it dirty; `None` if it is clean.
    pub dirty: Option<Purpose>,
    /// Whether it belongs to a copy, and the program has not accessed it since.
    pub is_copied: bool,
}

impl LineState {
    /// Whether an access does more than to read or write the line.
    #[inline]
    pub(super) const fn is_special(self) -> bool {
        self.is_pending | self.is_copied
    }

    /// Records a store on behalf of a purpose: the first store to a clean line decides who made it dirty.
    #[inline]
    pub(super) fn mark_dirty(&mut self, purpose: Purpose) {
        self.dirty = self.dirty.or(Some(purpose));
    }
}

/// A line removed from a cache.
#[derive(Clone, Debug)]
pub(super) struct Removed {
    pub(super) line: LineNumber,
    /// Who made it dirty, if it was.
    pub(super) dirty: Option<Purpose>,
    /// The requester for which it was prefetched without use.
    pub(super) prefetched_for: Option<u8>,
    /// Whether it belongs to a copy, and the program has not accessed it since.
    pub(super) is_copied: bool,
    /// Its data, where contents are modeled.
    pub(super) data: Option<Arc<[u8]>>,
}

/// A request of the caches to memory.
#[derive(Clone, Debug)]
pub struct LineRequest {
    /// The requester whose access, or whose entry of the write buffer, caused it.
    pub requester: usize,
    /// First byte.
    pub address: PhysicalAddress,
    /// Bytes of the request, at most a line.
    pub bytes: u64,
    /// Read or write.
    pub kind: LineRequestKind,
}

/// Kind of a request of the caches.
#[derive(Clone, Debug)]
pub enum LineRequestKind {
    /// A read of a line.
    Read,
    /// The write-back of a line, with its data where contents are modeled.
    WriteBack(Option<Arc<[u8]>>),
    /// A write of the write buffer, which is not the last one of its entry.
    Write(Option<Arc<[u8]>>),
    /// A write of the write buffer, whose acceptance by the controller frees an entry.
    LastOfEntry(Option<Arc<[u8]>>),
}
