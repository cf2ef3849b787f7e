//! The limit of each rule in clocks of the simulated bin.

use dram_spec::{Command, Min, ReferenceCycle, System};

use crate::parameters::{Parameters, units_per_refresh};
use crate::rule::Rule;
use crate::standard::RuleSet;

/// The limit of each rule, in clocks.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    clocks: [u64; Rule::ALL.len()],
    parameters: Parameters,
    pub(crate) rules: &'static RuleSet,
    pub(crate) refresh: RefreshLimits,
    /// Whether ACT, RD and WR take two cycles on the command bus.
    pub(crate) has_two_cycle_commands: bool,
    /// Whether distances count from the second cycle of such a command.
    counts_second_cycle: bool,
}

/// The limits of the refresh mode. They are counted in REFs, or in `REFsb`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefreshLimits {
    /// Distance in which one is due, in clocks, rounded down, at least 1.
    pub(crate) interval: u64,
    /// How many a REF counts.
    pub(crate) per_all_banks: u64,
    /// How many a `REFsb` counts: none in a mode that requires REFs.
    pub(crate) per_same_bank: u64,
    /// Most postponed.
    pub(crate) postponed_most: u64,
    /// Most in advance that count.
    pub(crate) advanced_most: u64,
}

impl RefreshLimits {
    fn new(system: &System, parameters: &Parameters) -> RefreshLimits {
        let (mode, units) = (system.refresh_mode, units_per_refresh(system));
        RefreshLimits {
            interval: parameters.interval,
            per_all_banks: units,
            per_same_bank: u64::from(mode.same_bank),
            postponed_most: mode.postponed_most * units,
            advanced_most: mode.advanced_most * units,
        }
    }
}

impl Limits {
    /// The limits of every rule for a system; 0 for the rules that its standard does not have.
    pub(crate) fn new(system: &System) -> Limits {
        let parameters = Parameters::new(system);
        let rules = RuleSet::of(system.bin.standard);
        let has_two_cycle_commands = system.bin.standard.definition().two_cycle_commands;
        let counts_second_cycle = has_two_cycle_commands && system.reference_cycle == ReferenceCycle::Second;
        let mut clocks = [0; Rule::ALL.len()];
        for row in rules.rows() {
            let limit = (row.limit)(&parameters);
            let is_later = counts_second_cycle && limit > 0 && follows_two_cycle_command(row.rule);
            clocks[row.rule as usize] = limit.saturating_add(u64::from(is_later));
        }
        let refresh = RefreshLimits::new(system, &parameters);
        Limits { clocks, parameters, rules, refresh, has_two_cycle_commands, counts_second_cycle }
    }

    /// The minimum or maximum of a rule, in clocks from the first cycle of the earlier command to the cycle of the
    /// later one from which distances count; 0 for state rules, for `REF-postponed`, whose maximum depends on the
    /// REFs counted, and for rules whose minimum depends on the earlier command.
    pub(crate) const fn of(&self, rule: Rule) -> u64 {
        self.clocks[rule as usize]
    }

    /// Clocks of a burst on the data bus: BL/2.
    pub(crate) const fn burst(&self) -> u64 {
        self.parameters.burst
    }

    /// A minimum in clocks: rounded up.
    pub(crate) fn covering(&self, min: Min) -> u64 {
        self.parameters.covering(min)
    }

    /// Clocks from the first cycle of a command to the cycle from which distances to it count.
    pub(crate) const fn reference(&self, command: &Command) -> u64 {
        if self.counts_second_cycle && takes_two_cycles(command) { 1 } else { 0 }
    }
}

/// Whether a command can take two cycles on the command bus. TRANSFER always does.
pub(crate) const fn takes_two_cycles(command: &Command) -> bool {
    matches!(
        command,
        Command::Activate { .. } | Command::Read { .. } | Command::Write { .. } | Command::Transfer { .. }
    )
}

/// Whether the earlier command of a rule is such a command. The rules of the command bus count from the first cycle.
#[rustfmt::skip] // Several per line.
const fn follows_two_cycle_command(rule: Rule) -> bool {
    use Rule as R;
    matches!(
        rule,
        R::TRcd | R::TRas | R::TRc | R::TRtp | R::TWr | R::RdaAct | R::WraAct | R::TRrd | R::TFaw |
        R::TCcdRd | R::TCcdWr | R::RdWr | R::TWtr | R::RdRdRank | R::WrWrRank | R::RdWrRank | R::WrRdRank |
        R::TRcRef | R::RdaRef | R::WraRef | R::TRdpden | R::TWrpden | R::TWrapden | R::TActpden | R::Fpm |
        R::FpmTWr | R::TransferTRcd | R::TransferTCcd | R::TransferTurnaround | R::RdTransfer |
        R::TransferWr | R::WrTransfer | R::TransferRd | R::TransferTRtp | R::TransferTWr | R::TransferPde |
        R::TransferTCcdWr | R::TRrdS | R::TRrdL | R::TCcdSRd | R::TCcdSWr | R::TCcdLRd | R::TCcdLWrite |
        R::TCcdLWr | R::TCcdLWr2 | R::TWtrS | R::TWtrL | R::WrRda | R::WrRdaTWr | R::TWtra | R::TRcRefsb |
        R::RdaRefsb | R::WraRefsb | R::ActRefsb | R::TRasMax
    )
}

#[cfg(test)]
mod tests;
