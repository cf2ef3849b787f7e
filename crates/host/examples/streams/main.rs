//! Plays one stream, statistics and energy on: `cargo run --release --example streams -- random 100000`.
//! `cargo xtask instructions` counts what it costs.

mod stream;

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use energy::Account;
use memctrl::{Config, Controller, Policy};
use rowclone::Operation;
use stream::{
    PAGE_LINES, Stream, ddr3_1600, fpm_copies, page_copies, page_copies_by_line, paper, random_lines, sequential_reads,
};

/// Plays all of it; asserts that all was done, and that the account has seen it.
fn play(config: &Config, operations: impl Iterator<Item = Operation>, count: u64, column_accesses: u64) {
    let mut account = Account::new(&config.system);
    let mut source = Stream::new(operations);
    let run = Controller::new(config.clone()).run(&mut source, &mut account, &AtomicBool::new(false));
    let stats = run.expect("nobody stops it");
    assert_eq!((source.completed(), stats.whole.requests), (count, count), "all were done, and counted");
    let counts = account.counts();
    // A read that a queued write answers needs no RD.
    assert_eq!(counts.reads + counts.writes + stats.whole.forwarded, column_accesses, "and priced");
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let count = words.get(1).and_then(|count| count.parse().ok());
    match (words.first().map(String::as_str), count) {
        (Some("sequential"), Some(lines)) => play(&ddr3_1600(), sequential_reads(lines), lines, lines),
        (Some("random"), Some(lines)) => play(&ddr3_1600(), random_lines(lines), lines, lines),
        (Some("page-copies-by-line"), Some(pages)) => {
            let lines = pages * 2 * PAGE_LINES;
            play(&ddr3_1600(), page_copies_by_line(pages), lines, lines);
        }
        (Some("page-copies"), Some(pages)) => {
            let config = ddr3_1600();
            play(&config, page_copies(&config.planner, pages), pages, pages * 2 * PAGE_LINES);
        }
        (Some("fpm-copies"), Some(pages)) => {
            let config = paper(Policy::Rule);
            play(&config, fpm_copies(&config.planner, pages), pages, 0);
        }
        _ => {
            print_usage();
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stderr, reason = "an example speaks on the terminal")]
fn print_usage() {
    eprintln!("usage: streams sequential | random | page-copies-by-line | page-copies | fpm-copies COUNT");
}
