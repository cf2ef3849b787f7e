//! DDR3: chips, speed bins and refresh. `docs/sources.md` lists the sources behind the short names.

use super::datasheet::Density::{self, Gb1, Gb2, Gb4, Gb8};
use super::datasheet::SpeedBin;
use super::datasheet::Width::{self, X4, X8, X16};
use super::{Chip, Definition, PinPowers, RefreshMode, SlowExit, Standard};
use crate::units::{Clock, Cycles, Min};

/// Chips of DDR3: rows per chip from Ramulator 1's organization table (`DRAMsim3` agrees for 8 Gb),
/// tRFC from Ramulator 1 and 2. (Early 4 Gb parts: 300 ns.)
#[rustfmt::skip] // One chip per line.
const CHIPS: &[Chip] = &[
    chip(Gb1, X4,  1024, 110_000),
    chip(Gb1, X8,  1024, 110_000),
    chip(Gb1, X16, 2048, 110_000),
    chip(Gb2, X4,  1024, 160_000),
    chip(Gb2, X8,  1024, 160_000),
    chip(Gb2, X16, 2048, 160_000),
    chip(Gb4, X4,  1024, 260_000),
    chip(Gb4, X8,  1024, 260_000),
    chip(Gb4, X16, 2048, 260_000),
    chip(Gb8, X4,  2048, 350_000),
    chip(Gb8, X8,  2048, 350_000),
    chip(Gb8, X16, 2048, 350_000),
];

const fn chip(density: Density, width: Width, page_bytes: u64, t_rfc_ps: u64) -> Chip {
    let t_rfc = [Min::ps(t_rfc_ps); 3];
    Chip { density, width, bank_groups: 1, banks_per_group: 8, page_bytes, t_rfc, t_rfc_sb: t_rfc[0], rpa_clocks: 0 }
}

/// Refresh of DDR3: at most eight REF postponed or in advance.
pub const NORMAL: RefreshMode = RefreshMode {
    name: "1x",
    divisor: 1,
    duration: 0,
    same_bank: false,
    postponed_most: 8,
    advanced_most: 8,
    gap_most: 9,
    window: 16,
};

/// DDR3 (JESD79-3).
pub static DDR3: Definition = Definition {
    name: "DDR3",
    bins: BINS,
    chips: CHIPS,
    channel_pins: 64,
    burst: Cycles(4),
    t_refi_ps: 7_800_000,
    refresh_modes: &[NORMAL],
    // tXS = max(5 nCK, tRFC + 10 ns). Source: Samsung K4B2G0446D rev 1.01, table 49.
    exit_after_refresh: Min::max(5, 10_000),
    slow_exit: Some(SlowExit::Precharge),
    cl: (5, 16),
    cwl: (5, 12),
    cwl_below_cl: None,
    t_ras_max_ps: None,
    rank_banks_max: 8,
    two_cycle_commands: false,
    background_rho: 1.0,
    // DRAMPower 4.x, `MemoryPowerModel.cc`: "conservative, from Micron's DDR3 power calculator".
    pin_powers: Some(PinPowers {
        read_driver_mw: 4.6,
        write_termination_mw: 21.2,
        idle_read_termination_mw: 15.5,
        idle_write_termination_mw: 15.4,
    }),
};

/// Parameters common to all bins of one data rate.
#[rustfmt::skip] // One rate per line: CWL in clocks, the minima in ps.
const fn rate(clock: Clock) -> SpeedBin {
    // tFAW of 1866: JESD79-3F gives 27 ns, which Ramulator 1's 26 clocks cover. Files with 25 ns (24 clocks) use the
    // 2133 value. tFAW of 2133: 35 ns are 38 clocks. Ramulator 2 has 34, which is 31.9 ns: a count below its minimum
    // in ns is wrong.
    let (cwl, t_ras, t_rrd_1k, t_rrd_2k, t_faw_1k, t_faw_2k, t_xp, t_cke) = match clock.mega_transfers() {
        800  => ( 5, 37_500, 10_000, 10_000, 40_000, 50_000, 7_500, 7_500),
        1066 => ( 6, 37_500,  7_500, 10_000, 37_500, 50_000, 7_500, 5_625),
        1333 => ( 7, 36_000,  6_000,  7_500, 30_000, 45_000, 6_000, 5_625),
        1600 => ( 8, 35_000,  6_000,  7_500, 30_000, 40_000, 6_000, 5_000),
        1866 => ( 9, 34_000,  5_000,  6_000, 27_000, 35_000, 6_000, 5_000),
        2133 => (10, 33_000,  5_000,  6_000, 25_000, 35_000, 6_000, 5_000),
        _ => panic!("DDR3 has six data rates"),
    };
    SpeedBin {
        cwl,
        t_ras: Min::ps(t_ras),
        t_wr: Min::ps(15_000),
        t_wtr: Min::max(4, 7_500),
        t_rtp: Min::max(4, 7_500),
        t_ccd: Min::ck(4),
        t_rrd_1k: Min::max(4, t_rrd_1k),
        t_rrd_2k: Min::max(4, t_rrd_2k),
        t_faw_1k: Min::ps(t_faw_1k),
        t_faw_2k: Min::ps(t_faw_2k),
        t_xp: Min::max(3, t_xp),
        t_xpdll: Min::max(10, 24_000),
        t_cke: Min::max(3, t_cke),
        t_pden: Min::ck(if clock.mega_transfers() == 2133 { 2 } else { 1 }),
        t_dllk: Min::ck(512),
        ..SpeedBin::empty(Standard::Ddr3, clock)
    }
}

/// A bin of a data rate, with its own latencies and row cycle.
const fn bin(name: &'static str, clock: Clock, cl: u64, row: Min, t_rc: Min, source: &'static str) -> SpeedBin {
    SpeedBin { name, cl, t_rcd: row, t_rp: row, t_rc, source, ..rate(clock) }.without_groups()
}

const RAM1: &str = "Ramulator 1 DDR3.h";
const SAM_U: &str = "Ramulator 1 DDR3.h; ns: Samsung M378B5673EH1 rev 1.03";
const MIC_KT: &str = "Ramulator 1 DDR3.h; ns: Micron MT8JTF12864 key timing";

/// Every bin of DDR3-800D to DDR3-2133N.
#[rustfmt::skip] // One bin per line: read it beside the tables.
pub const BINS: &[SpeedBin] = &[
    bin("800D",  Clock::DDR3_800,   5, Min::ck(5),       Min::ck(20),      RAM1),
    bin("800E",  Clock::DDR3_800,   6, Min::ps(15_000),  Min::ps(52_500),  SAM_U),
    bin("1066E", Clock::DDR3_1066,  6, Min::ck(6),       Min::ck(26),      RAM1),
    bin("1066F", Clock::DDR3_1066,  7, Min::ps(13_125),  Min::ps(50_625),  SAM_U),
    bin("1066G", Clock::DDR3_1066,  8, Min::ps(15_000),  Min::ps(52_500),  SAM_U),
    bin("1333G", Clock::DDR3_1333,  8, Min::ck(8),       Min::ck(32),      RAM1),
    bin("1333H", Clock::DDR3_1333,  9, Min::ps(13_500),  Min::ps(49_500),  SAM_U),
    bin("1600H", Clock::DDR3_1600,  9, Min::ck(9),       Min::ck(37),      RAM1),
    bin("1600J", Clock::DDR3_1600, 10, Min::ck(10),      Min::ck(38),      RAM1),
    bin("1600K", Clock::DDR3_1600, 11, Min::ps(13_750),  Min::ps(48_750),  MIC_KT),
    bin("1866K", Clock::DDR3_1866, 11, Min::ck(11),      Min::ck(43),      RAM1),
    bin("1866L", Clock::DDR3_1866, 12, Min::ck(12),      Min::ck(44),      RAM1),
    // DRAMsim3's file has tWR 15. 15 ns are exactly 14 clocks, and MR0 cannot be programmed to 15.
    bin("1866M", Clock::DDR3_1866, 13, Min::ps(13_910), Min::ps(47_910), "DRAMsim3 DDR3_4Gb_x8_1866; tWR: 15 ns, Samsung M393B5273CH0 rev 1.0"),
    bin("2133L", Clock::DDR3_2133, 12, Min::ck(12),      Min::ck(48),      RAM1),
    bin("2133M", Clock::DDR3_2133, 13, Min::ck(13),      Min::ck(49),      RAM1),
    bin("2133N", Clock::DDR3_2133, 14, Min::ps(13_090),  Min::ps(46_090),  "gem5 DDR3_2133_8x8; the rest as 2133M"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Clock counts of Ramulator 1, `DRAMsim3` and gem5, compared with the stored minima rounded
    /// up.
    #[test]
    #[rustfmt::skip]
    fn minima_round_to_the_published_counts() {
        // name, CL RCD RP, CWL RAS RC WR WTR RTP CCD XP XPDLL CKE CKESR, REFI
        let published: [(&str, [u64; 14], u64); 16] = [
            ("800D",  [ 5,  5,  5,  5, 15, 20,  6, 4, 4, 4, 3, 10, 3, 4], 3120),
            ("800E",  [ 6,  6,  6,  5, 15, 21,  6, 4, 4, 4, 3, 10, 3, 4], 3120),
            ("1066E", [ 6,  6,  6,  6, 20, 26,  8, 4, 4, 4, 4, 13, 3, 4], 4160),
            ("1066F", [ 7,  7,  7,  6, 20, 27,  8, 4, 4, 4, 4, 13, 3, 4], 4160),
            ("1066G", [ 8,  8,  8,  6, 20, 28,  8, 4, 4, 4, 4, 13, 3, 4], 4160),
            ("1333G", [ 8,  8,  8,  7, 24, 32, 10, 5, 5, 4, 4, 16, 4, 5], 5200),
            ("1333H", [ 9,  9,  9,  7, 24, 33, 10, 5, 5, 4, 4, 16, 4, 5], 5200),
            ("1600H", [ 9,  9,  9,  8, 28, 37, 12, 6, 6, 4, 5, 20, 4, 5], 6240),
            ("1600J", [10, 10, 10,  8, 28, 38, 12, 6, 6, 4, 5, 20, 4, 5], 6240),
            ("1600K", [11, 11, 11,  8, 28, 39, 12, 6, 6, 4, 5, 20, 4, 5], 6240),
            ("1866K", [11, 11, 11,  9, 32, 43, 14, 7, 7, 4, 6, 23, 5, 6], 7280),
            ("1866L", [12, 12, 12,  9, 32, 44, 14, 7, 7, 4, 6, 23, 5, 6], 7280),
            ("1866M", [13, 13, 13,  9, 32, 45, 14, 7, 7, 4, 6, 23, 5, 6], 7280),
            ("2133L", [12, 12, 12, 10, 36, 48, 16, 8, 8, 4, 7, 26, 6, 7], 8320),
            ("2133M", [13, 13, 13, 10, 36, 49, 16, 8, 8, 4, 7, 26, 6, 7], 8320),
            ("2133N", [14, 14, 14, 10, 36, 50, 16, 8, 8, 4, 7, 26, 6, 7], 8320),
        ];
        assert_eq!(BINS.len(), published.len());
        for (name, counts, refi) in published {
            let bin = SpeedBin::named(name).unwrap();
            let n = |min| bin.clock.at_least(min).0;
            let ours = [
                bin.cl, n(bin.t_rcd), n(bin.t_rp), bin.cwl, n(bin.t_ras), n(bin.t_rc), n(bin.t_wr), n(bin.t_wtr),
                n(bin.t_rtp), n(bin.t_ccd), n(bin.t_xp), n(bin.t_xpdll), n(bin.t_cke), bin.n_ckesr().0,
            ];
            assert_eq!(ours, counts, "{name}");
            assert_eq!(bin.clock.at_most(7_800_000).0, refi, "{name}");
        }
    }

    #[test]
    fn activation_windows_round_to_the_published_counts() {
        // data rate, 1 KB page tRRD tFAW, 2 KB page tRRD tFAW
        let published = [
            ("800E", [4, 16, 4, 20]),
            ("1066G", [4, 20, 6, 27]),
            ("1333H", [4, 20, 5, 30]),
            ("1600K", [5, 24, 6, 32]),
            ("1866M", [5, 26, 6, 33]),
            ("2133N", [6, 27, 7, 38]),
        ];
        for (name, counts) in published {
            let bin = SpeedBin::named(name).unwrap();
            let minima = [bin.t_rrd(512), bin.t_faw(1024), bin.t_rrd(2048), bin.t_faw(2048)];
            assert_eq!(minima.map(|min| bin.clock.at_least(min).0), counts, "{name}");
        }
    }

    /// JESD79-3, mode registers: CL in MR0, CWL in MR2, write recovery in MR0.
    #[test]
    fn latencies_and_write_recovery_can_be_programmed() {
        for bin in BINS {
            let t_wr = bin.clock.at_least(bin.t_wr).0;
            assert!((5..=14).contains(&bin.cl), "{}: CL {}", bin.name, bin.cl);
            assert!((5..=10).contains(&bin.cwl), "{}: CWL {}", bin.name, bin.cwl);
            assert!([5, 6, 7, 8, 10, 12, 14, 16].contains(&t_wr), "{}: tWR {t_wr}", bin.name);
        }
    }

    /// The nanosecond minima of each data rate, in ps (`docs/sources.md`). Where a count is below its minimum, the
    /// count is wrong.
    #[test]
    #[rustfmt::skip]
    fn no_stored_count_is_below_its_minimum_in_ns() {
        //  MT/s,  tRAS,   tRRD 1K, 2K,    tFAW 1K, 2K,      tXP,   tCKE
        let minima: [(u64, [u64; 7]); 6] = [
            ( 800, [37_500, 10_000, 10_000, 40_000, 50_000, 7_500, 7_500]),
            (1066, [37_500,  7_500, 10_000, 37_500, 50_000, 7_500, 5_625]),
            (1333, [36_000,  6_000,  7_500, 30_000, 45_000, 6_000, 5_625]),
            (1600, [35_000,  6_000,  7_500, 30_000, 40_000, 6_000, 5_000]),
            (1866, [34_000,  5_000,  6_000, 27_000, 35_000, 6_000, 5_000]),
            (2133, [33_000,  5_000,  6_000, 25_000, 35_000, 6_000, 5_000]),
        ];
        // The bins whose row timings the sources give in ns, with tRCD = tRP and tRC.
        let rows = [
            ("800E", 15_000, 52_500), ("1066F", 13_125, 50_625), ("1066G", 15_000, 52_500), ("1333H", 13_125, 49_125),
            ("1600K", 13_125, 48_125), ("1866M", 13_910, 47_910), ("2133N", 13_090, 46_090),
        ];
        for bin in BINS {
            let (_, rate) = minima.iter().find(|(rate, _)| *rate == bin.clock.mega_transfers()).unwrap();
            let stored = [bin.t_ras, bin.t_rrd_1k, bin.t_rrd_2k, bin.t_faw_1k, bin.t_faw_2k, bin.t_xp, bin.t_cke];
            let common = [(bin.t_wr, 15_000), (bin.t_wtr, 7_500), (bin.t_rtp, 7_500), (bin.t_xpdll, 24_000)];
            let row = rows.iter().filter(|(name, ..)| *name == bin.name);
            let row = row.flat_map(|&(_, t_rcd, t_rc)| [(bin.t_rcd, t_rcd), (bin.t_rp, t_rcd), (bin.t_rc, t_rc)]);
            for (min, ps) in stored.into_iter().zip(*rate).chain(common).chain(row) {
                let clocks = bin.clock.at_least(min);
                // tCK is 15 ns / k, and k = 8 at 1066.
                assert!(clocks >= bin.clock.at_least(Min::ps(ps)), "{}: {clocks} clocks are less than {ps} ps", bin.name);
            }
            assert!(bin.clock.at_least(bin.t_rc).0 >= bin.clock.at_least(bin.t_ras).0 + bin.clock.at_least(bin.t_rp).0, "{}", bin.name);
        }
    }

    #[test]
    fn refresh_takes_the_published_counts() {
        let published = [
            (Clock::DDR3_800, [44, 64, 104, 140]),
            (Clock::DDR3_1066, [59, 86, 139, 187]),
            (Clock::DDR3_1333, [74, 107, 174, 234]),
            (Clock::DDR3_1600, [88, 128, 208, 280]),
            (Clock::DDR3_1866, [103, 150, 243, 327]),
            (Clock::DDR3_2133, [118, 171, 278, 374]),
        ];
        for (clock, counts) in published {
            let of_x8 = CHIPS.iter().filter(|chip| chip.width == X8);
            assert!(of_x8.map(|chip| clock.at_least(chip.t_rfc[0]).0).eq(counts));
        }
        let t_xs = |clock: Clock| [110_000, 160_000, 260_000, 350_000].map(|t_rfc| DDR3.t_xs(clock, Min::ps(t_rfc)).0);
        assert_eq!((t_xs(Clock::DDR3_1066), t_xs(Clock::DDR3_1600)), ([64, 91, 144, 192], [96, 136, 216, 288]));
    }
}
