//! The limit of each rule, from the datasheet's picoseconds to clocks of the simulated bin.

use dram_spec::{Min, System};

use crate::rule::Rule;

/// The limit of each rule, in clocks.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    clocks: [u64; Rule::ALL.len()],
    /// tREFI in clocks, rounded down, at least 1.
    pub(crate) interval: u64,
    per_15_ns: u128,
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

/// A maximum in clocks: rounded down.
fn within(ps: u64, per_15_ns: u128) -> u64 {
    saturated(u128::from(ps) * per_15_ns / 15_000)
}

impl Limits {
    /// The limits of every rule for a system.
    pub(crate) fn new(system: &System) -> Limits {
        let per_15_ns = clocks_per_15_ns(system.clock().mega_transfers());
        let interval_ps = system.t_refi_ps();
        // At least one clock: the refresh ledger divides by the interval.
        let interval = within(interval_ps, per_15_ns).max(1);
        let mut clocks = [0; Rule::ALL.len()];
        for rule in Rule::ALL {
            clocks[rule as usize] = resolve(rule, system, interval_ps, interval, |min| covering(min, per_15_ns));
        }
        Limits { clocks, interval, per_15_ns }
    }

    /// The time of a row buffer movement: 8 ns per hop, and once more.
    pub(crate) fn movement(&self, hops: u32) -> u64 {
        covering(Min::ps(8_000 * (u64::from(hops) + 1)), self.per_15_ns)
    }

    /// The minimum or maximum of a rule, in clocks; 0 for state rules, for `RBM`, whose minimum depends on the hops, and
    /// for `REF-postponed`, whose maximum depends on the REFs counted.
    pub(crate) const fn of(&self, rule: Rule) -> u64 {
        self.clocks[rule as usize]
    }
}

/// The limit of one rule in clocks, by the formulas of `docs/rules.md`. `up` rounds a minimum up to clocks.
fn resolve(rule: Rule, system: &System, interval_ps: u64, interval: u64, up: impl Fn(Min) -> u64) -> u64 {
    let bin = system.bin;
    let page_bytes = system.geometry.page_bytes();
    let (cl, cwl, burst) = (bin.cl, bin.cwl, system.burst().0);
    let (t_rp, t_wr, t_wtr, t_rtp) = (up(bin.t_rp), up(bin.t_wr), up(bin.t_wtr), up(bin.t_rtp));
    let write_to_precharge = cwl + burst + t_wr;
    let write_to_read = cwl + burst + t_wtr;
    let rank_switch = burst + up(bin.t_rtrs);
    match rule {
        Rule::TRcd | Rule::TransferTRcd => up(bin.t_rcd),
        Rule::TRas | Rule::Fpm => up(bin.t_ras),
        Rule::TRc | Rule::TRcRef => up(bin.t_rc),
        Rule::TRp | Rule::TRpRef => t_rp,
        Rule::TRtp | Rule::TransferTRtp => t_rtp,
        Rule::TWr | Rule::TWrpden | Rule::FpmTWr | Rule::TransferTWr | Rule::TransferPde => write_to_precharge,
        Rule::RdaAct | Rule::RdaRef => t_rtp + t_rp,
        Rule::WraAct | Rule::WraRef => write_to_precharge + t_rp,
        Rule::TRrd => up(if page_bytes > 1024 { bin.t_rrd_2k } else { bin.t_rrd_1k }),
        Rule::TFaw => up(if page_bytes > 1024 { bin.t_faw_2k } else { bin.t_faw_1k }),
        Rule::TCcdRd | Rule::TCcdWr | Rule::TransferTCcd | Rule::RdTransfer | Rule::TransferWr => up(bin.t_ccd),
        Rule::RdWr => (cl + burst + 2).saturating_sub(cwl),
        Rule::TWtr | Rule::TransferTurnaround | Rule::WrTransfer | Rule::TransferRd => write_to_read,
        Rule::RdRdRank | Rule::WrWrRank => rank_switch,
        Rule::RdWrRank => (cl + rank_switch).saturating_sub(cwl),
        Rule::WrRdRank => (cwl + rank_switch).saturating_sub(cl),
        Rule::TRfc | Rule::RefPdxPde => up(system.t_rfc()),
        Rule::RefWindow => up(Min::ps(interval_ps.saturating_mul(2))),
        Rule::TRdpden => cl + burst + 1,
        Rule::TWrapden => write_to_precharge + 1,
        Rule::TActpden | Rule::TPrpden | Rule::TRefpden => up(bin.t_pden),
        Rule::TPd | Rule::TCke => up(bin.t_cke),
        Rule::TXp => up(bin.t_xp),
        Rule::TXpdll | Rule::PdxRefPde => up(bin.t_xpdll),
        Rule::TCkesr => up(bin.t_cke) + 1,
        Rule::TXs => up(system.t_xs()),
        Rule::TXsdll => up(bin.t_dllk),
        Rule::Bus => 1,
        Rule::BusTransfer => 2,
        Rule::TRasMax | Rule::TPdMax | Rule::RefGap => interval.saturating_mul(9),
        Rule::RefPostponed
        | Rule::Rbm
        | Rule::RbmJedec
        | Rule::RbmSubarray
        | Rule::RbmAct
        | Rule::BankClosed
        | Rule::BankOpen
        | Rule::FpmSubarray
        | Rule::BanksOpen
        | Rule::Asleep
        | Rule::Awake
        | Rule::SrxRefSre
        | Rule::TransferJedec
        | Rule::TransferBanks
        | Rule::Address
        | Rule::Order => 0,
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{Refresh, SpeedBin, Standard, Width};

    use super::*;
    use crate::planted;

    fn limits(bin: &str, width: Width, row_bytes: u64) -> Limits {
        let system = planted::system();
        let geometry = dram_spec::RawGeometry { width, row_bytes, ..system.geometry.raw() }
            .try_into()
            .expect("a chip of the table");
        Limits::new(&System { bin: SpeedBin::named(bin).unwrap(), geometry, ..system })
    }

    #[test]
    fn rounding_agrees_with_the_clock_of_the_specification() {
        for bin in Standard::all_bins() {
            let per_15_ns = clocks_per_15_ns(bin.clock.mega_transfers());
            for ps in (0..60_000).chain([110_000, 160_000, 260_000, 350_000, 7_800_000, 3_900_000]) {
                assert_eq!(covering(Min::ps(ps), per_15_ns), bin.clock.at_least(Min::ps(ps)).0, "{} {ps}", bin.name);
                assert_eq!(within(ps, per_15_ns), bin.clock.at_most(ps).0, "{} {ps}", bin.name);
            }
        }
    }

    /// The formulas of docs/rules.md, computed by hand from the clock counts of each bin (CL-RCD-RP, CWL, RAS, ...).
    #[test]
    #[rustfmt::skip] // One bin per line.
    fn limits_equal_the_hand_computed_clocks() {
        use Rule::*;
        let rules =          [TRc, TWr, RdaAct, WraAct, RdWr, TWtr, RdRdRank, RdWrRank, WrRdRank, TRdpden, TWrapden, TCkesr, TRfc, TXs, TCke, PdxRefPde, RefWindow, TRasMax];
        let published = [
            ("800E",  [       21,   15,     10,     21,    7,   13,        6,        7,        5,      11,       16,      4,   64,  68,    3,        10,      6240,  28_080]),
            ("1066G", [       28,   18,     12,     26,    8,   14,        6,        8,        4,      13,       19,      4,   86,  91,    3,        13,      8320,  37_440]),
            ("1333H", [       33,   21,     14,     30,    8,   16,        6,        8,        4,      14,       22,      5,  107, 114,    4,        16,    10_400,  46_800]),
            ("1600K", [       39,   24,     17,     35,    9,   18,        6,        9,        3,      16,       25,      5,  128, 136,    4,        20,    12_480,  56_160]),
            ("1866M", [       45,   27,     20,     40,   10,   20,        6,       10,        2,      18,       28,      6,  150, 159,    5,        23,    14_560,  65_520]),
            ("2133N", [       50,   30,     22,     44,   10,   22,        6,       10,        2,      19,       31,      7,  171, 182,    6,        26,    16_640,  74_880]),
        ];
        for (bin, clocks) in published {
            let limits = limits(bin, Width::X8, 4096);
            assert_eq!(rules.map(|rule| limits.of(rule)), clocks, "{bin}");
            let equal = [(FpmTWr, TWr), (TWrpden, TWr), (PdxRefPde, TXpdll), (RefPdxPde, TRfc), (TCke, TPd)];
            assert!(equal.iter().all(|&(one, other)| limits.of(one) == limits.of(other)), "{bin}");
        }
    }

    #[test]
    fn pages_of_two_kilobytes_have_their_own_activation_windows() {
        let windows = |limits: Limits| (limits.of(Rule::TRrd), limits.of(Rule::TFaw));
        assert_eq!(windows(limits("1066G", Width::X8, 4096)), (4, 20), "512 B per chip");
        assert_eq!(windows(limits("1066G", Width::X8, 8192)), (4, 20), "1 KB per chip");
        assert_eq!(windows(limits("1066G", Width::X16, 8192)), (6, 27), "2 KB per chip");
        assert_eq!(windows(limits("2133N", Width::X16, 8192)), (7, 38), "2 KB per chip");
    }

    #[test]
    fn extreme_refresh_intervals_do_not_overflow() {
        for t_refi_ps in [0, 1, u64::MAX] {
            let limits = Limits::new(&System { refresh: Refresh::Every { t_refi_ps }, ..planted::system() });
            assert!(limits.interval >= 1);
            assert_eq!(limits.of(Rule::RefGap), limits.interval.saturating_mul(9));
        }
    }

    /// 2 x 7,800,001 ps are a little more than 8320 clocks of 1875 ps.
    #[test]
    fn the_refresh_window_rounds_up_as_a_minimum() {
        let limits = Limits::new(&System { refresh: Refresh::Every { t_refi_ps: 7_800_001 }, ..planted::system() });
        assert_eq!((limits.interval, limits.of(Rule::RefWindow)), (4160, 8321));
    }
}
