//! Suggestions for misspelled names.

use std::cmp::Reverse;

/// The candidate that is most similar to `found`, if the edit distance is at most a third of its length.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = found.chars().count().div_ceil(3).max(1);
    let distance = |candidate: &str| strsim::levenshtein(&found.to_lowercase(), &candidate.to_lowercase());
    known
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, candidate)| (distance, Reverse(same_start(found, candidate))))
        .map(|(_, candidate)| candidate)
}

/// The text "did you mean `x`? the NOUN are `x`, `y`", or only its second part.
pub fn choices(found: &str, noun: &str, known: &[&str]) -> String {
    let list = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? the {noun} are {list}"),
        None => format!("the {noun} are {list}"),
    }
}

/// Length of the common prefix, in characters.
fn same_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_word_has_a_neighbor_and_another_word_has_none() {
        let keys = ["channels", "ranks", "row_bytes", "rows_per_subarray"];
        assert_eq!(nearest("chanels", keys), Some("channels"));
        assert_eq!(nearest("Ranks", keys), Some("ranks"));
        assert_eq!(nearest("seed", keys), None);
    }
}
