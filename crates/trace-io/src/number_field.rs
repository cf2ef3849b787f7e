//! Parsers of the number at the beginning of a text.
//!
//! Most of the time of reading a trace is spent here. Each function returns the value and the text
//! from the byte that ends the field, or `None` if the text does not begin with such a number. Then
//! the caller converts any valid spelling, or returns the error.

use crate::number::{self, leading_decimal, leading_hex};

/// End of a field: a blank, a line end, or another control character.
pub(crate) const BLANK: u8 = b' ';

/// Whether a field ends before this byte. `END` is [`BLANK`] or a separator.
pub(crate) const fn ends<const END: u8>(byte: u8) -> bool {
    if END == BLANK { byte <= b' ' } else { byte == END }
}

/// The text from a digit on, if the field ends there.
#[inline]
fn end<const END: u8>((value, digits): (u64, usize), text: &[u8]) -> Option<(u64, &[u8])> {
    let rest = text.get(digits..)?;
    (digits > 0 && ends::<END>(*rest.first()?)).then_some((value, rest))
}

/// A hexadecimal number of up to 16 digits, in either case.
#[inline]
pub(crate) fn hex<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    let power = |digits: usize| Some(1 << (4 * digits));
    end::<END>(in_steps(text, leading_hex, power, |text| any_digits(text, number::hex, 16)), text)
}

/// Value and number of the digits at the beginning of a text, converted in steps of eight bytes:
/// `leading` converts one step, `power` is the weight of a number before a number of further digits, and
/// `any` converts texts that end within a step, or whose second step is too long.
#[inline]
fn in_steps(
    text: &[u8],
    leading: impl Fn([u8; 8]) -> (u64, usize),
    power: impl Fn(usize) -> Option<u64>,
    any: impl Fn(&[u8]) -> (u64, usize),
) -> (u64, usize) {
    let Some((first, rest)) = text.split_first_chunk() else { return any(text) };
    let (value, digits) = leading(*first);
    if digits < 8 || rest.first().is_some_and(|&byte| byte < b'0') {
        return (value, digits);
    }
    let Some(second) = rest.first_chunk() else { return any(text) };
    let (low, more) = leading(*second);
    let Some(power) = power(more) else { return any(text) };
    (value * power + low, 8 + more)
}

/// Value and number of the digits at the beginning of any text, up to the digits that cannot overflow.
#[cold]
fn any_digits(text: &[u8], parse: fn(&[u8]) -> Option<u64>, most: usize) -> (u64, usize) {
    let digits = text.iter().take(most).take_while(|digit| parse(&[**digit]).is_some()).count();
    parse(&text[..digits]).map_or((0, 0), |value| (value, digits))
}

/// Parses a decimal number of few digits, of at most 19, which cannot overflow.
#[inline]
pub(crate) fn short_decimal<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
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

/// Parses a decimal number of at most 19 digits: usually, up to 15 digits in one or two steps of
/// eight bytes.
#[inline]
pub(crate) fn long_decimal<const END: u8>(text: &[u8]) -> Option<(u64, &[u8])> {
    let power = |digits: usize| POWERS_OF_TEN.get(digits).copied();
    end::<END>(in_steps(text, leading_decimal, power, |text| any_digits(text, number::decimal, 19)), text)
}

/// Powers of ten up to 10^7.
const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
