//! Width and links of pages.

use crate::texts::{is_page, names, read, texts, workspace};

/// Maximum number of columns in a line of prose.
const COLUMNS: usize = 100;
/// Maximum number of columns of an entry of the changelog, which is one line.
const ENTRY_COLUMNS: usize = 120;

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
            let most = if path == "CHANGELOG.md" { ENTRY_COLUMNS } else { COLUMNS };
            if !is_wrapped && columns > most {
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
