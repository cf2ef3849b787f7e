//! Densities, widths, and the minima of speed bins. Their values are in [`crate::standard`].

use derive_more::Display;

use super::Standard;
use crate::units::{Clock, Cycles, Min};

crate::named! {
    /// Capacity of a chip.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
    #[display("{}", self.name())]
    pub enum Density {
        /// 256 Mb.
        Mb256 = "256 Mb",
        /// 512 Mb.
        Mb512 = "512 Mb",
        /// 1 Gb.
        Gb1 = "1 Gb",
        /// 2 Gb.
        Gb2 = "2 Gb",
        /// 4 Gb.
        Gb4 = "4 Gb",
        /// 8 Gb.
        Gb8 = "8 Gb",
        /// 16 Gb.
        Gb16 = "16 Gb",
        /// 32 Gb.
        Gb32 = "32 Gb",
    }
}

impl Density {
    /// Megabits: 256 to 32,768.
    pub const fn megabits(self) -> u64 {
        256 << self as u32
    }

    /// Gigabits: 0.25 to 32.
    pub const fn gigabits(self) -> f64 {
        self.megabits() as f64 / 1024.0
    }

    /// Bits per chip.
    pub const fn bits(self) -> u64 {
        self.megabits() << 20
    }

    /// The density with this number of gigabits.
    pub fn from_gigabits(gigabits: f64) -> Option<Density> {
        Density::ALL.into_iter().find(|density| (density.gigabits() - gigabits).abs() < f64::EPSILON)
    }
}

/// Data pins of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
#[display("x{}", self.pins())]
pub enum Width {
    /// 4 pins.
    X4,
    /// 8 pins.
    X8,
    /// 16 pins.
    X16,
}

impl Width {
    /// All widths.
    pub const ALL: [Width; 3] = [Width::X4, Width::X8, Width::X16];

    /// Pins: 4, 8 or 16.
    pub const fn pins(self) -> u64 {
        4 << self as u32
    }

    /// The width with this number of pins.
    pub fn from_pins(pins: u64) -> Option<Width> {
        Width::ALL.into_iter().find(|width| width.pins() == pins)
    }
}

/// A JEDEC speed bin: clock, latencies in clocks, and minima of the other parameters.
///
/// A minimum that a source gives in ns is stored in ps and rounded up to clocks by its user. If the
/// source of a bin gives no ns, it is stored in clocks. In a standard without bank groups, the
/// parameters for one group (`_l`) equal the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeedBin {
    /// Data rate and letter: "1066G"; with the standard, if it is not DDR3: "DDR4-2400R".
    pub name: &'static str,
    /// The standard that defines it.
    pub standard: Standard,
    /// Clock of the bin.
    pub clock: Clock,
    /// CL, read latency, clocks; 0 if the bin has no latencies of its own.
    pub cl: u64,
    /// CWL, write latency, clocks.
    pub cwl: u64,
    /// Clocks of the write preamble (tWPRE).
    pub write_preamble: u64,
    /// The longest write preamble that the mode registers allow; 1 where it cannot be chosen.
    pub write_preamble_most: u64,
    /// ACT to a column access.
    pub t_rcd: Min,
    /// PRE to ACT.
    pub t_rp: Min,
    /// ACT to PRE.
    pub t_ras: Min,
    /// ACT to ACT of one bank.
    pub t_rc: Min,
    /// PRE to PRE of two banks (tPPD); 0 if only the command bus limits it.
    pub t_ppd: Min,
    /// End of write data to PRE.
    pub t_wr: Min,
    /// End of write data to RD; in another bank group, tWTR_S.
    pub t_wtr: Min,
    /// End of write data to RD in the same bank group, tWTR_L.
    pub t_wtr_l: Min,
    /// RD to PRE.
    pub t_rtp: Min,
    /// Column access to column access; in another bank group, tCCD_S.
    pub t_ccd: Min,
    /// RD to RD in the same bank group, tCCD_L.
    pub t_ccd_l: Min,
    /// WR to WR in the same bank group: tCCD_L, or DDR5's tCCD_L_WR2.
    pub t_ccd_l_wr: Min,
    /// The same in chips that read the rest of a codeword for each write: DDR5's tCCD_L_WR, for x4.
    pub t_ccd_l_rmw: Min,
    /// ACT to ACT of two banks, pages of at most 1 KB; in another bank group, tRRD_S.
    pub t_rrd_1k: Min,
    /// ACT to ACT of two banks, pages of 2 KB.
    pub t_rrd_2k: Min,
    /// ACT to ACT in the same bank group, tRRD_L, pages of at most 1 KB.
    pub t_rrd_l_1k: Min,
    /// ACT to ACT in the same bank group, tRRD_L, pages of 2 KB.
    pub t_rrd_l_2k: Min,
    /// First ACT to fifth, pages of at most 512 B.
    pub t_faw_half_k: Min,
    /// First ACT to fifth, pages of 1 KB.
    pub t_faw_1k: Min,
    /// First ACT to fifth, pages of 2 KB.
    pub t_faw_2k: Min,
    /// Power-down exit to any command.
    pub t_xp: Min,
    /// Slow power-down exit to RD or WR: DDR3's tXPDLL, DDR2's tXARDS.
    pub t_xpdll: Min,
    /// Minimum time in power-down (tPD), and between two.
    pub t_cke: Min,
    /// Minimum time in self-refresh, DDR5's tCSL; else it is tCKE + 1 nCK.
    pub t_csl: Option<Min>,
    /// tACTPDEN, tPRPDEN, tREFPDEN: ACT, PRE or REF to power-down entry.
    pub t_pden: Min,
    /// Self-refresh exit to RD or WR: tDLLK.
    pub t_dllk: Min,
    /// REFsb to ACT of another bank number (tREFSBRD).
    pub t_refsbrd: Min,
    /// Rank switch on the data bus. Source: Ramulator 1 (`DRAMSys`, `DRAMSim2` and `DRAMsim3` take 1).
    pub t_rtrs: Min,
    /// REF to the next command, if it replaces the value of the density.
    pub t_rfc: Option<Min>,
    /// Source of the numbers.
    pub source: &'static str,
}

impl SpeedBin {
    /// A bin of which nothing is known yet, for the tables of a standard.
    pub(crate) const fn empty(standard: Standard, clock: Clock) -> SpeedBin {
        const NONE: Min = Min::ck(0);
        SpeedBin {
            name: "",
            standard,
            clock,
            cl: 0,
            cwl: 0,
            write_preamble: 1,
            write_preamble_most: 1,
            t_rcd: NONE,
            t_rp: NONE,
            t_ras: NONE,
            t_rc: NONE,
            t_ppd: NONE,
            t_wr: NONE,
            t_wtr: NONE,
            t_wtr_l: NONE,
            t_rtp: NONE,
            t_ccd: NONE,
            t_ccd_l: NONE,
            t_ccd_l_wr: NONE,
            t_ccd_l_rmw: NONE,
            t_rrd_1k: NONE,
            t_rrd_2k: NONE,
            t_rrd_l_1k: NONE,
            t_rrd_l_2k: NONE,
            t_faw_half_k: NONE,
            t_faw_1k: NONE,
            t_faw_2k: NONE,
            t_xp: NONE,
            t_xpdll: NONE,
            t_cke: NONE,
            t_csl: None,
            t_pden: Min::ck(1),
            t_dllk: NONE,
            t_refsbrd: NONE,
            t_rtrs: Min::ck(2),
            t_rfc: None,
            source: "",
        }
    }

    /// The bin in a standard without bank groups: the parameters of one group are those of the rank.
    pub(crate) const fn without_groups(self) -> SpeedBin {
        SpeedBin {
            t_wtr_l: self.t_wtr,
            t_ccd_l: self.t_ccd,
            t_ccd_l_wr: self.t_ccd,
            t_ccd_l_rmw: self.t_ccd,
            t_rrd_l_1k: self.t_rrd_1k,
            t_rrd_l_2k: self.t_rrd_2k,
            t_faw_half_k: self.t_faw_1k,
            ..self
        }
    }

    /// Minimum time in self-refresh, in clocks: tCKESR = tCKE + 1 nCK, or tCSL.
    pub const fn n_ckesr(&self) -> Cycles {
        match self.t_csl {
            Some(t_csl) => self.clock.at_least(t_csl),
            None => Cycles(self.clock.at_least(self.t_cke).0 + 1),
        }
    }

    /// tRRD of a chip with this number of bytes per row.
    pub const fn t_rrd(&self, page_bytes: u64) -> Min {
        if page_bytes <= 1024 { self.t_rrd_1k } else { self.t_rrd_2k }
    }

    /// tRRD_L of a chip with this number of bytes per row.
    pub const fn t_rrd_l(&self, page_bytes: u64) -> Min {
        if page_bytes <= 1024 { self.t_rrd_l_1k } else { self.t_rrd_l_2k }
    }

    /// tFAW of a chip with this number of bytes per row.
    pub const fn t_faw(&self, page_bytes: u64) -> Min {
        match page_bytes {
            ..=512 => self.t_faw_half_k,
            513..=1024 => self.t_faw_1k,
            _ => self.t_faw_2k,
        }
    }

    /// Whether the bin has latencies; else it is a data rate, whose CL, tRCD and tRP a system must give.
    pub fn has_latencies(&self) -> bool {
        let has = |min: Min| min.ck > 0 || min.ps > 0;
        self.cl > 0 && has(self.t_rcd) && has(self.t_rp)
    }

    /// An example of the bin's name with latencies: those of 16 ns, and CL even. "DDR5-5200[CL=42,tRCD=42,tRP=42]".
    pub fn example_with_latencies(&self) -> String {
        let n = self.clock.at_least(Min::ps(16_000)).0.next_multiple_of(2);
        format!("{}[CL={n},tRCD={n},tRP={n}]", self.name)
    }

    /// Whether it stands for a page-mode memory, which has a clock and no command timings.
    pub fn is_page_mode(&self) -> bool {
        self.name == SpeedBin::page_mode().name
    }

    /// CL-RCD-RP, for example "8-8-8"; "-" of a page-mode memory.
    pub fn latencies(&self) -> String {
        if self.is_page_mode() {
            return "-".to_owned();
        }
        format!("{}-{}-{}", self.cl, self.clock.at_least(self.t_rcd).0, self.clock.at_least(self.t_rp).0)
    }

    /// The name with the standard: "DDR3-1066G"; "page-mode" of a page-mode memory.
    pub fn full_name(&self) -> String {
        if self.is_page_mode() {
            return self.name.to_owned();
        }
        format!("{}-{}", self.standard.name(), self.short_name())
    }

    /// The name without the standard: "2400R".
    pub fn short_name(&self) -> &'static str {
        self.name.split_once('-').map_or(self.name, |(_, short)| short)
    }
}
