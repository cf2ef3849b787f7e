//! Current sets: the shipped ones of the library by name, and files of one chip's supply currents.

use std::path::Path;

use energy::{Currents, RawCurrents};
use serde::Deserialize;

use crate::CliError;

use super::document::{Document, Example};
use super::suggestion;

const EXAMPLES: &[Example] = &[
    ("name", "\"2 Gb x8 -25E\""),
    ("bin", "\"800E\""),
    ("density_gb", "2"),
    ("width", "8"),
    ("vdd_v", "1.5"),
    ("idd0_ma", "100.0"),
    ("idd2p0_ma", "10.0"),
    ("idd2p1_ma", "25.0"),
    ("idd2n_ma", "50.0"),
    ("idd3p_ma", "45.0"),
    ("idd3n_ma", "65.0"),
    ("idd4r_ma", "195.0"),
    ("idd4w_ma", "230.0"),
    ("idd5b_ma", "275.0"),
    ("idd6_ma", "9.0"),
    ("source", "\"Micron datasheet, rev X, table Y\""),
    ("note", "\"measured at 85 C\""),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSet {
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

impl From<RawSet> for RawCurrents {
    #[rustfmt::skip] // Every field, or no build; one list each way.
    fn from(raw: RawSet) -> RawCurrents {
        let RawSet {
            name, bin, density_gb, width, vdd_v, idd0_ma, idd2p0_ma, idd2p1_ma, idd2n_ma, idd3p_ma, idd3n_ma, idd4r_ma,
            idd4w_ma, idd5b_ma, idd6_ma, source, note,
        } = raw;
        RawCurrents {
            name: name.into(), bin: bin.into(), density_gb, width, vdd_v, idd0_ma, idd2p0_ma, idd2p1_ma, idd2n_ma, idd3p_ma,
            idd3n_ma, idd4r_ma, idd4w_ma, idd5b_ma, idd6_ma, source: source.into(), note: note.map(Into::into),
        }
    }
}

/// The set that a command line names: a shipped one by its name, or a file ending in `.toml`.
///
/// # Errors
/// No such set, or something wrong in its file.
pub fn named_or_read(found: &str) -> Result<Currents, CliError> {
    if is_file_name(found) {
        return read(Path::new(found));
    }
    named(found, |help| CliError::new(format!("\"{found}\" is no current set")).with_help(help))
}

/// The shipped set of that name; `unknown` makes an error of what would help.
pub(super) fn named(name: &str, unknown: impl FnOnce(String) -> CliError) -> Result<Currents, CliError> {
    if let Some(set) = Currents::named(name) {
        return Ok(set);
    }
    let names: Vec<&str> = energy::SHIPPED.iter().map(|set| &*set.name).collect();
    let choices = suggestion::choices(name, "shipped sets", &names);
    Err(unknown(format!("{choices}; or give a path that ends in `.toml`")))
}

/// Whether a user means a file, and not the name of a shipped set.
pub(super) fn is_file_name(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension == "toml")
}

/// The set of a file.
pub(super) fn read(path: &Path) -> Result<Currents, CliError> {
    check(&Document::read(path, EXAMPLES)?)
}

fn check(document: &Document) -> Result<Currents, CliError> {
    let raw: RawSet = document.decode()?;
    Currents::try_from(RawCurrents::from(raw))
        .map_err(|error| document.fault(error.key(), &error).with_help(error.help()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_shipped_files_hold_the_sets_of_the_library() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/currents");
        let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let files: Vec<Currents> = paths.iter().map(|path| read(path).unwrap()).collect();
        assert_eq!(files, energy::shipped().collect::<Vec<_>>());
        for set in &files {
            assert_eq!(named_or_read(set.name()).as_ref(), Ok(set));
        }
    }

    #[test]
    fn an_unknown_set_is_answered_with_those_there_are() {
        let CliError::Refused { message, help } = named_or_read("2 Gb x8 -25").unwrap_err() else { panic!() };
        assert_eq!(message, "\"2 Gb x8 -25\" is no current set");
        let help = help.unwrap();
        assert!(help.starts_with("did you mean `2 Gb x8 -25E`? the shipped sets are `1 Gb x16 -15`, "), "{help}");
        assert!(help.ends_with("or give a path that ends in `.toml`"), "{help}");
    }
}
