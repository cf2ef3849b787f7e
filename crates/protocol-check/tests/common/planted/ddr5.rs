//! Pairs at DDR5-4800B, 16 Gb chips: banks 0 to 3 lie in group 0, bank 4 in group 1 with number 0.
//!
//! Distances count from the second cycle of ACT, RD, WR and TRANSFER: one from such a command to another kind is a
//! clock longer, and one from another kind to such a command a clock shorter.

use dram_spec::{Command, Density, ReferenceCycle, Refresh, Standard, System, Width};

use super::{
    PDE, PDX, Pair, RD, RDA, REF, SRE, SRX, WR, WRA, act, bin, differing, early, geometry_of, in_rank, late, pre, rd,
    refreshes_in_window, transfer, wr,
};
use protocol_check::Rule;

/// Clocks: CL 40, CWL 38, tRCD 39, tRP 39, tRAS 77, tRC 116, tRRD 8 and 12, tCCD 8 and 12, `tCCD_L_WR` 48,
/// `tCCD_L_WR2` 24, tRTP 18, tWR 72, tWTR 6 and 24, tXP and tPD 18, tRFC 708 (tRFC2 384), tRFCsb 312, tREFSBRD 72,
/// tREFI 9360.
fn system(width: Width) -> System {
    let row_bytes = if width == Width::X4 { 8192 } else { 4096 };
    let geometry = geometry_of(Standard::Ddr5, 1, Density::Gb16, width, row_bytes);
    System { refresh: Refresh::Off, ..System::new(bin("DDR5-4800B"), geometry) }
}

const fn refsb(bank: u8) -> Command {
    Command::RefreshSameBank { bank: in_rank(0, bank) }
}

pub(super) fn pairs() -> Vec<(Rule, Pair)> {
    [banks(), same_bank_refreshes(), power(), transfers(), refreshes()].concat()
}

fn on(width: Width, pairs: impl IntoIterator<Item = (Rule, Pair)>) -> Vec<(Rule, Pair)> {
    pairs.into_iter().map(|(rule, pair)| (rule, pair.on(&system(width)))).collect()
}

#[rustfmt::skip] // One log per line.
fn banks() -> Vec<(Rule, Pair)> {
    let mut found = on(Width::X8, [
        (Rule::TRas,         early(&[(0, act(0)), (78, pre(0))])),
        (Rule::TRp,          early(&[(0, pre(0)), (38, act(0))])),
        (Rule::TRcd,         early(&[(0, act(0)), (39, RD)])),
        // 38 + 8 + 72 + 1 = 119.
        (Rule::TWr,          early(&[(0, act(0)), (39, WR), (158, pre(0))])),
        (Rule::TRrdS,        early(&[(0, act(0)), (8, act(4))])),
        (Rule::TRrdL,        early(&[(0, act(0)), (12, act(1))])),
        (Rule::TCcdSRd,      early(&[(0, act(0)), (8, act(4)), (47, RD), (55, rd(4))])),
        (Rule::TCcdSWr,      early(&[(0, act(0)), (8, act(4)), (47, WR), (55, wr(4))])),
        (Rule::TCcdLRd,      early(&[(0, act(0)), (39, RD), (51, RD)])),
        (Rule::TCcdLWr2,     early(&[(0, act(0)), (39, WR), (63, WR)])),
        // 40 + 8 + 2 + 2 - 38 = 14.
        (Rule::RdWr,         early(&[(0, act(0)), (39, RD), (53, WR)])),
        // 38 + 8 + 6 = 52, and 38 + 8 + 24 = 70.
        (Rule::TWtrS,        early(&[(0, act(0)), (8, act(4)), (47, WR), (99, rd(4))])),
        (Rule::TWtrL,        early(&[(0, act(0)), (39, WR), (109, RD)])),
        // 38 + 8 + 72 - 18 = 100.
        (Rule::TWtra,        early(&[(0, act(0)), (39, WR), (139, RDA)])),
        (Rule::TPpd,         early(&[(0, pre(0)), (2, pre(1))])),
        (Rule::BusTwoCycles, early(&[(0, act(0)), (2, pre(1))])),
        // 5 x 9360 = 46,800.
        (Rule::TRasMax,      late(&[(0, act(0)), (46_801, pre(0))])),
    ]);
    found.extend(on(Width::X4, [(Rule::TCcdLWr, early(&[(0, act(0)), (39, WR), (87, WR)]))]));
    // tFAW is 40 clocks; in x8 chips, 32, which four tRRD_S give.
    let faw = early(&[(0, act(0)), (8, act(4)), (16, act(8)), (24, act(12)), (40, act(1))]);
    found.extend(on(Width::X16, [(Rule::TFaw, faw)]));
    let first = System { reference_cycle: ReferenceCycle::First, ..system(Width::X8) };
    found.extend([
        (Rule::TRas,         early(&[(0, act(0)), (77, pre(0))]).on(&first)),
        (Rule::TRp,          early(&[(0, pre(0)), (39, act(0))]).on(&first)),
        (Rule::BusTwoCycles, early(&[(0, act(0)), (2, pre(1))]).on(&first)),
    ]);
    found
}

#[rustfmt::skip] // One log per line.
fn same_bank_refreshes() -> Vec<(Rule, Pair)> {
    let round = [(0, refsb(0)), (72, refsb(1)), (144, refsb(2)), (216, refsb(3))];
    let pairs = [
        (Rule::TRfcsb,     early(&[(0, refsb(0)), (311, act(4))])),
        (Rule::TRfcsb,     early(&[&round[..], &[(312, refsb(0))]].concat())),
        (Rule::TRfcsbRef,  early(&[(0, refsb(0)), (312, REF)])),
        (Rule::TRfcsbRef,  early(&[(0, refsb(0)), (312, SRE)])),
        (Rule::TRefsbrd,   early(&[(0, refsb(0)), (71, act(1))])),
        (Rule::RefsbRefsb, early(&[(0, refsb(0)), (72, refsb(1))])),
        (Rule::TRpRefsb,   early(&[(0, pre(4)), (39, refsb(0))])),
        // tRC 116 + 1; RDA-REFsb ends at 39 + 58 = 97.
        (Rule::TRcRefsb,   early(&[(0, act(4)), (39, rda(4)), (117, refsb(0))])),
        // 18 + 39 + 1 = 58.
        (Rule::RdaRefsb,   early(&[(0, act(0)), (70, RDA), (128, refsb(0))])),
        // 118 + 39 + 1 = 158.
        (Rule::WraRefsb,   early(&[(0, act(0)), (39, WRA), (197, refsb(0))])),
        (Rule::ActRefsb,   early(&[(0, act(1)), (13, refsb(0))])),
        (Rule::TRfc,       early(&[(0, REF), (384, refsb(0))])),
        (Rule::TXp,        early(&[(0, PDE), (18, PDX), (36, refsb(0))])),
        (Rule::TXs,        early(&[(0, SRE), (24, SRX), (732, refsb(0))])),
        (Rule::TRefpden,   early(&[(0, refsb(0)), (2, PDE)])),
        (Rule::RefsbRound, differing(&[(0, refsb(0)), (312, refsb(1))], &[(0, refsb(0)), (312, refsb(4))])),
        (Rule::BanksOpen,  differing(&[(0, act(1)), (200, refsb(0))], &[(0, act(1)), (200, refsb(5))])),
        // 9 x 4 x 1170 = 42,120 after the last of a round; the 37th unit is due later.
        (Rule::RefGap,     late(&[&round[..], &[(42_336, refsb(0))]].concat())),
        // The first is due at 1170, and may be 8 x 4 intervals late.
        (Rule::RefPostponed, late(&[(38_610, refsb(0)), (39_780, refsb(1))])),
    ];
    pairs.into_iter().map(|(rule, pair)| (rule, pair.on(&system(Width::X8)).in_mode("same-bank"))).collect()
}

const fn rda(bank: u8) -> Command {
    let auto_precharge = dram_spec::AutoPrecharge::Yes;
    Command::Read { bank: in_rank(0, bank), column: dram_spec::Column(0), auto_precharge }
}

#[rustfmt::skip] // One log per line.
fn power() -> Vec<(Rule, Pair)> {
    on(Width::X8, [
        // 40 + 8 + 1 + 1 = 50, and 118 + 1 + 1 = 120.
        (Rule::TRdpden,  early(&[(0, act(0)), (39, RD), (89, PDE)])),
        (Rule::TWrpden,  early(&[(0, act(0)), (39, WR), (159, PDE)])),
        (Rule::TWrapden, early(&[(0, act(0)), (39, WRA), (159, PDE)])),
        (Rule::TActpden, early(&[(0, act(0)), (3, PDE)])),
        (Rule::TPrpden,  early(&[(0, pre(0)), (2, PDE)])),
        (Rule::TPd,      early(&[(0, PDE), (18, PDX)])),
        (Rule::TXp,      early(&[(0, PDE), (18, PDX), (35, act(0))])),
        (Rule::TCsl,     early(&[(0, SRE), (24, SRX)])),
        (Rule::TXs,      early(&[(0, SRE), (24, SRX), (731, act(0))])),
        (Rule::TXs,      early(&[(0, SRE), (24, SRX), (732, PDE)])),
        (Rule::TXsdll,   early(&[(0, SRE), (24, SRX), (731, act(0)), (1559, RD)])),
        (Rule::TPdMax,   late(&[(0, PDE), (46_800, PDX)])),
    ])
}

#[rustfmt::skip] // One log per line.
fn transfers() -> Vec<(Rule, Pair)> {
    let open = [(0, act(0)), (8, act(4))];
    let after = |rest: &[(u64, Command)]| early(&[&open, rest].concat());
    let mut found = on(Width::X8, [
        (Rule::TransferTRcd,       after(&[(47, transfer(0, 4))])),
        (Rule::TransferTCcdWr,     after(&[(47, transfer(0, 4)), (71, transfer(0, 4))])),
        (Rule::TransferTurnaround, after(&[(47, transfer(0, 4)), (117, transfer(4, 0))])),
        (Rule::RdTransfer,         after(&[(47, RD), (59, transfer(0, 4))])),
        (Rule::TransferWr,         after(&[(47, transfer(0, 4)), (71, WR)])),
        (Rule::WrTransfer,         after(&[(47, WR), (117, transfer(0, 4))])),
        (Rule::TransferRd,         after(&[(47, transfer(0, 4)), (117, RD)])),
        (Rule::TransferTRtp,       after(&[(87, transfer(0, 4)), (106, pre(0))])),
        (Rule::TransferTWr,        after(&[(47, transfer(0, 4)), (166, pre(4))])),
        (Rule::TransferPde,        after(&[(47, transfer(0, 4)), (166, PDE)])),
    ]);
    let t_ccd_l = after(&[(47, transfer(0, 4)), (59, transfer(0, 4))]);
    found.push((Rule::TransferTCcd, t_ccd_l.on(&system(Width::X8)).with("tCCD_L_WR=8")));
    found.extend(on(Width::X4, [
        (Rule::TransferTCcdWr, after(&[(47, transfer(0, 4)), (95, transfer(0, 4))])),
        (Rule::TransferWr,     after(&[(47, transfer(0, 4)), (71, WR)])),
    ]));
    found
}

#[rustfmt::skip] // One log per line.
fn refreshes() -> Vec<(Rule, Pair)> {
    let pairs = [
        ("normal", Rule::TRfc,         early(&[(0, REF), (707, act(0))])),
        ("normal", Rule::RefWindow,    early(&refreshes_in_window(5, 708, 9360))),
        // 5 x 9360 = 46,800.
        ("normal", Rule::RefGap,       late(&[(0, REF), (46_800, REF)])),
        ("normal", Rule::RefPostponed, late(&[(46_800, REF), (56_160, REF)])),
        ("fine",   Rule::TRfc,         early(&[(0, REF), (383, act(0))])),
        ("fine",   Rule::RefWindow,    early(&refreshes_in_window(10, 384, 9360))),
        // 9 x 4680 = 42,120.
        ("fine",   Rule::RefGap,       late(&[(0, REF), (42_120, REF)])),
        ("fine",   Rule::RefPostponed, late(&[(42_120, REF), (46_800, REF)])),
    ];
    pairs.into_iter().map(|(mode, rule, pair)| (rule, pair.on(&system(Width::X8)).in_mode(mode))).collect()
}
