//! Phrases that no text may have.

use std::collections::BTreeMap;

use crate::texts::{read, texts};

/// A phrase of the list in `docs/style.md`, with its replacement.
struct Retired {
    words: Vec<String>,
    instead: String,
}

fn retired() -> Phrases {
    let page = read("docs/style.md");
    let block = page.split("```retired\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the list");
    let phrase = |line: &str| {
        let (phrase, instead) = line.split_once("=>").unwrap_or_else(|| panic!("no `=>` in `{line}`"));
        Retired { words: phrase.split_whitespace().map(str::to_lowercase).collect(), instead: instead.trim().into() }
    };
    by_first_word(block.lines().map(phrase))
}

fn by_first_word(phrases: impl IntoIterator<Item = Retired>) -> Phrases {
    let mut by_first_word = Phrases::new();
    for phrase in phrases {
        by_first_word.entry(phrase.words[0].clone()).or_default().push(phrase);
    }
    by_first_word
}

/// The phrases that begin with each word.
type Phrases = BTreeMap<String, Vec<Retired>>;

/// Words of a text in lower case, each with its line number (from 1), without the list of retired
/// phrases and without comment and quotation marks, so that phrases are found across lines.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut is_list = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            is_list = line == "```retired";
        }
        if is_list {
            continue;
        }
        let is_of_word = |c: char| c.is_alphanumeric() || "_'-".contains(c);
        let line = line.replace('\u{2019}', "'").to_lowercase();
        words.extend(
            line.split(|c| !is_of_word(c)).filter(|word| !word.is_empty()).map(|word| (number, word.to_owned())),
        );
    }
    words
}

/// Lines in which retired phrases begin, with messages.
fn found(text: &str, retired: &Phrases) -> Vec<(usize, String)> {
    let words = words(text);
    let mut found = Vec::new();
    for (at, (line, first)) in words.iter().enumerate() {
        for Retired { words: phrase, instead } in retired.get(first).into_iter().flatten() {
            let here = words[at..].iter().map(|(_, word)| word);
            if here.take(phrase.len()).eq(phrase) {
                found.push((*line, format!("`{}`; write: {instead}", phrase.join(" "))));
            }
        }
    }
    found
}

#[test]
fn no_covered_text_has_a_retired_phrase() {
    let retired = retired();
    let phrases: usize = retired.values().map(Vec::len).sum();
    assert!(phrases > 20, "the list of docs/style.md has {phrases} phrases");
    let mut report = Vec::new();
    for (path, text) in texts() {
        report.extend(found(&text, &retired).into_iter().map(|(line, what)| format!("{path}:{line}: {what}")));
    }
    assert!(report.is_empty(), "retired phrases (docs/style.md):\n{}", report.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_only_as_whole_words() {
    let phrase = Retired { words: vec!["rows".into(), "a".into(), "subarray".into()], instead: String::new() };
    let retired = by_first_word([phrase]);
    let lines = |text: &str| found(text, &retired).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(lines("/// With 512 rows\n/// a Subarray."), [1]);
    assert_eq!(lines("arrows a subarray, rows a subarrays, rows_a_subarray"), []);
    assert_eq!(lines("```retired\nrows a subarray => x\n```\nrows a subarray"), [4]);
}
