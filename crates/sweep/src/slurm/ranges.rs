//! Numbers as a list of ranges: `1-57 60 63-200`.

use std::fmt::Write;

/// Writes ascending numbers.
pub(super) fn write(numbers: &[u64]) -> String {
    let mut text = String::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let length = rest.iter().zip(first..).take_while(|(number, expected)| *number == expected).count();
        let gap = if text.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = match rest[length - 1] {
            last if last == first => write!(text, "{gap}{first}"),
            last => write!(text, "{gap}{first}-{last}"),
        };
        rest = &rest[length..];
    }
    text
}

/// Reads them; nothing if that is no such list.
pub(super) fn read(text: &str) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    for range in text.split_ascii_whitespace() {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        numbers.extend(first.parse::<u64>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_list_reads_back(numbers in prop::collection::btree_set(1..200_u64, 0..100)) {
            let numbers: BTreeSet<u64> = numbers;
            let numbers: Vec<u64> = numbers.into_iter().collect();
            prop_assert_eq!(read(&write(&numbers)), Some(numbers));
        }
    }

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(write(&[1, 2, 3, 5, 8, 9]), "1-3 5 8-9");
        assert_eq!(write(&[]), "");
        assert_eq!(read("1-3 x"), None);
    }
}
