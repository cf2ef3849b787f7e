//! Names of code and of files that pages mention: each exists in the sources.

use std::collections::BTreeSet;

use crate::texts::{collect, is_page, names, read, texts, workspace};

/// Folders of the repository with which a path can begin.
const FOLDERS: &[&str] = &["configs/", "crates/", "docs/", "fuzz/", "sweeps/", "traces/", "xtask/"];

/// Crates of others, and tools, whose names pages may mention.
const OTHER_CRATES: &[&str] = &["rustfmt", "std"];

/// Paths of examples: of a file that the reader writes, and of any crate.
const EXAMPLES: &[&str] = &["crates/memctrl/src/policy/scheduler/source_order.rs", "crates/NAME"];

/// Words before the name of a declared item.
const DECLARATIONS: &[&str] = &["const", "enum", "fn", "macro_rules!", "mod", "static", "struct", "trait", "type"];

/// Pages that describe the present code, with their texts. Decisions describe that of their time.
fn pages() -> Vec<(String, String)> {
    let is_present = |path: &str| is_page(path) && !path.starts_with("docs/decisions/") && path != "CHANGELOG.md";
    texts().into_iter().filter(|(path, _)| is_present(path)).collect()
}

/// Texts between backticks outside of blocks of code, with their line numbers.
fn quoted(page: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(page.lines()) {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            found.extend(line.split('`').skip(1).step_by(2).map(|text| (number, text)));
        }
    }
    found
}

/// Names that the sources of a folder declare: items, fields, variants and imported names.
fn declared(folder: &str) -> BTreeSet<String> {
    let mut paths = Vec::new();
    collect(folder, &["rs"], &mut paths);
    let mut found = BTreeSet::new();
    for path in paths {
        for line in read(&path).lines() {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && !"_!".contains(c)).collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            for pair in words.windows(2).filter(|pair| DECLARATIONS.contains(&pair[0])) {
                found.insert(pair[1].to_owned());
            }
            let code = line.trim_start();
            let is_import = code.starts_with("pub use") || code.starts_with("use ");
            if is_import {
                found.extend(words.iter().map(|word| (*word).to_owned()));
            }
            // A field, or a variant of an enum.
            let member = code.strip_prefix("pub ").unwrap_or(code);
            let name: String = member.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if member[name.len()..].starts_with([':', ',', '(', ' ']) {
                found.insert(name);
            }
        }
        let stem = path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).unwrap_or_default();
        found.insert(stem.to_owned());
    }
    found
}

/// Parts of a path in code such as `memctrl::policy::copy::POLICIES`; none if a text is no such path.
fn segments(text: &str) -> Option<Vec<&str>> {
    let path = text.trim_end_matches("()").split(['(', '<', '=']).next().unwrap_or_default();
    let parts: Vec<&str> = path.split("::").collect();
    let is_name = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    (parts.len() > 1 && parts.iter().all(is_name)).then_some(parts)
}

#[test]
fn each_code_name_of_a_page_is_declared() {
    let crates: Vec<(String, BTreeSet<String>)> =
        names("crates").into_iter().map(|name| (name.replace('-', "_"), declared(&format!("crates/{name}")))).collect();
    let of = |name: &str| {
        let name = if name == "rowclone_sim" { "sim" } else { name };
        crates.iter().find(|(found, _)| name == found || name.strip_prefix("rowclone_") == Some(found))
    };
    let mut report = Vec::new();
    let mut count = 0;
    for (path, page) in pages() {
        for (line, text) in quoted(&page) {
            let Some(parts) = segments(text).filter(|parts| !OTHER_CRATES.contains(&parts[0])) else { continue };
            count += 1;
            let (declaring, rest) = match of(parts[0]) {
                Some(found) => (vec![found], &parts[1..]),
                None => (crates.iter().collect(), &parts[..]),
            };
            let is_declared = declaring.iter().any(|(_, names)| rest.iter().all(|part| names.contains(*part)));
            if !is_declared {
                report.push(format!("{path}:{line}: `{text}`"));
            }
        }
    }
    assert!(count > 30, "{count} names: they are not found");
    assert!(report.is_empty(), "names that the sources do not declare:\n{}", report.join("\n"));
}

#[test]
fn each_path_of_a_page_leads_to_a_file() {
    let mut sources = Vec::new();
    collect("crates", &["rs"], &mut sources);
    collect("xtask", &["rs"], &mut sources);
    let mut report = Vec::new();
    for (path, page) in pages() {
        for (line, text) in quoted(&page) {
            let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
            let exists = if FOLDERS.iter().any(|folder| text.starts_with(folder)) {
                workspace().join(text).exists()
            } else {
                text.strip_suffix(".rs").is_none()
                    || sources.iter().any(|source| format!("/{source}").ends_with(&format!("/{text}")))
            };
            if is_name && !exists && !EXAMPLES.contains(&text) {
                report.push(format!("{path}:{line}: `{text}`"));
            }
        }
    }
    assert!(report.is_empty(), "paths that lead to no file:\n{}", report.join("\n"));
}

#[test]
fn quoted_names_are_split_into_their_parts() {
    assert_eq!(segments("host::machine::Copier"), Some(vec!["host", "machine", "Copier"]));
    assert_eq!(segments("AddressMap::frame_subarrays(frame)"), Some(vec!["AddressMap", "frame_subarrays"]));
    assert_eq!(segments("a = b"), None);
    assert_eq!(quoted("`a` b `c`\n```\n`d`\n```\n`e`"), [(1, "a"), (1, "c"), (5, "e")]);
}
