//! Hazards between accesses and copies (6).

use std::ops::Range;

use dram_spec::LINE_BYTES;

use super::access::{Access, Kind};
use super::copies::Copy;

/// The whole lines that contain a byte of a range that is not empty.
pub fn whole_lines(first: u64, bytes: u64) -> Range<u64> {
    first / LINE_BYTES * LINE_BYTES..(first + bytes).next_multiple_of(LINE_BYTES)
}

/// Whether an access of a line and a copy must keep their order: a read of a line that the copy
/// writes, or a write of a line that it reads or writes.
pub fn conflicts(copy: &Copy, kind: Kind, line: u64) -> bool {
    copy.writes.contains(&line) || kind == Kind::Write && copy.reads.contains(&line)
}

/// Whether the copy with this number waits for an access, which has not been issued.
pub fn blocks(access: &Access, number: usize, copy: &Copy) -> bool {
    access.request < number && conflicts(copy, access.kind, access.line)
}
