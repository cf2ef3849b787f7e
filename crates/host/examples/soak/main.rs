//! Millions of random requests on random systems, with a checker and a plain memory looking on:
//! `cargo run --release -p host --example soak`.
//!
//! `--chunks N` plays N chunks of 20,000 requests, each on a system of its own; `--seed S` is the first chunk's seed, and the next
//! ones count up from it. What goes wrong is told with the command that brings it back.

mod setting;
mod traffic;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::{Channel, Dialect};
use host::{Contents, FlatMemory, MemoryCheck, Witnessed};
use memctrl::{CommandCounts, Config, Controller, Policy};
use os_alloc_sim::Generator;
use protocol_check::Checker;
use rowclone::Mechanism;

use traffic::Traffic;

/// Requests of a chunk.
const CHUNK: u64 = 20_000;
/// Ten million requests.
const CHUNKS: u64 = 500;

/// What the chunks so far have come upon.
#[derive(Default)]
struct Reached {
    commands: CommandCounts,
    mechanisms: BTreeSet<Mechanism>,
    forwarded: u64,
    broken_off_for_reads: u64,
    broken_off_for_refresh: u64,
}

impl Reached {
    /// Whether it is what a soak is for.
    fn is_all(&self) -> bool {
        let CommandCounts { dropped_activates, power_downs, self_refreshes, wake_ups, refreshes, .. } = self.commands;
        let counts = [power_downs, self_refreshes, wake_ups, refreshes, self.forwarded];
        let broken_off = [self.broken_off_for_reads, self.broken_off_for_refresh];
        let mechanisms = self.mechanisms.len() == 4 && dropped_activates == 0;
        mechanisms && counts.into_iter().chain(broken_off).all(|count| count > 0)
    }
}

/// Plays one chunk.
///
/// # Errors
/// What a witness found.
///
/// # Panics
/// Where device or controller do.
fn play(seed: u64, reached: &mut Reached) -> Result<(), String> {
    let mut chance = Generator::new(seed);
    let config = setting::draw(&mut chance);
    let contents = Contents::new(seed, config.planner.map().clone());
    let config = Config { contents: Some(Arc::new(contents.clone())), ..config };
    let dialect = if config.policy == Policy::Channel { Dialect::Jedec } else { Dialect::RowClone };
    let mut checker = Checker::new(&config.system, dialect);
    let source = Traffic::new(chance, &config, contents.clone(), CHUNK);
    let mut source = Witnessed::new(source, FlatMemory::new(contents));
    let mut controller = Controller::new(config.clone());
    let run = controller.run(&mut source, &mut checker, &AtomicBool::new(false));
    let stats = run.map_err(|_| "stopped by nobody".to_string())?;
    if checker.total() > 0 {
        return Err(format!("{} violations; the first: {:#?}", checker.total(), checker.violations().first()));
    }
    let channels = config.system.geometry.channels();
    let (source, memory) = source.finish(&controller, channels);
    if memory != MemoryCheck::Equal {
        return Err(format!("memory is not what it should be: {memory:?}"));
    }
    let dropped: u64 = (0..channels).map(|channel| controller.device(Channel(channel)).dropped()).sum();
    if source.completed != CHUNK || dropped > 0 {
        return Err(format!("{} of {CHUNK} requests done, {dropped} activations dropped", source.completed));
    }
    reached.commands += stats.whole.commands;
    reached.mechanisms.extend(stats.whole.segments.0.keys().map(|(mechanism, _)| *mechanism));
    reached.forwarded += stats.whole.forwarded;
    reached.broken_off_for_reads += stats.whole.broken_off_for_reads;
    reached.broken_off_for_refresh += stats.whole.broken_off_for_refresh;
    Ok(())
}

#[expect(clippy::print_stderr, reason = "an example talks to the terminal")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((first, chunks)) = read(&words) else {
        eprintln!("usage: soak [--seed S] [--chunks N]");
        return ExitCode::from(2);
    };
    let mut reached = Reached::default();
    for (seed, done) in (first..).zip(0..chunks) {
        let played = catch_unwind(AssertUnwindSafe(|| play(seed, &mut reached)));
        let why = match played {
            Ok(Ok(())) => {
                if (done + 1) % 50 == 0 {
                    eprintln!("{} requests, the last chunk of seed {seed}", (done + 1) * CHUNK);
                }
                continue;
            }
            Ok(Err(why)) => why,
            Err(_) => "a panic".to_string(),
        };
        eprintln!("seed {seed}: {why}");
        eprintln!("again: cargo run --release -p host --example soak -- --seed {seed} --chunks 1");
        return ExitCode::FAILURE;
    }
    // A few chunks need not come upon everything.
    if chunks >= CHUNKS && !reached.is_all() {
        eprintln!("the soak has not come upon all that it is for: {:?} {:?}", reached.commands, reached.mechanisms);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The first seed, and how many chunks.
fn read(words: &[String]) -> Option<(u64, u64)> {
    let (mut first, mut chunks) = (1, CHUNKS);
    for pair in words.chunks(2) {
        let [key, value] = pair else { return None };
        match key.as_str() {
            "--seed" => first = value.parse().ok()?,
            "--chunks" => chunks = value.parse().ok()?,
            _ => return None,
        }
    }
    Some((first, chunks))
}
