//! The rules of DDR5.

use dram_spec::Width;

use super::{COMMON, READ_TO_PRECHARGE, RuleRow, RuleSet, WITH_GROUPS, row, row_from};
use crate::parameters::Parameters;
use crate::rule::Rule;

pub(super) static RULES: RuleSet = RuleSet {
    tables: &[COMMON, READ_TO_PRECHARGE, WITH_GROUPS, OWN],
    document: Some("JESD79-5"),
    exit_to_power_down: Rule::TXs,
    refresh_before_power_down: false,
};

/// Whether a write is shorter than the codeword of the on-die ECC, so that the chip reads the rest of the codeword.
fn reads_codewords(p: &Parameters) -> bool {
    p.width == Width::X4
}

const WINDOW: &str = "JESD79-5: at most 5 REF within tREFI; 10 in fine granularity mode: chosen";

#[rustfmt::skip] // One rule per line.
const OWN: &[RuleRow] = &[
    row(Rule::RdWr,           |p| (p.cl + p.burst + 2 + p.write_preamble).saturating_sub(p.cwl)),
    row(Rule::TCcdLWr,        |p| if reads_codewords(p) { p.ccd_l_rmw } else { 0 }),
    row(Rule::TCcdLWr2,       |p| if reads_codewords(p) { 0 } else { p.ccd_l_wr }),
    row(Rule::TransferTCcdWr, |p| if reads_codewords(p) { p.ccd_l_rmw } else { p.ccd_l_wr }),
    row(Rule::TWtra,          |p| p.write_to_precharge().saturating_sub(p.rtp)),
    row(Rule::TPpd,           |p| p.ppd),
    row(Rule::TWrpden,        |p| p.write_to_precharge() + 1),
    row_from(Rule::RefWindow, |p| p.refresh_intervals(1), WINDOW),
    row(Rule::TRfcsb,         |p| p.rfc_sb),
    row(Rule::TRfcsbRef,      |p| p.rfc_sb),
    row(Rule::TRefsbrd,       |p| p.refsbrd),
    row(Rule::RefsbRefsb,     |p| p.refsbrd),
    row(Rule::TRpRefsb,       |p| p.rp),
    row(Rule::TRcRefsb,       |p| p.rc),
    row(Rule::RdaRefsb,       |p| p.rtp + p.rp),
    row(Rule::WraRefsb,       |p| p.write_to_precharge() + p.rp),
    row(Rule::ActRefsb,       |p| p.rrd_l),
    row(Rule::TCsl,           |p| p.self_refresh),
    row(Rule::TXs,            |p| p.xs),
    row_from(Rule::TXsdll,    |p| p.dllk, "JESD79-5; WR: chosen"),
    row(Rule::BusTwoCycles,   |_| 2),
    row(Rule::TRasMax,        |p| p.t_refi(5)),
    row(Rule::TPdMax,         |p| p.t_refi(5)),
];
