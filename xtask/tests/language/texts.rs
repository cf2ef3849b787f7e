//! The covered texts.

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
    ("xtask", &["rs"]),
    ("fuzz/fuzz_targets", &["rs"]),
    ("CHANGELOG.md", &["md"]),
];

pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Path, relative to the root of the workspace, and content of each covered text.
pub fn texts() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for (root, ends) in COVERED {
        collect(root, ends, &mut paths);
    }
    assert!(paths.len() > 20, "{} files: the folders are missing", paths.len());
    paths.into_iter().map(|path| (path.clone(), read(&path))).collect()
}

pub fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Sorted names of the entries of a folder.
pub fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(workspace().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> = entries.map(|entry| name(entry).expect("names are UTF-8")).collect();
    names.sort();
    names
}

pub fn collect(path: &str, ends: &[&str], paths: &mut Vec<String>) {
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

pub fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "md")
}
