//! Files of the current sets of `configs/currents`.

use std::fs;
use std::path::PathBuf;

use energy::{Currents, RawCurrents};

/// A file, by key.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    bin: String,
    density_gb: u64,
    width: u64,
    vdd_v: f64,
    idd0_ma: f64,
    idd2p0_ma: Option<f64>,
    idd2p1_ma: Option<f64>,
    idd2n_ma: f64,
    idd3p_ma: Option<f64>,
    idd3n_ma: f64,
    idd4r_ma: f64,
    idd4w_ma: f64,
    idd5b_ma: f64,
    idd6_ma: Option<f64>,
    source: String,
    note: Option<String>,
}

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
            let set = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
            let set = Currents::try_from(raw(set)).unwrap_or_else(|error| panic!("{file}: {error}"));
            (file, set)
        })
        .collect();
    sets.sort_by(|(one, _), (other, _)| one.cmp(other));
    sets
}

fn raw(file: File) -> RawCurrents {
    let File { name, bin, density_gb, width, vdd_v, source, note, .. } = file;
    RawCurrents {
        name: name.into(),
        bin: bin.into(),
        density_gb,
        width,
        vdd_v,
        idd0_ma: file.idd0_ma,
        idd2p0_ma: file.idd2p0_ma,
        idd2p1_ma: file.idd2p1_ma,
        idd2n_ma: file.idd2n_ma,
        idd3p_ma: file.idd3p_ma,
        idd3n_ma: file.idd3n_ma,
        idd4r_ma: file.idd4r_ma,
        idd4w_ma: file.idd4w_ma,
        idd5b_ma: file.idd5b_ma,
        idd6_ma: file.idd6_ma,
        source: source.into(),
        note: note.map(Into::into),
    }
}
