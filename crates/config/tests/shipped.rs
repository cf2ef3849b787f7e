//! What the crate has from the files of `configs`.

use std::fs;
use std::path::Path;

use energy::Currents;
use rowclone_config::{currents, system};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_shipped_files_hold_the_sets_of_the_library() {
    let mut paths: Vec<_> = fs::read_dir(Path::new(REPOSITORY).join("configs/currents"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let files: Vec<Currents> =
        paths.iter().map(|path| currents::named_or_read(path.to_str().unwrap()).unwrap()).collect();
    assert_eq!(files, energy::shipped().collect::<Vec<_>>());
    for set in &files {
        assert_eq!(currents::named_or_read(set.name()).as_ref(), Ok(set));
    }
}

#[test]
fn the_system_of_the_paper_is_that_of_its_file() {
    let (path, text) = system::PAPER;
    let copy = "crates/config/src/ddr3-1066-paper.toml";
    assert!(text == fs::read_to_string(Path::new(REPOSITORY).join(path)).unwrap(), "copy `{path}` to `{copy}`");
}
