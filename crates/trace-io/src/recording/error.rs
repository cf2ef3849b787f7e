//! Errors of recordings.

use super::word::WordError;
use crate::LineError;

/// Help for bytes that were changed or lost.
pub(super) const DAMAGED: &str =
    "record the program again, or copy the file again: its bytes are not those that were written";
/// Help for processes that do not begin once.
pub(super) const PROCESSES: &str =
    "begin each process once, by `create` or `fork`, before its words; docs/recordings.md says how";
/// Help for routines within routines.
pub(super) const ROUTINES: &str =
    "write the words of the outer routine only, one `return` after each `call` of a thread";
/// Help for contents in a part of the recording.
const CONTENTS: &str = "write contents after each block that has accesses, or none at all";

/// The error for what no recorder may write.
#[cold]
pub(super) fn wrong(what: impl Into<String>) -> LineError {
    LineError::new(what.into(), "correct the recorder; docs/recordings.md has the format and the range of each number")
}

impl From<WordError> for LineError {
    fn from(error: WordError) -> LineError {
        wrong(error.to_string())
    }
}

/// The error for a recording that ends early.
pub(super) fn truncated() -> LineError {
    LineError::new("the recording is truncated", DAMAGED)
}

/// The error for missing contents.
pub(super) fn no_contents() -> LineError {
    LineError::new("a block of contents must follow a block of accesses, as the metadata have `contents`", CONTENTS)
}

/// The error for contents where there are none.
pub(super) fn unexpected_contents() -> LineError {
    let what = "a block of contents does not follow a block of accesses, or the metadata have no `contents`";
    LineError::new(what, CONTENTS)
}

/// The error for a number beyond its range.
#[cold]
pub(super) fn value(what: &str, found: impl Into<u64>, expected: &str) -> LineError {
    wrong(format!("{what} is {}, but must be {expected}", found.into()))
}

/// Checks that a stored total is the computed one.
pub(super) fn check_total(what: &str, stored: u64, computed: u64) -> Result<(), LineError> {
    if stored == computed { Ok(()) } else { Err(wrong(format!("{what} is {stored}, but the words have {computed}"))) }
}
