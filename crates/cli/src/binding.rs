//! Why each command of a run went no earlier: a device that replays the commands is asked before each.

use std::collections::VecDeque;

use dram_core::{Device, Effect, P, RULES, Timings};
use dram_spec::address::AddressMap;
use dram_spec::{BankId, Channel, Command, CommandSink, Cycle, Cycles, LINE_BYTES, Location, PhysicalAddress, System};
use memctrl::{Completion, Request};
use report::timeline::Window;
use rowclone::Operation;

use crate::input::SystemConfig;
use crate::observer::Observer;

/// Why a command went no earlier than it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A rule held it back, so many clocks from an earlier command on.
    Rule {
        /// The rule's name.
        name: &'static str,
        /// The distance.
        clocks: Cycles,
        /// The same as a formula.
        formula: String,
        /// The number of the earlier command.
        after: Option<u64>,
    },
    /// A WR that has to follow the data of a RD, by the number of which it goes.
    Data {
        /// The number of the RD.
        after: u64,
    },
    /// Its request was taken then.
    Request,
    /// The refresh fell due then.
    Refresh,
    /// Its rank had been idle for long enough to sleep.
    Idle,
    /// It could have gone for so many clocks, and others went first, or it was not wanted yet.
    Turn(Cycles),
}

/// A command, and why it went no earlier.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Its number among all commands of the run, from 1.
    pub number: u64,
    /// When it was issued.
    pub at: Cycle,
    /// Where.
    pub channel: Channel,
    /// What was said.
    pub command: Command,
    /// What an ACT did that is no plain one.
    pub effect: Effect,
    /// Why it went no earlier.
    pub wait: Wait,
}

/// No rule reaches back further, in clocks.
const HISTORY: Cycles = Cycles(2048);

/// Hears a run, and finds out why each command of a window went no earlier.
pub struct Bindings<'a> {
    config: &'a SystemConfig,
    timings: Timings,
    devices: Vec<Device>,
    /// The latest commands, with their numbers.
    history: VecDeque<(u64, Cycle, Channel, Command)>,
    /// The requests that were taken last, and when.
    taken: Vec<(Cycle, Operation)>,
    window: Window,
    most: usize,
    number: u64,
    bound: Vec<Bound>,
    enough: &'a dyn Fn(),
}

impl<'a> Bindings<'a> {
    /// Of the first `most` commands in a window; calls `enough` once it has them.
    pub fn new(config: &'a SystemConfig, window: Window, most: usize, enough: &'a dyn Fn()) -> Bindings<'a> {
        let system = &config.system;
        Bindings {
            config,
            timings: Timings::new(system),
            devices: (0..system.geometry.channels()).map(|_| Device::new(system, None)).collect(),
            history: VecDeque::new(),
            taken: Vec::new(),
            window,
            most,
            number: 0,
            bound: Vec::new(),
            enough,
        }
    }

    /// Whether it has all that was wanted.
    pub fn is_full(&self) -> bool {
        self.bound.len() == self.most || self.history.back().is_some_and(|(_, at, ..)| *at >= self.window.to)
    }

    /// The commands.
    pub fn into_bound(self) -> Vec<Bound> {
        self.bound
    }

    fn wait(&self, at: Cycle, channel: Channel, command: &Command) -> Wait {
        let device = &self.devices[usize::from(channel.0)];
        let hold = device.earliest(command).ok();
        let legal = hold.map_or(Cycle::ZERO, |hold| hold.until);
        if let Some(name) = hold.and_then(|hold| hold.rule())
            && legal == at
        {
            return self.rule(at, channel, name);
        }
        if let Some(after) = self.data(at, command) {
            return Wait::Data { after };
        }
        if self
            .taken
            .iter()
            .any(|(taken, operation)| *taken + Cycles(1) >= at && self.is_for(operation, channel, command))
        {
            return Wait::Request;
        }
        let due = self.refresh_due(at, device, command.rank());
        match command {
            Command::PowerDownEnter { .. } | Command::SelfRefreshEnter { .. } => Wait::Idle,
            Command::Refresh { .. }
            | Command::PrechargeAll { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshExit { .. }
                if due == Some(at) =>
            {
                Wait::Refresh
            }
            Command::Refresh { .. } => Wait::Turn(at.since(due.map_or(legal, |due| due.max(legal)))),
            _ => Wait::Turn(at.since(legal)),
        }
    }

    fn rule(&self, at: Cycle, channel: Channel, name: &'static str) -> Wait {
        let system: &System = &self.config.system;
        let rule = RULES.iter().find(|rule| rule.name == name && rule.holds_in(system));
        let (clocks, formula) =
            rule.map_or((Cycles(0), String::new()), |rule| (rule.cycles(&self.timings), rule.formula()));
        // One command a clock: the instant tells which it was.
        let from = |(number, earlier, on, _): &(u64, Cycle, Channel, Command)| {
            (*on == channel && *earlier + clocks == at).then_some(*number)
        };
        Wait::Rule { name, clocks, formula, after: self.history.iter().find_map(from) }
    }

    /// The RD whose data a WR follows without a clock between them.
    fn data(&self, at: Cycle, command: &Command) -> Option<u64> {
        let Command::Write { .. } = command else { return None };
        let needed = at + self.timings.write_latency();
        let arrives = |(number, read, _, earlier): &(u64, Cycle, Channel, Command)| {
            let is_read = matches!(earlier, Command::Read { .. });
            (is_read && *read + self.timings.read_data() == needed).then_some(*number)
        };
        self.history.iter().find_map(arrives)
    }

    /// When the first REF that a rank owes fell due.
    fn refresh_due(&self, at: Cycle, device: &Device, rank: u8) -> Option<Cycle> {
        let (ledger, interval) = (device.refresh(rank), self.timings.get(P::Refi));
        let owed = ledger.owed(at);
        let next = ledger.next_due(at).filter(|_| owed > 0)?;
        Some(Cycle(next.0 - interval.0 * owed))
    }

    /// Whether an operation has to do with the bank, or the rank, of a command.
    fn is_for(&self, operation: &Operation, channel: Channel, command: &Command) -> bool {
        let map: &AddressMap = &self.config.map;
        if let Command::Activate { row, .. } = command
            && map.geometry().reserved(*row).is_some()
        {
            return true;
        }
        let bank = bank(command);
        let of = |start: PhysicalAddress| {
            // What lies in one run lies in one bank.
            let run = map.run_bytes().max(LINE_BYTES);
            let last = (start.0 + operation.bytes() - 1) / run;
            (start.0 / run..=last).take(RUNS_MOST).filter_map(move |index| map.locate(PhysicalAddress(index * run)))
        };
        let places = of(operation.target()).chain(operation.src().into_iter().flat_map(of));
        places.into_iter().any(|Location { channel: on, bank: other, .. }| {
            on == channel && bank.map_or(other.rank == command.rank(), |bank| bank == other)
        })
    }
}

/// Of a larger operation the first so many runs are looked at: its first commands are for them.
const RUNS_MOST: usize = 4096;

/// The bank that a command is for: of a TRANSFER, the source.
pub const fn bank(command: &Command) -> Option<BankId> {
    match *command {
        Command::Activate { bank, .. }
        | Command::Precharge { bank }
        | Command::Read { bank, .. }
        | Command::Write { bank, .. } => Some(bank),
        Command::Transfer { src, .. } => Some(src),
        Command::PrechargeAll { .. }
        | Command::Refresh { .. }
        | Command::PowerDownEnter { .. }
        | Command::PowerDownExit { .. }
        | Command::SelfRefreshEnter { .. }
        | Command::SelfRefreshExit { .. } => None,
    }
}

impl CommandSink for Bindings<'_> {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if self.is_full() {
            return;
        }
        self.number += 1;
        let is_wanted = self.window.from <= at && at < self.window.to;
        let wait = is_wanted.then(|| self.wait(at, channel, command));
        let effect = self.devices[usize::from(channel.0)].issue(at, command);
        if let Some(wait) = wait {
            self.bound.push(Bound { number: self.number, at, channel, command: *command, effect, wait });
        }
        self.history.push_back((self.number, at, channel, *command));
        while self.history.front().is_some_and(|(_, earlier, ..)| at.since(*earlier) > HISTORY) {
            self.history.pop_front();
        }
        if self.is_full() {
            (self.enough)();
        }
    }
}

impl Observer for Bindings<'_> {
    fn taken(&mut self, now: Cycle, request: &Request) {
        self.taken.retain(|(taken, _)| *taken + Cycles(1) >= now);
        self.taken.push((now, request.operation));
    }

    fn done(&mut self, _: &Completion) {}
}
