//! DDR4: chips, speed bins and refresh.
//!
//! Sources: JESD79-4 (2012) up to 2400; Micron 4 Gb rev G and 8 Gb sheets, and Ramulator 2 above.
//! `docs/sources.md` lists them with the tables.

use super::datasheet::Density::{self, Gb2, Gb4, Gb8, Gb16};
use super::datasheet::SpeedBin;
use super::datasheet::Width::{self, X4, X8, X16};
use super::{Chip, Definition, RefreshMode, Standard};
use crate::units::{Clock, Cycles, Min};

/// Chips of DDR4 (JESD79-4, 2.7; tRFC of 16 Gb: Micron).
#[rustfmt::skip] // One chip per line.
const CHIPS: &[Chip] = &[
    chip(Gb2,  X4,  4,  512, [160, 110,  90]),
    chip(Gb2,  X8,  4, 1024, [160, 110,  90]),
    chip(Gb2,  X16, 2, 2048, [160, 110,  90]),
    chip(Gb4,  X4,  4,  512, [260, 160, 110]),
    chip(Gb4,  X8,  4, 1024, [260, 160, 110]),
    chip(Gb4,  X16, 2, 2048, [260, 160, 110]),
    chip(Gb8,  X4,  4,  512, [350, 260, 160]),
    chip(Gb8,  X8,  4, 1024, [350, 260, 160]),
    chip(Gb8,  X16, 2, 2048, [350, 260, 160]),
    chip(Gb16, X4,  4,  512, [550, 350, 260]),
    chip(Gb16, X8,  4, 1024, [550, 350, 260]),
    chip(Gb16, X16, 2, 2048, [550, 350, 260]),
];

/// A chip; tRFC1, tRFC2 and tRFC4 in ns.
const fn chip(density: Density, width: Width, bank_groups: u8, page_bytes: u64, t_rfc: [u64; 3]) -> Chip {
    let t_rfc = [Min::ps(t_rfc[0] * 1000), Min::ps(t_rfc[1] * 1000), Min::ps(t_rfc[2] * 1000)];
    Chip { density, width, bank_groups, banks_per_group: 4, page_bytes, t_rfc, t_rfc_sb: t_rfc[0], rpa_clocks: 0 }
}

/// DDR4 (JESD79-4).
pub static DDR4: Definition = Definition {
    name: "DDR4",
    bins: BINS,
    chips: CHIPS,
    channel_pins: 64,
    burst: Cycles(4),
    t_refi_ps: 7_800_000,
    // Fine granularity refresh: JESD79-4, 4.9 and 4.26.
    refresh_modes: &[mode("1x", 1, 0, 8, 16), mode("2x", 2, 1, 16, 32), mode("4x", 4, 2, 32, 64)],
    // tXS = tRFC1 + 10 ns.
    exit_after_refresh: Min::ps(10_000),
    slow_exit: None,
    cl: (9, 32),
    cwl: (9, 20),
    cwl_below_cl: None,
    t_ras_max_ps: None,
    rank_banks_max: 16,
    two_cycle_commands: false,
    background_rho: 1.0,
    // Terminated to VDDQ: only zeros draw static current, so a power per pin needs the data.
    pin_powers: None,
};

const fn mode(name: &'static str, divisor: u64, duration: usize, most: u64, window: u8) -> RefreshMode {
    RefreshMode {
        name,
        divisor,
        duration,
        same_bank: false,
        postponed_most: most,
        advanced_most: most,
        gap_most: most + 1,
        window,
    }
}

/// A bin with CL-RCD-RP in clocks. tRC is tRAS + tRP in every bin.
#[rustfmt::skip] // One rate per line: the minima in ps, CWL, tPDEN and tDLLK in clocks.
const fn bin(name: &'static str, k: u64, cl: u64, rcd_rp: u64, source: &'static str) -> SpeedBin {
    let clock = Clock::of_rate(k);
    let (cwl, t_ras, t_ccd_l, [rrd_1k, rrd_2k], [rrd_l_1k, rrd_l_2k], [faw_half_k, faw_1k, faw_2k], t_pden, t_dllk) =
        match clock.mega_transfers() {
            1600 => ( 9, 35_000, 6_250, [5_000, 6_000], [6_000, 7_500], [20_000, 25_000, 35_000], 1,  597),
            1866 => (10, 34_000, 5_355, [4_200, 5_300], [5_300, 6_400], [17_000, 23_000, 30_000], 1,  597),
            2133 => (11, 33_000, 5_355, [3_700, 5_300], [5_300, 6_400], [15_000, 21_000, 30_000], 2,  768),
            2400 => (12, 32_000, 5_000, [3_300, 5_300], [4_900, 6_400], [13_000, 21_000, 30_000], 2,  768),
            2666 => (14, 32_000, 5_000, [3_000, 5_300], [4_900, 6_400], [12_000, 21_000, 30_000], 2, 1024),
            2933 => (16, 32_000, 5_000, [2_700, 5_300], [4_900, 6_400], [10_875, 21_000, 30_000], 2, 1024),
            3200 => (16, 32_000, 5_000, [2_500, 5_300], [4_900, 6_400], [10_000, 21_000, 30_000], 2, 1024),
            _ => panic!("DDR4 has seven data rates"),
        };
    SpeedBin {
        name,
        cl,
        cwl,
        t_rcd: Min::ck(rcd_rp),
        t_rp: Min::ck(rcd_rp),
        t_ras: Min::ps(t_ras),
        t_rc: Min::ck(clock.at_least(Min::ps(t_ras)).0 + rcd_rp),
        t_wr: Min::ps(15_000),
        t_wtr: Min::max(2, 2_500),
        t_wtr_l: Min::max(4, 7_500),
        t_rtp: Min::max(4, 7_500),
        t_ccd: Min::ck(4),
        t_ccd_l: Min::max(4, t_ccd_l),
        t_ccd_l_wr: Min::max(4, t_ccd_l),
        t_ccd_l_rmw: Min::max(4, t_ccd_l),
        t_rrd_1k: Min::max(4, rrd_1k),
        t_rrd_2k: Min::max(4, rrd_2k),
        t_rrd_l_1k: Min::max(4, rrd_l_1k),
        t_rrd_l_2k: Min::max(4, rrd_l_2k),
        t_faw_half_k: Min::max(16, faw_half_k),
        t_faw_1k: Min::max(20, faw_1k),
        t_faw_2k: Min::max(28, faw_2k),
        t_xp: Min::max(4, 6_000),
        t_cke: Min::max(3, 5_000),
        write_preamble_most: if k >= 18 { 2 } else { 1 },
        t_pden: Min::ck(t_pden),
        t_dllk: Min::ck(t_dllk),
        source,
        ..SpeedBin::empty(Standard::Ddr4, clock)
    }
}

const JEDEC: &str = "JESD79-4, tables 80 to 83 and 101";
const M4: &str = "Micron 4 Gb DDR4 rev G; JESD79-4";
const RAM2: &str = "Ramulator 2.1 DDR4; ns: Micron 4 Gb and 8 Gb DDR4";
const DERIVED: &str = "derived from the neighboring bins; ns: Micron 4 Gb and 8 Gb DDR4";

/// Every bin of DDR4-1600J to DDR4-3200AC.
#[rustfmt::skip] // One bin per line: read it beside the tables.
const BINS: &[SpeedBin] = &[
    bin("DDR4-1600J",  12, 10, 10, JEDEC),
    bin("DDR4-1600K",  12, 11, 11, JEDEC),
    bin("DDR4-1600L",  12, 12, 12, JEDEC),
    bin("DDR4-1866L",  14, 12, 12, JEDEC),
    bin("DDR4-1866M",  14, 13, 13, JEDEC),
    bin("DDR4-1866N",  14, 14, 14, JEDEC),
    bin("DDR4-2133N",  16, 14, 14, JEDEC),
    bin("DDR4-2133P",  16, 15, 15, JEDEC),
    bin("DDR4-2133R",  16, 16, 16, JEDEC),
    bin("DDR4-2400P",  18, 15, 15, JEDEC),
    bin("DDR4-2400R",  18, 16, 16, JEDEC),
    bin("DDR4-2400T",  18, 17, 17, M4),
    bin("DDR4-2400U",  18, 18, 18, JEDEC),
    bin("DDR4-2666T",  20, 17, 17, DERIVED),
    bin("DDR4-2666U",  20, 18, 18, RAM2),
    bin("DDR4-2666V",  20, 19, 19, RAM2),
    bin("DDR4-2666W",  20, 20, 20, DERIVED),
    bin("DDR4-2933V",  22, 19, 19, DERIVED),
    bin("DDR4-2933W",  22, 20, 20, DERIVED),
    bin("DDR4-2933Y",  22, 21, 21, "Micron 16 Gb DDR4 rev B"),
    bin("DDR4-2933AA", 22, 22, 22, DERIVED),
    bin("DDR4-3200W",  24, 20, 20, DERIVED),
    bin("DDR4-3200AA", 24, 22, 22, "Micron 16 Gb DDR4 rev B"),
    bin("DDR4-3200AC", 24, 24, 24, DERIVED),
];

#[cfg(test)]
mod tests {
    use super::*;

    type Minimum = fn(&SpeedBin) -> Min;

    /// Counts of JESD79-4 table 84 up to 2400, and of public firmware above.
    #[test]
    #[rustfmt::skip] // One parameter per line.
    fn minima_round_to_the_published_counts() {
        let by_rate: [(&str, Minimum, [u64; 7]); 19] = [
            ("tCCD_L",        |bin| bin.t_ccd_l,      [5, 5, 6, 6, 7, 8, 8]),
            ("tRRD_S 1K",     |bin| bin.t_rrd_1k,     [4, 4, 4, 4, 4, 4, 4]),
            ("tRRD_S 2K",     |bin| bin.t_rrd_2k,     [5, 5, 6, 7, 8, 8, 9]),
            ("tRRD_L 1K",     |bin| bin.t_rrd_l_1k,   [5, 5, 6, 6, 7, 8, 8]),
            ("tRRD_L 2K",     |bin| bin.t_rrd_l_2k,   [6, 6, 7, 8, 9, 10, 11]),
            ("tFAW 512",      |bin| bin.t_faw_half_k, [16, 16, 16, 16, 16, 16, 16]),
            ("tFAW 1K",       |bin| bin.t_faw_1k,     [20, 22, 23, 26, 28, 31, 34]),
            ("tFAW 2K",       |bin| bin.t_faw_2k,     [28, 28, 32, 36, 40, 44, 48]),
            ("tWTR_S",        |bin| bin.t_wtr,        [2, 3, 3, 3, 4, 4, 4]),
            ("tWTR_L",        |bin| bin.t_wtr_l,      [6, 7, 8, 9, 10, 11, 12]),
            ("tWR",           |bin| bin.t_wr,         [12, 14, 16, 18, 20, 22, 24]),
            ("tRTP",          |bin| bin.t_rtp,        [6, 7, 8, 9, 10, 11, 12]),
            ("tXP",           |bin| bin.t_xp,         [5, 6, 7, 8, 8, 9, 10]),
            ("tCKE",          |bin| bin.t_cke,        [4, 5, 6, 6, 7, 8, 8]),
            ("tRAS",          |bin| bin.t_ras,        [28, 32, 36, 39, 43, 47, 52]),
            ("tRFC1 2 Gb",    |_| CHIPS[0].t_rfc[0],  [128, 150, 171, 192, 214, 235, 256]),
            ("tRFC1 4 Gb",    |_| CHIPS[3].t_rfc[0],  [208, 243, 278, 312, 347, 382, 416]),
            ("tRFC1 8 Gb",    |_| CHIPS[6].t_rfc[0],  [280, 327, 374, 420, 467, 514, 560]),
            ("tRFC1 16 Gb",   |_| CHIPS[9].t_rfc[0],  [440, 514, 587, 660, 734, 807, 880]),
        ];
        let rates = ["1600K", "1866M", "2133P", "2400R", "2666V", "2933Y", "3200AA"].map(|name| Standard::Ddr4.bin(name).unwrap());
        for (name, of, counts) in by_rate {
            assert_eq!(rates.map(|bin| bin.clock.at_least(of(bin)).0), counts, "{name}");
        }
        assert_eq!(rates.map(|bin| bin.cwl), [9, 10, 11, 12, 14, 16, 16]);
        assert_eq!(rates.map(|bin| bin.clock.at_least(bin.t_rc).0), [39, 45, 51, 55, 62, 68, 74]);
        assert_eq!(rates.map(|bin| bin.n_ckesr().0), [5, 6, 7, 7, 8, 9, 9]);
        assert_eq!(rates.map(|bin| bin.clock.at_most(7_800_000).0), [6240, 7280, 8320, 9360, 10_400, 11_440, 12_480]);
    }

    #[test]
    fn chips_have_the_rows_of_the_standard() {
        let rows = |width| {
            let of_width = CHIPS.iter().filter(move |chip| chip.width == width);
            of_width.map(|chip| chip.rows().ilog2()).collect::<Vec<_>>()
        };
        assert_eq!([X4, X8, X16].map(rows), [[15, 16, 17, 18], [14, 15, 16, 17], [14, 15, 16, 17]]);
    }
}
