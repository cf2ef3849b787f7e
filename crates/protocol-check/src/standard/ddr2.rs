//! The rules of DDR2. Additive latency is 0.

use super::{COMMON, RuleRow, RuleSet, WITHOUT_GROUPS, WRITE_TO_POWER_DOWN, row, row_from};
use crate::parameters::Parameters;
use crate::rule::Rule;

pub(super) static RULES: RuleSet = RuleSet {
    tables: &[COMMON, WITHOUT_GROUPS, WRITE_TO_POWER_DOWN, OWN],
    document: Some("JESD79-2"),
    exit_to_power_down: Rule::TXsnr,
    refresh_before_power_down: false,
};

/// The internal precharge starts tRTP after the last prefetch of the burst, which is two clocks before the data end.
fn read_to_precharge(p: &Parameters) -> u64 {
    p.burst + p.rtp.max(2) - 2
}

#[rustfmt::skip] // One rule per line.
const OWN: &[RuleRow] = &[
    row(Rule::TRtp,           read_to_precharge),
    row(Rule::RdaAct,         |p| read_to_precharge(p) + p.rp),
    row(Rule::RdaRef,         |p| read_to_precharge(p) + p.rp),
    row(Rule::TransferTRtp,   read_to_precharge),
    // Chips with four banks have no window.
    row(Rule::TFaw,           |p| if p.banks > 4 { p.faw } else { 0 }),
    row(Rule::RdWr,           |p| p.burst + 2),
    row(Rule::TRpa,           |p| if p.rpa_clocks > 0 { p.rp + p.rpa_clocks } else { 0 }),
    row_from(Rule::TXards,    |p| p.xpdll, "JESD79-2; WR: chosen"),
    row(Rule::TCkeSr,         |p| p.self_refresh),
    row(Rule::TXsnr,          |p| p.xs),
    row_from(Rule::TXsrd,     |p| p.dllk, "JESD79-2; WR: chosen"),
    row_from(Rule::TRasMax,   |p| p.ras_max, "Micron DDR2 HDL model parameters"),
    row_from(Rule::TPdMax,    |p| p.t_refi(9), "as in JESD79-3"),
];
