//! Whole numbers as bytes of text: no sign, no prefix, no separators.

/// A decimal number below 2^64.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    radix(digits, 10)
}

/// A hexadecimal number below 2^64, in either case, without `0x`.
pub(crate) fn hex(digits: &[u8]) -> Option<u64> {
    radix(digits, 16)
}

fn radix(digits: &[u8], radix: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = char::from(digit).to_digit(radix)?;
        number.checked_mul(u64::from(radix))?.checked_add(u64::from(digit))
    })
}

/// Appends a decimal number. Ten million lines go through here: no formatting machinery.
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

    proptest! {
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
