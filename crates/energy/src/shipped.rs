//! The shipped current sets: the files of `configs/currents`.

use dram_spec::{Standard, Width};

use crate::currents::Currents;
use crate::raw_currents::RawCurrents;

macro_rules! texts {
    ($($name:literal),+ $(,)?) => {
        &[$(include_str!(concat!("../../../configs/currents/", $name, ".toml"))),+]
    };
}

/// Texts of the sets by standard, those of a standard in the order of their file names. Each names its source;
/// `docs/energy.md` explains their selection.
const TEXTS: &[&str] = texts![
    "1gb-x16-ddr2-400-rev-e",
    "1gb-x16-ddr2-800-h-die",
    "1gb-x4-ddr2-800-25e",
    "1gb-x8-ddr2-667-3e",
    "256mb-x8-ddr2-400",
    "2gb-x8-ddr2-400",
    "1gb-x16-15",
    "1gb-x16-g-die-1066",
    "1gb-x16-k4b1g1646e-1600",
    "1gb-x4-125",
    "1gb-x4-15",
    "1gb-x8-g-die-1066",
    "1gb-x8-g-die-1600",
    "1gb-x8-g-die-800",
    "2gb-x16-d-die-1600",
    "2gb-x8-15",
    "2gb-x8-25e",
    "2gb-x8-d-die-1066",
    "2gb-x8-early-die-1066",
    "2gb-x8-early-die-1333",
    "2gb-x8-m-die-1066",
    "2gb-x8-m-die-1333",
    "2gb-x8-m-die-1600",
    "4gb-x16-1600",
    "4gb-x16-k4b4g1646q-1066",
    "4gb-x4-1600",
    "4gb-x8-1866",
    "4gb-x8-2133",
    "4gb-x8-ej-die-1600",
    "8gb-x16-1600",
    "8gb-x8-1600",
    "4gb-x16-ddr4-2400-rev-b",
    "4gb-x4-ddr4-2400-rev-b",
    "4gb-x8-ddr4-1866-rev-a",
    "4gb-x8-ddr4-2133-rev-b",
    "4gb-x8-ddr4-2400-rev-a",
    "4gb-x8-ddr4-2400-rev-b",
    "4gb-x8-ddr4-2666-rev-b",
    "8gb-x16-ddr4-2400-rev-b",
    "8gb-x16-ddr4-3200-rev-g",
    "8gb-x16-ddr4-3200",
    "8gb-x4-ddr4-2400-rev-b",
    "8gb-x8-ddr4-2400-rev-b",
    "8gb-x8-ddr4-2666-rev-d",
    "8gb-x8-ddr4-2933-rev-d",
    "8gb-x8-ddr4-3200-rev-d",
    "8gb-x8-ddr4-3200-rev-g",
    "16gb-x8-ddr5-4800-gem5",
    "16gb-x8-ddr5-4800-rev-a",
];

/// A set of a text. Every file is valid, which a test shows.
fn parsed(text: &str) -> Option<Currents> {
    Currents::try_from(toml::from_str::<RawCurrents>(text).ok()?).ok()
}

/// The shipped sets.
pub fn shipped() -> impl Iterator<Item = Currents> {
    TEXTS.iter().filter_map(|text| parsed(text))
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
        TEXTS.iter().find(|text| text.lines().any(|other| other == line)).and_then(|text| parsed(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_set_is_sound_and_is_found_by_its_name() {
        assert_eq!(shipped().count(), TEXTS.len(), "none is refused");
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
