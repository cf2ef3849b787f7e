//! Datasheet minima, resolved to clocks of one system.

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
    /// Two refresh intervals, rounded up.
    RefiTwice,
    Xp,
    Xpdll,
    Cke,
    Ckesr,
    Xs,
    Dllk,
    ActPden,
    PrPden,
    RefPden,
    /// One clock.
    Clock,
}

impl P {
    /// All parameters, in order.
    #[rustfmt::skip]
    pub const ALL: [P; 27] = [
        P::Rcd, P::Rp, P::Ras, P::Rc, P::Rrd, P::Faw, P::Cl, P::Cwl, P::Burst, P::Ccd, P::Wr, P::Wtr, P::Rtp, P::Rtrs, P::Rfc,
        P::Refi, P::RefiTwice, P::Xp, P::Xpdll, P::Cke, P::Ckesr, P::Xs, P::Dllk, P::ActPden, P::PrPden,
        P::RefPden, P::Clock,
    ];

    /// Name in the standard.
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
            P::RefiTwice => "2 tREFI",
            P::Xp => "tXP",
            P::Xpdll => "tXPDLL",
            P::Cke => "tCKE",
            P::Ckesr => "tCKESR",
            P::Xs => "tXS",
            P::Dllk => "tDLLK",
            P::ActPden => "tACTPDEN",
            P::PrPden => "tPRPDEN",
            P::RefPden => "tREFPDEN",
            P::Clock => "1 nCK",
        }
    }
}

/// All timing parameters of one system, in clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timings([Cycles; P::ALL.len()]);

impl Timings {
    /// Rounds the bin's minima up, and its maxima down, at the system's clock.
    pub fn new(system: &System) -> Timings {
        Timings(P::ALL.map(|parameter| resolve(parameter, system)))
    }

    /// A parameter in clocks.
    pub const fn get(&self, parameter: P) -> Cycles {
        self.0[parameter as usize]
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
    match parameter {
        P::Rcd => n(bin.t_rcd),
        P::Rp => n(bin.t_rp),
        P::Ras => n(bin.t_ras),
        P::Rc => n(bin.t_rc),
        P::Rrd => n(bin.t_rrd(page)),
        P::Faw => n(bin.t_faw(page)),
        P::Cl => Cycles(bin.cl),
        P::Cwl => Cycles(bin.cwl),
        P::Burst => BURST,
        P::Ccd => n(bin.t_ccd),
        P::Wr => n(bin.t_wr),
        P::Wtr => n(bin.t_wtr),
        P::Rtp => n(bin.t_rtp),
        P::Rtrs => n(bin.t_rtrs),
        P::Rfc => n(system.t_rfc()),
        P::Refi => system.refresh.interval(bin.clock),
        P::RefiTwice => n(Min::ps(2 * system.refresh.interval_ps())),
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
