//! Files of the current sets of `configs/currents`.

use std::fs;
use std::path::PathBuf;

use energy::{Currents, RawCurrents};

/// All sets by their file names, in order.
///
/// # Panics
///
/// If a file cannot be read, or its set is invalid.
pub fn all() -> Vec<(String, Currents)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../configs/currents");
    let mut sets: Vec<_> = fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|entry| {
            let path = entry.expect("the folder can be listed").path();
            let file = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("the file can be read");
            let raw: RawCurrents = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
            let keys: toml::Table = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(keys.len(), given(&raw), "{file}: each of its keys is one of a set");
            let set = Currents::try_from(raw).unwrap_or_else(|error| panic!("{file}: {error}"));
            (file, set)
        })
        .collect();
    sets.sort_by(|(one, _), (other, _)| one.cmp(other));
    sets
}

/// Number of the keys that a set has values of.
fn given(raw: &RawCurrents) -> usize {
    let text = format!("{raw:?}");
    text.matches("_v: ").count() + text.matches("_ma: ").count() + text.matches(": Some(\"").count()
        - text.matches("_v: None").count()
        - text.matches("_ma: None").count()
        + ["name", "bin", "density_gb", "width", "source"].len()
}
