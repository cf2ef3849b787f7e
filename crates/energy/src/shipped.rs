//! The shipped current sets: the files of `configs/currents`.

use dram_spec::{Standard, Width};
use include_dir::{Dir, File, include_dir};

use crate::currents::Currents;
use crate::raw_currents::RawCurrents;

/// Files of the sets. Each names its source; `docs/energy.md` explains their selection.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../configs/currents");

/// Texts of the sets, in the order of their file names.
fn texts() -> impl Iterator<Item = &'static str> {
    FILES.files().filter_map(File::contents_utf8)
}

/// A set of a text. Every file is valid, which a test shows.
fn parsed(text: &str) -> Option<Currents> {
    Currents::try_from(toml::from_str::<RawCurrents>(text).ok()?).ok()
}

/// The shipped sets by standard, those of a standard in the order of their file names.
pub fn shipped() -> impl Iterator<Item = Currents> {
    let mut sets: Vec<Currents> = texts().filter_map(parsed).collect();
    sets.sort_by_key(Currents::standard);
    sets.into_iter()
}

/// The shipped sets of a standard and a width, in words: what to take instead of a set that does not fit.
pub fn fitting(standard: Standard, width: Width) -> String {
    let sets = shipped().filter(|set| set.fits(standard, width));
    let names: Vec<String> = sets.map(|set| format!("`{}`", set.name())).collect();
    if names.is_empty() {
        return format!(
            "no set of {} {width} chips is shipped: give the path of a set, which ends in `.toml`",
            standard.name()
        );
    }
    format!("the shipped sets of {} {width} chips are {}", standard.name(), names.join(", "))
}

impl Currents {
    /// The shipped set of that name: `2 Gb x8 -25E`.
    pub fn named(name: &str) -> Option<Currents> {
        // Only this set is parsed: each file has its name in a line of its own.
        let line = format!("name = {name:?}");
        texts().find(|text| text.lines().any(|other| other == line)).and_then(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_set_is_sound_and_is_found_by_its_name() {
        assert_eq!(shipped().count(), FILES.files().count(), "none is refused");
        for set in shipped() {
            assert_eq!(Currents::named(set.name()).as_ref(), Some(&set));
        }
        assert_eq!(Currents::named("2 Gb x8 -25"), None);
    }

    #[test]
    fn fitting_sets_are_of_the_standard_and_the_width() {
        assert_eq!(
            fitting(Standard::Ddr5, Width::X8),
            "the shipped sets of DDR5 x8 chips are `16 Gb x8 DDR5-4800 gem5`, `16 Gb x8 DDR5-4800 rev A`"
        );
        assert!(fitting(Standard::Ddr5, Width::X4).starts_with("no set of DDR5 x4 chips is shipped"));
    }
}
