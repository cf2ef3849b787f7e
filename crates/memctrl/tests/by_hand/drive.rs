//! Runs a controller step by step on a list of requests, and records its actions.

use std::collections::VecDeque;

use dram_spec::{CommandEvent, Cycle, Dialect, EventSink};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, Request};
use protocol_check::Checker;

/// Records the commands as a listing: `16 ACT r0 b0 row 1`, after the channel if it is not the
/// first.
#[derive(Debug)]
pub struct Listing {
    pub lines: Vec<String>,
    pub events: Vec<CommandEvent>,
    checker: Checker,
}

impl Listing {
    pub fn new(config: &Config) -> Listing {
        let checker = Checker::new(&config.system, Dialect::RowClone);
        Listing { lines: Vec::new(), events: Vec::new(), checker }
    }
}

impl EventSink for Listing {
    fn command(&mut self, event: &CommandEvent) {
        let CommandEvent { at, channel, command, .. } = event;
        self.lines.push(match channel.0 {
            0 => format!("{} {command}", at.0),
            other => format!("ch{other} {} {command}", at.0),
        });
        self.events.push(*event);
        self.checker.push(*at, *channel, command);
    }

    fn finish(&mut self, end: Cycle) {
        self.checker.finish(end);
        assert!(self.checker.total() == 0, "{:#?}", self.checker.violations());
    }
}

/// Record of a run.
#[derive(Debug)]
pub struct Outcome {
    pub listing: Vec<String>,
    pub events: Vec<CommandEvent>,
    pub completions: Vec<Completion>,
    pub stats: Stats,
}

impl Outcome {
    /// Completions in order of delivery: number and cycle.
    pub fn done(&self) -> Vec<(u64, u64)> {
        self.completions.iter().map(|completion| (completion.id.0, completion.done.0)).collect()
    }
}

/// Arrival of a request; one without an arrival may be taken at once.
fn arrival_of(request: &Request) -> Cycle {
    request.arrival.unwrap_or(Cycle::ZERO)
}

/// Runs requests, in order of arrival, up to and including the cycle `until`.
pub fn run_until(config: &Config, requests: Vec<Request>, until: u64) -> Outcome {
    run_in_steps(config, requests, until, || u64::MAX)
}

/// As [`run_until`]; no call of `advance_to` exceeds the next of `steps` cycles.
pub fn run_in_steps(config: &Config, requests: Vec<Request>, until: u64, mut steps: impl FnMut() -> u64) -> Outcome {
    let mut controller = Controller::new(config);
    let mut listing = Listing::new(config);
    let mut waiting = VecDeque::from(requests);
    let mut completions = Vec::new();
    while controller.now() < Cycle(until) {
        completions.extend(controller.completions());
        while controller.has_room() && waiting.front().is_some_and(|request| arrival_of(request) <= controller.now()) {
            controller.try_enqueue(waiting.pop_front().unwrap()).expect("it has room");
        }
        let arrival =
            waiting.front().filter(|_| controller.has_room()).map_or(u64::MAX, |request| arrival_of(request).0);
        let limit = arrival.min(until).min(controller.now().0.saturating_add(steps()));
        controller.advance_to(Cycle(limit), &mut listing);
    }
    completions.extend(controller.completions());
    let stats = controller.finish(&mut listing);
    Outcome { listing: listing.lines, events: listing.events, completions, stats }
}

/// Compares the commands of some requests up to and including the cycle `until`.
#[track_caller]
pub fn check(config: &Config, requests: Vec<Request>, until: u64, expected: &[&str]) -> Outcome {
    let outcome = run_until(config, requests, until);
    assert_eq!(outcome.listing, expected);
    outcome
}
