//! Maintenance of a rank: refresh and power (15-19).

use dram_core::Power;
use dram_spec::{BankId, Command, Cycle, IssueCause};
use memctrl::yield_from;

use super::channel::Channel;

impl Channel {
    fn is_in_self_refresh(&self, rank: u8) -> bool {
        matches!(self.device.power(rank), Power::SelfRefresh { .. })
    }

    /// Whether a rank must refresh (15). Not in self-refresh.
    pub fn must_refresh(&self, rank: u8, now: u64) -> bool {
        !self.is_in_self_refresh(rank)
            && yield_from(&self.device, rank, self.longer_hold).is_some_and(|from| from <= Cycle(now))
    }

    /// Number of REFs that a rank owes; 0 in self-refresh (17).
    fn owed(&self, rank: u8, now: u64) -> u64 {
        if self.is_in_self_refresh(rank) { 0 } else { self.device.refresh(rank).owed(Cycle(now)) }
    }

    /// Whether a rank's refresh precedes its accesses and threads (16).
    pub fn is_urgent(&self, rank: u8, now: u64) -> bool {
        self.must_refresh(rank, now) || self.owed(rank, now) > self.config.refresh.postpone_max
    }

    /// Whether a bank must be closed for the next refresh command of its rank: any bank, but for a REFsb
    /// only those with its number.
    fn is_next_refreshed(&self, bank: BankId) -> bool {
        match self.device.refresh_command(bank.rank) {
            Command::RefreshSameBank { bank: next } => {
                let topology = self.device.topology();
                topology.number_in_group(next) == topology.number_in_group(bank)
            }
            _ => true,
        }
    }

    /// Whether the refresh of a bank precedes its accesses and threads (16).
    pub fn is_bank_urgent(&self, bank: BankId, now: u64) -> bool {
        self.is_urgent(bank.rank, now) && self.is_next_refreshed(bank)
    }

    /// Whether a bank must be refreshed (15).
    pub fn must_refresh_bank(&self, bank: BankId, now: u64) -> bool {
        self.must_refresh(bank.rank, now) && self.is_next_refreshed(bank)
    }

    /// Whether the rank of a bank is awake, and the bank not urgent.
    pub fn is_usable(&self, bank: BankId, now: u64) -> bool {
        self.device.power(bank.rank) == Power::Awake && !self.is_bank_urgent(bank, now)
    }

    /// Whether no work is left in a rank (15).
    fn is_idle(&self, rank: u8) -> bool {
        let is_queued = self.accesses.iter().any(|access| access.is_queued() && access.place.bank.rank == rank);
        !is_queued && !self.threads.iter().any(|thread| thread.banks().any(|bank| bank.rank == rank))
    }

    /// Whether a rank has been idle for this time.
    fn is_idle_for(&self, rank: u8, now: u64, cycles: u64) -> bool {
        let last = self.device.last_in_rank(rank).unwrap_or(Cycle::ZERO);
        self.is_idle(rank) && now - last.0 >= cycles
    }

    /// The command for which a rank waits (17-19).
    pub fn rank_command(&self, rank: u8, now: u64) -> Option<(Command, IssueCause)> {
        let owed = self.owed(rank, now);
        let (is_idle, is_urgent) = (self.is_idle(rank), self.is_urgent(rank, now));
        let idle_for = |cycles: Option<dram_spec::Cycles>| cycles.is_some_and(|n| self.is_idle_for(rank, now, n.0));
        let self_refresh = idle_for(self.config.power.self_refresh_after);
        let is_open = self.device.any_open(rank);
        match self.device.power(rank) {
            Power::SelfRefresh { .. } => {
                return (!is_idle).then_some((Command::SelfRefreshExit { rank }, IssueCause::Power));
            }
            Power::ActivePowerDown { .. } | Power::PrechargePowerDown { .. } => {
                let cause = if owed > 0 || is_urgent { IssueCause::Refresh } else { IssueCause::Power };
                let wakes = !is_idle || owed > 0 || is_urgent || self_refresh;
                return wakes.then_some((Command::PowerDownExit { rank }, cause));
            }
            Power::Awake => {}
        }
        if is_urgent || is_idle && owed > 0 {
            let is_meant = |bank: &BankId| bank.rank == rank && self.is_next_refreshed(*bank);
            let is_held = self.threads.iter().any(|thread| thread.held.iter().any(is_meant));
            let refresh = self.device.refresh_command(rank);
            let mut banks = (0..self.device.topology().banks_per_rank).map(|bank| BankId { rank, bank });
            let open = banks.find(|bank| self.is_next_refreshed(*bank) && self.device.open_row(*bank).is_some());
            let most = self.config.refresh.postpone_max;
            let waits = !is_urgent && owed < most && !self.is_idle_for(rank, now, self.config.refresh.idle.0);
            let close = |bank| match refresh {
                Command::RefreshSameBank { .. } => Command::Precharge { bank },
                _ => Command::PrechargeAll { rank },
            };
            return match (is_held, open) {
                (true, _) => None,
                (false, Some(bank)) => (!waits).then_some((close(bank), IssueCause::Refresh)),
                (false, None) => (owed > 0).then_some((refresh, IssueCause::Refresh)),
            };
        }
        if self_refresh {
            return Some(if is_open {
                (Command::PrechargeAll { rank }, IssueCause::Power)
            } else if self.device.owes_refresh_before_self_refresh(rank) {
                (Command::Refresh { rank }, IssueCause::Refresh)
            } else {
                (Command::SelfRefreshEnter { rank }, IssueCause::Power)
            });
        }
        idle_for(self.config.power.power_down_after).then(|| match self.device.owes_refresh_before_power_down(rank) {
            true if is_open => (Command::PrechargeAll { rank }, IssueCause::Power),
            true => (Command::Refresh { rank }, IssueCause::Refresh),
            false => (Command::PowerDownEnter { rank }, IssueCause::Power),
        })
    }
}
