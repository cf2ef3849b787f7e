//! Parser of the fields of a line.

use dram_spec::address::PhysicalAddress;
use memchr::memchr;

use crate::LineError;
use crate::line::shown;
use crate::number;
use crate::number_field::{self as field, BLANK, ends};

/// Iterator over the fields of a line, separated by blanks and tabs. A field that begins with `#`
/// begins a comment.
///
/// The text contains the line and the bytes read ahead of it: the parser finds the end of the line
/// while it takes fields, and converts numbers in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    /// Text from the beginning of the line; it ends in a line feed.
    text: &'a [u8],
    /// Text from the next field.
    rest: &'a [u8],
    shape: &'static str,
    modifies: bool,
    data: &'a [u8],
}

/// A notation of numbers below 2^64, in any valid spelling.
struct Notation {
    prefix: &'static [u8],
    parse: fn(&[u8]) -> Option<u64>,
    /// Valid values, for messages.
    expected: &'static str,
}

/// An address without a prefix.
static HEX: Notation = Notation { prefix: b"", parse: number::hex, expected: "a hexadecimal number below 2^64" };
/// A number.
static DECIMAL: Notation = Notation { prefix: b"", parse: number::decimal, expected: "a decimal number below 2^64" };
/// An address with a prefix.
static PREFIXED: Notation =
    Notation { prefix: b"0x", parse: number::hex, expected: "`0x` and a hexadecimal number below 2^64" };
/// A number before a colon.
static DECIMAL_AND_COLON: Notation = Notation {
    prefix: b"",
    parse: |word| word.strip_suffix(b":").and_then(number::decimal),
    expected: "a decimal number below 2^64 and a colon",
};
/// Valid values of an address with a prefix or in decimal.
const PREFIXED_OR_DECIMAL: &str = "a decimal number, or `0x` and a hexadecimal number, below 2^64";
/// Valid values of a number of instructions of a copy or fill.
const DECIMAL_U32: &str = "a decimal number below 2^32";
/// Valid values of a fill.
const BYTE: &str = "a decimal number from 0 to 255";

/// A place in a line, for paths that are taken rarely. They take a copy, so that the fields of the
/// usual path stay in registers.
#[derive(Clone, Copy, Debug)]
struct FieldPlace<'a> {
    text: &'a [u8],
    rest: &'a [u8],
    shape: &'static str,
}

/// Unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Clocks,
    Nanoseconds,
    Picoseconds,
}

/// A number of units.
type Time = (u64, TimeUnit);

impl<'a> Fields<'a> {
    /// Creates the fields of the line at the beginning of a text.
    #[inline]
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Fields { text, rest: text, shape: "", modifies: false, data: &[] }
    }

    /// Sets the grammar of the line, for messages.
    #[inline]
    pub(crate) const fn expect(&mut self, shape: &'static str) {
        self.shape = shape;
    }

    /// Whether no field is left.
    #[inline]
    pub(crate) fn is_empty(&mut self) -> bool {
        // Blanks, comments and line ends begin with bytes up to `#`.
        if matches!(self.rest, [b'$'..=0xff, ..]) {
            return false;
        }
        let blanks = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.rest = &self.rest[blanks..];
        matches!(self.rest, [b'\n' | b'#', ..] | [b'\r', b'\n', ..] | [])
    }

    /// Takes the next field; empty if none is left.
    #[inline]
    pub(crate) fn word(&mut self) -> &'a [u8] {
        let text = self.after_blank();
        // Blanks, comments and line ends begin with bytes up to `#`.
        if text.first().is_some_and(|&byte| byte > b'#') {
            let length = text.iter().position(|&byte| ends::<BLANK>(byte)).unwrap_or(text.len());
            let (word, rest) = text.split_at(length);
            self.rest = rest;
            return word;
        }
        let (word, rest) = self.place().spaced_word();
        self.rest = rest;
        word
    }

    /// The first byte of the next field, if at most one blank precedes it.
    #[inline]
    pub(crate) fn first(&self) -> Option<u8> {
        self.after_blank().first().copied()
    }

    /// Takes the next field if it is this word.
    #[inline]
    pub(crate) fn takes(&mut self, word: &[u8]) -> bool {
        match self.after_blank().strip_prefix(word) {
            Some(rest @ [byte, ..]) if ends::<BLANK>(*byte) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    #[inline]
    const fn place(&self) -> FieldPlace<'a> {
        FieldPlace { text: self.text, rest: self.rest, shape: self.shape }
    }

    /// Text from the next field, if at most one blank precedes it.
    #[inline]
    fn after_blank(&self) -> &'a [u8] {
        if let [b' ', text @ ..] = self.rest { text } else { self.rest }
    }

    /// Takes an address without a prefix.
    #[inline]
    pub(crate) fn hex(&mut self, key: &'static str) -> Result<PhysicalAddress, LineError> {
        // Usually, there is no writeback.
        if let [b' ', b'0', b' ', ..] = self.rest {
            self.rest = &self.rest[2..];
            return Ok(PhysicalAddress(0));
        }
        let parsed = if let [b' ', text @ ..] = self.rest { field::hex::<BLANK>(text) } else { None };
        self.number(parsed, key, &HEX).map(PhysicalAddress)
    }

    /// Takes an address with the prefix `0x`.
    #[inline]
    pub(crate) fn prefixed_hex(&mut self, key: &'static str) -> Result<PhysicalAddress, LineError> {
        let parsed = if let [b'0', b'x', text @ ..] = self.after_blank() { field::hex::<BLANK>(text) } else { None };
        self.number(parsed, key, &PREFIXED).map(PhysicalAddress)
    }

    /// Takes an address: with the prefix `0x`, or decimal.
    #[inline]
    pub(crate) fn prefixed_or_decimal(&mut self, key: &'static str) -> Result<PhysicalAddress, LineError> {
        let start = self.rest;
        let address = match self.after_blank() {
            [b'0', b'x', ..] => self.prefixed_hex(key),
            _ => self.long_decimal(key).map(PhysicalAddress),
        };
        match address {
            Ok(address) => Ok(address),
            Err(_) => FieldPlace { rest: start, ..self.place() }.wrong(key, PREFIXED_OR_DECIMAL),
        }
    }

    /// Takes a field of two numbers that a comma joins: a hexadecimal one without prefix, and a
    /// decimal one up to a maximum.
    #[inline]
    pub(crate) fn hex_and_decimal(
        &mut self,
        key: &'static str,
        expected: &'static str,
        most: u64,
    ) -> Result<(u64, u64), LineError> {
        let empty = self.is_empty();
        let start = self.rest;
        if let Some((first, rest)) = field::hex::<b','>(start)
            && let Some((second, rest)) = field::short_decimal::<BLANK>(&rest[1..])
            && second <= most
            && !empty
        {
            self.rest = rest;
            return Ok((first, second));
        }
        FieldPlace { rest: start, ..self.place() }.wrong(key, expected)
    }

    /// Commas of the next field.
    #[inline]
    pub(crate) fn commas(&self) -> usize {
        let field = *self;
        field.after_blank().iter().take_while(|byte| !ends::<BLANK>(**byte)).filter(|byte| **byte == b',').count()
    }

    /// Takes a field of `least` to `N` decimal numbers that commas join; also returns their number. `expected` is
    /// asked for an error.
    #[inline]
    pub(crate) fn decimals<const N: usize>(
        &mut self,
        least: usize,
        key: &'static str,
        expected: impl FnOnce(Fields<'a>) -> &'static str,
    ) -> Result<([u64; N], usize), LineError> {
        let before = *self;
        let start = self.rest;
        let text = self.after_blank();
        let (mut numbers, mut place, mut begin, mut value) = ([0; N], 0, 0, 0_u64);
        for (index, &byte) in text.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                value = value.wrapping_mul(10).wrapping_add(digit.into());
                continue;
            }
            let last = byte != b',';
            let ended = if last { place + 1 >= least && ends::<BLANK>(byte) } else { place + 1 < N };
            // Up to 19 digits cannot overflow.
            if !ended || !(1..=19).contains(&(index - begin)) {
                break;
            }
            numbers[place] = value;
            if last {
                self.rest = &text[index..];
                return Ok((numbers, place + 1));
            }
            (place, begin, value) = (place + 1, index + 1, 0);
        }
        FieldPlace { rest: start, ..self.place() }.wrong(key, expected(before))
    }

    /// Takes a decimal number and the colon after it, which ends the field.
    #[inline]
    pub(crate) fn decimal_and_colon(&mut self, key: &'static str) -> Result<u64, LineError> {
        let parsed = match field::long_decimal::<b':'>(self.after_blank()) {
            Some((value, [_, rest @ ..])) if rest.first().is_some_and(|&byte| ends::<BLANK>(byte)) => {
                Some((value, rest))
            }
            _ => None,
        };
        self.number(parsed, key, &DECIMAL_AND_COLON)
    }

    /// Requires exactly one blank before the next field, as Ramulator 2 does.
    #[inline]
    pub(crate) fn check_one_blank(&mut self) -> Result<(), LineError> {
        if matches!(self.rest, [b' ', next, ..] if *next > b' ') {
            return Ok(());
        }
        if self.is_empty() {
            return self.wrong_count();
        }
        Err(LineError::new(
            "has other blanks between its fields than one",
            "separate the fields by exactly one blank, the only separator of Ramulator 2",
        ))
    }

    /// Takes a decimal number, usually of few digits.
    #[inline]
    pub(crate) fn decimal(&mut self, key: &'static str) -> Result<u64, LineError> {
        self.number(field::short_decimal::<BLANK>(self.after_blank()), key, &DECIMAL)
    }

    /// Takes a decimal number, usually of many digits.
    #[inline]
    pub(crate) fn long_decimal(&mut self, key: &'static str) -> Result<u64, LineError> {
        self.number(field::long_decimal::<BLANK>(self.after_blank()), key, &DECIMAL)
    }

    /// Takes a decimal number below 256.
    pub(crate) fn byte(&mut self, key: &'static str) -> Result<u8, LineError> {
        self.small_decimal(key, BYTE)
    }

    /// Takes a decimal number below 2^32.
    pub(crate) fn decimal_u32(&mut self, key: &'static str) -> Result<u32, LineError> {
        self.small_decimal(key, DECIMAL_U32)
    }

    fn small_decimal<T: TryFrom<u64>>(&mut self, key: &'static str, expected: &'static str) -> Result<T, LineError> {
        let start = self.rest;
        let value = self.decimal(key).ok().and_then(|value| T::try_from(value).ok());
        match value {
            Some(value) => Ok(value),
            None => FieldPlace { rest: start, ..self.place() }.wrong(key, expected),
        }
    }

    /// Takes a time, if a field is left: `@`, a decimal number, and optionally a unit.
    #[inline]
    pub(crate) fn time(&mut self, expected: &'static str) -> Result<Option<Time>, LineError> {
        if let [b' ', b'@', text @ ..] = self.rest
            && let Some((value, rest)) = field::long_decimal::<BLANK>(text)
        {
            self.rest = rest;
            return Ok(Some((value, TimeUnit::Clocks)));
        }
        if let [b'\n', ..] = self.rest {
            return Ok(None);
        }
        let (time, rest) = self.place().slow_time(expected)?;
        self.rest = rest;
        Ok(time)
    }

    /// Takes a number: the parsed one with the text from its end, else one of any valid spelling.
    #[inline]
    fn number(
        &mut self,
        parsed: Option<(u64, &'a [u8])>,
        key: &'static str,
        notation: &Notation,
    ) -> Result<u64, LineError> {
        let (value, rest) = match parsed {
            Some(parsed) => parsed,
            None => self.place().slow_number(key, notation)?,
        };
        self.rest = rest;
        Ok(value)
    }

    /// The length of the line including its end, after the last field. A further field is an error.
    #[inline]
    pub(crate) fn end(&mut self) -> Result<usize, LineError> {
        self.ended().map_or_else(|| self.wrong_count(), Ok)
    }

    /// The length of the line including its end; `None` before the last field.
    #[inline]
    pub(crate) fn ended(&mut self) -> Option<usize> {
        if let [b'\n', behind @ ..] = self.rest {
            return Some(self.text.len() - behind.len());
        }
        self.is_empty().then(|| self.length())
    }

    /// The length of the line including its end.
    pub(crate) fn length(&self) -> usize {
        memchr(b'\n', self.text).map_or(self.text.len(), |end| end + 1)
    }

    /// The line, for messages.
    pub(crate) fn shown(&self) -> String {
        shown(self.text[..self.length()].trim_ascii())
    }

    /// Takes the entire line; returns it without surrounding white space.
    pub(crate) fn line(&mut self) -> &'a [u8] {
        let (line, rest) = self.text.split_at(self.length().saturating_sub(1));
        self.rest = rest;
        line.trim_ascii()
    }

    /// Adds the data that the record of the line writes: two hexadecimal digits per byte.
    pub(crate) const fn set_data(&mut self, digits: &'a [u8]) {
        self.data = digits;
    }

    /// The data of the line; empty without data.
    #[inline]
    pub(crate) const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Adds a write of the bytes that the record of the line reads.
    pub(crate) const fn then_write(&mut self) {
        self.modifies = true;
    }

    /// Whether the line has such a write.
    #[inline]
    pub(crate) const fn modifies(&self) -> bool {
        self.modifies
    }

    /// The error for an invalid field.
    #[cold]
    pub(crate) fn wrong<T>(found: &[u8], key: &'static str, expected: &'static str) -> Result<T, LineError> {
        let unsigned = if expected.contains("number") { ", without sign and separators" } else { "" };
        let help = format!("write `{key}` as {expected}{unsigned}");
        Err(LineError::new(format!("`{key}` is `{}`, but must be {expected}", shown(found)), help))
    }

    /// The error for an unknown kind of record.
    #[cold]
    pub(crate) fn unknown<T>(found: &[u8], expected: &'static str) -> Result<T, LineError> {
        let help = "correct the line, or leave it out; docs/formats.md has the grammar";
        Err(LineError::new(format!("begins with `{}`, but must begin with {expected}", shown(found)), help))
    }

    /// The error for too few or too many fields.
    #[inline]
    pub(crate) fn wrong_count<T>(&self) -> Result<T, LineError> {
        self.place().wrong_count()
    }
}

impl<'a> FieldPlace<'a> {
    /// The fields from here on.
    const fn fields(self) -> Fields<'a> {
        Fields { rest: self.rest, shape: self.shape, ..Fields::new(self.text) }
    }

    /// The next field after any blanks, empty if none is left, and the text from its end.
    #[cold]
    fn spaced_word(self) -> (&'a [u8], &'a [u8]) {
        let mut fields = self.fields();
        if fields.is_empty() {
            return (&[], fields.rest);
        }
        // The first byte is always taken, even if it is a control character, so that the parser
        // advances.
        let length = 1 + fields.rest[1..].iter().take_while(|byte| !ends::<BLANK>(**byte)).count();
        fields.rest.split_at(length)
    }

    /// A time of any valid spelling, and the text from its end; or the error.
    #[cold]
    fn slow_time(self, expected: &'static str) -> Result<(Option<Time>, &'a [u8]), LineError> {
        let mut fields = self.fields();
        if fields.is_empty() {
            return Ok((None, fields.rest));
        }
        let time = fields.word().strip_prefix(b"@").and_then(|time| {
            if let Some(ns) = time.strip_suffix(b"ns") {
                number::decimal(ns).map(|ns| (ns, TimeUnit::Nanoseconds))
            } else if let Some(ps) = time.strip_suffix(b"ps") {
                number::decimal(ps).map(|ps| (ps, TimeUnit::Picoseconds))
            } else {
                number::decimal(time).map(|clocks| (clocks, TimeUnit::Clocks))
            }
        });
        if time.is_some() { Ok((time, fields.rest)) } else { self.wrong("time", expected) }
    }

    /// A number of any valid spelling, and the text from its end; or the error.
    #[cold]
    fn slow_number(self, key: &'static str, notation: &Notation) -> Result<(u64, &'a [u8]), LineError> {
        let mut fields = self.fields();
        match fields.word().strip_prefix(notation.prefix).and_then(notation.parse) {
            Some(number) => Ok((number, fields.rest)),
            None => self.wrong(key, notation.expected),
        }
    }

    /// The error for a missing or invalid field.
    #[cold]
    fn wrong<T>(self, key: &'static str, expected: &'static str) -> Result<T, LineError> {
        match self.fields().word() {
            [] => self.wrong_count(),
            word => Fields::wrong(word, key, expected),
        }
    }

    /// The error for too few or too many fields.
    #[cold]
    fn wrong_count<T>(self) -> Result<T, LineError> {
        let (mut all, mut found) = (Fields::new(self.text), 0);
        while !all.word().is_empty() {
            found += 1;
        }
        let shape = self.shape;
        let help = format!("separate by blanks just these: {shape}");
        Err(LineError::new(format!("has {found} fields, but must be `{shape}`"), help))
    }
}
