//! Datasheet minima resolved to clocks of one system.

use dram_spec::datasheet::BURST;
use dram_spec::{Cycles, Min, System};

/// A timing parameter, by its JEDEC name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are JEDEC's; `P::name` spells them")]
pub enum P {
    Rcd,
    Rp,
    Ras,
    Rc,
    Rrd,
    Faw,
    Cl,
    Cwl,
    Burst,
    Ccd,
    Wr,
    Wtr,
    Rtp,
    Rtrs,
    Rfc,
    Refi,
    Xp,
    Xpdll,
    Cke,
    Ckesr,
    Xs,
    Dllk,
    Pden,
    /// One clock.
    Clock,
}

impl P {
    /// As the standard spells it.
    pub const fn name(self) -> &'static str {
        match self {
            P::Rcd => "tRCD",
            P::Rp => "tRP",
            P::Ras => "tRAS",
            P::Rc => "tRC",
            P::Rrd => "tRRD",
            P::Faw => "tFAW",
            P::Cl => "CL",
            P::Cwl => "CWL",
            P::Burst => "BL/2",
            P::Ccd => "tCCD",
            P::Wr => "tWR",
            P::Wtr => "tWTR",
            P::Rtp => "tRTP",
            P::Rtrs => "tRTRS",
            P::Rfc => "tRFC",
            P::Refi => "tREFI",
            P::Xp => "tXP",
            P::Xpdll => "tXPDLL",
            P::Cke => "tCKE",
            P::Ckesr => "tCKESR",
            P::Xs => "tXS",
            P::Dllk => "tDLLK",
            P::Pden => "tACTPDEN",
            P::Clock => "1 nCK",
        }
    }
}

/// All timing parameters of one system, in clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timings {
    n_rcd: Cycles,
    n_rp: Cycles,
    n_ras: Cycles,
    n_rc: Cycles,
    n_rrd: Cycles,
    n_faw: Cycles,
    n_cl: Cycles,
    n_cwl: Cycles,
    n_ccd: Cycles,
    n_wr: Cycles,
    n_wtr: Cycles,
    n_rtp: Cycles,
    n_rtrs: Cycles,
    n_rfc: Cycles,
    n_refi: Cycles,
    n_xp: Cycles,
    n_xpdll: Cycles,
    n_cke: Cycles,
    n_ckesr: Cycles,
    n_xs: Cycles,
    n_dllk: Cycles,
    n_pden: Cycles,
}

impl Timings {
    /// Rounds the bin's minima up, and its maxima down, at the system's clock.
    pub fn new(system: &System) -> Timings {
        let bin = system.bin;
        let page = system.geometry.page_bytes();
        let n = |min: Min| bin.clock.at_least(min);
        Timings {
            n_rcd: n(bin.t_rcd),
            n_rp: n(bin.t_rp),
            n_ras: n(bin.t_ras),
            n_rc: n(bin.t_rc),
            n_rrd: n(bin.t_rrd(page)),
            n_faw: n(bin.t_faw(page)),
            n_cl: Cycles(bin.cl),
            n_cwl: Cycles(bin.cwl),
            n_ccd: n(bin.t_ccd),
            n_wr: n(bin.t_wr),
            n_wtr: n(bin.t_wtr),
            n_rtp: n(bin.t_rtp),
            n_rtrs: n(bin.t_rtrs),
            n_rfc: n(system.geometry.density().t_rfc()),
            n_refi: system.refresh.interval(bin.clock),
            n_xp: n(bin.t_xp),
            n_xpdll: n(bin.t_xpdll),
            n_cke: n(bin.t_cke),
            n_ckesr: bin.n_ckesr(),
            n_xs: n(system.geometry.density().t_xs()),
            n_dllk: n(bin.t_dllk),
            n_pden: n(bin.t_pden),
        }
    }

    /// One parameter, in clocks.
    pub const fn get(&self, parameter: P) -> Cycles {
        match parameter {
            P::Rcd => self.n_rcd,
            P::Rp => self.n_rp,
            P::Ras => self.n_ras,
            P::Rc => self.n_rc,
            P::Rrd => self.n_rrd,
            P::Faw => self.n_faw,
            P::Cl => self.n_cl,
            P::Cwl => self.n_cwl,
            P::Burst => BURST,
            P::Ccd => self.n_ccd,
            P::Wr => self.n_wr,
            P::Wtr => self.n_wtr,
            P::Rtp => self.n_rtp,
            P::Rtrs => self.n_rtrs,
            P::Rfc => self.n_rfc,
            P::Refi => self.n_refi,
            P::Xp => self.n_xp,
            P::Xpdll => self.n_xpdll,
            P::Cke => self.n_cke,
            P::Ckesr => self.n_ckesr,
            P::Xs => self.n_xs,
            P::Dllk => self.n_dllk,
            P::Pden => self.n_pden,
            P::Clock => Cycles(1),
        }
    }

    /// From a RD to the end of its data: CL + BL.
    pub fn read_data(&self) -> Cycles {
        self.n_cl + BURST
    }

    /// From a WR to the start of its data: CWL.
    pub const fn write_latency(&self) -> Cycles {
        self.n_cwl
    }
}
