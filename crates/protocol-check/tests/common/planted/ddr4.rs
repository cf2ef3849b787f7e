//! Pairs at DDR4-2400R, 8 Gb x8 chips with rows of 8 KB: banks 0 and 1 lie in group 0, bank 4 in group 1.

use dram_spec::{Density, Refresh, Standard, System, Width};

use super::{
    PDE, PDX, Pair, RD, RDA, REF, SRE, SRX, WR, act, bin, differing, early, geometry_of, late, pre, rd,
    refreshes_in_window, transfer, wr,
};
use protocol_check::Rule;

/// Clocks: CL 16, CWL 12, tRCD 16, tRP 16, tRAS 39, tRRD 4 and 6, tFAW 26, tCCD 4 and 6, tRTP 9, tWR 18, tWTR 3 and 9,
/// tXP 8, tCKE 6, tRFC 420, tXS 432, tDLLK 768, tREFI 9360.
fn system() -> System {
    let geometry = geometry_of(Standard::Ddr4, 1, Density::Gb8, Width::X8, 8192);
    System { refresh: Refresh::Off, ..System::new(bin("DDR4-2400R"), geometry) }
}

pub(super) fn pairs() -> Vec<(Rule, Pair)> {
    [banks(), power(), transfers(), replaced(), refreshes()].concat()
}

fn on_system(pairs: impl IntoIterator<Item = (Rule, Pair)>) -> Vec<(Rule, Pair)> {
    pairs.into_iter().map(|(rule, pair)| (rule, pair.on(&system()))).collect()
}

#[rustfmt::skip] // One log per line.
fn banks() -> Vec<(Rule, Pair)> {
    on_system([
        (Rule::TRrdS,       early(&[(0, act(0)), (4, act(4))])),
        (Rule::TRrdL,       early(&[(0, act(0)), (6, act(1))])),
        (Rule::TFaw,        early(&[(0, act(0)), (4, act(4)), (8, act(8)), (12, act(12)), (26, act(1))])),
        (Rule::TCcdSRd,     early(&[(0, act(0)), (4, act(4)), (20, RD), (24, rd(4))])),
        (Rule::TCcdSWr,     early(&[(0, act(0)), (4, act(4)), (20, WR), (24, wr(4))])),
        (Rule::TCcdLRd,     early(&[(0, act(0)), (16, RD), (22, RD)])),
        (Rule::TCcdLRd,     early(&[(0, act(0)), (6, act(1)), (22, RD), (28, rd(1))])),
        (Rule::TCcdLWrite,  early(&[(0, act(0)), (16, WR), (22, WR)])),
        (Rule::TCcdLWrite,  early(&[(0, act(0)), (6, act(1)), (22, WR), (28, wr(1))])),
        // 16 + 4 + 1 + 1 - 12 = 10.
        (Rule::RdWr,        early(&[(0, act(0)), (16, RD), (26, WR)])),
        // 12 + 4 + 3 = 19, and 12 + 4 + 9 = 25.
        (Rule::TWtrS,       early(&[(0, act(0)), (4, act(4)), (20, WR), (39, rd(4))])),
        (Rule::TWtrL,       early(&[(0, act(0)), (16, WR), (41, RD)])),
        (Rule::TWtrL,       early(&[(0, act(0)), (6, act(1)), (22, WR), (47, rd(1))])),
    ])
}

#[rustfmt::skip] // One log per line.
fn power() -> Vec<(Rule, Pair)> {
    on_system([
        (Rule::TCkesr,      early(&[(0, SRE), (7, SRX)])),
        // 360 ns.
        (Rule::TXs,         early(&[(0, SRE), (7, SRX), (439, act(0))])),
        (Rule::TXs,         early(&[(0, SRE), (7, SRX), (439, REF)])),
        (Rule::SrxRefPde,   differing(&[(0, SRE), (7, SRX), (439, REF), (859, PDE)], &[(0, SRE), (7, SRX), (859, PDE)])),
        (Rule::TXsdll,      early(&[(0, SRE), (7, SRX), (439, act(0)), (775, RD)])),
        (Rule::TXsdll,      early(&[(0, SRE), (7, SRX), (439, act(0)), (775, WR)])),
        (Rule::TXp,         early(&[(0, PDE), (6, PDX), (14, act(0))])),
        (Rule::TCke,        early(&[(0, PDE), (6, PDX), (12, PDE)])),
        // 9 x 9360 = 84,240.
        (Rule::TRasMax,     late(&[(0, act(0)), (84_240, pre(0))])),
        (Rule::TPdMax,      late(&[(0, PDE), (84_240, PDX)])),
    ])
}

#[rustfmt::skip] // One log per line.
fn transfers() -> Vec<(Rule, Pair)> {
    on_system([
        (Rule::TransferTurnaround, early(&[(0, act(0)), (4, act(4)), (20, transfer(0, 4)), (45, transfer(4, 0))])),
        (Rule::RdTransfer,         early(&[(0, act(0)), (4, act(4)), (20, RD), (26, transfer(0, 4))])),
        (Rule::TransferWr,         early(&[(0, act(0)), (4, act(4)), (20, transfer(0, 4)), (26, WR)])),
        (Rule::WrTransfer,         early(&[(0, act(0)), (4, act(4)), (20, WR), (45, transfer(0, 4))])),
        (Rule::TransferRd,         early(&[(0, act(0)), (4, act(4)), (20, transfer(0, 4)), (45, RD)])),
    ])
}

/// With a parameter of the bin replaced, so that no other rule is as long.
#[rustfmt::skip] // One log per line.
fn replaced() -> Vec<(Rule, Pair)> {
    let transferred = [(0, act(0)), (4, act(4)), (20, transfer(0, 4))];
    let next_transfer = |at| early(&[&transferred[..], &[(at, transfer(0, 4))]].concat());
    let pairs = [
        // 12 + 4 + 10 - 9 = 17 clocks to the RDA for tWR, 25 for tWTR_L.
        (Rule::WrRda,          early(&[(0, act(0)), (16, WR), (41, RDA)]).also(Rule::TWtrL), "tWR=10"),
        // 12 + 4 + 30 - 9 = 37.
        (Rule::WrRdaTWr,       early(&[(0, act(0)), (16, WR), (53, RDA)]), "tWR=30"),
        // CWL 14: data of four clocks, and a preamble of two.
        (Rule::WrWrTWpre,      early(&[(0, act(0)), (4, act(4)), (20, WR), (26, wr(4))]), "tWPRE=2"),
        // In the bin, both distances are tCCD_L.
        (Rule::TransferTCcd,   next_transfer(26), "tCCD_L_WR=4"),
        (Rule::TransferTCcdWr, next_transfer(28), "tCCD_L_WR=8"),
    ];
    pairs.into_iter().map(|(rule, pair, list)| (rule, pair.on(&system()).with(list))).collect()
}

#[rustfmt::skip] // One log per line.
fn refreshes() -> Vec<(Rule, Pair)> {
    let pairs = [
        // 9 x 9360; the second REF is due at 2 x 9360, and may be eight intervals late.
        (Rule::RefGap,       late(&[(0, REF), (84_240, REF)]), "1x"),
        (Rule::RefPostponed, late(&[(84_240, REF), (93_600, REF)]), "1x"),
        (Rule::RefWindow,    early(&refreshes_in_window(16, 420, 18_720)), "1x"),
        // 17 x 4680 = 79,560, and 33 x 2340 = 77,220; tRFC is 312 and 192 clocks.
        (Rule::RefGap,       late(&[(0, REF), (79_560, REF)]), "2x"),
        (Rule::RefPostponed, late(&[(79_560, REF), (84_240, REF)]), "2x"),
        (Rule::RefWindow,    early(&refreshes_in_window(32, 312, 18_720)), "2x"),
        (Rule::TRfc,         early(&[(0, REF), (312, act(0))]), "2x"),
        (Rule::RefGap,       late(&[(0, REF), (77_220, REF)]), "4x"),
        (Rule::RefPostponed, late(&[(77_220, REF), (79_560, REF)]), "4x"),
        (Rule::RefWindow,    early(&refreshes_in_window(64, 192, 18_720)), "4x"),
        (Rule::TRfc,         early(&[(0, REF), (192, act(0))]), "4x"),
    ];
    pairs.into_iter().map(|(rule, pair, mode)| (rule, pair.on(&system()).in_mode(mode))).collect()
}
