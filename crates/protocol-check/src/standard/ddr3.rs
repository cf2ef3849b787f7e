//! The rules of DDR3: the tables of `docs/rules.md`.

use super::{COMMON, READ_TO_PRECHARGE, RuleRow, RuleSet, WITHOUT_GROUPS, WRITE_TO_POWER_DOWN, row};
use crate::rule::Rule;

pub(super) static RULES: RuleSet = RuleSet {
    tables: &[COMMON, READ_TO_PRECHARGE, WITHOUT_GROUPS, WRITE_TO_POWER_DOWN, OWN],
    document: None,
    // CKE stays high for tXSDLL, except for self-refresh re-entry.
    exit_to_power_down: Rule::TXsdll,
    refresh_before_power_down: false,
};

#[rustfmt::skip] // One rule per line.
const OWN: &[RuleRow] = &[
    row(Rule::TFaw,      |p| p.faw),
    row(Rule::RdWr,      |p| (p.cl + p.burst + 2).saturating_sub(p.cwl)),
    row(Rule::RefWindow, |p| p.refresh_intervals(2)),
    row(Rule::TXpdll,    |p| p.xpdll),
    row(Rule::PdxRefPde, |p| p.xpdll),
    row(Rule::RefPdxPde, |p| p.rfc),
    row(Rule::TCkesr,    |p| p.cke + 1),
    row(Rule::TXs,       |p| p.xs),
    row(Rule::TXsdll,    |p| p.dllk),
    row(Rule::TRasMax,   |p| p.t_refi(9)),
    row(Rule::TPdMax,    |p| p.t_refi(9)),
];
