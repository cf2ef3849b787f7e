//! Refresh and power, rank by rank.

use dram_core::Power;
use dram_spec::{Channel, Command};
use memctrl::refresh::yield_from;

use super::plain::Plain;

impl Plain {
    /// How many REF a rank owes.
    fn owed(&self, channel: Channel, rank: u8) -> u64 {
        match self.device(channel).power(rank) {
            Power::SelfRefresh { .. } => 0,
            _ => self.device(channel).refresh(rank).owed(self.now),
        }
    }

    /// Whether all else gives way in a rank.
    pub fn must(&self, channel: Channel, rank: u8) -> bool {
        let asleep = matches!(self.device(channel).power(rank), Power::SelfRefresh { .. });
        !asleep && yield_from(self.device(channel), rank).is_some_and(|from| from <= self.now)
    }

    /// Whether nothing new begins in a rank.
    pub fn urgent(&self, channel: Channel, rank: u8) -> bool {
        self.must(channel, rank) || self.owed(channel, rank) > self.config.refresh.postpone_max
    }

    /// Whether nobody waits for a rank.
    fn idle(&self, channel: Channel, rank: u8) -> bool {
        let here = |access: &super::accesses::Access| access.at.channel == channel && access.at.bank.rank == rank;
        let queued = self.accesses.iter().any(|access| access.queued() && here(access));
        let used = |used: &super::segments::Used| used.channel == channel && used.bank.rank == rank && !used.done;
        !queued && !self.segments.iter().any(|segment| segment.banks.iter().any(used))
    }

    /// The command that a rank has of its own accord.
    pub fn own_command(&self, channel: Channel, rank: u8) -> Option<Command> {
        let device = self.device(channel);
        let (idle, urgent, owed) = (self.idle(channel, rank), self.urgent(channel, rank), self.owed(channel, rank));
        let quiet = self.now.since(self.used[usize::from(channel.0)][usize::from(rank)]);
        let power = self.config.power;
        let [sleeps_deep, sleeps] =
            [power.self_refresh_after, power.power_down_after].map(|after| after.is_some_and(|after| quiet >= after));
        if device.power(rank) != Power::Awake {
            let deep = matches!(device.power(rank), Power::SelfRefresh { .. });
            if !idle || owed > 0 || urgent {
                return Some(if deep { Command::SelfRefreshExit { rank } } else { Command::PowerDownExit { rank } });
            }
            return (!deep && sleeps_deep).then_some(Command::PowerDownExit { rank });
        }
        if (owed > 0 && (urgent || idle)) || self.must(channel, rank) {
            if (0..8).any(|bank| self.is_held(channel, dram_spec::BankId { rank, bank })) {
                return None;
            }
            if device.any_open(rank) {
                return Some(Command::PrechargeAll { rank });
            }
            return (owed > 0).then_some(Command::Refresh { rank });
        }
        if !idle {
            return None;
        }
        if sleeps_deep {
            if device.any_open(rank) {
                return Some(Command::PrechargeAll { rank });
            }
            let unrefreshed = device.owes_refresh_before_self_refresh(rank);
            return Some(if unrefreshed { Command::Refresh { rank } } else { Command::SelfRefreshEnter { rank } });
        }
        sleeps.then_some(Command::PowerDownEnter { rank })
    }
}
