//! "Did you mean …?"

use std::cmp::Reverse;

/// The one of `known` that is most like `found`, if any is like it at all.
pub(super) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = found.chars().count().div_ceil(3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&found.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, candidate)| (distance, Reverse(same_start(found, candidate))))
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`? the NOUN are `x`, `y`", or without its first half.
pub(super) fn choices(found: &str, noun: &str, known: &[&str]) -> String {
    let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? the {noun} are {list}"),
        None => format!("the {noun} are {list}"),
    }
}

/// How many characters both begin with.
fn same_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// How many characters must be added, dropped or changed to get from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbook() {
        assert_eq!([distance("kitten", "sitting"), distance("", "abc"), distance("abc", "abc")], [3, 3, 0]);
    }

    #[test]
    fn a_slip_finds_its_word_and_nonsense_does_not() {
        let keys = ["channels", "ranks", "row_bytes", "rows_per_subarray"];
        assert_eq!(nearest("chanels", keys), Some("channels"));
        assert_eq!(nearest("Ranks", keys), Some("ranks"));
        assert_eq!(nearest("seed", keys), None);
    }
}
