//! The parts of the machine depend on each other in one direction.

use std::path::Path;

/// A part of the machine, and the parts that it uses. Files beside the parts (settings, counters, clock)
/// hold types that several parts share.
const PARTS: [(&str, &[&str]); 11] = [
    ("prefetcher", &[]),
    ("cache", &["prefetcher"]),
    ("interconnect", &[]),
    ("memory", &["cache", "interconnect"]),
    ("device", &["interconnect", "memory"]),
    ("programs", &[]),
    ("core", &["memory", "programs"]),
    ("kernel", &["interconnect", "memory", "core"]),
    ("copier", &["interconnect", "memory", "core"]),
    ("region", &["error"]),
    ("error", &["kernel"]),
];

/// Code of a file, or of the files of a folder, without comments.
fn code(path: &Path) -> String {
    if path.is_dir() {
        let entries =
            std::fs::read_dir(path).expect("a folder of sources").map(|entry| entry.expect("an entry").path());
        return entries.map(|path| code(&path)).collect();
    }
    let text = std::fs::read_to_string(path).expect("a source file");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect()
}

#[test]
fn a_part_of_the_machine_uses_no_part_but_those_named() {
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/machine");
    for (part, allowed) in PARTS {
        let (folder, file) = (machine.join(part), machine.join(part).with_extension("rs"));
        let code = code(if folder.is_dir() { &folder } else { &file });
        assert!(!code.is_empty(), "{part}");
        for (other, _) in PARTS.iter().filter(|(other, _)| *other != part) {
            let is_used = code.contains(&format!("super::{other}::"));
            assert_eq!(is_used, allowed.contains(other), "{part} uses {other}: {is_used}");
        }
    }
}
