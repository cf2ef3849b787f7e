//! Parsers of the number at the beginning of a text.
//!
//! Most of the time of reading a trace is spent here. Each function returns the value and the text
//! from the byte that ends the field, or `None` if the text does not begin with such a number. Then
//! the caller converts any valid spelling, or returns the error.

use crate::number::{eight_hex, leading_decimal};

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

/// End of a field: a blank, a line end, or another control character.
pub(super) const BLANK: u8 = b' ';

/// Whether a field ends before this byte. `END` is [`BLANK`] or a separator.
pub(super) const fn ends<const END: u8>(byte: u8) -> bool {
    if END == BLANK { byte <= b' ' } else { byte == END }
}

/// Parses a hexadecimal number of 1 to 16 digits, which cannot overflow: the first eight at once.
#[inline]
pub(super) fn hex<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    if let Some((first, rest)) = text.split_first_chunk()
        && let Some(value) = eight_hex(*first)
    {
        return match rest {
            [end, ..] if ends::<END>(*end) => Some((value, rest)),
            _ => more_hex::<END>(rest, value, 8),
        };
    }
    more_hex::<END>(text, 0, 16)
}

/// Parses 1 to `most` more digits of a hexadecimal number.
#[inline(never)]
fn more_hex<const END: u8>(text: &[u8], mut value: u64, most: usize) -> Option<(u64, &[u8])> {
    for (digits, &byte) in text.iter().enumerate() {
        let digit = HEX_DIGIT[usize::from(byte)];
        if digit > 15 {
            return (ends::<END>(byte) && (1..=most).contains(&digits)).then(|| (value, &text[digits..]));
        }
        value = value << 4 | u64::from(digit);
    }
    None
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
