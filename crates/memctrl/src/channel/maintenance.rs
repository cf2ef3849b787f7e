//! Maintenance of ranks: refresh, power-down, self-refresh. Rules 15 to 19 of `docs/controller.md`.

use dram_core::{Device, P, Power};
use dram_spec::{BankIndex, BankSet, Command, Cycle, Cycles, IssueCause};

use crate::config::{Config, PowerPolicy, RefreshPolicy, closing_time};

/// Cycle from which a rank must close its rows so that its REF is in time; with refresh off, so
/// that no row exceeds the maximum of tRAS. `None` with refresh off and all banks closed. `longer_hold`
/// is [`Config::longer_hold`].
#[inline]
pub fn yield_from(device: &Device, rank: u8, longer_hold: Cycles) -> Option<Cycle> {
    let topology = device.topology();
    let must_close = || topology.rank(rank).into_iter().filter_map(|bank| device.close_by(topology.bank(bank))).min();
    let by = device.refresh(rank).deadline().or_else(must_close)?;
    Some(Cycle(by.0.saturating_sub(closing_time(device.timings(), topology, longer_hold).0)))
}

/// Use of the ranks by accesses and threads, with a bit for each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Uses {
    /// Ranks for which an access is queued, or with one of whose banks a thread is not done.
    busy: u8,
    /// Ranks of which a thread holds a bank that the next refresh command is for.
    held: u8,
}

impl Uses {
    /// The use by these banks with work, and these banks held by threads.
    #[inline]
    fn of(device: &Device, (busy, held): (BankSet, BankSet)) -> Uses {
        let mut uses = Uses { busy: 0, held: 0 };
        for rank in 0..device.topology().ranks {
            uses.busy |= u8::from(device.topology().rank(rank).intersects(busy)) << rank;
            uses.held |= u8::from(device.refresh_banks(rank).intersects(held)) << rank;
        }
        uses
    }
}

/// State of a rank. Rules 15 to 17 of `docs/controller.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RankState {
    /// In power-down or self-refresh, and not urgent.
    Asleep,
    /// Awake and not urgent.
    Usable,
    /// Owes more REFs than may be postponed.
    Urgent,
    /// Must refresh, and so is also urgent.
    MustRefresh,
}

/// Next maintenance action of a rank, if only time passes.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Earliest cycle of the command; without a command, when to plan again.
    at: Cycle,
    command: Option<(Command, IssueCause)>,
    /// State of the rank until then.
    state: RankState,
    /// Whether commands of accesses leave the plan valid.
    is_steady: bool,
    /// Whether the plan does not depend on the use of the rank.
    holds_for_any_use: bool,
}

/// Maintenance of the ranks of a channel.
#[derive(Debug)]
pub(crate) struct Maintenance {
    refresh: RefreshPolicy,
    power: PowerPolicy,
    /// [`Config::longer_hold`].
    longer_hold: Cycles,
    plans: Vec<Plan>,
    /// Next actions of the ranks, from their plans.
    due: Due,
    /// First cycle at which the ranks are planned again, if their use does not change.
    valid_until: Cycle,
    /// The use for which the ranks were planned; `None` if the plans hold for any use.
    planned_for: Option<Uses>,
}

/// Next maintenance actions of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// The rank with the earliest command, and its cycle.
    pub(crate) command: Option<(Cycle, u8)>,

    /// When to plan again.
    pub(crate) again_at: Cycle,
    /// Banks of usable ranks: awake and not urgent.
    pub(crate) usable: BankSet,
    /// Banks of urgent ranks; with REFsb, those of the next one.
    pub(crate) urgent: BankSet,
    /// Banks of ranks that must refresh.
    pub(crate) must: BankSet,
}

impl Due {
    const NONE: Due = Due {
        command: None,
        again_at: Cycle::NEVER,
        usable: BankSet::EMPTY,
        urgent: BankSet::EMPTY,
        must: BankSet::EMPTY,
    };
}

impl Maintenance {
    pub(crate) fn new(config: &Config) -> Maintenance {
        let (refresh, power) = (config.refresh, config.power);
        let (plans, due, valid_until, planned_for) = (Vec::new(), Due::NONE, Cycle::ZERO, None);
        Maintenance { refresh, power, longer_hold: config.longer_hold(), plans, due, valid_until, planned_for }
    }

    /// Records a command to a rank. One that serves no request changes what the rank is due to do.
    #[inline]
    pub(crate) fn issued(&mut self, rank: u8, cause: IssueCause) {
        if cause.request().is_none() || !self.plans[usize::from(rank)].is_steady {
            self.valid_until = Cycle::ZERO;
        }
    }

    /// The planned command of a rank, and its cause.
    pub(crate) fn command(&self, rank: u8) -> (Command, IssueCause) {
        self.plans[usize::from(rank)].command.expect("the rank has planned a command")
    }

    /// Next actions of the ranks from `now` on, if they are known and hold for any use of the ranks.
    #[inline]
    pub(crate) fn due_for_any_use(&self, now: Cycle) -> Option<&Due> {
        (now < self.valid_until && self.planned_for.is_none()).then_some(&self.due)
    }

    /// Next actions of the ranks from `now` on; `used` returns the banks with work, and the banks
    /// held by threads.
    #[inline]
    pub(crate) fn due(&mut self, device: &Device, now: Cycle, used: impl FnOnce() -> (BankSet, BankSet)) -> &Due {
        if self.due_for_any_use(now).is_none() {
            let uses = Uses::of(device, used());
            if now >= self.valid_until || self.planned_for != Some(uses) {
                self.plan(device, now, uses);
            }
        }
        &self.due
    }

    #[inline(never)]
    fn plan(&mut self, device: &Device, now: Cycle, uses: Uses) {
        let mut due = Due::NONE;
        self.plans.clear();
        for rank in 0..device.topology().ranks {
            let (is_busy, is_held) = (uses.busy >> rank & 1 == 1, uses.held >> rank & 1 == 1);
            let planner = RankPlanner {
                device,
                rank,
                now,
                is_busy,
                is_held,
                refresh: self.refresh,
                power: self.power,
                longer_hold: self.longer_hold,
            };
            let plan = planner.plan();
            let (all, banks) = (device.topology().rank(rank), device.refresh_banks(rank));
            match plan.state {
                RankState::Asleep => {}
                RankState::Usable => due.usable = due.usable.union(all),
                RankState::Urgent => due.urgent = due.urgent.union(banks),
                RankState::MustRefresh => {
                    due.urgent = due.urgent.union(banks);
                    due.must = due.must.union(banks);
                }
            }
            // The banks that a REFsb is not for stay usable.
            if matches!(plan.state, RankState::Urgent | RankState::MustRefresh) && device.power(rank) == Power::Awake {
                due.usable = due.usable.union(all.without(banks));
            }
            match plan.command {
                Some(_) if due.command.is_none_or(|(at, _)| plan.at < at) => due.command = Some((plan.at, rank)),
                Some(_) => {}
                None => due.again_at = due.again_at.min(plan.at),
            }
            self.plans.push(plan);
        }
        // With a command planned, the ranks are planned again, as other commands may have taken the
        // bus.
        self.valid_until = if due.command.is_some() { Cycle::ZERO } else { due.again_at };
        let holds_for_any_use = self.plans.iter().all(|plan| plan.holds_for_any_use);
        self.planned_for = (!holds_for_any_use).then_some(uses);
        self.due = due;
    }
}

/// Planner of one rank.
struct RankPlanner<'a> {
    device: &'a Device,
    rank: u8,
    now: Cycle,
    /// Whether an access is queued for the rank, or a thread is not done with one of its banks.
    is_busy: bool,
    /// Whether a thread holds a bank that the next refresh command is for.
    is_held: bool,
    refresh: RefreshPolicy,
    power: PowerPolicy,
    longer_hold: Cycles,
}

impl RankPlanner<'_> {
    fn plan(&self) -> Plan {
        let RankPlanner { device, rank, now, .. } = *self;
        let must_from = self.must_from();
        let must = must_from <= now;
        let is_urgent = must || self.owed() > self.refresh.postpone_max;
        let is_awake = device.power(rank) == Power::Awake;
        let next = if is_awake { self.awake(is_urgent) } else { self.asleep(is_urgent) };
        let state = match (must, is_urgent, is_awake) {
            (true, ..) => RankState::MustRefresh,
            (false, true, _) => RankState::Urgent,
            (false, false, true) => RankState::Usable,
            (false, false, false) => RankState::Asleep,
        };
        // No REF is owed, and idle ranks do not enter power-down: only time leads to a command.
        let never_sleeps = self.power == PowerPolicy::default();
        let is_refreshed = device.refresh(rank).deadline().is_some() && self.owed() == 0;
        let holds_for_any_use = state == RankState::Usable && is_refreshed && never_sleeps;
        let plan = Plan {
            at: Cycle::NEVER,
            command: None,
            state,
            is_steady: state == RankState::Usable && (self.is_busy || holds_for_any_use),
            holds_for_any_use,
        };
        // While a command waits for the device, or a rank has none, other actions become due.
        let changes_at = self.changes_at(must_from);
        match next {
            RankAction::Nothing => Plan { at: changes_at, ..plan },
            RankAction::NotBefore(at) => Plan { at: at.min(changes_at), ..plan },
            RankAction::Issue(command, cause) => {
                let hold = device.earliest(&command).expect("the rank is in the state that its command needs");
                let at = hold.until().max(now);
                let command = (at < changes_at).then_some((command, cause));
                Plan { at: at.min(changes_at), command, ..plan }
            }
        }
    }

    /// Number of REFs that the rank owes.
    fn owed(&self) -> u64 {
        match self.device.power(self.rank) {
            Power::SelfRefresh { .. } => 0,
            _ => self.device.refresh(self.rank).owed(self.now),
        }
    }

    /// Cycle from which the rank must refresh. With refresh off and all banks closed, a lower bound
    /// for the rows that queued work may open.
    fn must_from(&self) -> Cycle {
        let RankPlanner { device, rank, now, .. } = *self;
        match device.power(rank) {
            Power::SelfRefresh { .. } => Cycle::NEVER,
            _ => yield_from(device, rank, self.longer_hold)
                .unwrap_or_else(|| if self.is_busy { now + device.timings().get(P::Refi) } else { Cycle::NEVER }),
        }
    }

    /// Cycle at which the rank has been idle for this time.
    fn idle_for(&self, cycles: Option<Cycles>) -> Cycle {
        let last = || self.device.last_in_rank(self.rank).unwrap_or(Cycle::ZERO);
        cycles.map_or(Cycle::NEVER, |cycles| last() + cycles)
    }

    /// First cycle after now at which time alone changes the rank's plan.
    fn changes_at(&self, must_from: Cycle) -> Cycle {
        let RankPlanner { device, rank, now, .. } = *self;
        let due = match device.power(rank) {
            Power::SelfRefresh { .. } => None,
            _ => device.refresh(rank).next_due(now),
        };
        let idle = [self.power.power_down_after, self.power.self_refresh_after].map(|after| self.idle_for(after));
        let idle = if self.is_busy { [Cycle::NEVER; 2] } else { idle };
        let times = [must_from, due.unwrap_or(Cycle::NEVER), idle[0], idle[1]];
        times.into_iter().filter(|&at| at > now).min().unwrap_or(Cycle::NEVER)
    }

    fn asleep(&self, is_urgent: bool) -> RankAction {
        let (rank, is_due) = (self.rank, self.owed() > 0 || is_urgent);
        let cause = if is_due { IssueCause::Refresh } else { IssueCause::Power };
        let is_wanted = self.is_busy || is_due;
        match self.device.power(rank) {
            Power::SelfRefresh { .. } if is_wanted => RankAction::Issue(Command::SelfRefreshExit { rank }, cause),
            Power::SelfRefresh { .. } => RankAction::Nothing,
            _ if is_wanted || self.idle_for(self.power.self_refresh_after) <= self.now => {
                RankAction::Issue(Command::PowerDownExit { rank }, cause)
            }
            _ => RankAction::Nothing,
        }
    }

    /// The command that closes the banks before a refresh: PREA, or a PRE of the first open one if
    /// others may stay open.
    fn closing(&self, open: BankIndex) -> Command {
        match self.device.refresh_command(self.rank) {
            Command::RefreshSameBank { .. } => Command::Precharge { bank: self.device.topology().bank(open) },
            _ => Command::PrechargeAll { rank: self.rank },
        }
    }

    fn awake(&self, is_urgent: bool) -> RankAction {
        let RankPlanner { device, rank, now, is_busy, .. } = *self;
        let (owed, is_open) = (self.owed(), device.any_open(rank));
        if is_urgent || (owed > 0 && !is_busy) {
            let open = device.open_banks().intersection(device.refresh_banks(rank)).into_iter().next();
            let idle_at = self.idle_for(Some(self.refresh.idle));
            let may_wait = !is_urgent && owed < self.refresh.postpone_max;
            return match (self.is_held, open) {
                (false, Some(_)) if may_wait && now < idle_at => RankAction::NotBefore(idle_at),
                (false, Some(open)) => RankAction::Issue(self.closing(open), IssueCause::Refresh),
                (false, None) if owed > 0 => RankAction::Issue(device.refresh_command(rank), IssueCause::Refresh),
                (true, _) | (false, None) => RankAction::Nothing,
            };
        }
        if is_busy {
            return RankAction::Nothing;
        }
        // Whether the rank needs a refresh first, and whether its rows must be closed.
        let (command, owes, closes) = if self.idle_for(self.power.self_refresh_after) <= now {
            (Command::SelfRefreshEnter { rank }, device.owes_refresh_before_self_refresh(rank), true)
        } else if self.idle_for(self.power.power_down_after) <= now {
            let owes = device.owes_refresh_before_power_down(rank);
            (Command::PowerDownEnter { rank }, owes, owes)
        } else {
            return RankAction::Nothing;
        };
        match (is_open && closes, owes) {
            (true, _) => RankAction::Issue(Command::PrechargeAll { rank }, IssueCause::Power),
            (false, true) => RankAction::Issue(Command::Refresh { rank }, IssueCause::Refresh),
            (false, false) => RankAction::Issue(command, IssueCause::Power),
        }
    }
}

/// Next action of a rank, determined by its state.
enum RankAction {
    Nothing,
    NotBefore(Cycle),
    Issue(Command, IssueCause),
}
