//! A field of a line.

use super::TraceError;
use crate::line::shown;
use crate::number::{Number, decimal, hex};

/// A field, with its name for messages.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) name: &'static str,
    pub(super) text: &'a [u8],
    pub(super) line: u64,
}

impl Field<'_> {
    /// A decimal number.
    pub(super) fn number<T: Number>(self) -> Result<T, TraceError> {
        let number = decimal(self.text).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.wrong(format!("a whole number from 0 to {}", T::MOST)))
    }

    /// A decimal number, or none where the tool writes -1.
    pub(super) fn number_or_none<T: Number>(self) -> Result<Option<T>, TraceError> {
        if self.text == b"-1" { Ok(None) } else { self.number().map(Some) }
    }

    /// A hexadecimal number with `0x`.
    pub(super) fn hex<T: Number>(self) -> Result<T, TraceError> {
        let number = self.text.strip_prefix(b"0x").and_then(hex).and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| self.wrong(format!("a hexadecimal number from 0x0 to 0x{:x}", T::MOST)))
    }

    /// Checks a number that the command does not use: any, or -1.
    pub(super) fn unused(self) -> Result<(), TraceError> {
        let digits = self.text.strip_prefix(b"-").unwrap_or(self.text);
        let is_number = decimal(digits).is_some() || digits.strip_prefix(b"0x").is_some_and(|text| hex(text).is_some());
        if is_number { Ok(()) } else { Err(self.wrong("a number".into())) }
    }

    pub(super) fn wrong(self, expected: String) -> TraceError {
        TraceError::Field { line: self.line, field: self.name, found: shown(self.text), expected }
    }
}

/// An error for a command that the format does not have.
pub(super) fn unknown_command(line: u64, found: &[u8], known: &[&str]) -> TraceError {
    TraceError::UnknownCommand { line, found: vec![shown(found)], known: known.join(", ") }
}

/// Divides a text into exactly `N` fields.
pub(super) fn exactly<'a, const N: usize>(fields: impl Iterator<Item = &'a [u8]>) -> Option<[&'a [u8]; N]> {
    let mut array: [&[u8]; N] = [b""; N];
    let mut count = 0;
    for field in fields {
        *array.get_mut(count)? = field;
        count += 1;
    }
    (count == N).then_some(array)
}
