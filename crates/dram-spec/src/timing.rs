//! Timing parameters of a speed bin that a system replaces.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::datasheet::{BINS, SpeedBin};
use crate::units::{Cycles, Min};

/// A timing parameter that can be replaced, by its JEDEC name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are JEDEC's; `TimingParameter::name` spells them")]
pub enum TimingParameter {
    Cl,
    Cwl,
    Rcd,
    Rp,
    Ras,
    Rc,
    Rrd,
    Faw,
    Ccd,
    Wr,
    Wtr,
    Rtp,
    Xp,
    Xpdll,
    Cke,
    Rfc,
}

impl TimingParameter {
    /// All of them.
    #[rustfmt::skip]
    pub const ALL: [TimingParameter; 16] = [
        Self::Cl, Self::Cwl, Self::Rcd, Self::Rp, Self::Ras, Self::Rc, Self::Rrd, Self::Faw, Self::Ccd, Self::Wr, Self::Wtr,
        Self::Rtp, Self::Xp, Self::Xpdll, Self::Cke, Self::Rfc,
    ];

    /// Its JEDEC name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cl => "CL",
            Self::Cwl => "CWL",
            Self::Rcd => "tRCD",
            Self::Rp => "tRP",
            Self::Ras => "tRAS",
            Self::Rc => "tRC",
            Self::Rrd => "tRRD",
            Self::Faw => "tFAW",
            Self::Ccd => "tCCD",
            Self::Wr => "tWR",
            Self::Wtr => "tWTR",
            Self::Rtp => "tRTP",
            Self::Xp => "tXP",
            Self::Xpdll => "tXPDLL",
            Self::Cke => "tCKE",
            Self::Rfc => "tRFC",
        }
    }

    /// The smallest and the largest value in clocks: for CL and CWL what the mode registers can hold, for tCCD at least a burst.
    pub const fn range(self) -> (u64, u64) {
        match self {
            Self::Cl => (5, 16),
            Self::Cwl => (5, 12),
            Self::Ccd => (4, 256),
            Self::Rfc => (1, 1024),
            _ => (1, 256),
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

/// The bins with replaced parameters, by name. Each is kept until the program ends, so that systems refer to it as to any bin.
static REPLACED: Mutex<BTreeMap<String, &'static SpeedBin>> = Mutex::new(BTreeMap::new());

impl SpeedBin {
    /// This bin with some parameters replaced by clocks, and a name that lists them: `1066G[tRCD=9,tRP=9]`.
    ///
    /// tRRD and tFAW are replaced for both page sizes. tXS follows tRFC, and tRC is tRAS + tRP where one of these is
    /// replaced and tRC is not. Equal lists give the same bin.
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
        for (&parameter, &Cycles(n)) in replaced {
            bin.replace(parameter, n);
        }
        let replaces = |parameter| replaced.contains_key(&parameter);
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
        .find(|(_, found, _, least)| found < least)
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
            TimingParameter::Faw => (self.t_faw_1k, self.t_faw_2k) = (min, min),
            TimingParameter::Ccd => self.t_ccd = min,
            TimingParameter::Wr => self.t_wr = min,
            TimingParameter::Wtr => self.t_wtr = min,
            TimingParameter::Rtp => self.t_rtp = min,
            TimingParameter::Xp => self.t_xp = min,
            TimingParameter::Xpdll => self.t_xpdll = min,
            TimingParameter::Cke => self.t_cke = min,
            TimingParameter::Rfc => self.t_rfc = Some(min),
        }
    }

    /// The bin of that name, or the bin with replaced parameters that a name such as `1066G[tRCD=9]` describes.
    pub fn named(name: &str) -> Option<&'static SpeedBin> {
        let Some((base, list)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) else {
            return BINS.iter().find(|bin| bin.name == name);
        };
        let base = BINS.iter().find(|bin| bin.name == base)?;
        let mut replaced = BTreeMap::new();
        for entry in list.split(',') {
            let (parameter, n) = entry.split_once('=')?;
            let parameter = TimingParameter::ALL.into_iter().find(|known| known.name() == parameter)?;
            let (n, (least, most)): (u64, _) = (n.parse().ok()?, parameter.range());
            if !(least..=most).contains(&n) || replaced.insert(parameter, Cycles(n)).is_some() {
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

    #[test]
    fn a_replaced_parameter_is_the_only_difference() {
        for parameter in TimingParameter::ALL {
            let replaced = BTreeMap::from([(parameter, Cycles(parameter.range().1))]);
            let other = bin().with_timings(&replaced);
            assert_eq!(other.name, format!("1066G[{}={}]", parameter.name(), parameter.range().1));
            let n = parameter.range().1;
            let mut back = SpeedBin { name: bin().name, ..other.clone() };
            assert_ne!(&back, bin(), "{}", parameter.name());
            let own = |min: fn(&SpeedBin) -> Min| min(bin());
            match parameter {
                TimingParameter::Cl => back.cl = bin().cl,
                TimingParameter::Cwl => back.cwl = bin().cwl,
                TimingParameter::Rcd => back.t_rcd = own(|bin| bin.t_rcd),
                TimingParameter::Rp => (back.t_rp, back.t_rc) = (own(|bin| bin.t_rp), own(|bin| bin.t_rc)),
                TimingParameter::Ras => (back.t_ras, back.t_rc) = (own(|bin| bin.t_ras), own(|bin| bin.t_rc)),
                TimingParameter::Rc => back.t_rc = own(|bin| bin.t_rc),
                TimingParameter::Rrd => (back.t_rrd_1k, back.t_rrd_2k) = (bin().t_rrd_1k, bin().t_rrd_2k),
                TimingParameter::Faw => (back.t_faw_1k, back.t_faw_2k) = (bin().t_faw_1k, bin().t_faw_2k),
                TimingParameter::Ccd => back.t_ccd = own(|bin| bin.t_ccd),
                TimingParameter::Wr => back.t_wr = own(|bin| bin.t_wr),
                TimingParameter::Wtr => back.t_wtr = own(|bin| bin.t_wtr),
                TimingParameter::Rtp => back.t_rtp = own(|bin| bin.t_rtp),
                TimingParameter::Xp => back.t_xp = own(|bin| bin.t_xp),
                TimingParameter::Xpdll => back.t_xpdll = own(|bin| bin.t_xpdll),
                TimingParameter::Cke => back.t_cke = own(|bin| bin.t_cke),
                TimingParameter::Rfc => {
                    assert_eq!(back.t_rfc, Some(Min::ck(n)));
                    back.t_rfc = None;
                }
            }
            assert_eq!(&back, bin(), "{}", parameter.name());
        }
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
        assert!(BINS.iter().all(|bin| bin.contradiction().is_none()));
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
