//! State of a rank: open banks, pending auto-precharges, power-down.

use dram_spec::PrechargePowerDown::FastExit;
use dram_spec::standard::SlowExit;
use dram_spec::{AutoPrecharge, BankId, BankSet, Command, CommandEvent, Cycle, Cycles, PrechargePowerDown, System};

use super::Inexpressible;
use crate::LineError;

/// Effect of a command, as far as a format distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankEvent {
    /// A command that not every format has.
    Inexpressible(Inexpressible),
    /// An entry into a power-down, or the exit from it.
    PowerDown(PowerDown),
    Other,
}

/// A kind of power-down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PowerDown {
    /// A bank is open, or is going to precharge itself.
    Active(PrechargePowerDown),
    /// All banks are precharged.
    Precharged(PrechargePowerDown),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PowerState {
    Awake,
    PowerDown(PowerDown),
    SelfRefresh,
}

#[derive(Debug)]
pub(super) struct Rank {
    /// Cycle of the last ACT of each open bank.
    open: [Option<Cycle>; BankSet::CAPACITY],
    /// Start of the last auto-precharge: the bank counts as open until then.
    active_until: Cycle,
    power: PowerState,
    last: Cycle,
    /// RD and WR to the start of an auto-precharge, ACT to the earliest start.
    read_to_precharge: Cycles,
    write_to_precharge: Cycles,
    activate_to_precharge: Cycles,
    active_exit: PrechargePowerDown,
    precharged_exit: PrechargePowerDown,
}

impl Rank {
    pub(super) fn new(system: &System) -> Rank {
        let (bin, clock) = (system.bin, system.clock());
        let slow_exit = system.standard().definition().slow_exit;
        let exit = |state| if slow_exit == Some(state) { system.precharge_power_down } else { FastExit };
        Rank {
            open: [None; BankSet::CAPACITY],
            active_until: Cycle::ZERO,
            power: PowerState::Awake,
            last: Cycle::ZERO,
            read_to_precharge: clock.at_least(bin.t_rtp),
            write_to_precharge: Cycles(bin.cwl) + system.burst() + clock.at_least(bin.t_wr),
            activate_to_precharge: clock.at_least(bin.t_ras),
            active_exit: exit(SlowExit::Active),
            precharged_exit: exit(SlowExit::Precharge),
        }
    }

    /// Applies a command of the rank, whose banks exist.
    pub(super) fn follow(&mut self, event: &CommandEvent) -> Result<RankEvent, LineError> {
        let CommandEvent { at, ref command, .. } = *event;
        if at < self.last {
            let last = self.last;
            return Err(violation(format!("cycle {at}: {command} follows a command at cycle {last}")));
        }
        self.last = at;
        match *command {
            Command::Activate { bank, .. } => self.open[usize::from(bank.bank)] = Some(at),
            Command::Precharge { bank } => self.open[usize::from(bank.bank)] = None,
            Command::PrechargeAll { .. } => self.open = [None; BankSet::CAPACITY],
            Command::Read { bank, auto_precharge, .. } => {
                self.access(at, bank, auto_precharge, self.read_to_precharge);
            }
            Command::Write { bank, auto_precharge, .. } => {
                self.access(at, bank, auto_precharge, self.write_to_precharge);
            }
            Command::PowerDownEnter { .. } | Command::PowerDownExit { .. } => return self.power_down(at, command),
            Command::SelfRefreshEnter { .. } => self.power = PowerState::SelfRefresh,
            Command::SelfRefreshExit { .. } => self.power = PowerState::Awake,
            // The others neither open nor close a bank, and have no power state.
            _ => {}
        }
        Ok(Inexpressible::of(event).map_or(RankEvent::Other, RankEvent::Inexpressible))
    }

    /// RDA and WRA: the bank precharges itself, not before tRAS after its ACT.
    fn access(&mut self, at: Cycle, bank: BankId, auto_precharge: AutoPrecharge, to_precharge: Cycles) {
        if auto_precharge == AutoPrecharge::No {
            return;
        }
        if let Some(activated) = self.open[usize::from(bank.bank)].take() {
            let start = later(at, to_precharge).max(later(activated, self.activate_to_precharge));
            self.active_until = self.active_until.max(start);
        }
    }

    fn power_down(&mut self, at: Cycle, command: &Command) -> Result<RankEvent, LineError> {
        let is_entry = matches!(command, Command::PowerDownEnter { .. });
        match self.power {
            PowerState::Awake if is_entry => {
                let is_active = self.open.iter().any(Option::is_some) || self.active_until > at;
                let kind = if is_active {
                    PowerDown::Active(self.active_exit)
                } else {
                    PowerDown::Precharged(self.precharged_exit)
                };
                self.power = PowerState::PowerDown(kind);
                Ok(RankEvent::PowerDown(kind))
            }
            PowerState::PowerDown(kind) if !is_entry => {
                self.power = PowerState::Awake;
                Ok(RankEvent::PowerDown(kind))
            }
            state => Err(violation(format!("cycle {at}: {command} of a rank {}", state.name()))),
        }
    }
}

/// The error for a command that violates the protocol.
fn violation(what: String) -> LineError {
    LineError::new(what, "`rowclone-sim check` lists all violations of the trace")
}

/// Cycles of a hostile trace may be near 2^64.
const fn later(at: Cycle, distance: Cycles) -> Cycle {
    Cycle(at.0.saturating_add(distance.0))
}

impl PowerState {
    const fn name(self) -> &'static str {
        match self {
            PowerState::Awake => "that is awake",
            PowerState::PowerDown(_) => "in power-down",
            PowerState::SelfRefresh => "in self-refresh",
        }
    }
}
