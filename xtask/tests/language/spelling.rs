//! American spelling.

use crate::texts::texts;

/// Beginnings of words in British spelling, and the American ones.
const BRITISH: &[(&str, &str)] = &[
    ("analyse", "analyze"),
    ("artefact", "artifact"),
    ("behaviour", "behavior"),
    ("cancelled", "canceled"),
    ("centre", "center"),
    ("colour", "color"),
    ("defence", "defense"),
    ("favour", "favor"),
    ("fibre", "fiber"),
    ("finalis", "finaliz"),
    ("generalis", "generaliz"),
    ("grey", "gray"),
    ("honour", "honor"),
    ("initialis", "initializ"),
    ("judgement", "judgment"),
    ("labelled", "labeled"),
    ("licence", "license"),
    ("maximis", "maximiz"),
    ("minimis", "minimiz"),
    ("modelled", "modeled"),
    ("modelling", "modeling"),
    ("neighbour", "neighbor"),
    ("normalis", "normaliz"),
    ("optimis", "optimiz"),
    ("organis", "organiz"),
    ("parallelis", "paralleliz"),
    ("prioritis", "prioritiz"),
    ("randomis", "randomiz"),
    ("realis", "realiz"),
    ("recognis", "recogniz"),
    ("serialis", "serializ"),
    ("specialis", "specializ"),
    ("summaris", "summariz"),
    ("synchronis", "synchroniz"),
    ("travelled", "traveled"),
    ("utilis", "utiliz"),
];

/// Words that begin like a British one.
const OTHER: &[&str] = &["labelledby", "optimism", "optimistic", "parallelism", "realism", "realistic", "specialist"];

/// Files that name earlier keys and values in order to refuse them.
const EARLIER_NAMES: &[&str] = &[
    "crates/cli/tests/cli/malformed_scenarios.rs",
    "crates/config/src/workload.rs",
    "crates/config/src/allocator.rs",
    "xtask/tests/language/spelling.rs",
];

#[test]
fn words_have_american_spelling() {
    let mut report = Vec::new();
    for (path, text) in texts().into_iter().filter(|(path, _)| !EARLIER_NAMES.contains(&path.as_str())) {
        for (number, line) in (1..).zip(text.lines()) {
            for word in line.to_lowercase().split(|c: char| !c.is_alphabetic()) {
                let british = BRITISH.iter().find(|(british, _)| word.starts_with(british));
                if let Some((_, american)) = british.filter(|_| !OTHER.contains(&word)) {
                    report.push(format!("{path}:{number}: `{word}`; write: {american}"));
                }
            }
        }
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
}
