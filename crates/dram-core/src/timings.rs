//! Datasheet minima, resolved to clocks of one system.

use dram_spec::{Clock, Cycles, Min, System};

dram_spec::named! {
    /// A timing parameter, by its JEDEC name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the names are JEDEC's; `P::name` spells them")]
    pub enum P {
        Rcd = "tRCD",
        Rp = "tRP",
        Rpa = "tRPA",
        Ras = "tRAS",
        Rc = "tRC",
        Ppd = "tPPD",
        Rrd = "tRRD",
        RrdL = "tRRD_L",
        Faw = "tFAW",
        Cl = "CL",
        Cwl = "CWL",
        Wpre = "tWPRE",
        Burst = "BL/2",
        Ccd = "tCCD",
        CcdL = "tCCD_L",
        /// tCCD_L of WR, DDR5's tCCD_L_WR2.
        CcdLWr = "tCCD_L_WR2",
        CcdLRmw = "tCCD_L_WR",
        Wr = "tWR",
        Wtr = "tWTR",
        WtrL = "tWTR_L",
        Rtp = "tRTP",
        Rtrs = "tRTRS",
        Rfc = "tRFC",
        RfcSb = "tRFCsb",
        RefSbRd = "tREFSBRD",
        Refi = "tREFI",
        /// Distance in which a REF of the refresh mode is due.
        RefInterval = "tREFI of the mode",
        /// A refresh interval, rounded up.
        RefiOnce = "1 tREFI",
        /// Two refresh intervals, rounded up.
        RefiTwice = "2 tREFI",
        RasMax = "tRAS max",
        Xp = "tXP",
        /// Slow exit of power-down to RD: DDR2's tXARDS.
        Xpdll = "tXPDLL",
        Cke = "tCKE",
        /// Minimum time in self-refresh.
        Ckesr = "tCKESR",
        Xs = "tXS",
        Dllk = "tDLLK",
        ActPden = "tACTPDEN",
        PrPden = "tPRPDEN",
        RefPden = "tREFPDEN",
        /// One clock.
        Clock = "1 nCK",
    }
}

/// All timing parameters of one system, in clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timings {
    clocks: [Cycles; P::ALL.len()],
    from_second_cycle: bool,
    clock: Clock,
}

impl Timings {
    /// Rounds the bin's minima up, and its maxima down, at the system's clock.
    pub fn new(system: &System) -> Timings {
        Timings {
            clocks: P::ALL.map(|parameter| resolve(parameter, system)),
            from_second_cycle: system.counts_from_second_cycle(),
            clock: system.clock(),
        }
    }

    /// Whether distances count from the second cycle of commands of two cycles.
    pub(crate) const fn counts_from_second_cycle(&self) -> bool {
        self.from_second_cycle
    }

    /// A parameter in clocks.
    #[inline]
    pub const fn get(&self, parameter: P) -> Cycles {
        self.clocks[parameter as usize]
    }

    /// Clock of the system.
    pub(crate) const fn clock(&self) -> Clock {
        self.clock
    }

    /// Clocks from a RD to the end of its data: CL + BL.
    pub fn read_data(&self) -> Cycles {
        self.get(P::Cl) + self.get(P::Burst)
    }

    /// Clocks from a WR to the start of its data: CWL.
    pub const fn write_latency(&self) -> Cycles {
        self.get(P::Cwl)
    }
}

fn resolve(parameter: P, system: &System) -> Cycles {
    let bin = system.bin;
    let page = system.geometry.page_bytes();
    let n = |min: Min| bin.clock.at_least(min);
    // The data bus is taken for a burst.
    let column = |min: Min| n(min).max(system.burst());
    match parameter {
        P::Rcd => n(bin.t_rcd),
        P::Rp => n(bin.t_rp),
        P::Rpa => n(bin.t_rp) + Cycles(system.geometry.chip().rpa_clocks),
        P::Ppd => n(bin.t_ppd),
        P::Ras => n(bin.t_ras),
        P::Rc => n(bin.t_rc),
        P::Rrd => n(bin.t_rrd(page)),
        P::RrdL => n(bin.t_rrd_l(page)),
        P::Faw => n(bin.t_faw(page)),
        P::Cl => Cycles(bin.cl),
        P::Cwl => Cycles(bin.cwl),
        P::Wpre => Cycles(bin.write_preamble),
        P::Burst => system.burst(),
        P::Ccd => column(bin.t_ccd),
        P::CcdL => column(bin.t_ccd_l),
        P::CcdLWr => column(bin.t_ccd_l_wr),
        P::CcdLRmw => column(bin.t_ccd_l_rmw),
        P::Wr => n(bin.t_wr),
        P::Wtr => n(bin.t_wtr),
        P::WtrL => n(bin.t_wtr_l),
        P::Rtp => n(bin.t_rtp),
        P::Rtrs => n(bin.t_rtrs),
        P::Rfc => n(system.t_rfc()),
        P::RfcSb => n(system.geometry.chip().t_rfc_sb),
        P::RefSbRd => n(bin.t_refsbrd),
        P::Refi => bin.clock.at_most(system.t_refi_ps()),
        P::RefInterval => system.refresh_interval(),
        P::RefiOnce => n(Min::ps(system.t_refi_ps())),
        P::RefiTwice => n(Min::ps(2 * system.t_refi_ps())),
        P::RasMax => bin.clock.at_most(system.standard().definition().t_ras_max_ps.unwrap_or(9 * system.t_refi_ps())),
        P::Xp => n(bin.t_xp),
        P::Xpdll => n(bin.t_xpdll),
        P::Cke => n(bin.t_cke),
        P::Ckesr => bin.n_ckesr(),
        P::Xs => n(system.t_xs()),
        P::Dllk => n(bin.t_dllk),
        P::ActPden | P::PrPden | P::RefPden => n(bin.t_pden),
        P::Clock => Cycles(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_listed_in_the_order_of_their_discriminants() {
        assert!(P::ALL.iter().enumerate().all(|(index, &parameter)| parameter as usize == index));
    }
}
