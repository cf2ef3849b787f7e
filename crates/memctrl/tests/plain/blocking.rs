//! Which accesses and copies must wait for each other (6).

use std::ops::Range;

use dram_spec::LINE_BYTES;

use super::access::{Access, Kind};
use super::copies::Copy;

/// The whole lines that hold a byte of a range, which is not empty.
pub fn whole_lines(first: u64, bytes: u64) -> Range<u64> {
    first / LINE_BYTES * LINE_BYTES..(first + bytes).next_multiple_of(LINE_BYTES)
}

/// Whether an access of a line and a copy must keep their order: a read of a line that it writes, or a write of one that
/// it reads or writes.
pub fn conflicts(copy: &Copy, kind: Kind, line: u64) -> bool {
    copy.writes.contains(&line) || kind == Kind::Write && copy.reads.contains(&line)
}

/// Whether a copy with that number waits for an access, which has not been issued.
pub fn blocks(access: &Access, number: usize, copy: &Copy) -> bool {
    access.request < number && conflicts(copy, access.kind, access.line)
}
