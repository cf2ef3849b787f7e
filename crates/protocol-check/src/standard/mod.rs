//! The rules of each standard, with the formula of each limit. One file per standard.

mod ddr2;
mod ddr3;
mod ddr4;
mod ddr5;

use dram_spec::Standard;

use crate::parameters::Parameters;
use crate::rule::{Rule, Sort};

/// A timing rule or a maximum of a standard.
#[derive(Debug)]
pub(crate) struct RuleRow {
    pub(crate) rule: Rule,
    /// The limit in clocks; 0 where the rule does not apply to the chips of the system.
    pub(crate) limit: fn(&Parameters) -> u64,
    /// The source, if it is not the document of the standard.
    source: Option<&'static str>,
}

const fn row(rule: Rule, limit: fn(&Parameters) -> u64) -> RuleRow {
    RuleRow { rule, limit, source: None }
}

const fn row_from(rule: Rule, limit: fn(&Parameters) -> u64, source: &'static str) -> RuleRow {
    RuleRow { rule, limit, source: Some(source) }
}

/// The rules of a standard.
#[derive(Debug)]
pub(crate) struct RuleSet {
    tables: &'static [&'static [RuleRow]],
    /// The document that defines the rules which another standard has from its own document; none where
    /// [`Rule::source`] is the source.
    document: Option<&'static str>,
    /// The rule from SRX to PDE.
    pub(crate) exit_to_power_down: Rule,
    /// Whether PDE needs a REF since the last SRX: `SRX-REF-PDE`.
    pub(crate) refresh_before_power_down: bool,
}

impl RuleSet {
    /// The rules of a standard.
    pub(crate) const fn of(standard: Standard) -> &'static RuleSet {
        match standard {
            Standard::Ddr2 => &ddr2::RULES,
            Standard::Ddr3 => &ddr3::RULES,
            Standard::Ddr4 => &ddr4::RULES,
            Standard::Ddr5 => &ddr5::RULES,
        }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &'static RuleRow> {
        self.tables.iter().copied().flatten()
    }

    /// The source of a rule in this standard.
    pub(crate) fn source(&self, rule: Rule) -> &'static str {
        let own = self.rows().find(|row| row.rule == rule).and_then(|row| row.source);
        let from_a_document = ["JESD79", "Samsung"].iter().any(|document| rule.source().starts_with(document));
        let document = self.document.filter(|_| from_a_document);
        own.or(document).unwrap_or(rule.source())
    }
}

impl Rule {
    /// Whether a standard has the rule.
    pub fn is_in(self, standard: Standard) -> bool {
        let has_same_bank_refresh = || standard.definition().refresh_modes.iter().any(|mode| mode.same_bank);
        match self.sort() {
            Sort::State => match self {
                Rule::RefsbRound => has_same_bank_refresh(),
                Rule::SrxRefPde => RuleSet::of(standard).refresh_before_power_down,
                _ => true,
            },
            Sort::Timing | Sort::Maximum => {
                // The earlier command gives the minimum of RBM: every standard has it, and no table.
                self == Rule::Rbm || RuleSet::of(standard).rows().any(|row| row.rule == self)
            }
        }
    }

    /// The source of the rule in a standard.
    pub fn source_in(self, standard: Standard) -> &'static str {
        RuleSet::of(standard).source(self)
    }
}

/// Rules of all standards.
#[rustfmt::skip] // One rule per line: read it beside docs/rules.md.
const COMMON: &[RuleRow] = &[
    row(Rule::TRcd,         |p| p.rcd),
    row(Rule::TRas,         |p| p.ras),
    row(Rule::TRc,          |p| p.rc),
    row(Rule::TRp,          |p| p.rp),
    row(Rule::TWr,          Parameters::write_to_precharge),
    row(Rule::WraAct,       |p| p.write_to_precharge() + p.rp),
    row(Rule::RdRdRank,     Parameters::rank_switch),
    row(Rule::WrWrRank,     Parameters::rank_switch),
    row(Rule::RdWrRank,     |p| (p.cl + p.rank_switch()).saturating_sub(p.cwl)),
    row(Rule::WrRdRank,     |p| (p.cwl + p.rank_switch()).saturating_sub(p.cl)),
    row(Rule::TRpRef,       |p| p.rp),
    row(Rule::TRcRef,       |p| p.rc),
    row(Rule::WraRef,       |p| p.write_to_precharge() + p.rp),
    row(Rule::TRfc,         |p| p.rfc),
    row(Rule::TRdpden,      |p| p.cl + p.burst + 1),
    row(Rule::TWrapden,     |p| p.write_to_precharge() + 1),
    row(Rule::TActpden,     |p| p.pden),
    row(Rule::TPrpden,      |p| p.pden),
    row(Rule::TRefpden,     |p| p.pden),
    row(Rule::TPd,          |p| p.cke),
    row(Rule::TCke,         |p| p.cke),
    row(Rule::TXp,          |p| p.xp),
    row(Rule::Bus,          |_| 1),
    row(Rule::BusTransfer,  |_| 2),
    row(Rule::Fpm,          |p| p.ras),
    row(Rule::FpmTWr,       Parameters::write_to_precharge),
    row(Rule::TransferTRcd, |p| p.rcd),
    row(Rule::TransferTWr,  Parameters::write_to_precharge),
    row(Rule::TransferPde,  Parameters::write_to_precharge),
    row(Rule::RefGap,       |p| p.gap),
    // The maximum depends on the REFs counted.
    row(Rule::RefPostponed, |_| 0),
];

/// Rules of the standards whose write to PDE is tWR after the data.
const WRITE_TO_POWER_DOWN: &[RuleRow] = &[row(Rule::TWrpden, Parameters::write_to_precharge)];

/// Rules of the standards whose read to PRE is tRTP.
#[rustfmt::skip]
const READ_TO_PRECHARGE: &[RuleRow] = &[
    row(Rule::TRtp,         |p| p.rtp),
    row(Rule::RdaAct,       |p| p.rtp + p.rp),
    row(Rule::RdaRef,       |p| p.rtp + p.rp),
    row(Rule::TransferTRtp, |p| p.rtp),
];

/// Rules of the standards without bank groups.
#[rustfmt::skip]
const WITHOUT_GROUPS: &[RuleRow] = &[
    row(Rule::TRrd,               |p| p.rrd),
    row(Rule::TCcdRd,             |p| p.ccd),
    row(Rule::TCcdWr,             |p| p.ccd),
    row(Rule::TWtr,               |p| p.write_to_read(p.wtr)),
    row(Rule::TransferTurnaround, |p| p.write_to_read(p.wtr)),
    row(Rule::TransferTCcd,       |p| p.ccd),
    row(Rule::RdTransfer,         |p| p.ccd),
    row(Rule::TransferWr,         |p| p.ccd),
    row(Rule::WrTransfer,         |p| p.write_to_read(p.wtr)),
    row(Rule::TransferRd,         |p| p.write_to_read(p.wtr)),
];

/// Rules of the standards with bank groups. The banks of a TRANSFER lie in one or two groups, and its
/// distances are those of one group.
#[rustfmt::skip]
const WITH_GROUPS: &[RuleRow] = &[
    row(Rule::TRrdS,              |p| p.rrd),
    row(Rule::TRrdL,              |p| p.rrd_l),
    row(Rule::TFaw,               |p| p.faw),
    row(Rule::TCcdSRd,            |p| p.ccd),
    row(Rule::TCcdSWr,            |p| p.ccd),
    row(Rule::TCcdLRd,            |p| p.ccd_l),
    row(Rule::TWtrS,              |p| p.write_to_read(p.wtr)),
    row(Rule::TWtrL,              |p| p.write_to_read(p.wtr_l)),
    row(Rule::TransferTurnaround, |p| p.write_to_read(p.wtr_l)),
    row(Rule::TransferTCcd,       |p| p.ccd_l),
    row(Rule::RdTransfer,         |p| p.ccd_l),
    row(Rule::TransferWr,         |p| p.ccd_l_wr),
    row(Rule::WrTransfer,         |p| p.write_to_read(p.wtr_l)),
    row(Rule::TransferRd,         |p| p.write_to_read(p.wtr_l)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_in_a_standard_once() {
        for standard in Standard::ALL {
            for rule in Rule::ALL {
                let rows = RuleSet::of(standard).rows().filter(|row| row.rule == rule).count();
                let most = usize::from(rule.sort() != Sort::State);
                assert!(rows <= most, "{} {rule}", standard.name());
            }
        }
    }

    #[test]
    fn every_rule_is_in_a_standard() {
        for rule in Rule::ALL {
            assert!(Standard::ALL.into_iter().any(|standard| rule.is_in(standard)), "{rule}");
        }
    }

    #[test]
    fn sources_name_the_document_of_the_standard() {
        assert_eq!(Rule::TRcd.source_in(Standard::Ddr3), "JESD79-3");
        assert_eq!(Rule::TRcd.source_in(Standard::Ddr5), "JESD79-5");
        assert_eq!(Rule::Fpm.source_in(Standard::Ddr4), Rule::Fpm.source());
        assert_eq!(Rule::TXsdll.source_in(Standard::Ddr4), "JESD79-4; WR: chosen");
        for rule in Rule::ALL.into_iter().filter(|rule| rule.is_in(Standard::Ddr3)) {
            assert_eq!(rule.source_in(Standard::Ddr3), rule.source());
        }
        for standard in [Standard::Ddr2, Standard::Ddr4, Standard::Ddr5] {
            assert!(Rule::ALL.iter().all(|rule| !rule.source_in(standard).starts_with("JESD79-3")));
        }
    }
}
