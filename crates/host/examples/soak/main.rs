//! Soak test: ten million random requests on random systems, with protocol checker and memory
//! check: `cargo run --release --example soak`.
//!
//! Requests are grouped in chunks, each on a random system derived from the chunk's seed. On
//! failure, the program prints the command that repeats the chunk.

mod chunk;
mod random_config;
mod random_operation;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use chunk::{Chunk, Tally};

/// Chunks for ten million requests.
const CHUNKS: u64 = 10_000_000 / chunk::REQUESTS;

/// Chunks per line of progress.
const PROGRESS: u64 = 50;

/// Chunks after which all mechanisms and events must have occurred.
const ENOUGH: u64 = 100;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to the terminal")]
fn main() -> ExitCode {
    let Some((seed, chunks)) = arguments(std::env::args().skip(1)) else {
        eprintln!("usage: soak [--seed SEED] [--chunks CHUNKS]");
        return ExitCode::from(2);
    };
    let (tally, failed) = soak(seed, chunks);
    if let Some(seed) = failed {
        eprintln!(
            "chunk of seed {seed} failed; to repeat: cargo run --release --example soak -- --seed {seed} --chunks 1"
        );
        return ExitCode::FAILURE;
    }
    println!("{tally}");
    if chunks >= ENOUGH {
        tally.assert_all_occurred();
    }
    ExitCode::SUCCESS
}

/// Parses the first seed and the number of chunks.
fn arguments(mut words: impl Iterator<Item = String>) -> Option<(u64, u64)> {
    let (mut seed, mut chunks) = (1, CHUNKS);
    while let Some(word) = words.next() {
        let value = words.next()?.parse().ok()?;
        match word.as_str() {
            "--seed" => seed = value,
            "--chunks" => chunks = value,
            _ => return None,
        }
    }
    Some((seed, chunks))
}

/// Runs the chunks of consecutive seeds, one per processor; returns the sums, and the lowest seed
/// that failed.
#[expect(clippy::print_stderr, reason = "an example talks to the terminal")]
fn soak(seed: u64, chunks: u64) -> (Tally, Option<u64>) {
    let (next, found) = (AtomicU64::new(seed), Mutex::new((Tally::default(), None::<u64>)));
    let work = || {
        loop {
            let seed_now = next.fetch_add(1, Ordering::Relaxed);
            let any_failed = found.lock().expect("no thread panics while it holds the lock").1.is_some();
            if seed_now >= seed + chunks || any_failed {
                return;
            }
            // The panic message names the failure.
            let played = catch_unwind(AssertUnwindSafe(|| Chunk::new(seed_now).play()));
            let mut found = found.lock().expect("no thread panics while it holds the lock");
            match played {
                Ok(tally) => {
                    found.0 += &tally;
                    if found.0.chunks().is_multiple_of(PROGRESS) {
                        eprintln!("{} of {chunks} chunks", found.0.chunks());
                    }
                }
                Err(_) => found.1 = Some(found.1.map_or(seed_now, |other| other.min(seed_now))),
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    found.into_inner().expect("no thread panics while it holds the lock")
}
