//! Energy of the commands and states of a chip, from its supply currents.

use dram_spec::{
    Chip, Cycles, Density, Picojoule, PrechargePowerDown, RefreshMode, SlowExit, SpeedBin, Standard, Width,
};

use crate::counts::PowerState;
use crate::raw_currents::{CurrentsError, RawCurrents, given};

/// A validated current set: every current is positive, and every command takes more energy than
/// standby under the background model of the standard.
#[derive(Clone, Debug, PartialEq)]
pub struct Currents {
    raw: RawCurrents,
    bin: &'static SpeedBin,
    chip: &'static Chip,
}

/// Energy by supply.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerSupply {
    /// From VDD.
    pub vdd: Picojoule,
    /// From VPP; 0 for a chip without this supply.
    pub vpp: Picojoule,
}

impl PerSupply {
    /// Energy from both supplies.
    pub fn total(self) -> Picojoule {
        self.vdd + self.vpp
    }
}

impl TryFrom<RawCurrents> for Currents {
    type Error = CurrentsError;

    fn try_from(raw: RawCurrents) -> Result<Self, CurrentsError> {
        let bin = SpeedBin::named(&raw.bin).ok_or_else(|| CurrentsError::Bin { found: raw.bin.clone() })?;
        if !bin.has_latencies() {
            return Err(CurrentsError::Rate { bin });
        }
        let width = Width::from_pins(raw.width).ok_or(CurrentsError::Width { found: raw.width })?;
        let chip = Density::from_gigabits(raw.density_gb).and_then(|density| bin.standard.chip(density, width));
        let chip = chip.ok_or(CurrentsError::Density { found: raw.density_gb, standard: bin.standard })?;
        if let Some((key, found)) = raw.numbers().find(|(_, found)| !found.is_finite() || *found <= 0.0) {
            return Err(CurrentsError::NotPositive { key, found });
        }
        raw.check_keys()?;
        let currents = Currents { raw, bin, chip };
        currents.check_sizes()?;
        Ok(currents)
    }
}

impl Currents {
    /// Checks that each command takes energy beside its background.
    fn check_sizes(&self) -> Result<(), CurrentsError> {
        let RawCurrents { idd2n_ma, idd3n_ma, .. } = self.raw;
        let row_cycle = self.standby_of_a_row_cycle_ma(self.bin.standard.definition().background_rho);
        let above_standby = [
            ("idd0_ma", Some(self.raw.idd0_ma), row_cycle, "an activation"),
            ("idd4r_ma", Some(self.raw.idd4r_ma), idd3n_ma, "a read"),
            ("idd4w_ma", Some(self.raw.idd4w_ma), idd3n_ma, "a write"),
            ("idd5b_ma", self.raw.idd5b_ma, idd3n_ma, "a refresh"),
            ("idd5r_ma", self.raw.idd5r_ma, idd3n_ma, "a refresh"),
            ("idd5f_ma", self.raw.idd5f_ma, idd3n_ma, "a refresh of fine granularity"),
            ("idd5c_ma", self.raw.idd5c_ma, idd2n_ma, "a REFsb"),
        ];
        for (key, found, least, command) in above_standby {
            if let Some(found) = found.filter(|found| *found <= least) {
                return Err(CurrentsError::TooSmall { key, found, least, command });
            }
        }
        let raw = &self.raw;
        let vpp = given![raw: ipp0_ma ipp5b_ma ipp5r_ma ipp6_ma];
        let least = raw.ipp3n_ma.unwrap_or(0.0);
        match vpp.into_iter().find_map(|(key, found)| Some((key, found.filter(|found| *found < least)?))) {
            Some((key, found)) => Err(CurrentsError::BelowStandby { key, found, least }),
            None => Ok(()),
        }
    }

    /// Name in reports.
    pub fn name(&self) -> &str {
        &self.raw.name
    }
    /// Speed bin of the measurement.
    pub const fn bin(&self) -> &'static SpeedBin {
        self.bin
    }
    /// Standard of the chip.
    pub const fn standard(&self) -> Standard {
        self.bin.standard
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
    /// Whether the set is for a system's chips: of its standard and width.
    pub fn fits(&self, standard: Standard, width: Width) -> bool {
        self.standard() == standard && self.width() == width
    }

    /// The name of the supply current of a state, and its value, mA, if the set has it. `exit` is that
    /// of the power-down that has a slow exit.
    pub fn of_state(&self, state: PowerState, exit: PrechargePowerDown) -> (&'static str, Option<f64>) {
        let is_slow =
            self.standard().definition().slow_exit == Some(SlowExit::Active) && exit == PrechargePowerDown::SlowExit;
        let found = match state {
            PowerState::ActiveStandby => Some(self.raw.idd3n_ma),
            PowerState::PrechargedStandby => Some(self.raw.idd2n_ma),
            PowerState::ActivePowerDown if is_slow => return ("IDD3P0", self.raw.idd3p0_ma),
            PowerState::ActivePowerDown => self.raw.idd3p_ma,
            PowerState::FastPowerDown => self.raw.idd2p1_ma,
            PowerState::SlowPowerDown => self.raw.idd2p0_ma,
            PowerState::SelfRefresh => self.raw.idd6_ma,
        };
        (state.name(), found)
    }

    /// Power that a state draws from VPP, mW.
    pub fn vpp_mw(&self, state: PowerState) -> f64 {
        let RawCurrents { vpp_v, ipp3n_ma, ipp6_ma, .. } = self.raw;
        let ma = if state == PowerState::SelfRefresh { ipp6_ma.or(ipp3n_ma) } else { ipp3n_ma };
        vpp_v.zip(ma).map_or(0.0, |(volts, ma)| volts * ma)
    }

    fn t_rc(&self) -> Cycles {
        self.bin.clock.at_least(self.bin.t_rc)
    }

    fn t_ras(&self) -> Cycles {
        self.bin.clock.at_least(self.bin.t_ras)
    }

    /// Active standby current that does not depend on the number of open banks, mA: `I_rho` = IDD2N +
    /// rho (IDD3N - IDD2N).
    pub fn shared_standby_ma(&self, rho: f64) -> f64 {
        // With rho = 1, this is IDD3N to the last bit.
        self.raw.idd3n_ma - (1.0 - rho) * (self.raw.idd3n_ma - self.raw.idd2n_ma)
    }

    /// Active standby current with one bank open, mA: (IDD3N + (B - 1) `I_rho`) / B, of B banks.
    pub fn one_bank_standby_ma(&self, rho: f64) -> f64 {
        let shared = self.shared_standby_ma(rho);
        shared + (self.raw.idd3n_ma - shared) / f64::from(self.chip.banks())
    }

    /// Mean standby current of one row cycle, mA: that of one open bank for tRAS, IDD2N for the rest of
    /// tRC.
    fn standby_of_a_row_cycle_ma(&self, rho: f64) -> f64 {
        let (t_rc, t_ras) = (self.t_rc(), self.t_ras());
        let open = self.one_bank_standby_ma(rho);
        (open * t_ras.0 as f64 + self.raw.idd2n_ma * (t_rc - t_ras).0 as f64) / t_rc.0 as f64
    }

    /// Energy of a current of VDD, without the standby current, over a number of clocks of the set's bin.
    fn above(&self, ma: f64, standby_ma: f64, time: Cycles) -> Picojoule {
        Picojoule(self.raw.vdd_v * (ma - standby_ma) * self.bin.clock.ns(time))
    }

    /// Energy of a current of VPP without IPP3N; 0 if the set does not have it.
    fn above_on_vpp(&self, ma: Option<f64>, time: Cycles) -> Picojoule {
        let RawCurrents { vpp_v, ipp3n_ma, .. } = self.raw;
        let volts_and_ma = vpp_v.zip(ipp3n_ma).zip(ma);
        Picojoule(volts_and_ma.map_or(0.0, |((volts, standby), ma)| volts * (ma - standby) * self.bin.clock.ns(time)))
    }

    /// `E_ACT+PRE` of one chip: VDD (IDD0 tRC - `I_1` tRAS - IDD2N (tRC - tRAS)) + VPP (IPP0 - IPP3N) tRC,
    /// with the standby `I_1` of one open bank, which is IDD3N with rho = 1.
    /// `2 Gb x8 -25E`: 1.5 x (100 x 52.5 - 65 x 37.5 - 50 x 15) = 3093.75 pJ.
    pub fn activate(&self, rho: f64) -> PerSupply {
        let vdd = self.above(self.raw.idd0_ma, self.standby_of_a_row_cycle_ma(rho), self.t_rc());
        PerSupply { vdd, vpp: self.above_on_vpp(self.raw.ipp0_ma, self.t_rc()) }
    }

    /// `E_RD` of one chip: VDD (IDD4R - IDD3N) BL/2 tCK. `2 Gb x8 -25E`: 1.5 x 130 x 10 = 1950 pJ.
    pub fn read(&self) -> Picojoule {
        self.above(self.raw.idd4r_ma, self.raw.idd3n_ma, self.standard().definition().burst)
    }

    /// `E_WR` of one chip: VDD (IDD4W - IDD3N) BL/2 tCK. `2 Gb x8 -25E`: 1.5 x 165 x 10 = 2475 pJ.
    pub fn write(&self) -> Picojoule {
        self.above(self.raw.idd4w_ma, self.raw.idd3n_ma, self.standard().definition().burst)
    }

    /// tRFC of a mode at the set's bin.
    pub fn t_rfc(&self, mode: &RefreshMode) -> Cycles {
        self.bin.clock.at_least(self.chip.t_rfc[mode.duration])
    }

    /// tREFI of the standard at the set's bin.
    pub const fn t_refi(&self) -> Cycles {
        self.bin.clock.at_most(self.standard().definition().t_refi_ps)
    }

    /// `E_REF` of one chip: VDD (IDD5B - IDD3N) tRFC, or VDD (IDD5R - IDD3N) tREFI, and the same on VPP;
    /// `None` if the set has no refresh current.
    /// `2 Gb x8 -25E`: 1.5 x 210 x 160 = 50,400 pJ.
    pub fn refresh(&self) -> Option<PerSupply> {
        let (RawCurrents { idd5b_ma, idd5r_ma, ipp5b_ma, ipp5r_ma, idd3n_ma, .. }, t_refi) = (&self.raw, self.t_refi());
        let t_rfc = self.bin.clock.at_least(self.chip.t_rfc[0]);
        let vdd = match (idd5b_ma, idd5r_ma) {
            (Some(burst), _) => self.above(*burst, *idd3n_ma, t_rfc),
            (None, Some(regular)) => self.above(*regular, *idd3n_ma, t_refi),
            (None, None) => return None,
        };
        Some(PerSupply { vdd, vpp: self.above_on_vpp(*ipp5b_ma, t_rfc) + self.above_on_vpp(*ipp5r_ma, t_refi) })
    }

    /// Energy of one REF of all banks in a refresh mode: VDD (IDD5F - IDD3N) tRFC2 where the set has
    /// IDD5F, else `E_REF` divided by the REFs per tREFI.
    pub fn refresh_in(&self, mode: &RefreshMode) -> Option<PerSupply> {
        if mode.divisor == 1 {
            return self.refresh();
        }
        let parts = mode.divisor as f64;
        let whole = self.refresh();
        match self.raw.idd5f_ma {
            Some(fine) => Some(PerSupply {
                vdd: self.above(fine, self.raw.idd3n_ma, self.t_rfc(mode)),
                vpp: whole.map_or(Picojoule(0.0), |whole| whole.vpp * (1.0 / parts)),
            }),
            None => {
                whole.map(|PerSupply { vdd, vpp }| PerSupply { vdd: vdd * (1.0 / parts), vpp: vpp * (1.0 / parts) })
            }
        }
    }

    /// Energy of one `REFsb` in a refresh mode, beside precharged standby: VDD (IDD5C - IDD2N) tRFCsb where
    /// the set has IDD5C; else that of the mode's REF of all banks, beside precharged standby, divided by
    /// the banks of a group.
    pub fn refresh_same_bank(&self, mode: &RefreshMode) -> Option<PerSupply> {
        let RawCurrents { idd2n_ma, idd3n_ma, idd5c_ma, .. } = self.raw;
        let share = 1.0 / f64::from(self.chip.banks_per_group);
        let whole = self.refresh_in(mode);
        let vpp = whole.map_or(Picojoule(0.0), |whole| whole.vpp * share);
        if let Some(same_bank) = idd5c_ma {
            let t_rfc_sb = self.bin.clock.at_least(self.chip.t_rfc_sb);
            return Some(PerSupply { vdd: self.above(same_bank, idd2n_ma, t_rfc_sb), vpp });
        }
        let standby = self.above(idd3n_ma, idd2n_ma, self.t_rfc(mode));
        whole.map(|whole| PerSupply { vdd: (whole.vdd + standby) * share, vpp })
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
            vpp_v: None,
            idd0_ma: 100.0,
            ipp0_ma: None,
            idd2p0_ma: Some(10.0),
            idd2p1_ma: None,
            idd2n_ma: 50.0,
            idd3p0_ma: None,
            idd3p_ma: Some(45.0),
            idd3n_ma: 65.0,
            ipp3n_ma: None,
            idd4r_ma: 195.0,
            idd4w_ma: 230.0,
            idd5b_ma: Some(275.0),
            idd5r_ma: None,
            idd5f_ma: None,
            idd5c_ma: None,
            ipp5b_ma: None,
            ipp5r_ma: None,
            idd6_ma: Some(9.0),
            ipp6_ma: None,
            source: "DRAMSim2".into(),
            note: None,
        }
    }

    #[test]
    fn a_chip_takes_what_the_formulas_give() {
        let currents = Currents::try_from(raw()).unwrap();
        let energies =
            [currents.activate(1.0).total(), currents.read(), currents.write(), currents.refresh().unwrap().total()];
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
            ("idd5b_ma", RawCurrents { idd5b_ma: Some(65.0), ..raw() }, "a refresh"),
        ] {
            let message =
                format!("`{key}` is 65, but must be more than 65.00: else {command} would take no dynamic energy");
            check(set, &message, "of the same part");
        }
    }
}
