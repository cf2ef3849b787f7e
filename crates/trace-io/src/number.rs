//! Conversion of unsigned integers without prefix and separators from and to text.

/// Greatest value of an unsigned integer type of at most 64 bits.
pub(crate) const fn greatest<T>() -> u64 {
    u64::MAX >> (64 - 8 * size_of::<T>())
}

/// Parses a decimal number of an unsigned integer type. The error has the valid numbers, for messages.
pub(crate) fn decimal_of<T: TryFrom<u64>>(digits: &[u8]) -> Result<T, String> {
    let number = decimal(digits).and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("a whole number from 0 to {}", greatest::<T>()))
}

/// Parses a decimal number below 2^64.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    radix(digits, 10)
}

/// Parses a hexadecimal number below 2^64, in either case, without `0x`.
pub(crate) fn hex(digits: &[u8]) -> Option<u64> {
    radix(digits, 16)
}

/// Converts the hexadecimal digits, in either case, at the beginning of eight bytes in parallel;
/// returns their value and number.
#[inline]
pub(crate) fn leading_hex(bytes: [u8; 8]) -> (u64, usize) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(bytes);
    // A digit is 0x30 + n, and a letter 0x57 + n or, in upper case, 0x37 + n: a letter has bit 6.
    let letters = bytes >> 6 & EACH;
    // Up to 24 for bytes that are not digits. A byte is a digit if its value is below 16 and its
    // spelling equals this byte in lower case.
    let values = (bytes & (0x0f * EACH)) + letters * 9;
    let above_9 = (values + 6 * EACH) >> 4 & EACH;
    let spelled = values + 0x30 * EACH + above_9 * 0x27;
    let others = (spelled ^ (bytes | letters << 5)) | values & (0x10 * EACH);
    let bits = others.trailing_zeros() & !7;
    // Zeros before the digits, which end in the highest byte.
    let Some(aligned) = values.checked_shl(64 - bits) else { return (0, 0) };
    let pairs = (aligned << 4 | aligned >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs << 8 | pairs >> 16) & 0x0000_ffff_0000_ffff;
    ((fours << 16 | fours >> 32) & 0xffff_ffff, bits as usize / 8)
}

/// Converts the decimal digits at the beginning of eight bytes in parallel; returns their value and
/// number.
#[inline]
pub(crate) fn leading_decimal(bytes: [u8; 8]) -> (u64, usize) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let bytes = u64::from_le_bytes(bytes);
    // Bit 7 is set for each byte above 0x39 or below 0x30. A carry affects only later bytes.
    let others = (bytes.wrapping_add(0x46 * EACH) | bytes.wrapping_sub(0x30 * EACH)) & (0x80 * EACH);
    let bits = others.trailing_zeros() & !7;
    // Zeros before the digits, which end in the highest byte.
    let Some(aligned) = bytes.checked_shl(64 - bits) else { return (0, 0) };
    let ones = aligned & (0x0f * EACH);
    let pairs = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    ((fours * 10_000 + (fours >> 32)) & 0xffff_ffff, bits as usize / 8)
}

fn radix(digits: &[u8], radix: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = match digit.wrapping_sub(b'0') {
            value @ 0..=9 => u64::from(value),
            _ => char::from(digit).to_digit(radix)?.into(),
        };
        number.checked_mul(radix.into())?.checked_add(digit)
    })
}

/// Appends a decimal number. Ten million lines call this function, so it avoids `fmt`.
pub(crate) fn push_decimal(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20]; // 2^64 - 1 has 20 digits
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_digits_that_fit_are_numbers() {
        for wrong in ["", "-1", "+1", "1_000", "0x10", "1.0", "18446744073709551616", "99999999999999999999999"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!((hex(b"fEe00"), hex(b"0x10"), hex(b"g"), hex(b"")), (Some(0xf_ee00), None, None, None));
        assert_eq!((hex(b"ffffffffffffffff"), hex(b"10000000000000000")), (Some(u64::MAX), None));
    }

    /// Each byte at each position, among digits of both kinds.
    #[test]
    fn leading_hexadecimal_digits_are_converted_at_once() {
        for digits in [*b"01234567", *b"89abcdef", *b"FEDCBA98"] {
            for place in 0..8 {
                for byte in 0..=255 {
                    let mut text = digits;
                    text[place] = byte;
                    let found = text.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                    assert_eq!(leading_hex(text), (hex(&text[..found]).unwrap_or(0), found), "{text:x?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn leading_digits_are_converted_at_once(
            bytes in prop::array::uniform8(prop_oneof![4 => b'0'..=b'9', 1 => any::<u8>()]),
        ) {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            prop_assert_eq!(leading_decimal(bytes), (decimal(&bytes[..digits]).unwrap_or(0), digits));
        }

        #[test]
        fn every_number_is_written_and_read_as_itself(number: u64, shift in 0..64) {
            let number = number >> shift;
            let mut text = Vec::new();
            push_decimal(&mut text, number);
            prop_assert_eq!(std::str::from_utf8(&text).unwrap(), number.to_string());
            prop_assert_eq!(decimal(&text), Some(number));
            prop_assert_eq!(hex(format!("{number:x}").as_bytes()), Some(number));
        }
    }
}
