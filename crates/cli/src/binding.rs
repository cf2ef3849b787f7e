//! Reasons why commands of a run were not issued earlier, from their events and from earlier commands and requests.

use std::collections::VecDeque;

use dram_core::{Scope, Timings, rules_of};
use dram_spec::{
    Cause, Channel, Command, CommandEvent, CommandKind, Cycle, Cycles, Effect, EventSink, RequestId, System,
};
use memctrl::{Completion, Request};
use report::timeline::Window;

use rowclone_sim::Observer;

/// Reason why a command was not issued earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A timing rule ended in this cycle.
    Rule {
        /// The rule's name.
        name: &'static str,
        /// The distance.
        clocks: Cycles,
        /// The limit as a formula.
        formula: String,
        /// The number of the earlier command.
        after: Option<u64>,
    },
    /// A WR whose data must follow the data of a RD.
    Data {
        /// The number of the RD.
        after: u64,
    },
    /// The controller accepted its request in this cycle, or in the cycle before.
    Request,
    /// A REF of its rank is due, and no timing rule ended in this cycle.
    Refresh,
    /// Its rank, or its row, became idle long enough for the policy.
    Idle,
    /// Other commands were issued first.
    Turn,
}

/// A command, with the reason why it was not issued earlier.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Number among all commands of the run, from 0.
    pub number: u64,
    /// Cycle of issue.
    pub at: Cycle,
    /// Bank or rank of the command.
    pub channel: Channel,
    /// The command.
    pub command: Command,
    /// Its effect.
    pub effect: Effect,
    /// Reason why it was not issued earlier.
    pub wait: Wait,
}

/// Number of clocks of history; no rule reaches back further.
const HISTORY: Cycles = Cycles(2048);

/// An earlier command, with its number.
type Earlier = (u64, Cycle, Channel, Command, Effect);

/// Observes a run, and determines the reason for the cycle of each command of a window.
pub struct Bindings<'a> {
    system: &'a System,
    timings: Timings,
    /// The latest commands, with their numbers.
    history: VecDeque<Earlier>,
    /// The latest accepted requests, with the cycles of their acceptance.
    taken: Vec<(Cycle, RequestId)>,
    window: Window,
    most: usize,
    /// Number of the next command.
    number: u64,
    /// The commands of the window so far.
    pub bound: Vec<Bound>,
    enough: &'a dyn Fn(),
}

impl<'a> Bindings<'a> {
    /// Observes the first `most` commands in a window, and calls `enough` after the last of them.
    pub fn new(system: &'a System, window: Window, most: usize, enough: &'a dyn Fn()) -> Bindings<'a> {
        Bindings {
            system,
            timings: Timings::new(system),
            history: VecDeque::new(),
            taken: Vec::new(),
            window,
            most,
            number: 0,
            bound: Vec::new(),
            enough,
        }
    }

    /// Whether it has the requested number of commands.
    pub fn is_full(&self) -> bool {
        self.bound.len() == self.most || self.history.back().is_some_and(|(_, at, ..)| *at >= self.window.to)
    }

    fn wait(&self, event: &CommandEvent) -> Wait {
        if let Some(name) = event.held_by {
            return self.rule(event, name);
        }
        if let Some(after) = self.data(event) {
            return Wait::Data { after };
        }
        let is_new =
            |request| self.taken.iter().any(|&(taken, other)| taken + Cycles(1) >= event.at && other == request);
        match event.cause {
            Cause::Read(request) | Cause::Write(request) | Cause::Copy { request, .. } if is_new(request) => {
                Wait::Request
            }
            Cause::Refresh => Wait::Refresh,
            Cause::RowPolicy => Wait::Idle,
            Cause::Power => match event.command {
                Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. } => Wait::Request,
                _ => Wait::Idle,
            },
            _ => Wait::Turn,
        }
    }

    fn rule(&self, event: &CommandEvent, name: &'static str) -> Wait {
        let rule = rules_of(self.system).map(|(rule, _)| rule).find(|rule| rule.name == name);
        let (clocks, formula, of_bus) = rule.map_or((Cycles(0), String::new(), true), |rule| {
            (rule.cycles(&self.timings), rule.formula(), rule.scope == Scope::Channel)
        });
        // Cycle of a command from which the distance counts.
        let reference = |at: Cycle, command: &Command| if of_bus { at } else { at + self.to_reference_cycle(command) };
        let end = reference(event.at, &event.command);
        if rule.is_some_and(dram_core::Rule::has_own_time) {
            // The distance is the time of the earlier command.
            let own_time = |(number, at, on, _, effect): &Earlier| {
                let clocks =
                    self.timings.own_time(*effect).filter(|clocks| *on == event.channel && *at + *clocks == end);
                clocks.map(|clocks| (clocks, *number))
            };
            let found = self.history.iter().rev().find_map(own_time);
            let clocks = found.map_or(clocks, |(clocks, _)| clocks);
            return Wait::Rule { name, clocks, formula, after: found.map(|(_, number)| number) };
        }
        // At most one command is issued per clock, so the cycle identifies it.
        let from = |(number, at, on, command, _): &Earlier| {
            (*on == event.channel && reference(*at, command) + clocks == end).then_some(*number)
        };
        Wait::Rule { name, clocks, formula, after: self.history.iter().find_map(from) }
    }

    /// Clocks from the first cycle of a command on the bus to that from which distances count.
    fn to_reference_cycle(&self, command: &Command) -> Cycles {
        let kind = CommandKind::of(command, Effect::Plain);
        Cycles(if self.system.counts_from_second_cycle() { self.system.bus_cycles(kind).0 - 1 } else { 0 })
    }

    /// The RD whose data the WR of a copy follows without a clock between them.
    fn data(&self, event: &CommandEvent) -> Option<u64> {
        let (Command::Write { .. }, Cause::Copy { .. }) = (&event.command, event.cause) else { return None };
        let needed = event.at + self.timings.write_latency();
        let arrives = |(number, read, _, earlier, _): &Earlier| {
            let is_read = matches!(earlier, Command::Read { .. });
            (is_read && *read + self.timings.read_data() == needed).then_some(*number)
        };
        self.history.iter().find_map(arrives)
    }
}

impl EventSink for Bindings<'_> {
    fn command(&mut self, event: &CommandEvent) {
        if self.is_full() {
            return;
        }
        let number = self.number;
        self.number += 1;
        let CommandEvent { at, channel, command, effect, .. } = *event;
        let is_wanted = self.window.from <= at && at < self.window.to;
        let wait = is_wanted.then(|| self.wait(event));
        if let Some(wait) = wait {
            self.bound.push(Bound { number, at, channel, command, effect, wait });
        }
        self.history.push_back((number, at, channel, command, effect));
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
        self.taken.push((now, request.id));
    }

    fn done(&mut self, _: &Completion) {}
}
