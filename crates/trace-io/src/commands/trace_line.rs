//! Content of a line of a trace, and its fields.

use std::fmt::Display;

use dram_spec::{Cycle, Issued};

use crate::LineError;
use crate::line::shown;
use crate::number::{decimal, decimal_of, greatest, hex};

const CORRECT: &str = "correct the line, or name the trace's format; docs/command-traces.md has the grammars";

/// Content of a line.
pub(super) enum TraceLine {
    Command(Issued),
    End(Cycle),
    /// The names of the columns.
    Header,
    /// A command that the format does not have, and the commands that it has.
    Unknown(String, &'static [&'static str]),
}

impl TraceLine {
    pub(super) fn unknown(name: &[u8], known: &'static [&'static str]) -> TraceLine {
        TraceLine::Unknown(shown(name), known)
    }
}

/// A field, with its name for messages.
#[derive(Clone, Copy)]
pub(super) struct TraceField<'a> {
    pub(super) name: &'static str,
    pub(super) text: &'a [u8],
}

impl TraceField<'_> {
    /// A decimal number.
    pub(super) fn number<T: TryFrom<u64>>(self) -> Result<T, LineError> {
        decimal_of(self.text).map_err(|expected| self.wrong(expected))
    }

    /// A decimal number, or none where the tool writes -1.
    pub(super) fn number_or_none<T: TryFrom<u64>>(self) -> Result<Option<T>, LineError> {
        if self.text == b"-1" { Ok(None) } else { self.number().map(Some) }
    }

    /// A hexadecimal number with `0x`.
    pub(super) fn hex<T: TryFrom<u64>>(self) -> Result<T, LineError> {
        let number = self.text.strip_prefix(b"0x").and_then(hex).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.wrong(format!("a hexadecimal number from 0x0 to 0x{:x}", greatest::<T>())))
    }

    /// Checks a number that the command does not use: any, or -1.
    pub(super) fn unused(self) -> Result<(), LineError> {
        let digits = self.text.strip_prefix(b"-").unwrap_or(self.text);
        let is_number = decimal(digits).is_some() || digits.strip_prefix(b"0x").is_some_and(|text| hex(text).is_some());
        if is_number { Ok(()) } else { Err(self.wrong("a number")) }
    }

    fn wrong(self, expected: impl Display) -> LineError {
        LineError::new(format!("`{}` is `{}`, but must be {expected}", self.name, shown(self.text)), CORRECT)
    }
}

/// The error for a line with too few or too many fields.
pub(super) fn wrong_shape(found: &[u8], expected: &str) -> LineError {
    LineError::new(format!("is `{}`, but a line has {expected}", shown(found)), CORRECT)
}
