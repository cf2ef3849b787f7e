//! The parameters of a system in clocks: the datasheet's picoseconds, rounded with the exact clock.

use dram_spec::{Min, System, Width};

/// The parameters of a system, in clocks unless noted. Minima are rounded up, maxima down.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    per_15_ns: u128,
    t_refi_ps: u64,
    pub(crate) cl: u64,
    pub(crate) cwl: u64,
    /// Clocks of a burst on the data bus: BL/2.
    pub(crate) burst: u64,
    pub(crate) write_preamble: u64,
    pub(crate) rcd: u64,
    pub(crate) rp: u64,
    /// Clocks by which PREA to ACT exceeds tRP.
    pub(crate) rpa_clocks: u64,
    pub(crate) ras: u64,
    /// Longest time with a row open, in the standards that give it in ns.
    pub(crate) ras_max: u64,
    pub(crate) rc: u64,
    pub(crate) ppd: u64,
    pub(crate) rtp: u64,
    pub(crate) wr: u64,
    /// tWTR, or `tWTR_S`.
    pub(crate) wtr: u64,
    pub(crate) wtr_l: u64,
    /// tCCD, or `tCCD_S`. This and the other distances of column commands are at least a burst.
    pub(crate) ccd: u64,
    pub(crate) ccd_l: u64,
    /// WR to WR of a group, without a read of the rest of the codeword.
    pub(crate) ccd_l_wr: u64,
    /// WR to WR of a group, with a read of the rest of the codeword.
    pub(crate) ccd_l_rmw: u64,
    /// tRRD, or `tRRD_S`, of the page size.
    pub(crate) rrd: u64,
    pub(crate) rrd_l: u64,
    pub(crate) faw: u64,
    pub(crate) rtrs: u64,
    pub(crate) xp: u64,
    /// Slow exit of power-down to RD, WR.
    pub(crate) xpdll: u64,
    pub(crate) cke: u64,
    /// Minimum time in self-refresh, in the standards that do not give it as tCKE + 1.
    pub(crate) self_refresh: u64,
    pub(crate) pden: u64,
    pub(crate) dllk: u64,
    /// tRFC of the refresh mode.
    pub(crate) rfc: u64,
    pub(crate) rfc_sb: u64,
    pub(crate) refsbrd: u64,
    pub(crate) xs: u64,
    /// Distance in which one REF (or `REFsb`) of the refresh mode is due; at least 1, because the refresh ledger
    /// divides by it.
    pub(crate) interval: u64,
    /// Longest time without a REF.
    pub(crate) gap: u64,
    /// Banks per rank.
    pub(crate) banks: u8,
    pub(crate) width: Width,
}

/// Clocks per 15 ns. Data rates are multiples of 400/3 MT/s, and their names drop or round the fraction, so this rounds
/// to the nearest: 1066 MT/s: 3198 / 400 = 8; 667 MT/s: 2001 / 400 = 5.
fn clocks_per_15_ns(mega_transfers: u64) -> u128 {
    u128::from((3 * mega_transfers + 200) / 400)
}

fn saturated(clocks: u128) -> u64 {
    u64::try_from(clocks).unwrap_or(u64::MAX)
}

/// A minimum in clocks: rounded up.
fn covering(min: Min, per_15_ns: u128) -> u64 {
    saturated((u128::from(min.ps) * per_15_ns).div_ceil(15_000)).max(min.ck)
}

/// A part of a maximum in clocks: rounded down.
fn within(ps: u64, parts: u64, per_15_ns: u128) -> u64 {
    saturated(u128::from(ps) * per_15_ns / (15_000 * u128::from(parts.max(1))))
}

/// A value in ps of the page size of a chip: up to 512 bytes, up to 1 KB, larger.
fn of_page(page_bytes: u64, [half_k, one_k, two_k]: [Min; 3]) -> Min {
    match page_bytes {
        ..=512 => half_k,
        513..=1024 => one_k,
        _ => two_k,
    }
}

impl Parameters {
    /// A minimum in clocks: rounded up.
    pub(crate) fn covering(&self, min: Min) -> u64 {
        covering(min, self.per_15_ns)
    }

    pub(crate) fn new(system: &System) -> Parameters {
        let per_15_ns = clocks_per_15_ns(system.clock().mega_transfers());
        let up = |min| covering(min, per_15_ns);
        let (bin, chip, mode) = (system.bin, system.geometry.chip(), system.refresh_mode);
        let burst = system.burst().0;
        let page = |of_sizes| up(of_page(system.geometry.page_bytes(), of_sizes));
        let column = |min| up(min).max(burst);
        // A REFsb refreshes one bank of a group: as many as a group has banks are one refresh.
        let per_refresh = units_per_refresh(system);
        let t_refi_ps = system.t_refi_ps();
        let interval = within(t_refi_ps, mode.divisor * per_refresh, per_15_ns).max(1);
        Parameters {
            per_15_ns,
            t_refi_ps,
            cl: bin.cl,
            cwl: bin.cwl,
            burst,
            write_preamble: bin.write_preamble,
            rcd: up(bin.t_rcd),
            rp: up(bin.t_rp),
            rpa_clocks: chip.rpa_clocks,
            ras: up(bin.t_ras),
            ras_max: within(bin.standard.definition().t_ras_max_ps.unwrap_or(u64::MAX), 1, per_15_ns),
            rc: up(bin.t_rc),
            ppd: up(bin.t_ppd),
            rtp: up(bin.t_rtp),
            wr: up(bin.t_wr),
            wtr: up(bin.t_wtr),
            wtr_l: up(bin.t_wtr_l),
            ccd: column(bin.t_ccd),
            ccd_l: column(bin.t_ccd_l),
            ccd_l_wr: column(bin.t_ccd_l_wr),
            ccd_l_rmw: column(bin.t_ccd_l_rmw),
            rrd: page([bin.t_rrd_1k, bin.t_rrd_1k, bin.t_rrd_2k]),
            rrd_l: page([bin.t_rrd_l_1k, bin.t_rrd_l_1k, bin.t_rrd_l_2k]),
            faw: page([bin.t_faw_half_k, bin.t_faw_1k, bin.t_faw_2k]),
            rtrs: up(bin.t_rtrs),
            xp: up(bin.t_xp),
            xpdll: up(bin.t_xpdll),
            cke: up(bin.t_cke),
            self_refresh: bin.t_csl.map_or(0, up),
            pden: up(bin.t_pden),
            dllk: up(bin.t_dllk),
            rfc: up(bin.t_rfc.unwrap_or(chip.t_rfc[mode.duration])),
            rfc_sb: up(chip.t_rfc_sb),
            refsbrd: up(bin.t_refsbrd),
            xs: exit_after_refresh(system, up),
            interval,
            gap: interval.saturating_mul(mode.gap_most.saturating_mul(per_refresh)),
            banks: chip.banks(),
            width: chip.width,
        }
    }

    /// WR to PRE of its bank.
    pub(crate) fn write_to_precharge(&self) -> u64 {
        self.cwl + self.burst + self.wr
    }

    /// WR to RD, with a tWTR.
    pub(crate) fn write_to_read(&self, wtr: u64) -> u64 {
        self.cwl + self.burst + wtr
    }

    /// A burst of one rank to a burst of another.
    pub(crate) fn rank_switch(&self) -> u64 {
        self.burst + self.rtrs
    }

    /// A minimum of some tREFI.
    pub(crate) fn refresh_intervals(&self, n: u64) -> u64 {
        covering(Min::ps(self.t_refi_ps.saturating_mul(n)), self.per_15_ns)
    }

    /// A maximum of some tREFI, of normal refresh.
    pub(crate) fn t_refi(&self, n: u64) -> u64 {
        within(self.t_refi_ps, 1, self.per_15_ns).max(1).saturating_mul(n)
    }
}

/// The `REFsb` that are one refresh in the refresh mode of a system; 1 where a REF is.
pub(crate) fn units_per_refresh(system: &System) -> u64 {
    if system.refresh_mode.same_bank { u64::from(system.geometry.chip().banks_per_group) } else { 1 }
}

/// tXS: some ns after the tRFC of normal refresh, and at least some clocks.
fn exit_after_refresh(system: &System, up: impl Fn(Min) -> u64) -> u64 {
    let Min { ck: least, ps: after } = system.bin.standard.definition().exit_after_refresh;
    let rfc = system.bin.t_rfc.unwrap_or(system.geometry.chip().t_rfc[0]);
    // A tRFC in clocks is as long as it says; one in ns is rounded together with what follows it.
    let clocks = if rfc.ps == 0 { rfc.ck + up(Min::ps(after)) } else { up(Min { ps: rfc.ps + after, ..rfc }) };
    clocks.max(least)
}

#[cfg(test)]
mod tests {
    use dram_spec::Standard;

    use super::*;

    #[test]
    fn rounding_agrees_with_the_clock_of_the_specification() {
        for bin in Standard::all_bins() {
            let per_15_ns = clocks_per_15_ns(bin.clock.mega_transfers());
            for ps in (0..60_000).chain([110_000, 160_000, 260_000, 350_000, 7_800_000, 3_900_000]) {
                assert_eq!(covering(Min::ps(ps), per_15_ns), bin.clock.at_least(Min::ps(ps)).0, "{} {ps}", bin.name);
                assert_eq!(within(ps, 1, per_15_ns), bin.clock.at_most(ps).0, "{} {ps}", bin.name);
            }
        }
    }
}
