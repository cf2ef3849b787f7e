//! Counts and sizes as text.

/// Formats a count with commas: 1,048,576.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count and a noun: 1 run, 1,024 runs.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(count)) }
}

/// Formats bytes in the largest unit that is exact: 4 KiB, 100 B, 4 GiB.
pub fn bytes(count: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| count >= *unit && count.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", count / unit),
        None => format!("{} B", grouped(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_bytes_exact() {
        assert_eq!([0, 999, 1000, 1_048_576].map(grouped), ["0", "999", "1,000", "1,048,576"]);
        assert_eq!([64, 4096, 4097, 4 << 30].map(bytes), ["64 B", "4 KiB", "4,097 B", "4 GiB"]);
    }
}
