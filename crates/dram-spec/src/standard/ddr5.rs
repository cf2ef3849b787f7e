//! DDR5: chips, speed bins and refresh.
//!
//! Sources: notes that quote JESD79-5 (2020) and JESD79-5B by section, a decoded SPD of a DDR5-4800
//! module, and Ramulator 2.1. `docs/sources.md` lists them.

use super::datasheet::Density::{self, Gb8, Gb16, Gb32};
use super::datasheet::SpeedBin;
use super::datasheet::Width::{self, X4, X8, X16};
use super::{Chip, Definition, RefreshMode, Standard};
use crate::units::{Clock, Cycles, Min};

/// Chips of DDR5 (Ramulator 2.1; 16 Gb x8 confirmed by the SPD).
#[rustfmt::skip] // One chip per line.
const CHIPS: &[Chip] = &[
    chip(Gb8,  X4,  8, 2, 1024, [195, 130, 115]),
    chip(Gb8,  X8,  8, 2, 1024, [195, 130, 115]),
    chip(Gb8,  X16, 4, 2, 2048, [195, 130, 115]),
    chip(Gb16, X4,  8, 4, 1024, [295, 160, 130]),
    chip(Gb16, X8,  8, 4, 1024, [295, 160, 130]),
    chip(Gb16, X16, 4, 4, 2048, [295, 160, 130]),
    chip(Gb32, X4,  8, 4, 1024, [410, 220, 190]),
    chip(Gb32, X8,  8, 4, 1024, [410, 220, 190]),
    chip(Gb32, X16, 4, 4, 2048, [410, 220, 190]),
];

/// A chip; tRFC1, tRFC2 and tRFCsb in ns (JESD79-5, table 282; 32 Gb: JESD79-5B).
const fn chip(
    density: Density,
    width: Width,
    bank_groups: u8,
    banks_per_group: u8,
    page_bytes: u64,
    [rfc1, rfc2, rfc_sb]: [u64; 3],
) -> Chip {
    let t_rfc = [Min::ps(rfc1 * 1000), Min::ps(rfc2 * 1000), Min::ps(rfc2 * 1000)];
    let t_rfc_sb = Min::ps(rfc_sb * 1000);
    Chip { density, width, bank_groups, banks_per_group, page_bytes, t_rfc, t_rfc_sb, rpa_clocks: 0 }
}

/// DDR5 (JESD79-5).
pub static DDR5: Definition = Definition {
    name: "DDR5",
    bins: BINS,
    chips: CHIPS,
    channel_pins: 32,
    burst: Cycles(8),
    t_refi_ps: 3_900_000,
    refresh_modes: &[NORMAL, FINE, SAME_BANK],
    // tXS = tRFC1.
    exit_after_refresh: Min::ps(0),
    slow_exit: None,
    cl: (22, 66),
    cwl: (20, 64),
    cwl_below_cl: Some(2),
    t_ras_max_ps: None,
    rank_banks_max: 32,
    two_cycle_commands: true,
    // IDD0 of the published set is below IDD3N, so IDD3N cannot be the background of one open bank.
    background_rho: 0.0,
    // Terminated to VDDQ, as DDR4.
    pin_powers: None,
};

/// REFab once per tREFI1: at most four postponed or in advance, five in one tREFI1 (JESD79-5, 4.13.6).
const NORMAL: RefreshMode = RefreshMode {
    name: "normal",
    divisor: 1,
    duration: 0,
    same_bank: false,
    postponed_most: 4,
    advanced_most: 4,
    gap_most: 5,
    window: 5,
};

/// REFab once per tREFI2, with tRFC2. That twice as many may be postponed, in advance and in a
/// window is this project's choice; the gap of nine is the standard's.
const FINE: RefreshMode = RefreshMode {
    name: "fine",
    divisor: 2,
    duration: 1,
    same_bank: false,
    postponed_most: 8,
    advanced_most: 8,
    gap_most: 9,
    window: 10,
};

/// REFsb in fine granularity mode, once per tREFIsb. The limits are counted in refreshes of all banks.
const SAME_BANK: RefreshMode = RefreshMode { name: "same-bank", same_bank: true, window: 0, ..FINE };

/// Parameters of a data rate.
const fn rate(name: &'static str, k: u64, source: &'static str) -> SpeedBin {
    let clock = Clock::of_rate(k);
    SpeedBin {
        name,
        write_preamble: 2,
        t_ras: Min::ps(32_000),
        t_rc: Min::ps(32_000),
        t_ppd: Min::ck(2),
        t_wr: Min::ps(30_000),
        t_wtr: Min::max(4, 2_500),
        t_wtr_l: Min::max(16, 10_000),
        t_rtp: Min::max(12, 7_500),
        t_ccd: Min::ck(8),
        t_ccd_l: Min::max(8, 5_000),
        t_ccd_l_wr: Min::max(16, 10_000),
        t_ccd_l_rmw: Min::max(32, 20_000),
        t_rrd_1k: Min::ck(8),
        t_rrd_2k: Min::ck(8),
        t_rrd_l_1k: Min::max(8, 5_000),
        t_rrd_l_2k: Min::max(8, 5_000),
        t_faw_half_k: Min::ck(32),
        t_faw_1k: Min::ck(32),
        t_faw_2k: Min::ck(40),
        t_xp: Min::max(8, 7_500),
        t_cke: Min::max(8, 7_500),
        t_csl: Some(Min::ps(10_000)),
        t_pden: Min::ck(2),
        t_dllk: Min::ck(match clock.mega_transfers() {
            ..=3600 => 1024,
            3601..=4400 => 1280,
            4401..=5200 => 1536,
            5201..=6000 => 1792,
            _ => 2048,
        }),
        t_refsbrd: Min::ps(30_000),
        source,
        ..SpeedBin::empty(Standard::Ddr5, clock)
    }
}

/// A bin with CL-RCD-RP in clocks. CWL is CL - 2, and tRC is tRAS + tRP.
const fn bin(name: &'static str, k: u64, [cl, rcd, rp]: [u64; 3], source: &'static str) -> SpeedBin {
    let of_rate = rate(name, k, source);
    let t_rc = Min::ck(of_rate.clock.at_least(of_rate.t_ras).0 + rp);
    SpeedBin { cl, cwl: cl - 2, t_rcd: Min::ck(rcd), t_rp: Min::ck(rp), t_rc, ..of_rate }
}

const RAM2: &str = "Ramulator 2.1 DDR5; JESD79-5B";
const RECALLED: &str = "common parts of this letter; not confirmed by a second source";
const RATE: &str = "JESD79-5B; CL, tRCD and tRP are the user's";

/// The bins with known latencies, and the other data rates, whose CL, tRCD and tRP a system must give.
#[rustfmt::skip] // One bin per line: read it beside the tables.
const BINS: &[SpeedBin] = &[
    bin("DDR5-3200AN", 24, [24, 24, 24], RAM2),
    bin("DDR5-3200B",  24, [26, 26, 26], RECALLED),
    bin("DDR5-3200C",  24, [28, 28, 28], RAM2),
    rate("DDR5-3600",  27, RATE),
    rate("DDR5-4000",  30, RATE),
    rate("DDR5-4400",  33, RATE),
    bin("DDR5-4800AN", 36, [34, 34, 34], RAM2),
    bin("DDR5-4800B",  36, [40, 39, 39], "gem5 DDR5_4800 of the University of Florida; parts lists; the SPD"),
    bin("DDR5-4800C",  36, [42, 42, 42], RECALLED),
    rate("DDR5-5200",  39, RATE),
    bin("DDR5-5600AN", 42, [40, 40, 40], RAM2),
    bin("DDR5-5600B",  42, [46, 45, 45], RECALLED),
    bin("DDR5-5600C",  42, [50, 50, 50], RECALLED),
    rate("DDR5-6000",  45, RATE),
    bin("DDR5-6400AN", 48, [46, 46, 46], RAM2),
    bin("DDR5-6400B",  48, [52, 52, 52], RECALLED),
    bin("DDR5-6400C",  48, [56, 56, 56], RECALLED),
];

#[cfg(test)]
mod tests {
    use super::*;

    type Minimum = fn(&SpeedBin) -> Min;

    /// JESD79-5B: each minimum by data rate, 3200 to 6400.
    #[test]
    #[rustfmt::skip] // One parameter per line.
    fn minima_round_to_the_published_counts() {
        let by_rate: [(&str, Minimum, [u64; 9]); 9] = [
            ("tCCD_L",      |bin| bin.t_ccd_l,     [8, 9, 10, 11, 12, 13, 14, 15, 16]),
            ("tRRD_L",      |bin| bin.t_rrd_l_1k,  [8, 9, 10, 11, 12, 13, 14, 15, 16]),
            ("tCCD_L_WR",   |bin| bin.t_ccd_l_rmw, [32, 36, 40, 44, 48, 52, 56, 60, 64]),
            ("tCCD_L_WR2",  |bin| bin.t_ccd_l_wr,  [16, 18, 20, 22, 24, 26, 28, 30, 32]),
            ("tWTR_L",      |bin| bin.t_wtr_l,     [16, 18, 20, 22, 24, 26, 28, 30, 32]),
            ("tWTR_S",      |bin| bin.t_wtr,       [4, 5, 5, 6, 6, 7, 7, 8, 8]),
            ("tRTP",        |bin| bin.t_rtp,       [12, 14, 15, 17, 18, 20, 21, 23, 24]),
            ("tWR",         |bin| bin.t_wr,        [48, 54, 60, 66, 72, 78, 84, 90, 96]),
            ("tRAS",        |bin| bin.t_ras,       [52, 58, 64, 71, 77, 84, 90, 96, 103]),
        ];
        let rates = ["3200B", "3600", "4000", "4400", "4800B", "5200", "5600B", "6000", "6400B"]
            .map(|name| Standard::Ddr5.bin(name).unwrap());
        for (name, of, counts) in by_rate {
            assert_eq!(rates.map(|bin| bin.clock.at_least(of(bin)).0), counts, "{name}");
        }
        assert_eq!(rates.map(|bin| bin.t_dllk.ck), [1024, 1024, 1280, 1280, 1536, 1536, 1792, 1792, 2048]);
        assert!(BINS.iter().all(|bin| bin.cl % 2 == 0 && bin.cwl == bin.cl.saturating_sub(2)), "CL is even");
    }

    #[test]
    fn chips_have_the_rows_of_the_standard() {
        let rows = |width| {
            let of_width = CHIPS.iter().filter(move |chip| chip.width == width);
            of_width.map(|chip| chip.rows().ilog2()).collect::<Vec<_>>()
        };
        assert_eq!([X4, X8, X16].map(rows), [[16, 16, 17]; 3]);
    }
}
