//! What a rank needs on its own account: refresh, sleep, and to be woken.

use dram_core::{Device, P, Power};
use dram_spec::{Command, Cycle};

use crate::config::{Config, PowerPolicy};
use crate::refresh;

/// What the controller keeps of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Rank {
    index: u8,
    /// Queues of its banks that are not empty, banks of segments in flight, and banks that waiting segments use: nobody waits for the
    /// rank when it is 0.
    pub(crate) busy: u32,
    /// Banks that segments in flight hold.
    pub(crate) held: u32,
    /// When its last REF, or its last waking, was over.
    pub(crate) usable_from: Cycle,
    /// From when on more REF are owed than may be.
    urgent_from: Cycle,
    /// From when on the rank must be made free; a lower bound.
    must_from: Cycle,
    pub(crate) must: bool,
    /// When its own command is worth another look.
    pub(crate) look_at: Cycle,
}

/// What a rank's own command waits for.
pub(crate) enum Own {
    /// It can go now.
    Now(Command),
    /// Nothing before that.
    NotBefore(Cycle),
}

impl Rank {
    pub(crate) fn new(index: u8, device: &Device, config: &Config) -> Rank {
        let mut rank = Rank {
            index,
            busy: 0,
            held: 0,
            usable_from: Cycle::ZERO,
            urgent_from: Cycle::NEVER,
            must_from: Cycle::ZERO,
            must: false,
            look_at: Cycle::ZERO,
        };
        rank.ledger_changed(device, config, Cycle::ZERO);
        rank
    }

    /// Its number on the channel.
    pub(crate) fn index(&self) -> u8 {
        self.index
    }

    /// A REF, SRE or SRX was issued.
    pub(crate) fn ledger_changed(&mut self, device: &Device, config: &Config, now: Cycle) {
        let ledger = device.refresh(self.index);
        let interval = device.timings().get(P::Refi).0;
        self.urgent_from = match (device.power(self.index), ledger.next_due(now)) {
            (Power::SelfRefresh { .. }, _) | (_, None) => Cycle::NEVER,
            // The next one due is the first that is not owed yet.
            (_, Some(due)) => Cycle((due.0 + config.refresh.postpone_max * interval) - ledger.owed(now) * interval),
        };
        self.must_from = Cycle::ZERO;
    }

    /// Whether the rank must be made free now. Cheap until it may be so.
    pub(crate) fn must_by(&mut self, device: &Device, now: Cycle) -> bool {
        if now >= self.must_from {
            let asleep = matches!(device.power(self.index), Power::SelfRefresh { .. });
            let from = if asleep { None } else { refresh::yield_from(device, self.index) };
            self.must = from.is_some_and(|from| from <= now);
            // With refresh off, and all closed, a row that is opened now need not be closed for long.
            let later = || Cycle(now.0 + device.timings().get(P::Refi).0);
            self.must_from = if asleep { Cycle::NEVER } else { from.unwrap_or_else(later) };
        }
        self.must
    }

    /// When that is worth asking again.
    pub(crate) fn must_from(&self) -> Cycle {
        self.must_from
    }

    pub(crate) fn is_urgent(&self, now: Cycle) -> bool {
        now >= self.urgent_from || self.must
    }

    /// Its own command.
    pub(crate) fn own(&self, device: &Device, power: PowerPolicy, now: Cycle) -> Own {
        let rank = self.index;
        // Where ranks do not go to sleep, nobody asks when it last worked.
        let worked = || device.last_in_rank(rank).unwrap_or(Cycle::ZERO);
        let after = |cycles: Option<dram_spec::Cycles>| cycles.map_or(Cycle::NEVER, |cycles| worked() + cycles);
        let (power_down_at, self_refresh_at) = (after(power.power_down_after), after(power.self_refresh_after));
        let state = device.power(rank);
        let in_self_refresh = matches!(state, Power::SelfRefresh { .. });
        let ledger = device.refresh(rank);
        let owed = if in_self_refresh { 0 } else { ledger.owed(now) };
        let due = if in_self_refresh { Cycle::NEVER } else { ledger.next_due(now).unwrap_or(Cycle::NEVER) };
        let is_idle = self.busy == 0;
        let command = if state != Power::Awake {
            if in_self_refresh {
                if is_idle {
                    return Own::NotBefore(Cycle::NEVER);
                }
                Command::SelfRefreshExit { rank }
            } else {
                if is_idle && owed == 0 && !self.is_urgent(now) && now < self_refresh_at {
                    return Own::NotBefore(due.min(self.urgent_from).min(self_refresh_at).min(self.must_from));
                }
                Command::PowerDownExit { rank }
            }
        } else if self.must || (owed > 0 && (is_idle || self.is_urgent(now))) {
            match (self.held > 0, device.any_open(rank), owed > 0) {
                (true, _, _) => return Own::NotBefore(Cycle::NEVER),
                (false, true, _) => Command::PrechargeAll { rank },
                (false, false, true) => Command::Refresh { rank },
                (false, false, false) => return Own::NotBefore(due),
            }
        } else if !is_idle {
            return Own::NotBefore(self.urgent_from.min(self.must_from));
        } else if now >= self_refresh_at {
            match (device.any_open(rank), device.owes_refresh_before_self_refresh(rank)) {
                (true, _) => Command::PrechargeAll { rank },
                (false, true) => Command::Refresh { rank },
                (false, false) => Command::SelfRefreshEnter { rank },
            }
        } else if now >= power_down_at {
            Command::PowerDownEnter { rank }
        } else {
            return Own::NotBefore(due.min(self_refresh_at).min(power_down_at).min(self.must_from));
        };
        let hold = device.earliest(&command).expect("the rank is in the state that the command needs");
        if hold.until <= now {
            Own::Now(command)
        } else if state == Power::Awake && is_idle {
            // While it waits for its turn, a REF may fall due, or the longer sleep.
            Own::NotBefore(hold.until.min(due).min(if now < self_refresh_at { self_refresh_at } else { Cycle::NEVER }))
        } else {
            Own::NotBefore(hold.until)
        }
    }
}
