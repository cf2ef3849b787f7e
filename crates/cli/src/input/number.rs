//! Numbers as users write them.

/// A number of a command line or a string: decimal, or hex after `0x`; `_` may stand between digits.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let digits: String = digits.chars().filter(|&c| c != '_').collect();
    // `from_str_radix` would take a sign.
    if digits.starts_with('+') { None } else { u64::from_str_radix(&digits, radix).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_hex_are_read_and_nothing_else() {
        assert_eq!(parse("0x0040_0000"), Some(0x40_0000));
        assert_eq!(parse(" 4_096 "), Some(4096));
        assert_eq!(parse("0xffffffffffffffff"), Some(u64::MAX));
        for wrong in ["", "0x", "-1", "+1", "4096 bytes", "0x1_0000_0000_0000_0000", "1.5"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
