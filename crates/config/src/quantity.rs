//! Sizes and times with their units, and numbers in strings.

/// Units of size, in bytes.
const SIZES: [(&str, u64); 5] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// Units of time, in picoseconds.
const TIMES: [(&str, u64); 5] =
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Units of the capacity of a chip, in megabits.
const CAPACITIES: [(&str, u64); 4] = [("Mb", 1), ("Mbit", 1), ("Gb", 1024), ("Gbit", 1024)];

/// A whole number: decimal, or hexadecimal after `0x`. Underscores separate digits.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let digits: String = digits.chars().filter(|&c| c != '_').collect();
    // `from_str_radix` would take a sign.
    if digits.starts_with('+') { None } else { u64::from_str_radix(&digits, radix).ok() }
}

/// A size in bytes: `4KiB`, `1.5 MiB`. Units are powers of 1024.
pub fn size(text: &str) -> Option<u64> {
    with_unit(text, &SIZES)
}

/// A time in picoseconds: `7.8us`, `50 ns`.
pub fn time(text: &str) -> Option<u64> {
    with_unit(text, &TIMES)
}

/// A capacity of a chip in megabits: `512Mb`, `4 Gbit`.
pub fn capacity(text: &str) -> Option<u64> {
    with_unit(text, &CAPACITIES)
}

/// An address: a number, or a size.
pub fn address(text: &str) -> Option<u64> {
    number(text).or_else(|| size(text))
}

/// A decimal number and a unit. The value must be a whole number of the smallest unit.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = (text[..unit_at].trim_end(), &text[unit_at..]);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: String = number.chars().filter(|&c| c != '_').collect();
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let are_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) || (fraction.is_empty() && number.contains('.'))
    {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(*factor)?;
    let Some(fraction) = Some(fraction.trim_end_matches('0')).filter(|digits| !digits.is_empty()) else {
        return Some(whole);
    };
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = fraction.parse::<u64>().ok()?.checked_mul(*factor)?;
    if part.is_multiple_of(scale) { whole.checked_add(part / scale) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_hex_are_numbers() {
        assert_eq!(number("0x0040_0000"), Some(0x40_0000));
        assert_eq!(number(" 4_096 "), Some(4096));
        assert_eq!(number("0xffffffffffffffff"), Some(u64::MAX));
        for wrong in ["", "0x", "-1", "+1", "4096 bytes", "0x1_0000_0000_0000_0000", "1.5"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_have_binary_units() {
        for (text, bytes) in
            [("4KiB", 4096), ("64 B", 64), ("1.5MiB", 3 << 19), ("1_024KiB", 1 << 20), ("2TiB", 2 << 40)]
        {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for wrong in ["4k", "4KB", "4", "KiB", ".5KiB", "1.KiB", "-1KiB", "0.3B", "99999999999TiB", "4KiB8"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
        assert_eq!([address("4MiB"), address("0x400000"), address("far")], [Some(4 << 20), Some(4 << 20), None]);
    }

    #[test]
    fn capacities_are_megabits() {
        assert_eq!(
            ["4Gb", "4 Gbit", "1.0Gb", "512Mb", "0.25Gb", "4GB", "4"].map(capacity),
            [Some(4096), Some(4096), Some(1024), Some(512), Some(256), None, None]
        );
    }

    #[test]
    fn times_are_whole_picoseconds() {
        for (text, ps) in [
            ("7.8us", 7_800_000),
            ("13.125ns", 13_125),
            ("1s", 1_000_000_000_000),
            ("0ns", 0),
            ("2.50 ms", 2_500_000_000),
        ] {
            assert_eq!(time(text), Some(ps), "{text}");
        }
        for wrong in ["7.8", "7.8 usec", "0.0001ns", "1e3ns", "us"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }
}
