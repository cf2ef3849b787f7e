//! The crate shares no code with the device model and the controller.

use std::path::Path;

/// The files of a folder and of its folders.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of the sources");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_sources_import_neither_the_device_nor_the_controller() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = files(&root.join("src"));
    assert!(sources.len() > 10, "{sources:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("a source file");
        for other in ["dram_core", "memctrl"] {
            assert!(!text.contains(other), "{} uses {other}", path.display());
        }
    }
}

#[test]
fn the_only_dependency_is_the_specification() {
    let manifest = include_str!("../Cargo.toml");
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("the dependencies");
    let dependencies = dependencies.lines().take_while(|line| !line.starts_with('['));
    let names: Vec<_> = dependencies.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
    assert_eq!(names, ["dram-spec"]);
}
