//! Number of words of the hand-written pages.

use crate::texts::{is_page, names, read};

/// Maximum number of hand-written words in `docs`, without decisions, published values and the gallery.
const WORDS: usize = 40_000;

/// Sections whose tables a test compares with the code.
const TABLES: &[(&str, &str)] = &[
    // `dram-core`, `pairs`; `protocol-check`, `page` and `every_pair`.
    ("rules.md", "Minimum distances"),
    ("rules.md", "Maxima"),
    ("rules.md", "State rules"),
    ("rules.md", "Pairs in other standards"),
    ("rules.md", "Every ordered pair"),
    // `energy`, `sets`.
    ("energy.md", "Comparison with the paper"),
    // `trace-io`, `recognition` and `exports`: the properties of each format.
    ("formats.md", ""),
    ("command-traces.md", ""),
    // `cli`, `pages_of_keys`.
    ("plots.md", "Kinds"),
];

/// Pages whose blocks of code a test runs, or compares with outputs of the program or with its sources.
const CODE: &[&str] = &[
    "command-traces.md",
    "cores.md",
    "extending.md",
    "formats.md",
    "style.md",
    "sweeps.md",
    "tutorial/fork.md",
    "tutorial/paper.md",
    "tutorial/workload.md",
];

/// Hand-written words of a page, each with a letter or digit: all but tables between `<!-- name -->` and
/// `<!-- end -->`, which a test generates, the tables of [`TABLES`], and the blocks of [`CODE`].
fn words(page: &str, text: &str) -> usize {
    let (mut is_generated, mut is_code, mut section) = (false, false, "");
    let mut words = 0;
    for line in text.lines() {
        if let Some(marker) = line.strip_prefix("<!-- ") {
            is_generated = !marker.starts_with("end") && text.contains("<!-- end -->");
        } else if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else {
            section = line.strip_prefix("## ").filter(|_| !is_code).unwrap_or(section);
            let is_compared = if is_code {
                CODE.contains(&page)
            } else {
                line.starts_with('|') && (is_generated || TABLES.contains(&(page, section)))
            };
            words += if is_compared {
                0
            } else {
                line.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
            };
        }
    }
    words
}

#[test]
fn the_hand_written_pages_are_short() {
    let pages =
        names("docs").into_iter().chain(names("docs/tutorial").into_iter().map(|name| format!("tutorial/{name}")));
    let pages: Vec<String> = pages.filter(|name| is_page(name) && name != "gallery.md").collect();
    assert!(pages.len() > 20, "{} pages: the folders are missing", pages.len());
    let counts: Vec<usize> = pages.iter().map(|page| words(page, &read(&format!("docs/{page}")))).collect();
    let sum: usize = counts.iter().sum();
    let list: Vec<String> = pages.iter().zip(&counts).map(|(page, count)| format!("{count:6} {page}")).collect();
    assert!(sum <= WORDS, "{sum} words, at most {WORDS}:\n{}", list.join("\n"));
}

#[test]
fn generated_tables_do_not_count() {
    assert_eq!(words("a.md", "# A page\n\nOne, two.\n| a | b |\n"), 2 + 2 + 2);
    assert_eq!(words("a.md", "<!-- keys -->\n\n| a | b |\n\n<!-- end -->\nthree more words\n"), 3);
    assert_eq!(words("rules.md", "## Maxima\n| a | b |\n## Notes\n| a |\n"), 1 + 1 + 1);
    assert_eq!(words("formats.md", "```text\na b c\n```\nword\n"), 1);
}
