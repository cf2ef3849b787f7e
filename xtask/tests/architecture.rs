//! Comparison of `docs/architecture.md` with the sources: the dependencies of crates, the walk of a copy's source, and
//! the tests of the invariants.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files, and of crates, of the walk.
const FILES_MAX: usize = 25;
const CRATES_MAX: usize = 8;

/// Crates that open files.
const WITH_FILES: &[&str] = &["cli", "config", "record-qemu", "sweep", "trace-io"];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The rows of the table under a line of the page, as their cells.
fn table<'page>(page: &'page str, before: &str) -> Vec<Vec<&'page str>> {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("the page has `{before}`"));
    let rows = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2).map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Crates of the workspace on which a crate depends, by folder.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = read(&format!("crates/{name}/Cargo.toml"));
    let (_, rest) = manifest.split_once("\n[dependencies]\n").unwrap_or_default();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split([' ', '.']).next());
    let folders = names.map(|name| match name.strip_prefix("rowclone-") {
        Some(folder) => folder.to_owned(),
        None => name.to_owned(),
    });
    folders.filter(|folder| workspace().join(format!("crates/{folder}/Cargo.toml")).is_file()).collect()
}

/// Each crate depends on crates of the rows above it alone; on those of its row alone, if the row names all of them.
#[test]
fn dependencies_are_those_of_the_table() {
    let page = read("docs/architecture.md");
    let mut above = BTreeSet::from(["dram-spec".to_owned()]);
    for row in table(&page, "## Crates") {
        let listed: BTreeSet<_> = quoted(row[1]).map(str::to_owned).collect();
        for name in quoted(row[0].split('(').next().unwrap_or_default()) {
            let found: BTreeSet<_> = dependencies(name).into_iter().filter(|other| other != "dram-spec").collect();
            assert!(found.is_subset(&above), "{name} depends on {found:?}, above it are {above:?}");
            let names_all = !["above", "below"].iter().any(|word| row[1].contains(word));
            assert!(!names_all || found == listed, "{name} depends on {found:?}");
        }
        above.extend(quoted(row[0]).map(str::to_owned));
    }
    assert!(above.len() > 13, "{above:?}");
}

#[test]
fn only_these_crates_open_files() {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(workspace().join("crates")).expect("the crates") {
        let folder = entry.expect("a crate").path();
        if sources(&folder.join("src")).iter().any(|text| text.contains("std::fs") || text.contains("File::open")) {
            found.insert(folder.file_name().expect("a name").to_string_lossy().into_owned());
        }
    }
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), WITH_FILES);
}

/// Texts of the sources of a folder and its subfolders.
fn sources(folder: &Path) -> Vec<String> {
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let texts = paths.flat_map(|path| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(end) if end == "rs" => vec![fs::read_to_string(&path).expect("a source")],
        _ => Vec::new(),
    });
    texts.collect()
}

/// Each file of the walk declares the function that is named beside it, and is entered once.
#[test]
fn a_copy_s_source_passes_few_files_and_none_twice() {
    let page = read("docs/architecture.md");
    let rows = table(&page, "<!-- walk -->");
    let (mut files, mut crates) = (BTreeSet::new(), BTreeSet::new());
    for row in &rows {
        let [file, function] = [row[0], row[1]].map(|cell| quoted(cell).next().expect("a name"));
        assert!(read(&format!("crates/{file}")).contains(&format!("fn {function}")), "{file} has no {function}");
        assert!(files.insert(file), "{file} is entered twice");
        crates.insert(file.split('/').next());
    }
    assert!((20..=FILES_MAX).contains(&files.len()), "{} files", files.len());
    assert!(crates.len() <= CRATES_MAX, "{crates:?}");
}

#[test]
fn each_invariant_has_its_test() {
    let page = read("docs/architecture.md");
    let paragraphs = page.split("\n\n").flat_map(|text| text.split("\n- "));
    let invariants: Vec<_> = paragraphs.filter(|text| text.contains("Invariant:")).collect();
    assert!(invariants.len() >= 8, "{invariants:#?}");
    for invariant in invariants {
        let tests: Vec<_> = quoted(invariant).filter_map(|name| name.split_once(".rs::")).collect();
        assert!(!tests.is_empty(), "no test: {invariant}");
        for (file, test) in tests {
            let paths = [format!("{file}.rs"), format!("crates/{file}.rs")];
            let path = paths.iter().find(|path| workspace().join(path).is_file());
            let path = path.unwrap_or_else(|| panic!("{file}.rs is no file: {invariant}"));
            assert!(read(path).contains(&format!("fn {test}(")), "{path} has no test {test}");
        }
    }
}
