//! Parsers of the number at the beginning of a text.
//!
//! Most of the time of reading a trace is spent here. Each function returns the value and the text
//! from the byte that ends the field, or `None` if the text does not begin with such a number. Then
//! the caller converts any valid spelling, or returns the error.

use crate::number::{self, leading_decimal, leading_hex};

/// End of a field: a blank, a line end, or another control character.
pub(super) const BLANK: u8 = b' ';

/// Whether a field ends before this byte. `END` is [`BLANK`] or a separator.
pub(super) const fn ends<const END: u8>(byte: u8) -> bool {
    if END == BLANK { byte <= b' ' } else { byte == END }
}

/// A hexadecimal number of up to 16 digits, in either case.
#[inline]
pub(super) fn hex<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    let Some(first) = text.first_chunk() else { return last_hex::<END>(text) };
    let (mut value, mut digits) = leading_hex(*first);
    if digits == 8 && !text.get(8).is_some_and(|&byte| ends::<END>(byte)) {
        let Some(second) = text[8..].first_chunk() else { return last_hex::<END>(text) };
        let (low, more) = leading_hex(*second);
        value = value << (4 * more) | low;
        digits += more;
    }
    let rest = &text[digits..];
    (digits > 0 && rest.first().is_some_and(|&byte| ends::<END>(byte))).then_some((value, rest))
}

/// [`hex`] in the last bytes of a text.
#[cold]
fn last_hex<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, rest) = text.split_at(text.iter().position(|&byte| ends::<END>(byte))?);
    Some((number::hex(digits)?, rest))
}

/// Parses a decimal number of few digits, of at most 19, which cannot overflow.
#[inline]
pub(super) fn short_decimal<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (digits, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (ends::<END>(byte) && (1..=19).contains(&digits)).then(|| (value, &text[digits..]));
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    None
}

/// Parses a decimal number of at most 19 digits: usually, up to 15 digits in two steps of eight
/// bytes.
#[inline]
pub(super) fn long_decimal<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    let Some(first) = text.first_chunk() else { return short_decimal::<END>(text) };
    let (mut value, mut digits) = leading_decimal(*first);
    if digits == 8 {
        let Some(second) = text[8..].first_chunk() else { return short_decimal::<END>(text) };
        let (low, more) = leading_decimal(*second);
        let Some(power) = POWERS_OF_TEN.get(more) else { return short_decimal::<END>(text) };
        value = value * power + low;
        digits += more;
    }
    let rest = &text[digits..];
    (digits > 0 && rest.first().is_some_and(|&byte| ends::<END>(byte))).then_some((value, rest))
}

/// Powers of ten up to 10^7.
const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
