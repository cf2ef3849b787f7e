//! Supply currents of a chip, as in datasheets, and the energy of its commands.

use std::borrow::Cow;

use dram_spec::{Chip, Cycles, Density, Picojoule, SpeedBin, Standard, Width};
use serde::Deserialize;

use crate::counts::PowerState;

/// A current set in a user's notation, not validated. Currents are those of one chip, in mA.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RawCurrents {
    /// Name in reports: "2 Gb x8 -25E".
    pub name: Cow<'static, str>,
    /// Speed bin of the measurement: "800E".
    pub bin: Cow<'static, str>,
    /// Gigabits of a chip: 1, 2, 4 or 8.
    pub density_gb: f64,
    /// Data pins of a chip: 4, 8 or 16.
    pub width: u64,
    /// Supply voltage, V.
    pub vdd_v: f64,
    /// One bank, ACT to PRE, repeated at tRC.
    pub idd0_ma: f64,
    /// Precharge power-down, slow exit.
    pub idd2p0_ma: Option<f64>,
    /// Precharge power-down, fast exit.
    pub idd2p1_ma: Option<f64>,
    /// Precharged standby.
    pub idd2n_ma: f64,
    /// Active power-down.
    pub idd3p_ma: Option<f64>,
    /// Active standby.
    pub idd3n_ma: f64,
    /// Continuous read bursts.
    pub idd4r_ma: f64,
    /// Continuous write bursts.
    pub idd4w_ma: f64,
    /// Continuous refresh at tRFC.
    pub idd5b_ma: f64,
    /// Self-refresh.
    pub idd6_ma: Option<f64>,
    /// Source of the numbers.
    pub source: Cow<'static, str>,
    /// Remark on the numbers.
    pub note: Option<Cow<'static, str>>,
}

/// Reason why a current set is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurrentsError {
    /// The bin is not in the standard.
    #[error("`bin` is \"{found}\", which is no speed bin")]
    Bin {
        /// Value found.
        found: String,
    },
    /// The density is not supported.
    #[error("`density_gb` is {found}, but must be {}", densities(*.standard))]
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
}

/// The densities of a standard, in Gb: "1, 2, 4 or 8".
fn densities(standard: Standard) -> String {
    let densities: Vec<_> = standard.definition().densities().iter().map(|one| one.gigabits().to_string()).collect();
    let (last, others) = densities.split_last().expect("a standard has chips");
    format!("{} or {last}", others.join(", "))
}

impl CurrentsError {
    /// The key that is the cause.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Bin { .. } => "bin",
            Self::Density { .. } => "density_gb",
            Self::Width { .. } => "width",
            Self::NotPositive { key, .. } | Self::TooSmall { key, .. } => key,
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Bin { .. } => {
                let names: Vec<_> = Standard::all_bins().map(|bin| bin.name).collect();
                format!("try one of {}", names.join(", "))
            }
            Self::Density { .. } => "try `density_gb = 2`".to_owned(),
            Self::Width { .. } => "try `width = 8`".to_owned(),
            Self::NotPositive { key, .. } => {
                format!("take `{key}` from the datasheet: V for the voltage, mA of one chip for currents")
            }
            Self::TooSmall { key, .. } => {
                format!(
                    "check `{key}` against `idd2n_ma` and `idd3n_ma`: all must be of the same part, and of one chip"
                )
            }
        }
    }
}

/// A validated current set: every current is positive, and every command takes more energy than
/// standby.
#[derive(Clone, Debug, PartialEq)]
pub struct Currents {
    raw: RawCurrents,
    bin: &'static SpeedBin,
    chip: &'static Chip,
}

impl TryFrom<RawCurrents> for Currents {
    type Error = CurrentsError;

    fn try_from(raw: RawCurrents) -> Result<Self, CurrentsError> {
        let bin =
            SpeedBin::named(&raw.bin).ok_or_else(|| CurrentsError::Bin { found: raw.bin.clone().into_owned() })?;
        let width = Width::from_pins(raw.width).ok_or(CurrentsError::Width { found: raw.width })?;
        let chip = Density::from_gigabits(raw.density_gb).and_then(|density| bin.standard.chip(density, width));
        let chip = chip.ok_or_else(|| CurrentsError::Density { found: raw.density_gb, standard: bin.standard })?;
        let numbers = [
            ("vdd_v", Some(raw.vdd_v)),
            ("idd0_ma", Some(raw.idd0_ma)),
            ("idd2p0_ma", raw.idd2p0_ma),
            ("idd2p1_ma", raw.idd2p1_ma),
            ("idd2n_ma", Some(raw.idd2n_ma)),
            ("idd3p_ma", raw.idd3p_ma),
            ("idd3n_ma", Some(raw.idd3n_ma)),
            ("idd4r_ma", Some(raw.idd4r_ma)),
            ("idd4w_ma", Some(raw.idd4w_ma)),
            ("idd5b_ma", Some(raw.idd5b_ma)),
            ("idd6_ma", raw.idd6_ma),
        ];
        for (key, found) in numbers {
            if let Some(found) = found.filter(|found| !found.is_finite() || *found <= 0.0) {
                return Err(CurrentsError::NotPositive { key, found });
            }
        }
        let currents = Currents { raw, bin, chip };
        let RawCurrents { idd0_ma, idd3n_ma, idd4r_ma, idd4w_ma, idd5b_ma, .. } = currents.raw;
        let above_standby = [
            ("idd0_ma", idd0_ma, currents.standby_of_a_row_cycle_ma(), "an activation"),
            ("idd4r_ma", idd4r_ma, idd3n_ma, "a read"),
            ("idd4w_ma", idd4w_ma, idd3n_ma, "a write"),
            ("idd5b_ma", idd5b_ma, idd3n_ma, "a refresh"),
        ];
        for (key, found, least, command) in above_standby {
            if found <= least {
                return Err(CurrentsError::TooSmall { key, found, least, command });
            }
        }
        Ok(currents)
    }
}

impl Currents {
    /// Name in reports.
    pub fn name(&self) -> &str {
        &self.raw.name
    }
    /// Speed bin of the measurement.
    pub const fn bin(&self) -> &'static SpeedBin {
        self.bin
    }
    /// The chip.
    pub const fn chip(&self) -> &'static Chip {
        self.chip
    }
    /// Density of a chip.
    pub const fn density(&self) -> Density {
        self.chip.density
    }
    /// Data pins of a chip.
    pub const fn width(&self) -> Width {
        self.chip.width
    }
    /// The set in the user's notation: currents, voltage, source.
    pub const fn raw(&self) -> &RawCurrents {
        &self.raw
    }

    /// The supply current of a state, mA, if the set has it.
    pub const fn milliamperes(&self, state: PowerState) -> Option<f64> {
        match state {
            PowerState::ActiveStandby => Some(self.raw.idd3n_ma),
            PowerState::PrechargedStandby => Some(self.raw.idd2n_ma),
            PowerState::ActivePowerDown => self.raw.idd3p_ma,
            PowerState::FastPowerDown => self.raw.idd2p1_ma,
            PowerState::SlowPowerDown => self.raw.idd2p0_ma,
            PowerState::SelfRefresh => self.raw.idd6_ma,
        }
    }

    fn t_rc(&self) -> Cycles {
        self.bin.clock.at_least(self.bin.t_rc)
    }

    fn t_ras(&self) -> Cycles {
        self.bin.clock.at_least(self.bin.t_ras)
    }

    /// Mean standby current of one row cycle, mA: IDD3N for tRAS, IDD2N for the rest of tRC.
    fn standby_of_a_row_cycle_ma(&self) -> f64 {
        let (t_rc, t_ras) = (self.t_rc(), self.t_ras());
        (self.raw.idd3n_ma * t_ras.0 as f64 + self.raw.idd2n_ma * (t_rc - t_ras).0 as f64) / t_rc.0 as f64
    }

    /// Energy of a current, without the standby current, over a number of clocks of the set's bin.
    fn above(&self, ma: f64, standby_ma: f64, time: Cycles) -> Picojoule {
        Picojoule(self.raw.vdd_v * (ma - standby_ma) * self.bin.clock.ns(time))
    }

    /// `E_ACT+PRE` of one chip: VDD (IDD0 tRC - IDD3N tRAS - IDD2N (tRC - tRAS)).
    /// `2 Gb x8 -25E`: 1.5 x (100 x 52.5 - 65 x 37.5 - 50 x 15) = 3093.75 pJ.
    pub fn activate(&self) -> Picojoule {
        self.above(self.raw.idd0_ma, self.standby_of_a_row_cycle_ma(), self.t_rc())
    }

    /// `E_RD` of one chip: VDD (IDD4R - IDD3N) BL/2 tCK. `2 Gb x8 -25E`: 1.5 x 130 x 10 = 1950 pJ.
    pub fn read(&self) -> Picojoule {
        self.above(self.raw.idd4r_ma, self.raw.idd3n_ma, self.bin.standard.definition().burst)
    }

    /// `E_WR` of one chip: VDD (IDD4W - IDD3N) BL/2 tCK. `2 Gb x8 -25E`: 1.5 x 165 x 10 = 2475 pJ.
    pub fn write(&self) -> Picojoule {
        self.above(self.raw.idd4w_ma, self.raw.idd3n_ma, self.bin.standard.definition().burst)
    }

    /// `E_REF` of one chip: VDD (IDD5B - IDD3N) tRFC. `2 Gb x8 -25E`: 1.5 x 210 x 160 = 50,400 pJ.
    pub fn refresh(&self) -> Picojoule {
        self.above(self.raw.idd5b_ma, self.raw.idd3n_ma, self.bin.clock.at_least(self.chip.t_rfc[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> RawCurrents {
        RawCurrents {
            name: "2 Gb x8 -25E".into(),
            bin: "800E".into(),
            density_gb: 2.0,
            width: 8,
            vdd_v: 1.5,
            idd0_ma: 100.0,
            idd2p0_ma: Some(10.0),
            idd2p1_ma: None,
            idd2n_ma: 50.0,
            idd3p_ma: Some(45.0),
            idd3n_ma: 65.0,
            idd4r_ma: 195.0,
            idd4w_ma: 230.0,
            idd5b_ma: 275.0,
            idd6_ma: Some(9.0),
            source: "DRAMSim2".into(),
            note: None,
        }
    }

    #[test]
    fn a_chip_takes_what_the_formulas_give() {
        let currents = Currents::try_from(raw()).unwrap();
        let energies = [currents.activate(), currents.read(), currents.write(), currents.refresh()];
        for (found, worked_out) in energies.into_iter().zip([3093.75, 1950.0, 2475.0, 50_400.0]) {
            assert!((found.0 - worked_out).abs() < 1e-9 * worked_out, "{found:?}, not {worked_out}");
        }
    }

    #[test]
    fn an_invalid_set_names_the_key_and_a_remedy() {
        let check = |raw: RawCurrents, message: &str, help: &str| {
            let error = Currents::try_from(raw).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(message.starts_with(&format!("`{}`", error.key())));
            assert!(error.help().contains(help), "{}", error.help());
        };
        check(RawCurrents { bin: "1600Z".into(), ..raw() }, "`bin` is \"1600Z\", which is no speed bin", "1600K");
        check(
            RawCurrents { density_gb: 3.0, ..raw() },
            "`density_gb` is 3, but must be 1, 2, 4 or 8",
            "density_gb = 2",
        );
        check(RawCurrents { width: 64, ..raw() }, "`width` is 64, but must be 4, 8 or 16", "width = 8");
        check(RawCurrents { vdd_v: 0.0, ..raw() }, "`vdd_v` is 0, but must be a positive number", "datasheet");
        let not_a_number = RawCurrents { idd6_ma: Some(f64::NAN), ..raw() };
        check(not_a_number, "`idd6_ma` is NaN, but must be a positive number", "idd6_ma");
        let endless = RawCurrents { idd4r_ma: f64::INFINITY, ..raw() };
        check(endless, "`idd4r_ma` is inf, but must be a positive number", "idd4r_ma");
        // (65 x 15 + 50 x 6) / 21 = 60.71
        let idle = "`idd0_ma` is 60, but must be more than 60.71: else an activation would take no dynamic energy";
        check(RawCurrents { idd0_ma: 60.0, ..raw() }, idle, "idd3n_ma");
        for (key, set, command) in [
            ("idd4r_ma", RawCurrents { idd4r_ma: 65.0, ..raw() }, "a read"),
            ("idd4w_ma", RawCurrents { idd4w_ma: 65.0, ..raw() }, "a write"),
            ("idd5b_ma", RawCurrents { idd5b_ma: 65.0, ..raw() }, "a refresh"),
        ] {
            let message =
                format!("`{key}` is 65, but must be more than 65.00: else {command} would take no dynamic energy");
            check(set, &message, "of the same part");
        }
    }
}
