//! The modules of the crate depend on each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Text of all sources of a module: its file, or the files of its folder, without tests.
fn text(path: &Path) -> String {
    if path.is_file() {
        return std::fs::read_to_string(path).expect("a source file");
    }
    let entries = std::fs::read_dir(path).expect("a folder of sources").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.file_stem().is_some_and(|name| name != "tests")).map(|path| text(&path)).collect()
}

/// The modules of the crate that a text names.
fn named<'a>(text: &str, modules: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<String>();
    modules.filter(|module| code.contains(&format!("crate::{module}"))).cloned().collect()
}

/// A folder that another one imports does not import it, directly or through others. Types that
/// several folders share are in files beside them.
#[test]
fn no_module_is_in_an_import_cycle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = std::fs::read_dir(&root).expect("the sources").map(|entry| entry.expect("an entry").path());
    let texts: BTreeMap<String, String> = entries
        .filter(|path| path.file_stem().is_some_and(|name| name != "lib"))
        .map(|path| (path.file_stem().expect("a name").to_string_lossy().into_owned(), text(&path)))
        .collect();
    assert!(texts.contains_key("channel") && texts.contains_key("access"), "{:?}", texts.keys());
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, text) in &texts {
        let others = named(text, texts.keys().filter(|other| *other != module));
        imports.insert(module.clone(), others);
    }
    // Remove modules that import none of those left, until no more can be removed.
    while let Some(free) = imports.iter().find(|(_, others)| others.is_empty()).map(|(module, _)| module.clone()) {
        imports.remove(&free);
        for others in imports.values_mut() {
            others.remove(&free);
        }
    }
    assert!(imports.is_empty(), "these modules import each other in a cycle: {imports:?}");
}
