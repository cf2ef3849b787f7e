//! Checks of the project's texts against the rules of `docs/style.md`, as far as a program can
//! check them.

use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders covered by the tests, relative to the root of the workspace, with the file
/// extensions of their texts. A folder includes its subfolders.
const COVERED: &[(&str, &[&str])] = &[
    ("docs", &["md"]),
    ("CONTRIBUTING.md", &["md"]),
    ("README.md", &["md"]),
    ("configs", &["toml"]),
    ("traces", &["toml", "md"]),
    ("sweeps", &["toml"]),
    ("crates", &["md", "rs"]),
    ("xtask/src", &["rs"]),
];

/// Maximum number of columns in a line of prose.
const COLUMNS: usize = 100;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Path, relative to the root of the workspace, and content of each covered text.
fn texts() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for (root, ends) in COVERED {
        collect(root, ends, &mut paths);
    }
    assert!(paths.len() > 20, "{} files: the folders are missing", paths.len());
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Sorted names of the entries of a folder.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(workspace().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> = entries.map(|entry| name(entry).expect("names are UTF-8")).collect();
    names.sort();
    names
}

fn collect(path: &str, ends: &[&str], paths: &mut Vec<String>) {
    let full = workspace().join(path);
    if full.is_dir() {
        for name in names(path).iter().filter(|name| *name != "target" && !name.starts_with('.')) {
            collect(&format!("{path}/{name}"), ends, paths);
        }
    } else if full.extension().is_some_and(|end| ends.iter().any(|text| end == *text)) {
        paths.push(path.to_owned());
    } else {
        assert!(full.exists(), "{path} is covered, but does not exist");
    }
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "md")
}

/// A phrase of the list in `docs/style.md`, with its replacement.
struct Retired {
    words: Vec<String>,
    instead: String,
}

fn retired() -> Vec<Retired> {
    let page = read("docs/style.md");
    let block = page.split("```retired\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the list");
    let phrase = |line: &str| {
        let (phrase, instead) = line.split_once("=>").unwrap_or_else(|| panic!("no `=>` in `{line}`"));
        Retired { words: phrase.split_whitespace().map(str::to_lowercase).collect(), instead: instead.trim().into() }
    };
    block.lines().map(phrase).collect()
}

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
fn found(text: &str, retired: &[Retired]) -> Vec<(usize, String)> {
    let words = words(text);
    let mut found = Vec::new();
    for (at, (line, _)) in words.iter().enumerate() {
        for Retired { words: phrase, instead } in retired {
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
    assert!(retired.len() > 20, "the list of docs/style.md has {} phrases", retired.len());
    let mut report = Vec::new();
    for (path, text) in texts() {
        report.extend(found(&text, &retired).into_iter().map(|(line, what)| format!("{path}:{line}: {what}")));
    }
    assert!(report.is_empty(), "retired phrases (docs/style.md):\n{}", report.join("\n"));
}

#[test]
fn a_phrase_is_found_across_lines_and_only_as_whole_words() {
    let retired = [Retired { words: vec!["rows".into(), "a".into(), "subarray".into()], instead: String::new() }];
    let lines = |text: &str| found(text, &retired).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
    assert_eq!(lines("/// With 512 rows\n/// a Subarray."), [1]);
    assert_eq!(lines("arrows a subarray, rows a subarrays, rows_a_subarray"), []);
    assert_eq!(lines("```retired\nrows a subarray => x\n```\nrows a subarray"), [4]);
}

/// Tables, headings, code, links and HTML cannot be wrapped.
#[test]
fn pages_have_lines_of_at_most_100_columns() {
    let mut report = Vec::new();
    for (path, text) in texts().into_iter().filter(|(path, _)| is_page(path)) {
        let mut is_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            is_code ^= line.trim_start().starts_with("```");
            let is_wrapped = is_code || line.trim_start().starts_with(['|', '#', '<', '[']);
            let columns = line.chars().count();
            if !is_wrapped && columns > COLUMNS {
                report.push(format!("{path}:{number}: {columns} columns"));
            }
        }
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
}

/// The index links to each page, and each link between pages leads to a file.
#[test]
fn links_between_pages_lead_to_files_and_the_index_has_every_page() {
    let index = read("docs/index.md");
    for name in names("docs") {
        let is_listed = is_page(&name) && name != "index.md";
        assert!(!is_listed || index.contains(&format!("]({name})")), "docs/index.md has no link to {name}");
    }
    for (path, text) in texts().into_iter().filter(|(path, _)| is_page(path)) {
        let folder = workspace().join(&path);
        let folder = folder.parent().expect("a file is in a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let is_file = !file.is_empty() && !file.contains("://");
            assert!(!is_file || folder.join(file).exists(), "{path}: the link {link} leads to no file");
        }
    }
}
