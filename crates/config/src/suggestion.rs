//! Suggestions for misspelled names.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

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

/// More names than this are listed by their family.
const LISTED_MAX: usize = 40;

/// Numbers of families of which one name each is listed. With more or fewer, the hyphens separate no families.
const FAMILIES: RangeInclusive<usize> = 2..=8;

/// The text "did you mean `x`? the NOUN are `x`, `y`", or only its second part. A family is the part of a name before
/// its hyphen: the standard of a speed bin. Of many names, those of the family of the nearest one are listed, or the
/// first of each family if none is near.
pub fn choices(found: &str, noun: &str, known: &[&str]) -> String {
    let nearest = nearest(found, known.iter().copied());
    let family = |name: &str| name.split_once('-').map(|(family, _)| family.to_owned());
    let is_first = |index: &usize| known[..*index].iter().all(|name| family(name) != family(known[*index]));
    let has_families = FAMILIES.contains(&(0..known.len()).filter(is_first).count());
    let is_listed = |index: &usize| match nearest {
        _ if known.len() <= LISTED_MAX => true,
        Some(nearest) => family(nearest) == family(known[*index]),
        None => !has_families || is_first(index),
    };
    let listed: Vec<_> = (0..known.len()).filter(is_listed).map(|index| format!("`{}`", known[index])).collect();
    let list = listed.join(", ");
    match nearest {
        Some(near) => format!("did you mean `{near}`? the {noun} are {list}"),
        None if listed.len() < known.len() => format!("the {noun} are for example {list}; `docs/input.md` lists all"),
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

    #[test]
    fn of_many_names_those_like_the_nearest_are_listed() {
        let names: Vec<String> = (0..50).map(|number| format!("{}-{number}", ["A", "B"][number % 2])).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = choices("A-48x", "bins", &names);
        assert!(text.starts_with("did you mean `A-48`? the bins are `A-0`, `A-2`, ") && !text.contains('B'), "{text}");
        let far = choices("far away", "bins", &names);
        assert_eq!(far, "the bins are for example `A-0`, `B-1`; `docs/input.md` lists all");
        let names_of_none: Vec<String> = (0..50).map(|number| format!("key{number}")).collect();
        let names_of_none: Vec<&str> = names_of_none.iter().map(String::as_str).collect();
        assert_eq!(choices("far away", "keys", &names_of_none).matches('`').count(), 100);
        assert!(choices("A-38x", "bins", &names[..40]).contains("`A-0`, `B-1`"));
    }
}
