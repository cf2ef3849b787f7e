//! The limits of each standard, by hand from the datasheets.

use dram_spec::{
    Channel, Cycle, Density, Dialect, Issued, RawGeometry, ReferenceCycle, Refresh, SpeedBin, System, Width,
};

use super::*;
use crate::check::Setting;
use crate::history::Moved;

/// DDR3-1066G, 2 Gb x8 chips, rows of 4 KB, refresh off.
fn ddr3() -> System {
    System { refresh: Refresh::Off, ..System::paper(1, Density::Gb2, Width::X8) }
}

fn limits(bin: &str, width: Width, row_bytes: u64) -> Limits {
    let system = ddr3();
    let geometry = RawGeometry { width, row_bytes, ..system.geometry.raw() }.try_into().expect("a chip of the table");
    Limits::new(&System { bin: SpeedBin::named(bin).unwrap(), geometry, ..system })
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
        let limits = Limits::new(&System { refresh: Refresh::Every { t_refi_ps }, ..ddr3() });
        assert!(limits.refresh.interval >= 1);
        assert_eq!(limits.of(Rule::RefGap), limits.refresh.interval.saturating_mul(9));
    }
}

/// 2 x 7,800,001 ps are a little more than 8320 clocks of 1875 ps.
#[test]
fn the_refresh_window_rounds_up_as_a_minimum() {
    let limits = Limits::new(&System { refresh: Refresh::Every { t_refi_ps: 7_800_001 }, ..ddr3() });
    assert_eq!((limits.refresh.interval, limits.of(Rule::RefWindow)), (4160, 8321));
}

/// A system of a bin, with distances from the first cycle of commands of two cycles.
fn system(bin: &str, density: Density, width: Width, row_bytes: u64) -> System {
    let bin = SpeedBin::named(bin).unwrap();
    let (standard, channels, ranks, rows_per_subarray) = (bin.standard, 1, 1, 512.into());
    let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
    System { reference_cycle: ReferenceCycle::First, ..System::new(bin, raw.try_into().unwrap()) }
}

/// Asserts the limits of some rules, and that the others of the standard are 0 or listed.
fn check(system: &System, expected: &[(Rule, u64)]) {
    let limits = Limits::new(system);
    for &(rule, clocks) in expected {
        assert_eq!(limits.of(rule), clocks, "{} {rule}", system.bin.name);
    }
    for rule in Rule::ALL {
        let is_listed = expected.iter().any(|(listed, _)| *listed == rule);
        assert!(is_listed || limits.of(rule) == 0, "{} {rule}: {}", system.bin.name, limits.of(rule));
    }
}

/// CL 16, CWL 12, tRCD 16, tRP 16, tRAS 39, tWR 18, tRTP 9, tWTR 3 and 9; tRFC 350 ns, tREFI 9360.
#[test]
#[rustfmt::skip] // In the order of the rules.
fn limits_of_ddr4_2400r_x8_equal_the_hand_computed_clocks() {
    use Rule::*;
    check(&system("DDR4-2400R", Density::Gb8, Width::X8, 8192), &[
        (TRcd, 16), (TRas, 39), (TRc, 55), (TRp, 16), (TRtp, 9), (TWr, 34), (RdaAct, 25), (WraAct, 50),
        (TFaw, 26), (RdWr, 10), (RdRdRank, 6), (WrWrRank, 6), (RdWrRank, 10), (WrRdRank, 2), (TRpRef, 16),
        (TRcRef, 55), (RdaRef, 25), (WraRef, 50), (TRfc, 420), (RefWindow, 18_720), (TRdpden, 21), (TWrpden, 34),
        (TWrapden, 35), (TActpden, 2), (TPrpden, 2), (TRefpden, 2), (TPd, 6), (TCke, 6), (TXp, 8), (TCkesr, 7),
        (TXs, 432), (TXsdll, 768), (Bus, 1), (BusTransfer, 2), (Fpm, 39), (FpmTWr, 34), (TransferTRcd, 16),
        (TransferTCcd, 6), (TransferTurnaround, 25), (RdTransfer, 6), (TransferWr, 6), (WrTransfer, 25),
        (TransferRd, 25), (TransferTRtp, 9), (TransferTWr, 34), (TransferPde, 34), (TRrdS, 4), (TRrdL, 6),
        (TCcdSRd, 4), (TCcdSWr, 4), (TCcdLRd, 6), (TCcdLWrite, 6), (TWtrS, 19), (TWtrL, 25), (WrRda, 25),
        (WrRdaTWr, 25), (TransferTCcdWr, 6), (TRasMax, 84_240), (TPdMax, 84_240), (RefGap, 84_240),
    ]);
}

/// CL 22, CWL 16, tRCD 22, tRP 22, tRAS 52, tWR 24, tRTP 12, tWTR 4 and 12; pages of 2 KB.
#[test]
#[rustfmt::skip] // In the order of the rules.
fn limits_of_ddr4_3200aa_x16_equal_the_hand_computed_clocks() {
    use Rule::*;
    check(&system("DDR4-3200AA", Density::Gb8, Width::X16, 8192), &[
        (TRcd, 22), (TRas, 52), (TRc, 74), (TRp, 22), (TRtp, 12), (TWr, 44), (RdaAct, 34), (WraAct, 66),
        (TFaw, 48), (RdWr, 12), (RdRdRank, 6), (WrWrRank, 6), (RdWrRank, 12), (WrRdRank, 0), (TRpRef, 22),
        (TRcRef, 74), (RdaRef, 34), (WraRef, 66), (TRfc, 560), (RefWindow, 24_960), (TRdpden, 27), (TWrpden, 44),
        (TWrapden, 45), (TActpden, 2), (TPrpden, 2), (TRefpden, 2), (TPd, 8), (TCke, 8), (TXp, 10), (TCkesr, 9),
        (TXs, 576), (TXsdll, 1024), (Bus, 1), (BusTransfer, 2), (Fpm, 52), (FpmTWr, 44), (TransferTRcd, 22),
        (TransferTCcd, 8), (TransferTurnaround, 32), (RdTransfer, 8), (TransferWr, 8), (WrTransfer, 32),
        (TransferRd, 32), (TransferTRtp, 12), (TransferTWr, 44), (TransferPde, 44), (TRrdS, 9), (TRrdL, 11),
        (TCcdSRd, 4), (TCcdSWr, 4), (TCcdLRd, 8), (TCcdLWrite, 8), (TWtrS, 24), (TWtrL, 32), (WrRda, 32),
        (WrRdaTWr, 32), (TransferTCcdWr, 8), (TRasMax, 112_320), (TPdMax, 112_320), (RefGap, 112_320),
    ]);
}

/// The clocks of DDR5-4800B with 16 Gb chips, without those that differ between widths: CL 40, CWL 38, tRCD 39, tRP 39,
/// tRAS 77, tWR 72, tRTP 18, tWTR 6 and 24; tRFC 295 ns, tRFCsb 130 ns, tREFI 9360.
#[rustfmt::skip] // In the order of the rules.
fn ddr5_4800b() -> Vec<(Rule, u64)> {
    use Rule::*;
    vec![
        (TRcd, 39), (TRas, 77), (TRc, 116), (TRp, 39), (TRtp, 18), (TWr, 118), (RdaAct, 57), (WraAct, 157),
        (TFaw, 32), (RdWr, 14), (RdRdRank, 10), (WrWrRank, 10), (RdWrRank, 12), (WrRdRank, 8), (TRpRef, 39),
        (TRcRef, 116), (RdaRef, 57), (WraRef, 157), (TRfc, 708), (RefWindow, 9360), (TRdpden, 49),
        (TWrpden, 119), (TWrapden, 119), (TActpden, 2), (TPrpden, 2), (TRefpden, 2), (TPd, 18), (TCke, 18),
        (TXp, 18), (TCsl, 24), (TXs, 708), (TXsdll, 1536), (Bus, 1), (BusTransfer, 2), (BusTwoCycles, 2),
        (Fpm, 77), (FpmTWr, 118), (TransferTRcd, 39), (TransferTCcd, 12), (TransferTurnaround, 70),
        (RdTransfer, 12), (TransferWr, 24), (WrTransfer, 70), (TransferRd, 70), (TransferTRtp, 18),
        (TransferTWr, 118), (TransferPde, 118), (TRrdS, 8), (TRrdL, 12), (TCcdSRd, 8), (TCcdSWr, 8),
        (TCcdLRd, 12), (TWtrS, 52), (TWtrL, 70), (TWtra, 100), (TPpd, 2), (TRfcsb, 312), (TRfcsbRef, 312),
        (TRefsbrd, 72), (RefsbRefsb, 72), (TRpRefsb, 39), (TRcRefsb, 116), (RdaRefsb, 57), (WraRefsb, 157),
        (ActRefsb, 12), (TRasMax, 46_800), (TPdMax, 46_800), (RefGap, 46_800),
    ]
}

#[test]
fn limits_of_ddr5_4800b_equal_the_hand_computed_clocks() {
    let of_width = |own: &[(Rule, u64)]| [&ddr5_4800b(), own].concat();
    let (x8, x4) =
        (system("DDR5-4800B", Density::Gb16, Width::X8, 4096), system("DDR5-4800B", Density::Gb16, Width::X4, 8192));
    check(&x8, &of_width(&[(Rule::TCcdLWr2, 24), (Rule::TransferTCcdWr, 24)]));
    check(&x4, &of_width(&[(Rule::TCcdLWr, 48), (Rule::TransferTCcdWr, 48)]));
}

/// CL 3, CWL 2, tRCD 3, tRP 3, tRAS 8, tWR 3, tRTP 2, tWTR 2; tRFC 127.5 ns, tREFI 1560.
#[test]
#[rustfmt::skip] // In the order of the rules.
fn limits_of_ddr2_400b_equal_the_hand_computed_clocks() {
    use Rule::*;
    check(&system("DDR2-400B", Density::Gb1, Width::X8, 8192), &[
        (TRcd, 3), (TRas, 8), (TRc, 11), (TRp, 3), (TRtp, 4), (TWr, 9), (RdaAct, 7), (WraAct, 12), (TRrd, 2),
        (TFaw, 8), (TCcdRd, 4), (TCcdWr, 4), (RdWr, 6), (TWtr, 8), (RdRdRank, 6), (WrWrRank, 6), (RdWrRank, 7),
        (WrRdRank, 5), (TRpRef, 3), (TRcRef, 11), (RdaRef, 7), (WraRef, 12), (TRfc, 26), (TRdpden, 8),
        (TWrpden, 9), (TWrapden, 10), (TActpden, 1), (TPrpden, 1), (TRefpden, 1), (TPd, 3), (TCke, 3), (TXp, 2),
        (TXards, 6), (TCkeSr, 3), (TXsnr, 28), (TXsrd, 200), (TRpa, 4), (Bus, 1), (BusTransfer, 2), (Fpm, 8),
        (FpmTWr, 9), (TransferTRcd, 3), (TransferTCcd, 4), (TransferTurnaround, 8), (RdTransfer, 4),
        (TransferWr, 4), (WrTransfer, 8), (TransferRd, 8), (TransferTRtp, 4), (TransferTWr, 9), (TransferPde, 9),
        (TRasMax, 14_000), (TPdMax, 14_040), (RefGap, 14_040),
    ]);
    let four_banks = Limits::new(&system("DDR2-400B", Density::Mb512, Width::X8, 8192));
    assert_eq!([TFaw, TRpa].map(|rule| four_banks.of(rule)), [0, 0]);
}

/// 8 ns per hop, and once more: 19.2, 25.6 and 38.4 clocks of one hop, and 3.2 of one in DDR2.
#[test]
fn movements_take_the_hand_computed_clocks() {
    let issued = Issued { at: Cycle(0), channel: Channel(0), command: Command::Refresh { rank: 0 } };
    for (bin, hops, clocks) in [
        ("DDR4-2400R", 1, 20),
        ("DDR4-3200W", 1, 26),
        ("DDR5-4800B", 1, 39),
        ("DDR2-400B", 1, 4),
        ("1066G", 3, 18),
        ("1066G", 63, 274),
    ] {
        let system = System { bin: SpeedBin::named(bin).unwrap(), ..ddr3() };
        let setting = Setting::new(&system, Dialect::RowClone);
        assert_eq!(Moved { rbm: issued, subarray: 0, hops }.duration(&setting), clocks, "{bin} {hops}");
    }
}

/// Per mode: tRFC, interval, longest gap, most postponed, clocks of a window.
#[test]
fn refresh_modes_have_their_own_limits() {
    let ddr4 = system("DDR4-2400R", Density::Gb8, Width::X8, 8192);
    let ddr5 = system("DDR5-4800B", Density::Gb16, Width::X8, 4096);
    let small = system("DDR5-4800B", Density::Gb8, Width::X8, 4096);
    for (system, mode, expected) in [
        (&ddr4, "1x", [420, 9360, 84_240, 8, 18_720]),
        (&ddr4, "2x", [312, 4680, 79_560, 16, 18_720]),
        (&ddr4, "4x", [192, 2340, 77_220, 32, 18_720]),
        (&ddr5, "normal", [708, 9360, 46_800, 4, 9360]),
        (&ddr5, "fine", [384, 4680, 42_120, 8, 9360]),
        // Four bank numbers, and two.
        (&ddr5, "same-bank", [384, 1170, 42_120, 32, 9360]),
        (&small, "same-bank", [312, 2340, 42_120, 16, 9360]),
    ] {
        let refresh_mode = system.bin.standard.refresh_mode(mode).unwrap();
        let limits = Limits::new(&System { refresh_mode, ..system.clone() });
        let RefreshLimits { interval, postponed_most, advanced_most, .. } = limits.refresh;
        let (gap, window) = (limits.of(Rule::RefGap), limits.of(Rule::RefWindow));
        assert_eq!([limits.of(Rule::TRfc), interval, gap, postponed_most, window], expected, "{mode}");
        assert_eq!(advanced_most, postponed_most, "{mode}");
    }
}

#[test]
fn distances_from_a_command_of_two_cycles_are_a_clock_longer_from_its_first() {
    let first = system("DDR5-4800B", Density::Gb16, Width::X8, 4096);
    let second = System { reference_cycle: ReferenceCycle::Second, ..first.clone() };
    let (first, second) = (Limits::new(&first), Limits::new(&second));
    for rule in Rule::ALL {
        let of_the_bus = [Rule::Bus, Rule::BusTransfer, Rule::BusTwoCycles].contains(&rule);
        let starts = |name: &str| rule.what().split([' ', ',']).next() == Some(name);
        let follows = ["ACT", "RD", "RDA", "WR", "WRA", "TRANSFER"].into_iter().any(starts) || rule == Rule::TRasMax;
        let longer = u64::from(follows && !of_the_bus && first.of(rule) > 0);
        assert_eq!(second.of(rule), first.of(rule) + longer, "{rule}");
    }
    let first = System { reference_cycle: ReferenceCycle::First, ..ddr3() };
    assert_eq!(Limits::new(&first).clocks, Limits::new(&ddr3()).clocks);
}
