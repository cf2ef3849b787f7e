//! Current sets: shipped sets by name, and files with the supply currents of a chip.

use std::path::Path;

use energy::{Currents, RawCurrents};

use crate::key::{Holds, Key};
use crate::{Document, Failure, suggestion};

/// A current or voltage that its reader checks.
const ANY: Holds = Holds::Number(f64::NEG_INFINITY, f64::INFINITY);

/// Keys of a current set.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("name", Holds::Text, "\"2 Gb x8 -25E\"", "name in reports"),
    Key::new("bin", Holds::Text, "\"800E\"", "speed bin in which the currents were measured"),
    Key::new("density_gb", Holds::Density, "2", "capacity of the chip, Gb"),
    Key::new("width", Holds::Count(0, u64::MAX), "8", "data pins of the chip").values("4, 8, 16"),
    Key::new("vdd_v", ANY, "1.5", "supply voltage, V"),
    Key::new("vpp_v", ANY, "2.5", "voltage of the word-line supply VPP, V; needs `ipp0_ma` and `ipp3n_ma`").or("no such supply"),
    Key::new("idd0_ma", ANY, "100.0", "one bank activated and precharged at tRC, mA of one chip, as all below"),
    Key::new("ipp0_ma", ANY, "4.0", "the same, on VPP").or("no such supply"),
    Key::new("idd2p0_ma", ANY, "10.0", "precharge power-down, slow exit").or("no such state"),
    Key::new("idd2p1_ma", ANY, "25.0", "precharge power-down, fast exit; IDD2P of chips with one exit").or("no such state"),
    Key::new("idd2n_ma", ANY, "50.0", "precharged standby"),
    Key::new("idd3p0_ma", ANY, "10.0", "active power-down, slow exit").or("no such state"),
    Key::new("idd3p_ma", ANY, "45.0", "active power-down, fast exit").or("no such state"),
    Key::new("idd3n_ma", ANY, "65.0", "active standby, all banks open"),
    Key::new("ipp3n_ma", ANY, "3.0", "all standby, power-down and burst states on VPP").or("no such supply"),
    Key::new("idd4r_ma", ANY, "195.0", "continuous reads"),
    Key::new("idd4w_ma", ANY, "230.0", "continuous writes"),
    Key::new("idd5b_ma", ANY, "275.0", "refresh at tRFC").or("`idd5r_ma`; without both, refresh must be off"),
    Key::new("idd5r_ma", ANY, "66.0", "refresh at tREFI, instead of `idd5b_ma`").or("`idd5b_ma`"),
    Key::new("idd5f_ma", ANY, "262.0", "refresh of fine granularity at its tRFC").or("the refresh divided by the refreshes per tREFI"),
    Key::new("idd5c_ma", ANY, "135.0", "REFsb at tRFCsb").or("a refresh of all banks divided by the banks of a group"),
    Key::new("ipp5b_ma", ANY, "28.0", "refresh at tRFC, on VPP").or("`ipp5r_ma`; without both, `ipp3n_ma`"),
    Key::new("ipp5r_ma", ANY, "5.0", "refresh at tREFI, on VPP").or("`ipp5b_ma`"),
    Key::new("idd6_ma", ANY, "9.0", "self-refresh").or("no such state"),
    Key::new("ipp6_ma", ANY, "5.0", "self-refresh, on VPP").or("`ipp3n_ma`"),
    Key::new("source", Holds::Text, "\"Micron datasheet, rev X, table Y\"", "source of the numbers"),
    Key::new("note", Holds::Text, "\"measured at 85 C\"", "limits of the numbers").or("none"),
];

/// The set that a command line names: a shipped one by its name, or a file ending in `.toml`.
///
/// # Errors
/// The set does not exist, or its file has an error.
pub fn named_or_read(found: &str) -> Result<Currents, Failure> {
    if is_file_name(found) {
        return read(Path::new(found));
    }
    named(found, |help| Failure::new(format!("\"{found}\" is no current set")).with_help(help))
}

/// The shipped set with a name; `unknown` creates the error from the help.
pub(crate) fn named(name: &str, unknown: impl FnOnce(String) -> Failure) -> Result<Currents, Failure> {
    if let Some(set) = Currents::named(name) {
        return Ok(set);
    }
    let sets: Vec<Currents> = energy::shipped().collect();
    let names: Vec<&str> = sets.iter().map(Currents::name).collect();
    let choices = suggestion::choices(name, "shipped sets", &names);
    Err(unknown(format!("{choices}; or give a path that ends in `.toml`")))
}

/// Whether the text names a file, not a shipped set.
pub(crate) fn is_file_name(text: &str) -> bool {
    Path::new(text).extension().is_some_and(|extension| extension == "toml")
}

/// The set of a file.
pub(crate) fn read(path: &Path) -> Result<Currents, Failure> {
    let mut document = Document::read(path, KEYS)?;
    document.check()?;
    let raw: RawCurrents = toml::Value::from(&document.root).try_into().map_err(|error| document.fault("", error))?;
    Currents::try_from(raw).map_err(|error| document.fault(error.key(), &error).with_help(error.help()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_set_is_answered_with_those_there_are() {
        let Failure { message, help, .. } = named_or_read("2 Gb x8 -25").unwrap_err();
        assert_eq!(message, "\"2 Gb x8 -25\" is no current set");
        let help = help.unwrap();
        assert!(help.starts_with("did you mean `2 Gb x8 -25E`? the shipped sets are `2 Gb x8 -15`, "), "{help}");
        assert!(help.ends_with("or give a path that ends in `.toml`"), "{help}");
    }
}
