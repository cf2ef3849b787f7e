//! Plays one stream of so many requests, with statistics and an energy account: `streams sequential 100000`.
//!
//! `cargo xtask instructions` counts the instructions of it.

use std::process::ExitCode;

use energy::Account;

#[path = "../benches/traffic/mod.rs"]
mod traffic;

use traffic::{Stream, accesses, copies};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to the terminal")]
fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (name, count) = (words.next().unwrap_or_default(), words.next().and_then(|word| word.parse().ok()));
    let stream = match name.as_str() {
        "sequential" => Some((accesses(), traffic::sequential as fn(u64) -> _)),
        "page-copies-by-line" => Some((accesses(), traffic::page_copies_by_line as _)),
        "page-copies" => Some((accesses(), traffic::page_copies as _)),
        "random" => Some((accesses(), traffic::random as _)),
        "fpm-copies" => Some((copies(), traffic::fpm_copies as _)),
        _ => None,
    };
    let (Some((config, request)), Some(count)) = (stream, count) else {
        eprintln!("usage: streams sequential | page-copies-by-line | page-copies | random | fpm-copies REQUESTS");
        return ExitCode::from(2);
    };
    let mut account = Account::new(&config.system);
    let (stream, stats) = Stream::new(request, count).play(config, &mut account);
    let (counts, commands) = (account.counts(), stats.whole.commands);
    assert_eq!((counts.reads, counts.writes), (commands.reads, commands.writes), "both count every access");
    println!("{count} requests of {name}: {} cycles, {} RD, {} WR", stream.end, counts.reads, counts.writes);
    ExitCode::SUCCESS
}
