//! Runs of a case: by the engine, by the engine in steps, and by the reference model.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, CommandEvent, Cycle, Cycles, Dialect, EventSink, RequestId};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::cases::{Case, Item, When};
use crate::memory::{ChangedRow, Contents, FlatMemory, changed_rows, payload};
use crate::reference_model::ReferenceModel;

/// Issues the requests of a case, and executes them on a flat memory in the order in which they are
/// taken.
pub struct Source {
    items: Vec<Item>,
    taken: usize,
    /// Arrival of the last request taken, and the latest completion.
    arrival: Cycle,
    done: Cycle,
    memory: FlatMemory,
    expected: Vec<Option<Vec<u8>>>,
    completions: Vec<Completion>,
}

impl Source {
    fn new(items: &[Item]) -> Source {
        Source {
            items: items.to_vec(),
            taken: 0,
            arrival: Cycle::ZERO,
            done: Cycle::ZERO,
            memory: FlatMemory::default(),
            expected: Vec::new(),
            completions: Vec::new(),
        }
    }
}

impl RequestSource for Source {
    fn next_arrival(&self) -> Option<Cycle> {
        match self.items.get(self.taken)?.when {
            When::After(cycles) => Some(self.arrival + cycles),
            When::Accepted => Some(self.arrival),
            When::Done => (self.completions.len() == self.taken).then(|| self.arrival.max(self.done)),
        }
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|arrival| *arrival <= now)?;
        let Item { source, operation, when } = self.items[self.taken];
        let known = (when != When::Accepted).then_some(arrival);
        let id = RequestId(self.taken as u64);
        let is_write = matches!(operation, dram_spec::Operation::Write { .. });
        let payload = is_write.then(|| payload(id.0, operation.bytes()));
        let request = Request { id, source, arrival: known, operation, payload };
        (self.taken, self.arrival) = (self.taken + 1, arrival);
        self.expected.push(self.memory.execute(&request));
        Some(request)
    }

    fn complete(&mut self, completion: Completion) {
        self.done = self.done.max(completion.done);
        self.completions.push(completion);
    }
}

/// Record of a run.
#[derive(Clone)]
pub struct Outcome {
    pub events: Vec<CommandEvent>,
    pub completions: Vec<Completion>,
    pub stats: Stats,
    /// By channel, the rows changed by commands.
    pub memory: Vec<Vec<ChangedRow>>,
}

/// Records the commands, and checks them.
struct Log {
    events: Vec<CommandEvent>,
    checker: protocol_check::Checker,
}

impl EventSink for Log {
    fn command(&mut self, event: &CommandEvent) {
        self.events.push(*event);
        self.checker.push(event.at, event.channel, &event.command);
    }
    fn finish(&mut self, end: Cycle) {
        self.checker.finish(end);
    }
}

fn config(case: &Case) -> Config {
    let contents = Contents::new(case.config.planner.map().clone());
    Config { contents: Some(Arc::new(contents)), ..case.config.clone() }
}

/// The engine, its request source, and its checks.
struct Run {
    config: Config,
    source: Source,
    controller: Controller,
    log: Log,
}

impl Run {
    fn new(case: &Case) -> Run {
        let config = config(case);
        let checker = protocol_check::Checker::new(&config.system, Dialect::RowClone);
        Run {
            source: Source::new(&case.items),
            controller: Controller::new(&config),
            log: Log { events: Vec::new(), checker },
            config,
        }
    }

    /// The outcome. Commands must be legal, and memory and read data those of a flat memory.
    fn checked(self, stats: Stats) -> Result<Outcome, TestCaseError> {
        let Run { config, source, controller, log } = self;
        prop_assert!(log.checker.total() == 0, "{:#?}", log.checker.violations());
        prop_assert_eq!(source.completions.len(), source.items.len(), "requests that were not answered");
        for completion in &source.completions {
            let expected = &source.expected[completion.id.0 as usize];
            prop_assert!(completion.data == *expected, "{:?} read other bytes", completion.id);
        }
        let geometry = &config.system.geometry;
        let channels = || (0..geometry.channels()).map(Channel);
        for channel in channels() {
            let found = source.memory.mismatch(config.planner.map(), channel, controller.device(channel));
            prop_assert!(found.is_none(), "other bytes than in a flat memory: {found:?}");
        }
        let memory = channels().map(|channel| changed_rows(controller.device(channel), geometry)).collect();
        Ok(Outcome { events: log.events, completions: source.completions, stats, memory })
    }
}

/// Runs the engine.
pub fn engine(case: &Case) -> Result<Outcome, TestCaseError> {
    let mut run = Run::new(case);
    let stop = AtomicBool::new(false);
    let stats = run.controller.run(&mut run.source, &mut run.log, &stop).expect("it is not interrupted");
    run.checked(stats)
}

/// Commands of a run, in order of time on each channel.
struct Unordered(Vec<CommandEvent>);

impl EventSink for Unordered {
    fn command(&mut self, event: &CommandEvent) {
        self.0.push(*event);
    }
    fn wants_order(&self) -> bool {
        false
    }
}

/// A source that asks for completions only if a request waits for one, and the data of the reads
/// that were not reported.
struct Silent(Source, Vec<(RequestId, Vec<u8>)>);

impl RequestSource for Silent {
    fn next_arrival(&self) -> Option<Cycle> {
        self.0.next_arrival()
    }
    fn take(&mut self, now: Cycle) -> Option<Request> {
        self.0.take(now)
    }
    fn wants_accesses(&self) -> bool {
        self.0.items.iter().any(|item| item.when == When::Done)
    }
    fn data_read(&mut self, id: RequestId, data: &[u8]) {
        self.1.push((id, data.to_vec()));
    }
    fn complete(&mut self, completion: Completion) {
        self.0.complete(completion);
    }
}

/// Runs the engine without contents, with a reader that needs no order: its commands, ordered, and
/// its statistics.
pub fn unordered(case: &Case) -> (Vec<CommandEvent>, Stats) {
    let config = Config { contents: None, ..case.config.clone() };
    let (mut source, mut log) = (Silent(Source::new(&case.items), Vec::new()), Unordered(Vec::new()));
    let stop = AtomicBool::new(false);
    let stats = Controller::new(&config).run(&mut source, &mut log, &stop).expect("it is not interrupted");
    log.0.sort_by_key(|event| (event.at, event.channel));
    (log.0, stats)
}

/// Runs the engine with contents for a source that does not ask for completions: each read must be
/// reported once, by its completion or its data, with the bytes of a flat memory.
pub fn silent(case: &Case) -> Result<(), TestCaseError> {
    let mut source = Silent(Source::new(&case.items), Vec::new());
    let mut controller = Controller::new(&config(case));
    controller.run(&mut source, &mut (), &AtomicBool::new(false)).expect("it is not interrupted");
    let Silent(Source { items, expected, completions, .. }, unreported) = source;
    let mut read = vec![0; items.len()];
    let reported = completions.into_iter().filter_map(|completion| Some((completion.id, completion.data?)));
    for (id, data) in reported.chain(unreported) {
        read[id.0 as usize] += 1;
        prop_assert!(expected[id.0 as usize].as_ref() == Some(&data), "{id:?} read other bytes");
    }
    let reads: Vec<_> = expected.iter().map(|expected| usize::from(expected.is_some())).collect();
    prop_assert_eq!(read, reads);
    Ok(())
}

/// Runs the engine in steps of the given sizes, cyclically. Before each step, the engine announces
/// the earliest cycle in which it may deliver or accept a request; it must not stop earlier.
pub fn stepped(case: &Case, distances: &[u64]) -> Result<Outcome, TestCaseError> {
    let mut run = Run::new(case);
    let Run { source, controller, log, .. } = &mut run;
    for &distance in distances.iter().cycle() {
        controller.completions().for_each(|completion| source.complete(completion));
        while controller.has_room() && source.next_arrival().is_some_and(|at| at <= controller.now()) {
            let Some(request) = source.take(controller.now()) else { break };
            prop_assert!(controller.try_enqueue(request).is_ok(), "it has room");
        }
        let arrival = if controller.has_room() { source.next_arrival() } else { None };
        if arrival.is_none() && controller.is_idle() {
            break;
        }
        let announced = controller.next_event();
        let limit = (controller.now() + Cycles(distance)).min(arrival.unwrap_or(Cycle::NEVER));
        let reached = controller.advance_to(limit, log);
        prop_assert!(reached <= limit, "it went to {reached}, beyond {limit}");
        prop_assert!(reached == limit || reached >= announced, "{announced} was announced, it stopped at {reached}");
    }
    let stats = controller.finish(log);
    run.checked(stats)
}

/// Runs the reference model.
pub fn model(case: &Case) -> Outcome {
    let config = config(case);
    let mut source = Source::new(&case.items);
    let mut controller = ReferenceModel::new(&config, &case.scheduler, case.rows);
    let (events, stats) = controller.run(&mut source);
    let geometry = &config.system.geometry;
    let channels = (0..geometry.channels()).map(Channel);
    let memory = channels.map(|channel| changed_rows(controller.device(channel), geometry)).collect();
    Outcome { events, completions: source.completions, stats, memory }
}
