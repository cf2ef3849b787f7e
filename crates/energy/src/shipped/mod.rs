//! The shipped current sets, as constants: the values of `configs/currents`, whose files a test
//! compares with them.

mod ddr2;
mod ddr3;
mod ddr4;
mod ddr5;

use dram_spec::{Standard, Width};

use crate::currents::Currents;
use crate::raw_currents::RawCurrents;

/// A shipped set: the fields of [`RawCurrents`], as constants.
#[derive(Clone, Copy)]
struct Shipped {
    name: &'static str,
    bin: &'static str,
    density_gb: f64,
    width: u64,
    vdd_v: f64,
    vpp_v: Option<f64>,
    idd0_ma: f64,
    ipp0_ma: Option<f64>,
    idd2p0_ma: Option<f64>,
    idd2p1_ma: Option<f64>,
    idd2n_ma: f64,
    idd3p0_ma: Option<f64>,
    idd3p_ma: Option<f64>,
    idd3n_ma: f64,
    ipp3n_ma: Option<f64>,
    idd4r_ma: f64,
    idd4w_ma: f64,
    idd5b_ma: Option<f64>,
    idd5r_ma: Option<f64>,
    idd5f_ma: Option<f64>,
    idd5c_ma: Option<f64>,
    ipp5b_ma: Option<f64>,
    ipp5r_ma: Option<f64>,
    idd6_ma: Option<f64>,
    ipp6_ma: Option<f64>,
    source: &'static str,
    note: Option<&'static str>,
}

/// A set without any current, for what a set does not have.
const NONE: Shipped = Shipped {
    name: "",
    bin: "",
    density_gb: 0.0,
    width: 0,
    vdd_v: 0.0,
    vpp_v: None,
    idd0_ma: 0.0,
    ipp0_ma: None,
    idd2p0_ma: None,
    idd2p1_ma: None,
    idd2n_ma: 0.0,
    idd3p0_ma: None,
    idd3p_ma: None,
    idd3n_ma: 0.0,
    ipp3n_ma: None,
    idd4r_ma: 0.0,
    idd4w_ma: 0.0,
    idd5b_ma: None,
    idd5r_ma: None,
    idd5f_ma: None,
    idd5c_ma: None,
    ipp5b_ma: None,
    ipp5r_ma: None,
    idd6_ma: None,
    ipp6_ma: None,
    source: "",
    note: None,
};

/// The shipped sets of all standards, each in the order of their file names. Each names its source;
/// `docs/energy.md` explains their selection.
fn sets() -> impl Iterator<Item = &'static Shipped> {
    [ddr2::SETS, ddr3::SETS, ddr4::SETS, ddr5::SETS].into_iter().flatten()
}

impl From<&Shipped> for RawCurrents {
    fn from(set: &Shipped) -> RawCurrents {
        RawCurrents {
            name: set.name.into(),
            bin: set.bin.into(),
            density_gb: set.density_gb,
            width: set.width,
            vdd_v: set.vdd_v,
            vpp_v: set.vpp_v,
            idd0_ma: set.idd0_ma,
            ipp0_ma: set.ipp0_ma,
            idd2p0_ma: set.idd2p0_ma,
            idd2p1_ma: set.idd2p1_ma,
            idd2n_ma: set.idd2n_ma,
            idd3p0_ma: set.idd3p0_ma,
            idd3p_ma: set.idd3p_ma,
            idd3n_ma: set.idd3n_ma,
            ipp3n_ma: set.ipp3n_ma,
            idd4r_ma: set.idd4r_ma,
            idd4w_ma: set.idd4w_ma,
            idd5b_ma: set.idd5b_ma,
            idd5r_ma: set.idd5r_ma,
            idd5f_ma: set.idd5f_ma,
            idd5c_ma: set.idd5c_ma,
            ipp5b_ma: set.ipp5b_ma,
            ipp5r_ma: set.ipp5r_ma,
            idd6_ma: set.idd6_ma,
            ipp6_ma: set.ipp6_ma,
            source: set.source.into(),
            note: set.note.map(Into::into),
        }
    }
}

/// The shipped sets, checked.
pub fn shipped() -> impl Iterator<Item = Currents> {
    sets().filter_map(|set| Currents::try_from(RawCurrents::from(set)).ok())
}

/// Names of the shipped sets.
pub fn names() -> impl Iterator<Item = &'static str> {
    sets().map(|set| set.name)
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
        let set = sets().find(|set| set.name == name)?;
        Currents::try_from(RawCurrents::from(set)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_set_is_sound_and_is_found_by_its_name() {
        assert_eq!(shipped().count(), names().count(), "none is refused");
        for set in sets() {
            assert_eq!(Currents::named(set.name).map(|set| set.raw().clone()), Some(RawCurrents::from(set)));
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
