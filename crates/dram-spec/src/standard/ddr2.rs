//! DDR2: chips, speed bins and refresh.
//!
//! Sources: the parameters of Micron's DDR2 HDL model, Samsung K4T51083QC, and Micron module sheets.
//! Additive latency is 0. `docs/sources.md` lists the sources with what is recalled only.

use super::datasheet::Density::{self, Gb1, Gb2, Gb4, Mb256, Mb512};
use super::datasheet::SpeedBin;
use super::datasheet::Width::{self, X4, X8, X16};
use super::{Chip, Definition, PinPowers, RefreshMode, SlowExit, Standard};
use crate::units::{Clock, Cycles, Min};

/// Chips of DDR2: four banks up to 512 Mb, then eight.
#[rustfmt::skip] // One chip per line.
const CHIPS: &[Chip] = &[
    chip(Mb256, X4,  4, 1024,  75_000),
    chip(Mb256, X8,  4, 1024,  75_000),
    chip(Mb256, X16, 4, 1024,  75_000),
    chip(Mb512, X4,  4, 1024, 105_000),
    chip(Mb512, X8,  4, 1024, 105_000),
    chip(Mb512, X16, 4, 2048, 105_000),
    chip(Gb1,   X4,  8, 1024, 127_500),
    chip(Gb1,   X8,  8, 1024, 127_500),
    chip(Gb1,   X16, 8, 2048, 127_500),
    chip(Gb2,   X4,  8, 1024, 195_000),
    chip(Gb2,   X8,  8, 1024, 195_000),
    chip(Gb2,   X16, 8, 2048, 195_000),
    chip(Gb4,   X4,  8, 1024, 327_500),
    chip(Gb4,   X8,  8, 1024, 327_500),
    chip(Gb4,   X16, 8, 2048, 327_500),
];

/// A chip. tRPA is tRP + 1 clock with eight banks, and tRP with four.
const fn chip(density: Density, width: Width, banks: u8, page_bytes: u64, t_rfc_ps: u64) -> Chip {
    let (t_rfc, rpa_clocks) = ([Min::ps(t_rfc_ps); 3], if banks == 8 { 1 } else { 0 });
    Chip { density, width, bank_groups: 1, banks_per_group: banks, page_bytes, t_rfc, t_rfc_sb: t_rfc[0], rpa_clocks }
}

/// DDR2 (JESD79-2).
pub static DDR2: Definition = Definition {
    name: "DDR2",
    bins: BINS,
    chips: CHIPS,
    channel_pins: 64,
    burst: Cycles(4),
    t_refi_ps: 7_800_000,
    refresh_modes: &[RefreshMode { window: 0, ..super::ddr3::NORMAL }],
    // tXSNR = tRFC + 10 ns.
    exit_after_refresh: Min::ps(10_000),
    slow_exit: Some(SlowExit::Active),
    cl: (3, 7),
    cwl: (2, 6),
    cwl_below_cl: Some(1),
    t_ras_max_ps: Some(70_000_000),
    rank_banks_max: 8,
    two_cycle_commands: false,
    background_rho: 1.0,
    // DRAMPower, "conservative estimates based on Micron DDR2 Power Calculator".
    pin_powers: Some(PinPowers {
        read_driver_mw: 1.5,
        write_termination_mw: 8.2,
        idle_read_termination_mw: 13.1,
        idle_write_termination_mw: 14.6,
    }),
};

/// A bin: CL in clocks, tRCD and tRP, and tRAS, in ps. CWL is CL - 1.
const fn bin(name: &'static str, k: u64, cl: u64, row_ps: u64, t_ras_ps: u64, t_rc_ps: u64) -> SpeedBin {
    let clock = Clock::of_rate(k);
    let is_800 = clock.mega_transfers() == 800;
    SpeedBin {
        name,
        cl,
        cwl: cl - 1,
        t_rcd: Min::ps(row_ps),
        t_rp: Min::ps(row_ps),
        t_ras: Min::ps(t_ras_ps),
        t_rc: Min::ps(t_rc_ps),
        t_wr: Min::ps(15_000),
        t_wtr: Min::ps(if clock.mega_transfers() == 400 { 10_000 } else { 7_500 }),
        t_rtp: Min::max(2, 7_500),
        t_ccd: Min::ck(2),
        t_rrd_1k: Min::ps(7_500),
        t_rrd_2k: Min::ps(10_000),
        t_faw_1k: Min::ps(if is_800 { 35_000 } else { 37_500 }),
        t_faw_2k: Min::ps(if is_800 { 45_000 } else { 50_000 }),
        t_xp: Min::ck(2),
        t_xpdll: Min::ck(match clock.mega_transfers() {
            400 | 533 => 6,
            667 => 7,
            _ => 8,
        }),
        t_cke: Min::ck(3),
        t_csl: Some(Min::ck(3)),
        t_dllk: Min::ck(200),
        source: "Micron DDR2 HDL model parameters; Samsung K4T51083QC",
        ..SpeedBin::empty(Standard::Ddr2, clock)
    }
    .without_groups()
}

/// The common bins of DDR2-400 to DDR2-800.
#[rustfmt::skip] // One bin per line: read it beside the tables.
const BINS: &[SpeedBin] = &[
    bin("DDR2-400B", 3, 3, 15_000, 40_000, 55_000),
    bin("DDR2-533C", 4, 4, 15_000, 45_000, 60_000),
    bin("DDR2-667C", 5, 4, 12_000, 45_000, 57_000),
    bin("DDR2-667D", 5, 5, 15_000, 45_000, 60_000),
    bin("DDR2-800D", 6, 5, 12_500, 45_000, 57_500),
    bin("DDR2-800E", 6, 6, 15_000, 45_000, 60_000),
];

/// The clock of a page-mode memory, in the place of a bin: 66 2/3 MHz. The sizes of chips are those of DDR2, and no
/// command obeys its timings.
pub(crate) static PAGE_MODE: SpeedBin =
    SpeedBin { name: "page-mode", clock: Clock::of_rate(1), ..bin("DDR2-400B", 3, 3, 15_000, 40_000, 55_000) };

#[cfg(test)]
mod tests {
    use super::*;

    /// Clock counts derived from the sheets: RCD, RP, RAS, RC, WR, WTR, RTP, RRD of x8 chips.
    #[test]
    #[rustfmt::skip] // One bin per line.
    fn minima_round_to_the_published_counts() {
        let published = [
            ("400B", [3, 3, 8, 11, 3, 2, 2, 2], 1560),
            ("533C", [4, 4, 12, 16, 4, 2, 2, 2], 2080),
            ("667D", [5, 5, 15, 20, 5, 3, 3, 3], 2600),
            ("800D", [5, 5, 18, 23, 6, 3, 3, 3], 3120),
        ];
        for (name, counts, refi) in published {
            let bin = Standard::Ddr2.bin(name).unwrap();
            let minima = [bin.t_rcd, bin.t_rp, bin.t_ras, bin.t_rc, bin.t_wr, bin.t_wtr, bin.t_rtp, bin.t_rrd_1k];
            assert_eq!(minima.map(|min| bin.clock.at_least(min).0), counts, "{name}");
            assert_eq!(bin.clock.at_most(7_800_000).0, refi, "{name}");
        }
    }

    #[test]
    fn chips_have_the_rows_of_the_sheets() {
        let bits = CHIPS.iter().filter(|chip| chip.width == X8).map(|chip| chip.rows().ilog2());
        assert_eq!(bits.collect::<Vec<_>>(), [13, 14, 14, 15, 16]);
    }
}
