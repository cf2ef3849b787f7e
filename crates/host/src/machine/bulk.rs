//! A copy or zeroing of physical memory, and its parts.

use dram_spec::PhysicalAddress;

use super::counters::Purpose;

/// Number of a copy among those of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyId(pub u64);

/// A copy, or without a source a zeroing, of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// First byte of the source; none of a zeroing.
    pub src: Option<PhysicalAddress>,
    /// First byte of the destination.
    pub dst: PhysicalAddress,
    /// Bytes of each range.
    pub bytes: u64,
}

impl Bulk {
    /// On whose behalf lines are accessed.
    pub const fn purpose(&self) -> Purpose {
        if self.src.is_some() { Purpose::KernelCopy } else { Purpose::KernelZero }
    }

    /// The part to execute next, which lies within a block of `block` bytes (a page or a line) of
    /// each range: the first one or, if the destination begins within the source, the last one.
    /// The result of all parts is then that of `memmove`.
    pub fn next_part(&self, block: u64) -> Bulk {
        let Bulk { src, dst, bytes } = *self;
        let starts = || src.into_iter().chain([dst]);
        if src.is_some_and(|src| is_backward(src, dst, bytes)) {
            let part = starts().map(|start| (start.0 + (bytes - 1)) % block + 1).fold(bytes, u64::min);
            let plus = |start: PhysicalAddress| PhysicalAddress(start.0 + (bytes - part));
            return Bulk { src: src.map(plus), dst: plus(dst), bytes: part };
        }
        Bulk { bytes: starts().map(|start| block - start.0 % block).fold(bytes, u64::min), ..*self }
    }

    /// The part to execute next, as [`Self::next_part`] chooses it, of which only the destination lies within
    /// a line.
    pub fn next_line_of_destination(&self, line: u64) -> Bulk {
        let Bulk { src, dst, bytes } = *self;
        if src.is_some_and(|src| is_backward(src, dst, bytes)) {
            let part = bytes.min((dst.0 + (bytes - 1)) % line + 1);
            let plus = |start: PhysicalAddress| PhysicalAddress(start.0 + (bytes - part));
            return Bulk { src: src.map(plus), dst: plus(dst), bytes: part };
        }
        Bulk { bytes: bytes.min(line - dst.0 % line), ..*self }
    }

    /// The rest without its first or last part; `None` if that is all.
    pub fn without(&self, part: Bulk) -> Option<Bulk> {
        let bytes = self.bytes - part.bytes;
        let first = if part.dst == self.dst { part.bytes } else { 0 };
        let plus = |start: PhysicalAddress| PhysicalAddress(start.0 + first);
        (bytes > 0).then(|| Bulk { src: self.src.map(plus), dst: plus(self.dst), bytes })
    }
}

/// Whether a copy goes from its end to its beginning: its destination begins within its source.
pub fn is_backward(src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> bool {
    src < dst && dst.0 - src.0 < bytes
}
