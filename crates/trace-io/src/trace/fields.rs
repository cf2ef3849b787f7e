//! Parser of the fields of a line.

use dram_spec::address::PhysicalAddress;
use memchr::memchr;

use super::error::Fault;
use crate::line::shown;
use crate::number::{self, eight_hex, leading_decimal};

/// Iterator over the fields of a line, separated by blanks and tabs. A field that begins with `#`
/// begins a comment.
///
/// The text contains the line and the bytes read ahead of it: the parser finds the end of the line
/// while it takes fields, and converts numbers in place. Most of the time of reading a trace is
/// spent here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    /// Text from the beginning of the line; it ends in a line feed.
    text: &'a [u8],
    /// Text from the next field.
    rest: &'a [u8],
    shape: &'static str,
}

/// Valid values of an address without a prefix.
const HEX: &str = "a hexadecimal number below 2^64";
/// Valid values of a number.
const DECIMAL: &str = "a decimal number below 2^64";
/// Valid values of an address with a prefix.
const PREFIXED: &str = "`0x` and a hexadecimal number below 2^64";
/// Valid values of a fill.
const BYTE: &str = "a decimal number from 0 to 255";

/// Value of a hexadecimal digit; above 15 for other bytes.
static HEX_DIGIT: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Whether a field ends before this byte: blanks, line ends, and other control characters.
const fn ends_field(byte: u8) -> bool {
    byte <= b' '
}

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Clocks,
    Nanoseconds,
    Picoseconds,
}

impl<'a> Fields<'a> {
    /// Creates the fields of the line at the beginning of a text.
    #[inline]
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Fields { text, rest: text, shape: "" }
    }

    /// Sets the grammar of the line, for messages.
    #[inline]
    pub(super) const fn expect(&mut self, shape: &'static str) {
        self.shape = shape;
    }

    /// Whether no field is left.
    #[inline]
    pub(super) fn is_empty(&mut self) -> bool {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
        matches!(self.rest, [b'\n' | b'#', ..] | [b'\r', b'\n', ..] | [])
    }

    /// Takes the next field; empty if none is left.
    #[inline]
    pub(super) fn word(&mut self) -> &'a [u8] {
        // Usually, a letter names the kind of the record.
        if let [letter @ b'A'..=b'z', end, ..] = self.rest
            && ends_field(*end)
        {
            self.rest = &self.rest[1..];
            return std::slice::from_ref(letter);
        }
        self.long_word()
    }

    fn long_word(&mut self) -> &'a [u8] {
        if self.is_empty() {
            return &[];
        }
        // The first byte is always taken, even if it is a control character, so that the parser
        // advances.
        let length = 1 + self.rest[1..].iter().take_while(|byte| !ends_field(**byte)).count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    /// Takes an address without a prefix.
    #[inline]
    pub(super) fn hex(&mut self, key: &'static str) -> Result<PhysicalAddress, Box<Fault>> {
        // Usually, there is no writeback.
        if let [b' ', b'0', b' ', ..] = self.rest {
            self.rest = &self.rest[2..];
            return Ok(PhysicalAddress(0));
        }
        if let [b' ', text @ ..] = self.rest
            && let Some((value, rest)) = hex_field(text)
        {
            self.rest = rest;
            return Ok(PhysicalAddress(value));
        }
        self.slow_number(key, b"", number::hex, HEX).map(PhysicalAddress)
    }

    /// Takes an address with the prefix `0x`.
    #[inline]
    pub(super) fn prefixed_hex(&mut self, key: &'static str) -> Result<PhysicalAddress, Box<Fault>> {
        if let [b' ', b'0', b'x', text @ ..] = self.rest
            && let Some((value, rest)) = hex_field(text)
        {
            self.rest = rest;
            return Ok(PhysicalAddress(value));
        }
        self.slow_number(key, b"0x", number::hex, PREFIXED).map(PhysicalAddress)
    }

    /// Takes a decimal number, usually of few digits.
    #[inline]
    pub(super) fn decimal(&mut self, key: &'static str) -> Result<u64, Box<Fault>> {
        self.decimal_by(short_decimal_field, key)
    }

    /// Takes a decimal number, usually of many digits.
    #[inline]
    pub(super) fn long_decimal(&mut self, key: &'static str) -> Result<u64, Box<Fault>> {
        self.decimal_by(decimal_field, key)
    }

    #[inline]
    fn decimal_by(
        &mut self,
        field: impl Fn(&'a [u8]) -> Option<(u64, &'a [u8])>,
        key: &'static str,
    ) -> Result<u64, Box<Fault>> {
        let text = if let [b' ', text @ ..] = self.rest { text } else { self.rest };
        if let Some((value, rest)) = field(text) {
            self.rest = rest;
            return Ok(value);
        }
        self.slow_number(key, b"", number::decimal, DECIMAL)
    }

    /// Takes a decimal number below 256.
    pub(super) fn byte(&mut self, key: &'static str) -> Result<u8, Box<Fault>> {
        let before = *self;
        let value = self.decimal(key).ok().and_then(|value| u8::try_from(value).ok());
        value.map_or_else(|| before.wrong(key, BYTE), Ok)
    }

    /// Takes a time, if a field is left: `@`, a decimal number, and optionally a unit.
    #[inline]
    pub(super) fn time(&mut self, expected: &'static str) -> Result<Option<(u64, Unit)>, Box<Fault>> {
        if let [b' ', b'@', text @ ..] = self.rest
            && let Some((value, rest)) = decimal_field(text)
        {
            self.rest = rest;
            return Ok(Some((value, Unit::Clocks)));
        }
        if let [b'\n', ..] = self.rest {
            return Ok(None);
        }
        self.slow_time(expected)
    }

    /// Takes a time of any valid spelling, or returns the error.
    #[cold]
    fn slow_time(&mut self, expected: &'static str) -> Result<Option<(u64, Unit)>, Box<Fault>> {
        if self.is_empty() {
            return Ok(None);
        }
        let before = *self;
        let time = self.word().strip_prefix(b"@").and_then(|time| {
            if let Some(ns) = time.strip_suffix(b"ns") {
                number::decimal(ns).map(|ns| (ns, Unit::Nanoseconds))
            } else if let Some(ps) = time.strip_suffix(b"ps") {
                number::decimal(ps).map(|ps| (ps, Unit::Picoseconds))
            } else {
                number::decimal(time).map(|clocks| (clocks, Unit::Clocks))
            }
        });
        time.map_or_else(|| before.wrong("time", expected), |time| Ok(Some(time)))
    }

    /// Takes a number of any valid spelling, or returns the error.
    #[cold]
    fn slow_number(
        &mut self,
        key: &'static str,
        prefix: &[u8],
        parse: fn(&[u8]) -> Option<u64>,
        expected: &'static str,
    ) -> Result<u64, Box<Fault>> {
        let before = *self;
        let number = self.word().strip_prefix(prefix).and_then(parse);
        number.map_or_else(|| before.wrong(key, expected), Ok)
    }

    /// The length of the line including its end, after the last field. A further field is an error.
    #[inline]
    pub(super) fn end(&mut self) -> Result<usize, Box<Fault>> {
        if let [b'\n', behind @ ..] = self.rest {
            return Ok(self.text.len() - behind.len());
        }
        if self.is_empty() { Ok(self.length()) } else { self.wrong_count() }
    }

    /// The length of the line including its end.
    pub(super) fn length(&self) -> usize {
        memchr(b'\n', self.text).map_or(self.text.len(), |end| end + 1)
    }

    /// The line, for messages.
    pub(super) fn shown(&self) -> String {
        shown(self.text[..self.length()].trim_ascii())
    }

    /// The error for a missing or invalid field.
    #[cold]
    fn wrong<T>(mut self, key: &'static str, expected: &'static str) -> Result<T, Box<Fault>> {
        match self.word() {
            [] => self.wrong_count(),
            word => Err(Box::new(Fault::Field { key, found: shown(word), expected })),
        }
    }

    /// The error for too few or too many fields.
    #[cold]
    fn wrong_count<T>(self) -> Result<T, Box<Fault>> {
        let (mut all, mut found) = (Fields::new(self.text), 0);
        while !all.word().is_empty() {
            found += 1;
        }
        Err(Box::new(Fault::FieldCount { found, shape: self.shape }))
    }

    /// The error for an unknown kind of record.
    #[cold]
    pub(super) fn unknown<T>(found: &[u8], expected: &'static str) -> Result<T, Box<Fault>> {
        Err(Box::new(Fault::UnknownRecord { found: shown(found), expected }))
    }
}

/// Parses the hexadecimal number at the beginning of a text, if it is a field; returns its value
/// and the rest. Numbers of eight digits take the fast path.
#[inline]
fn hex_field(text: &[u8]) -> Option<(u64, &[u8])> {
    if let Some((eight, rest @ [end, ..])) = text.split_first_chunk()
        && ends_field(*end)
        && let Some(value) = eight_hex(*eight)
    {
        return Some((value, rest));
    }
    any_hex_field(text)
}

/// [`hex_field`] for up to 16 digits, which cannot overflow.
#[inline(never)]
fn any_hex_field(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut digits) = (0_u64, 0);
    while let Some(&byte) = text.get(digits) {
        let digit = HEX_DIGIT[usize::from(byte)];
        if digit > 15 {
            return (ends_field(byte) && (1..=16).contains(&digits)).then(|| (value, &text[digits..]));
        }
        value = value << 4 | u64::from(digit);
        digits += 1;
    }
    None
}

/// Parses the decimal number at the beginning of a text, if it is a field of at most 19 digits,
/// which cannot overflow; returns its value and the rest.
#[inline]
fn short_decimal_field(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut digits) = (0_u64, 0);
    while let Some(&byte) = text.get(digits) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (ends_field(byte) && (1..=19).contains(&digits)).then(|| (value, &text[digits..]));
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    None
}

/// [`short_decimal_field`] in two steps of eight bytes, for at most 15 digits.
#[inline]
fn decimal_field(text: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, mut digits) = leading_decimal(*text.first_chunk()?);
    if digits == 8 {
        let (low, more) = leading_decimal(*text[8..].first_chunk()?);
        value = value * *POWERS_OF_TEN.get(more)? + low;
        digits += more;
    }
    let rest = &text[digits..];
    (digits > 0 && rest.first().is_some_and(|&byte| ends_field(byte))).then_some((value, rest))
}

/// Powers of ten up to 10^7.
const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
