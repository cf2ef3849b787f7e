//! Runs of a case on the machine and on the reference model.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use dram_spec::{CommandEvent, CommandLog, Cycle, EventSink, Issued, Operation, SourceId};
use host::machine::{CoreCounters, CoreCycle, CoreOutcome, Machine, MachineOutcome, Program, Region, Steps};
use host::{AgedMemories, Contents};
use memctrl::policy::row::RowPolicy;
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use proptest::test_runner::TestCaseError;
use trace_io::LineError;
use trace_io::program::Step;
use trace_io::trace::Recorded;

use crate::cases::Case;
use crate::machine::ReferenceMachine;
use crate::reference_model::{ReferenceModel, Rows, Scheduler};

/// A request, with the clock in which the controller took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub arrival: Cycle,
    pub at: Cycle,
    pub source: SourceId,
    pub operation: Operation,
}

/// A source that records its requests.
struct Logged<S> {
    source: S,
    taken: Vec<Taken>,
}

impl<S: RequestSource> RequestSource for Logged<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.source.take(now)?;
        let Request { arrival, source, operation, .. } = request;
        self.taken.push(Taken {
            arrival: arrival.expect("cores know the times of their requests"),
            at: now,
            source,
            operation,
        });
        Some(request)
    }

    fn complete(&mut self, completion: Completion) {
        self.source.complete(completion);
    }
}

#[derive(Default)]
struct Commands(Vec<Issued>);

impl EventSink for Commands {
    fn command(&mut self, event: &CommandEvent) {
        self.0.push(event.issued());
    }
}

/// Requests, commands, and figures of the cores.
pub struct Outcome {
    pub requests: Vec<Taken>,
    pub commands: Vec<Issued>,
    pub cores: Vec<CoreFigures>,
}

/// Counts of a core over its whole program, and its cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreFigures {
    pub counters: CoreCounters,
    pub cycles: CoreCycle,
}

/// Figures without what copies take from the program, which the reference model does not compute.
fn figures(outcome: &[CoreOutcome]) -> Vec<CoreFigures> {
    let figures = |&CoreOutcome { counters, cycles, .. }: &CoreOutcome| {
        let counters = CoreCounters { copy_slots: 0, misses_after_copies: 0, overlapped_copy_cycles: 0, ..counters };
        CoreFigures { counters, cycles }
    };
    outcome.iter().map(figures).collect()
}

fn run<S: RequestSource>(config: &Config, source: S) -> (Logged<S>, Vec<Issued>) {
    let mut source = Logged { source, taken: Vec::new() };
    let mut commands = Commands::default();
    Controller::new(config).run(&mut source, &mut commands, &AtomicBool::new(false)).expect("nothing stops it");
    (source, commands.0)
}

/// Steps of a program that was recorded behind a cache, or not.
#[derive(Debug)]
struct RecordedSteps(Steps<std::vec::IntoIter<Step>>, Recorded);

impl Program for RecordedSteps {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        self.0.next_step()
    }

    fn recorded(&self) -> Recorded {
        self.1
    }
}

/// Memories of the engine and of the reference model.
pub static MEMORIES: LazyLock<AgedMemories> = LazyLock::new(AgedMemories::default);

pub fn machine(case: &Case, contents: Option<Contents>) -> Machine {
    let boxed = case.programs.iter().map(|program| {
        let recorded = if program.is_uncached { Recorded::BehindLastLevel } else { Recorded::EveryAccess };
        Box::new(RecordedSteps(Steps(program.steps.clone().into_iter()), recorded)) as Box<dyn Program>
    });
    let regions = vec![Region::default(); case.programs.len()];
    Machine::with_memories(&MEMORIES, case.settings, regions, boxed.collect(), case.map(), contents)
        .expect("the settings are sound")
}

pub fn engine(case: &Case) -> Outcome {
    let (source, commands) = run(&case.config, machine(case, None));
    let outcome = source.source.into_outcome().expect("the programs are sound");
    Outcome { requests: source.taken, commands, cores: figures(&outcome.cores) }
}

/// The machine in front of the controller that visits every clock.
pub fn tick_by_tick(case: &Case) -> Outcome {
    let mut source = Logged { source: machine(case, None), taken: Vec::new() };
    // The cases have these two row policies.
    let rows = if case.config.row_policy == RowPolicy::Closed { Rows::Closed } else { Rows::Open };
    let (events, _) = ReferenceModel::new(&case.config, &Scheduler::FrFcfs, rows).run(&mut source);
    let commands = events.iter().map(CommandEvent::issued).collect();
    let cores = figures(&source.source.into_outcome().expect("the programs are sound").cores);
    Outcome { requests: source.taken, commands, cores }
}

/// The machine with contents: its commands and results.
pub fn checked(case: &Case, seed: u64) -> (CommandLog, MachineOutcome) {
    let contents = Contents::new(seed, case.map().clone());
    let config = Config { contents: Some(Arc::new(contents.clone())), ..case.config.clone() };
    let mut machine = machine(case, Some(contents));
    let mut log = CommandLog::default();
    Controller::new(&config).run(&mut machine, &mut log, &AtomicBool::new(false)).expect("nothing stops it");
    (log, machine.into_outcome().expect("the programs are sound"))
}

pub fn reference(case: &Case) -> Outcome {
    let (source, commands) = run(&case.config, ReferenceMachine::new(case.settings, &case.programs, case.map()));
    Outcome { requests: source.taken, commands, cores: source.source.outcome() }
}

/// Compares lists, with the elements before the first difference in the message.
fn same_lists<T: PartialEq + Debug>(names: [&str; 2], [first, second]: [&[T]; 2]) -> Result<(), TestCaseError> {
    let at = first.iter().zip(second).take_while(|(first, second)| first == second).count();
    if at == first.len().max(second.len()) {
        return Ok(());
    }
    let list = |list: &[T]| list.iter().map(|item| format!("  {item:x?}")).collect::<Vec<_>>().join("\n");
    let before = list(&first[at.saturating_sub(8)..at]);
    let [first, second] = [first, second].map(|all| list(&all[at..all.len().min(at + 4)]));
    let [one, other] = names;
    Err(TestCaseError::fail(format!("item {at}:\n{before}\n{one}:\n{first}\n{other}:\n{second}")))
}

/// Compares requests, figures of the cores, and commands; `names` are for messages.
pub fn same(names: [&str; 2], outcomes: [&Outcome; 2]) -> Result<(), TestCaseError> {
    same_lists(names, outcomes.map(|outcome| &outcome.requests[..]))?;
    let [first, second] = outcomes.map(|outcome| format!("{:#?}", outcome.cores));
    let unequal = first.lines().zip(second.lines()).enumerate().filter(|(_, (first, second))| first != second);
    let unequal: Vec<String> =
        unequal.map(|(line, (first, second))| format!("{line}: {} {first}, {} {second}", names[0], names[1])).collect();
    if !unequal.is_empty() {
        return Err(TestCaseError::fail(unequal.join("\n")));
    }
    same_lists(names, outcomes.map(|outcome| &outcome.commands[..]))
}
