//! Supply currents of a chip in a user's notation.

use dram_spec::{SpeedBin, Standard};
use serde::Deserialize;

/// A current set in a user's notation, not validated. Currents are those of one chip, in mA.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RawCurrents {
    /// Name in reports: "2 Gb x8 -25E".
    pub name: String,
    /// Speed bin of the measurement: "800E".
    pub bin: String,
    /// Gigabits of a chip: one of the densities of the bin's standard.
    pub density_gb: f64,
    /// Data pins of a chip: 4, 8 or 16.
    pub width: u64,
    /// Supply voltage VDD, V.
    pub vdd_v: f64,
    /// Voltage of the word-line supply VPP, V, where the chip has one.
    pub vpp_v: Option<f64>,
    /// One bank, ACT to PRE, repeated at tRC.
    pub idd0_ma: f64,
    /// IPP0: the same, on VPP.
    pub ipp0_ma: Option<f64>,
    /// Precharge power-down, slow exit.
    pub idd2p0_ma: Option<f64>,
    /// Precharge power-down, fast exit; IDD2P where there is one exit.
    pub idd2p1_ma: Option<f64>,
    /// Precharged standby.
    pub idd2n_ma: f64,
    /// Active power-down, slow exit, where there is one.
    pub idd3p0_ma: Option<f64>,
    /// Active power-down; with two exits, the fast one.
    pub idd3p_ma: Option<f64>,
    /// Active standby, all banks open.
    pub idd3n_ma: f64,
    /// IPP3N, which stands for all standby, power-down and burst states on VPP.
    pub ipp3n_ma: Option<f64>,
    /// Continuous read bursts.
    pub idd4r_ma: f64,
    /// Continuous write bursts.
    pub idd4w_ma: f64,
    /// REF every tRFC.
    pub idd5b_ma: Option<f64>,
    /// REF every tREFI, which newer datasheets have instead of IDD5B.
    pub idd5r_ma: Option<f64>,
    /// REF of fine granularity, every tRFC2.
    pub idd5f_ma: Option<f64>,
    /// `REFsb` every tRFCsb.
    pub idd5c_ma: Option<f64>,
    /// IPP5B: REF every tRFC, on VPP.
    pub ipp5b_ma: Option<f64>,
    /// IPP5R: REF every tREFI, on VPP.
    pub ipp5r_ma: Option<f64>,
    /// Self-refresh.
    pub idd6_ma: Option<f64>,
    /// IPP6: self-refresh, on VPP; without it, IPP3N.
    pub ipp6_ma: Option<f64>,
    /// Source of the numbers.
    pub source: String,
    /// Remark on the numbers.
    pub note: Option<String>,
}

/// Values of keys, beside their names; of optional keys as of the others.
macro_rules! given {
    ($raw:ident: $($key:ident)+) => { [$((stringify!($key), Option::<f64>::from($raw.$key))),+] };
}
pub(crate) use given;

impl RawCurrents {
    /// Voltages and currents by key, as far as they are given.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let numbers = given![
            self:
            vdd_v vpp_v idd0_ma ipp0_ma idd2p0_ma idd2p1_ma idd2n_ma idd3p0_ma idd3p_ma idd3n_ma
            ipp3n_ma idd4r_ma idd4w_ma idd5b_ma idd5r_ma idd5f_ma idd5c_ma ipp5b_ma ipp5r_ma idd6_ma
            ipp6_ma
        ];
        numbers.into_iter().filter_map(|(key, found)| Some((key, found?)))
    }

    /// Checks that the keys about VPP come together, and that each supply has one refresh current.
    pub(crate) fn check_keys(&self) -> Result<(), CurrentsError> {
        let vpp = given![self: vpp_v ipp0_ma ipp3n_ma];
        let optional = given![self: ipp5b_ma ipp5r_ma ipp6_ma];
        let given = vpp.into_iter().chain(optional).find(|(_, found)| found.is_some());
        let missing = vpp.into_iter().find(|(_, found)| found.is_none());
        if let (Some((given, _)), Some((key, _))) = (given, missing) {
            return Err(CurrentsError::Missing { key, given });
        }
        for (key, other, both) in [
            ("idd5r_ma", "idd5b_ma", self.idd5b_ma.and(self.idd5r_ma)),
            ("ipp5r_ma", "ipp5b_ma", self.ipp5b_ma.and(self.ipp5r_ma)),
        ] {
            if both.is_some() {
                return Err(CurrentsError::Both { key, other });
            }
        }
        Ok(())
    }
}

/// Reason why a current set is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurrentsError {
    /// The bin is in no standard.
    #[error("`bin` is \"{found}\", which is no speed bin")]
    Bin {
        /// Value found.
        found: String,
    },
    /// The bin is a data rate without latencies, and thus without a row cycle.
    #[error("`bin` is \"{}\", a data rate without latencies of its own", .bin.name)]
    Rate {
        /// Bin found.
        bin: &'static SpeedBin,
    },
    /// The standard of the bin has no such chip.
    #[error("`density_gb` is {found}, but must be {}", .standard.definition().densities_in_words())]
    Density {
        /// Value found.
        found: f64,
        /// Standard of the bin.
        standard: Standard,
    },
    /// Chips do not have this width.
    #[error("`width` is {found}, but must be 4, 8 or 16")]
    Width {
        /// Value found.
        found: u64,
    },
    /// A voltage or current is not a positive number.
    #[error("`{key}` is {found}, but must be a positive number")]
    NotPositive {
        /// Key.
        key: &'static str,
        /// Value found.
        found: f64,
    },
    /// A key is missing that another key needs.
    #[error("`{key}` is missing, but `{given}` is given")]
    Missing {
        /// Missing key.
        key: &'static str,
        /// Key that needs it.
        given: &'static str,
    },
    /// Two keys of which a set has one at most.
    #[error("`{key}` is given beside `{other}`: only one of them can be the current of a refresh")]
    Both {
        /// Key.
        key: &'static str,
        /// Other key.
        other: &'static str,
    },
    /// A current with which a command would take no energy, or negative energy.
    #[error("`{key}` is {found}, but must be more than {least:.2}: else {command} would take no dynamic energy")]
    TooSmall {
        /// Key.
        key: &'static str,
        /// Value found.
        found: f64,
        /// Exclusive minimum: the standby current of that time, mA.
        least: f64,
        /// Command.
        command: &'static str,
    },
    /// A current of VPP below that of standby.
    #[error("`{key}` is {found}, but must be at least `ipp3n_ma`, {least}")]
    BelowStandby {
        /// Key.
        key: &'static str,
        /// Value found.
        found: f64,
        /// IPP3N, mA.
        least: f64,
    },
}

impl CurrentsError {
    /// The key that is the cause.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Bin { .. } | Self::Rate { .. } => "bin",
            Self::Density { .. } => "density_gb",
            Self::Width { .. } => "width",
            // The file has no position of a missing key.
            Self::Missing { given, .. } => given,
            Self::NotPositive { key, .. }
            | Self::Both { key, .. }
            | Self::TooSmall { key, .. }
            | Self::BelowStandby { key, .. } => key,
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Bin { found } => format!("take the bin of the chip, {}", Standard::bins_in_words(found)),
            Self::Rate { bin } => {
                format!("add the latencies of the chip to its name, for example `{}`", bin.example_with_latencies())
            }
            Self::Density { standard, .. } => {
                let densities = standard.definition().densities();
                format!("try `density_gb = {}`", densities[1.min(densities.len() - 1)].gigabits())
            }
            Self::Width { .. } => "try `width = 8`".to_owned(),
            Self::NotPositive { key, .. } => {
                format!("take `{key}` from the datasheet: V for the voltage, mA of one chip for currents")
            }
            Self::Missing { key, given } => {
                format!("add `{key}` from the datasheet, or leave out all keys of VPP, such as `{given}`")
            }
            Self::Both { key, other } => {
                format!("leave out `{other}` if the datasheet repeats REF every tREFI, else `{key}`")
            }
            Self::TooSmall { key, .. } => {
                format!(
                    "check `{key}` against `idd2n_ma` and `idd3n_ma`: all must be of the same part, and of one chip"
                )
            }
            Self::BelowStandby { key, .. } => {
                format!("check `{key}` against `ipp3n_ma`: both must be of the same part, and of one chip")
            }
        }
    }
}
