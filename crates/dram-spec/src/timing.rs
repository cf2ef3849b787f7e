//! Timing parameters of a speed bin that a system replaces.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::standard::SpeedBin;
use crate::standard::Standard;
use crate::standard::ddr2::PAGE_MODE;
use crate::units::{Cycles, Min};

crate::named! {
    /// A timing parameter that can be replaced, by its JEDEC name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[expect(missing_docs, reason = "the names are JEDEC's; `TimingParameter::name` spells them")]
    pub enum TimingParameter {
        Cl = "CL",
        Cwl = "CWL",
        Rcd = "tRCD",
        Rp = "tRP",
        Ras = "tRAS",
        Rc = "tRC",
        Rrd = "tRRD",
        RrdL = "tRRD_L",
        Faw = "tFAW",
        Ccd = "tCCD",
        CcdL = "tCCD_L",
        CcdLWr = "tCCD_L_WR",
        Wr = "tWR",
        Wtr = "tWTR",
        WtrL = "tWTR_L",
        Rtp = "tRTP",
        Wpre = "tWPRE",
        Xp = "tXP",
        Xpdll = "tXPDLL",
        Cke = "tCKE",
        Rfc = "tRFC",
    }
}

impl TimingParameter {
    /// The smallest and the largest value in clocks: for CL and CWL what the mode registers can hold, for tCCD at least
    /// a burst.
    pub const fn range(self, standard: Standard) -> (u64, u64) {
        let standard = standard.definition();
        match self {
            Self::Cl => standard.cl,
            Self::Cwl => standard.cwl,
            Self::Wpre => (1, 2),
            Self::Ccd | Self::CcdL | Self::CcdLWr => (standard.burst.0, 256),
            Self::Rfc => (1, 4096),
            _ => (1, 256),
        }
    }

    /// Whether a bin has the parameter.
    pub fn is_in(self, bin: &SpeedBin) -> bool {
        let definition = bin.standard.definition();
        let has_groups = definition.chips.iter().any(|chip| chip.bank_groups > 1);
        match self {
            Self::RrdL | Self::CcdL | Self::CcdLWr | Self::WtrL => has_groups,
            Self::Wpre => bin.write_preamble_most > 1,
            Self::Xpdll => definition.slow_exit.is_some(),
            _ => true,
        }
    }
}

/// A timing parameter that is less than the parts of its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is {} clocks, but must be at least {parts}, {} clocks", .parameter.name(), .found.0, .least.0)]
pub struct Contradiction {
    /// The parameter.
    pub parameter: TimingParameter,
    /// Its value.
    pub found: Cycles,
    /// What it consists of at least, for messages.
    pub parts: &'static str,
    /// The sum of these.
    pub least: Cycles,
}

/// The bins with replaced parameters, by name. Each is kept until the program ends, so that systems refer to it as to
/// any bin.
static REPLACED: Mutex<BTreeMap<String, &'static SpeedBin>> = Mutex::new(BTreeMap::new());

impl SpeedBin {
    /// This bin with some parameters replaced by clocks, and a name that lists them: `1066G[tRCD=9,tRP=9]`.
    ///
    /// tRRD and tFAW are replaced for all page sizes. tXS follows tRFC, and tRC is tRAS + tRP where one of these is
    /// replaced and tRC is not. CWL follows CL in the standards that say so. With tWPRE 2, tWR and tWTR are a clock
    /// longer, and CWL two. Equal lists give the same bin.
    #[must_use]
    pub fn with_timings(&'static self, replaced: &BTreeMap<TimingParameter, Cycles>) -> &'static SpeedBin {
        if replaced.is_empty() {
            return self;
        }
        let list: Vec<String> = replaced.iter().map(|(parameter, n)| format!("{}={}", parameter.name(), n.0)).collect();
        let name = format!("{}[{}]", self.name, list.join(","));
        let mut known = REPLACED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bin) = known.get(&name) {
            return bin;
        }
        let mut bin = SpeedBin { name: Box::leak(name.clone().into_boxed_str()), ..self.clone() };
        // The preamble first, as it changes others.
        if let Some(&Cycles(n)) = replaced.get(&TimingParameter::Wpre) {
            bin.replace(TimingParameter::Wpre, n);
        }
        for (&parameter, &Cycles(n)) in replaced.iter().filter(|(parameter, _)| **parameter != TimingParameter::Wpre) {
            bin.replace(parameter, n);
        }
        let replaces = |parameter| replaced.contains_key(&parameter);
        if let Some(below) = bin.standard.definition().cwl_below_cl
            && replaces(TimingParameter::Cl)
            && !replaces(TimingParameter::Cwl)
        {
            bin.cwl = bin.cl - below;
        }
        // Without bank groups there is one value.
        if !TimingParameter::CcdL.is_in(&bin) {
            bin = bin.without_groups();
        }
        if (replaces(TimingParameter::Ras) || replaces(TimingParameter::Rp)) && !replaces(TimingParameter::Rc) {
            bin.t_rc = Min::ck(bin.ras_and_rp().0);
        }
        let bin: &'static SpeedBin = Box::leak(Box::new(bin));
        known.insert(name, bin);
        bin
    }

    /// tRAS + tRP, in clocks.
    fn ras_and_rp(&self) -> Cycles {
        self.clock.at_least(self.t_ras) + self.clock.at_least(self.t_rp)
    }

    /// The first timing parameter that contradicts others: a period that is shorter than its parts.
    pub fn contradiction(&self) -> Option<Contradiction> {
        let clocks = |min| self.clock.at_least(min);
        let (row_cycle, exit) = (self.ras_and_rp(), clocks(self.t_xp));
        [
            (TimingParameter::Rc, clocks(self.t_rc), "tRAS + tRP", row_cycle),
            (TimingParameter::Xpdll, clocks(self.t_xpdll), "tXP", exit),
        ]
        .into_iter()
        .find(|(parameter, found, _, least)| parameter.is_in(self) && found < least)
        .map(|(parameter, found, parts, least)| Contradiction { parameter, found, parts, least })
    }

    fn replace(&mut self, parameter: TimingParameter, n: u64) {
        let min = Min::ck(n);
        match parameter {
            TimingParameter::Cl => self.cl = n,
            TimingParameter::Cwl => self.cwl = n,
            TimingParameter::Rcd => self.t_rcd = min,
            TimingParameter::Rp => self.t_rp = min,
            TimingParameter::Ras => self.t_ras = min,
            TimingParameter::Rc => self.t_rc = min,
            TimingParameter::Rrd => (self.t_rrd_1k, self.t_rrd_2k) = (min, min),
            TimingParameter::RrdL => (self.t_rrd_l_1k, self.t_rrd_l_2k) = (min, min),
            TimingParameter::Faw => (self.t_faw_half_k, self.t_faw_1k, self.t_faw_2k) = (min, min, min),
            TimingParameter::Ccd => self.t_ccd = min,
            TimingParameter::CcdL => self.t_ccd_l = min,
            TimingParameter::CcdLWr => (self.t_ccd_l_wr, self.t_ccd_l_rmw) = (min, min),
            TimingParameter::Wr => self.t_wr = min,
            TimingParameter::Wtr => self.t_wtr = min,
            TimingParameter::WtrL => self.t_wtr_l = min,
            TimingParameter::Wpre => self.lengthen_write_preamble(n),
            TimingParameter::Rtp => self.t_rtp = min,
            TimingParameter::Xp => self.t_xp = min,
            TimingParameter::Xpdll => self.t_xpdll = min,
            TimingParameter::Cke => self.t_cke = min,
            TimingParameter::Rfc => self.t_rfc = Some(min),
        }
    }

    /// A write preamble of more clocks: tWR and tWTR grow with it, and CWL by two for each (JESD79-4, 4.20.1).
    fn lengthen_write_preamble(&mut self, n: u64) {
        let more = n.saturating_sub(self.write_preamble);
        for min in [&mut self.t_wr, &mut self.t_wtr, &mut self.t_wtr_l] {
            *min = Min::ck(self.clock.at_least(*min).0 + more);
        }
        self.cwl += 2 * more;
        self.write_preamble = n;
    }

    /// The clock of a page-mode memory, 66 2/3 MHz, in the place of a bin: `page-mode`. No command obeys its timings.
    pub fn page_mode() -> &'static SpeedBin {
        &PAGE_MODE
    }

    /// The bin of that name, or the bin with replaced parameters that a name such as `1066G[tRCD=9]` describes.
    pub fn named(name: &str) -> Option<&'static SpeedBin> {
        let Some((base, list)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) else {
            let page_mode = std::iter::once(SpeedBin::page_mode());
            return Standard::all_bins().chain(page_mode).find(|bin| bin.name == name);
        };
        let base = Standard::all_bins().find(|bin| bin.name == base)?;
        let mut replaced = BTreeMap::new();
        for entry in list.split(',') {
            let (parameter, n) = entry.split_once('=')?;
            let parameter = TimingParameter::ALL.into_iter().find(|known| known.name() == parameter)?;
            let (n, (least, most)): (u64, _) = (n.parse().ok()?, parameter.range(base.standard));
            if !parameter.is_in(base) || !(least..=most).contains(&n) || replaced.insert(parameter, Cycles(n)).is_some()
            {
                return None;
            }
        }
        Some(base.with_timings(&replaced)).filter(|bin| bin.name == name)
    }

    /// The parameters that were replaced, as the name lists them: `tRCD=9,tRP=9`.
    pub fn replaced(&self) -> Option<&'static str> {
        self.name.split_once('[').map(|(_, list)| list.trim_end_matches(']'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin() -> &'static SpeedBin {
        SpeedBin::named("1066G").unwrap()
    }

    /// The fields of a bin that a replaced parameter changes, besides the name.
    #[test]
    fn a_replaced_parameter_is_the_only_difference() {
        use TimingParameter as T;
        for base in [bin(), Standard::Ddr4.bin("2400R").unwrap(), Standard::Ddr5.bin("4800B").unwrap()] {
            let has_groups = T::CcdL.is_in(base);
            for parameter in T::ALL.into_iter().filter(|parameter| parameter.is_in(base)) {
                let n = parameter.range(base.standard).1;
                let other = base.with_timings(&BTreeMap::from([(parameter, Cycles(n))]));
                assert_eq!(other.name, format!("{}[{}={n}]", base.name, parameter.name()));
                let (one, other) = (fields(base), fields(other));
                let differ = one.iter().zip(&other).filter(|(one, other)| one != other).count() - 1;
                let expected = match parameter {
                    T::Cl if base.standard.definition().cwl_below_cl.is_some() => 2,
                    T::Rp | T::Ras | T::RrdL | T::CcdLWr => 2,
                    T::Rrd if has_groups => 2,
                    T::Rrd | T::Ccd | T::Wpre => 4 + u32::from(parameter == T::Wpre),
                    T::Faw => 3,
                    T::Wtr if !has_groups => 2,
                    _ => 1,
                };
                let expected = if parameter == T::Ccd && has_groups { 1 } else { expected };
                assert_eq!(differ, expected as usize, "{} {}", base.name, parameter.name());
            }
        }
    }

    /// The fields, each with its value.
    fn fields(bin: &SpeedBin) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for line in format!("{bin:#?}").lines() {
            match fields.last_mut() {
                Some(last) if line.starts_with("     ") || line == "    }," || line == "    )," => *last += line,
                _ => fields.push(line.to_owned()),
            }
        }
        fields
    }

    /// 1066G: tRAS 20, tRP 8, tRC 28, tXP 4, tXPDLL 13 clocks.
    #[test]
    fn trc_follows_tras_and_trp_unless_it_is_replaced() {
        use TimingParameter::{Ras, Rc, Rcd, Rp, Xp, Xpdll};

        let t_rc = |list: &[(TimingParameter, u64)]| {
            let bin = bin().with_timings(&list.iter().map(|&(parameter, n)| (parameter, Cycles(n))).collect());
            (bin.clock.at_least(bin.t_rc).0, bin.contradiction())
        };
        assert_eq!(t_rc(&[(Rcd, 30)]), (28, None));
        assert_eq!(t_rc(&[(Ras, 30)]), (38, None));
        assert_eq!(t_rc(&[(Rp, 3)]), (23, None));
        assert_eq!(t_rc(&[(Ras, 15), (Rp, 10)]), (25, None));
        assert_eq!(t_rc(&[(Rc, 28)]), (28, None));
        let short = Contradiction { parameter: Rc, found: Cycles(27), parts: "tRAS + tRP", least: Cycles(28) };
        assert_eq!(t_rc(&[(Rc, 27)]), (27, Some(short)));
        assert_eq!(short.to_string(), "tRC is 27 clocks, but must be at least tRAS + tRP, 28 clocks");
        assert_eq!(t_rc(&[(Ras, 21), (Rc, 28)]).1.unwrap().least, Cycles(29));
        assert_eq!(t_rc(&[(Xp, 13)]).1, None);
        let exit = t_rc(&[(Xpdll, 3)]).1.unwrap();
        assert_eq!((exit.parameter, exit.found, exit.parts, exit.least), (Xpdll, Cycles(3), "tXP", Cycles(4)));
        assert!(Standard::all_bins().all(|bin| bin.contradiction().is_none()));
    }

    #[test]
    fn a_name_gives_the_same_bin_again() {
        let replaced = BTreeMap::from([(TimingParameter::Rp, Cycles(9)), (TimingParameter::Rcd, Cycles(7))]);
        let one = bin().with_timings(&replaced);
        assert_eq!((one.name, one.latencies()), ("1066G[tRCD=7,tRP=9]", "8-7-9".to_owned()));
        assert_eq!((one.replaced(), bin().replaced()), (Some("tRCD=7,tRP=9"), None));
        assert!(std::ptr::eq(one, SpeedBin::named(one.name).unwrap()));
        assert!(std::ptr::eq(bin(), bin().with_timings(&BTreeMap::new())));
        for wrong in [
            "1066H[tRP=9]",
            "1066G[tRP=9",
            "1066G[tXX=9]",
            "1066G[tRP=0]",
            "1066G[tRP=9,tRCD=7]",
            "1066G[]",
            "1066G[CL=4]",
        ] {
            assert_eq!(SpeedBin::named(wrong), None, "{wrong}");
        }
    }
}
