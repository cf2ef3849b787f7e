//! Current sets: files of one chip's supply currents. The shipped ones are part of the program.

use std::path::Path;
use std::sync::OnceLock;

use energy::{Currents, RawCurrents};
use serde::Deserialize;

use crate::CliError;

use super::document::{Document, Example};
use super::suggestion;

macro_rules! shipped {
    ($file:literal) => {
        ($file, include_str!(concat!("../../../../configs/currents/", $file)))
    };
}

/// The shipped files and their texts, sorted: all of `configs/currents`.
pub const SHIPPED: &[(&str, &str)] = &[
    shipped!("1gb-x16-15.toml"),
    shipped!("1gb-x16-g-die-1066.toml"),
    shipped!("1gb-x16-k4b1g1646e-1600.toml"),
    shipped!("1gb-x4-125.toml"),
    shipped!("1gb-x4-15.toml"),
    shipped!("1gb-x8-g-die-1066.toml"),
    shipped!("1gb-x8-g-die-1600.toml"),
    shipped!("1gb-x8-g-die-800.toml"),
    shipped!("2gb-x16-d-die-1600.toml"),
    shipped!("2gb-x8-15.toml"),
    shipped!("2gb-x8-25e.toml"),
    shipped!("2gb-x8-d-die-1066.toml"),
    shipped!("2gb-x8-early-die-1066.toml"),
    shipped!("2gb-x8-early-die-1333.toml"),
    shipped!("2gb-x8-m-die-1066.toml"),
    shipped!("2gb-x8-m-die-1333.toml"),
    shipped!("2gb-x8-m-die-1600.toml"),
    shipped!("4gb-x16-1600.toml"),
    shipped!("4gb-x16-k4b4g1646q-1066.toml"),
    shipped!("4gb-x4-1600.toml"),
    shipped!("4gb-x8-1866.toml"),
    shipped!("4gb-x8-2133.toml"),
    shipped!("4gb-x8-ej-die-1600.toml"),
    shipped!("8gb-x16-1600.toml"),
    shipped!("8gb-x8-1600.toml"),
];

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
            name, bin, density_gb, width, vdd_v, idd0_ma, idd2p0_ma, idd2p1_ma, idd2n_ma, idd3p_ma, idd3n_ma, idd4r_ma,
            idd4w_ma, idd5b_ma, idd6_ma, source, note,
        }
    }
}

/// All shipped sets, in the order of [`SHIPPED`].
///
/// # Errors
/// Never, as a test shows.
pub fn shipped() -> Result<Vec<Currents>, CliError> {
    static SETS: OnceLock<Result<Vec<Currents>, CliError>> = OnceLock::new();
    let parse = |(file, text): &(&str, &str)| {
        let path = Path::new("configs/currents").join(file);
        check(&Document::parse(&path, text, EXAMPLES)?)
    };
    SETS.get_or_init(|| SHIPPED.iter().map(parse).collect()).clone()
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
    let mut sets = shipped()?;
    if let Some(index) = sets.iter().position(|set| set.name() == name) {
        return Ok(sets.swap_remove(index));
    }
    let names: Vec<&str> = sets.iter().map(Currents::name).collect();
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
    fn the_shipped_sets_are_all_of_the_directory() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/currents");
        let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert_eq!(SHIPPED.iter().map(|(file, _)| *file).collect::<Vec<_>>(), names);
    }

    #[test]
    fn every_shipped_set_is_sound_and_has_a_name_of_its_own() {
        let sets = shipped().unwrap();
        for set in &sets {
            assert_eq!(named_or_read(set.name()).as_ref(), Ok(set));
        }
        let mut names: Vec<&str> = sets.iter().map(Currents::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SHIPPED.len());
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
