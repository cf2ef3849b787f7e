//! Several thousand requests on one random system.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, CommandEvent, CommandKind, Cycle, Cycles, Dialect, EventSink};
use dram_spec::{RequestId, SourceId};
use host::{CheckedSource, Contents, FlatMemory, MemoryCheck};
use memctrl::policy::copy::BASELINE;
use memctrl::stats::{CommandCounts, PartTally};
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use os_alloc_sim::Generator;
use protocol_check::Checker;
use rowclone::{MECHANISMS, Mechanism, Operation};

use crate::random_config::{config, one_of};
use crate::random_operation::Operations;

/// Requests per chunk.
pub const REQUESTS: u64 = 20_000;

/// A random system and its requests.
pub struct Chunk {
    config: Config,
    contents: Contents,
    source: Traffic,
}

/// Sums over chunks.
#[derive(Default)]
pub struct Tally {
    requests: u64,
    cycles: u64,
    forwarded: u64,
    preempted: u64,
    commands: CommandCounts,
    parts: PartTally,
}

impl Chunk {
    /// Derives the system and the requests from the seed.
    pub fn new(seed: u64) -> Chunk {
        let mut generator = Generator::new(seed);
        let config = config(&mut generator);
        let contents = Contents::new(seed, config.planner.map().clone());
        let config = Config { contents: Some(Arc::new(contents.clone())), ..config };
        let source = Traffic {
            operations: Operations::new(&config, &mut generator),
            gap: one_of(&mut generator, &[1, 8, 60, 400]),
            contents: contents.clone(),
            generator,
            next: None,
            arrival: Cycle::ZERO,
            taken: 0,
            completed: 0,
        };
        Chunk { config, contents, source }
    }

    /// Runs the chunk. Panics if a command is illegal, a byte is wrong, or a request is lost.
    pub fn play(self) -> Tally {
        let Chunk { config, contents, mut source } = self;
        let what = format!(
            "{:?}\n{:?} {:?} {:?} {:?}",
            config.system, config.copy_policy, config.scheduler, config.row_policy, config.queues
        );
        let dialect = if config.copy_policy == BASELINE { Dialect::Jedec } else { Dialect::RowClone };
        let channels = config.system.geometry.channels();
        let mut sink = (Checker::new(&config.system, dialect), Limit::default());
        let counted_from_the_start = config.warm_up == Cycles(0);
        source.advance();
        let mut source = CheckedSource::new(source, FlatMemory::new(contents));
        let mut controller = Controller::new(&config);
        let run = controller.run(&mut source, &mut sink, &AtomicBool::new(false));
        let stats = run.expect("the run is not canceled");
        let (source, memory) = source.finish(&controller, channels);
        let (checker, _) = sink;
        assert_eq!(checker.total(), 0, "{:#?}\n{what}", checker.violations());
        assert_eq!(memory, MemoryCheck::Equal, "{what}");
        assert_eq!((source.taken, source.completed), (REQUESTS, REQUESTS), "taken and completed; {what}");
        let dropped: u64 = (0..channels).map(|channel| controller.device(Channel(channel)).dropped()).sum();
        assert_eq!(dropped, 0, "copy activations that the chips dropped; {what}");
        let figures = stats.whole;
        assert!(figures.requests == REQUESTS || !counted_from_the_start, "{} counted; {what}", figures.requests);
        Tally {
            requests: source.completed,
            cycles: stats.end.0,
            forwarded: figures.forwarded,
            preempted: figures.preempted_for_reads + figures.preempted_for_refresh,
            commands: figures.commands,
            parts: figures.parts,
        }
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        let Tally { requests, cycles, forwarded, preempted, commands, parts } = other;
        self.requests += requests;
        self.cycles += cycles;
        self.forwarded += forwarded;
        self.preempted += preempted;
        self.commands += *commands;
        self.parts += parts;
    }
}

impl Tally {
    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.requests / REQUESTS
    }

    fn parts_by(&self, mechanism: Mechanism) -> u64 {
        self.parts.iter().filter(|(by, ..)| *by == mechanism).map(|(_, _, parts)| parts.count).sum()
    }

    /// Asserts that all mechanisms and events occurred: otherwise they are not tested.
    pub fn assert_all_occurred(&self) {
        for mechanism in MECHANISMS {
            assert!(self.parts_by(mechanism) > 0, "no part by {}", mechanism.name());
        }
        for kind in [CommandKind::Refresh, CommandKind::PowerDownEnter, CommandKind::SelfRefreshEnter] {
            assert!(self.commands[kind] > 0, "no {}", kind.name());
        }
        assert!(self.forwarded > 0 && self.preempted > 0, "no read forwarded, or no thread preempted");
    }
}

/// Formats one line of totals, and one of copies.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { requests, cycles, forwarded, preempted, commands, parts: _ } = self;
        writeln!(f, "{requests} requests in {cycles} cycles: every command legal, every byte correct; {commands:?}")?;
        write!(f, "{forwarded} reads forwarded; {preempted} threads preempted; parts:")?;
        MECHANISMS.iter().try_for_each(|&by| write!(f, " {} {}", self.parts_by(by), by.name()))
    }
}

/// Counts the commands of a chunk, to detect one that does not terminate.
#[derive(Default)]
struct Limit(u64);

impl Limit {
    /// Limit. A chunk needs about half a million commands, or several millions with long pauses and
    /// short power-downs.
    const MOST: u64 = 20_000_000;
}

impl EventSink for Limit {
    fn command(&mut self, event: &CommandEvent) {
        self.0 += 1;
        assert!(self.0 <= Limit::MOST, "{} commands by cycle {}, limit exceeded", self.0, event.at);
    }
}

/// Random operations at random cycles.
struct Traffic {
    operations: Operations,
    generator: Generator,
    contents: Contents,
    /// Mean distance of arrivals in cycles, without the long pauses.
    gap: u32,
    next: Option<Operation>,
    arrival: Cycle,
    taken: u64,
    completed: u64,
}

impl Traffic {
    /// Draws the next request.
    fn advance(&mut self) {
        // Long pauses let ranks enter power-down; bursts fill the queues.
        let pause = if self.generator.below(200) == 0 { self.generator.below(20_000) } else { 0 };
        self.arrival += Cycles(u64::from(pause + self.generator.below(2 * self.gap)));
        self.next = (self.taken < REQUESTS).then(|| self.operations.draw(&mut self.generator));
    }
}

impl RequestSource for Traffic {
    fn next_arrival(&self) -> Option<Cycle> {
        self.next.map(|_| self.arrival)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        let operation = self.next?;
        let id = RequestId(self.taken);
        self.taken += 1;
        self.advance();
        let payload = host::sequence::payload(&self.contents, id.0, &operation);
        Some(Request { id, source: SourceId::default(), arrival: Some(arrival), operation, payload })
    }

    fn complete(&mut self, _: Completion) {
        self.completed += 1;
    }
}
