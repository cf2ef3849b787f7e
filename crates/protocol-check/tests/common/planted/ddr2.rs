//! Pairs at DDR2-400B, 1 Gb x8 chips with eight banks and rows of 8 KB.

use dram_spec::{Density, Refresh, Standard, System, Width};

use super::{PDE, PDX, PREA, Pair, RD, RDA, REF, SRE, SRX, WR, act, bin, early, geometry_of, late, pre, transfer};
use protocol_check::Rule;

/// Clocks: CL 3, CWL 2, tRCD 3, tRP 3, tRAS 8, tRC 11, tRRD 2, tCCD 4 (a burst), tRTP 2, tWR 3, tWTR 2, tXP 2,
/// tXARDS 6, tCKE 3, tRFC 26, tXSNR 28, tXSRD 200, tREFI 1560.
fn system() -> System {
    let geometry = geometry_of(Standard::Ddr2, 1, Density::Gb1, Width::X8, 8192);
    System { refresh: Refresh::Off, ..System::new(bin("DDR2-400B"), geometry) }
}

#[rustfmt::skip] // One log per line.
pub(super) fn pairs() -> Vec<(Rule, Pair)> {
    let pairs = [
        (Rule::TRpa,         early(&[(0, PREA), (4, act(0))])),
        // 4 + 2 - 2 = 4.
        (Rule::TRtp,         early(&[(0, act(0)), (5, RD), (9, pre(0))])),
        // 4 + 3 = 7; tRC ends at 11.
        (Rule::RdaAct,       early(&[(0, act(0)), (5, RDA), (12, act(0))])),
        (Rule::RdaRef,       early(&[(0, act(0)), (5, RDA), (12, REF)])),
        (Rule::TransferTRtp, early(&[(0, act(0)), (2, act(1)), (5, transfer(0, 1)), (9, pre(0))])),
        (Rule::TCcdRd,       early(&[(0, act(0)), (3, RD), (7, RD)])),
        (Rule::TCcdWr,       early(&[(0, act(0)), (3, WR), (7, WR)])),
        (Rule::TransferTCcd, early(&[(0, act(0)), (2, act(1)), (5, transfer(0, 1)), (9, transfer(0, 1))])),
        // 4 + 2 = 6.
        (Rule::RdWr,         early(&[(0, act(0)), (3, RD), (9, WR)])),
        // 2 + 4 + 2 = 8.
        (Rule::TWtr,         early(&[(0, act(0)), (3, WR), (11, RD)])),
        (Rule::TCkeSr,       early(&[(0, SRE), (3, SRX)])),
        // 137.5 ns.
        (Rule::TXsnr,        early(&[(0, SRE), (3, SRX), (31, act(0))])),
        (Rule::TXsnr,        early(&[(0, SRE), (3, SRX), (31, PREA)])),
        (Rule::TXsnr,        early(&[(0, SRE), (3, SRX), (31, PDE)])),
        (Rule::TXsrd,        early(&[(0, SRE), (3, SRX), (31, act(0)), (203, RD)])),
        (Rule::TXsrd,        early(&[(0, SRE), (3, SRX), (31, act(0)), (203, WR)])),
        // 70 us, and 9 x 1560.
        (Rule::TRasMax,      late(&[(0, act(0)), (14_000, pre(0))])),
        (Rule::TPdMax,       late(&[(0, PDE), (14_040, PDX)])),
    ];
    // At DDR2-667 four tRRD are 12 clocks, and tFAW 13; at DDR2-400 both are 8.
    let faw = early(&[(0, act(0)), (3, act(1)), (6, act(2)), (9, act(3)), (13, act(4))]).on(&system());
    let slow = early(&[(0, act(0)), (1, PDE), (4, PDX), (10, RD)]).on(&system()).slow_exit();
    let mut found: Vec<_> = pairs.into_iter().map(|(rule, pair)| (rule, pair.on(&system()))).collect();
    found.push((Rule::TFaw, faw.map_system(|system| System { bin: bin("DDR2-667D"), ..system })));
    found.push((Rule::TXards, slow));
    found
}
