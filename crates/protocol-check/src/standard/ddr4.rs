//! The rules of DDR4.

use super::{COMMON, READ_TO_PRECHARGE, RuleRow, RuleSet, WITH_GROUPS, WRITE_TO_POWER_DOWN, row, row_from};
use crate::rule::Rule;

pub(super) static RULES: RuleSet = RuleSet {
    tables: &[COMMON, READ_TO_PRECHARGE, WITH_GROUPS, WRITE_TO_POWER_DOWN, OWN],
    document: Some("JESD79-4"),
    exit_to_power_down: Rule::TXs,
    refresh_before_power_down: true,
};

const WINDOW: &str = "JESD79-4: at most 16, 32 or 64 REF within 2 tREFI in mode 1x, 2x or 4x";

#[rustfmt::skip] // One rule per line.
const OWN: &[RuleRow] = &[
    row(Rule::RdWr,            |p| (p.cl + p.burst + 1 + p.write_preamble).saturating_sub(p.cwl)),
    // With a preamble of one clock, it is five clocks: a WR may be four after another, or more.
    row(Rule::WrWrTWpre,       |p| if p.write_preamble > 1 { p.burst + p.write_preamble } else { 0 }),
    row(Rule::TCcdLWrite,      |p| p.ccd_l_wr),
    row(Rule::TransferTCcdWr,  |p| p.ccd_l_wr),
    row_from(Rule::WrRda,      |p| p.write_to_read(p.wtr_l), "DRAMSys"),
    row_from(Rule::WrRdaTWr,   |p| p.write_to_precharge().saturating_sub(p.rtp), "DRAMSys"),
    row_from(Rule::RefWindow,  |p| p.refresh_intervals(2), WINDOW),
    row(Rule::TCkesr,          |p| p.cke + 1),
    row(Rule::TXs,             |p| p.xs),
    row_from(Rule::TXsdll,     |p| p.dllk, "JESD79-4; WR: chosen"),
    row(Rule::TRasMax,         |p| p.t_refi(9)),
    row(Rule::TPdMax,          |p| p.t_refi(9)),
];
