//! Durations of three synthetic streams. Two are compared with four other cycle-accurate
//! simulators, which agree on both to 0.2 %.
//!
//! DDR3-1600 11-11-11, 4 Gb x8 chips, one channel, one rank, FR-FCFS, open rows, no postponed
//! refresh; all requests arrive at cycle 0 and are taken as fast as the queues permit.

use dram_spec::{CommandKind, Cycle};
use memctrl::stats::Stats;
use rowclone::Operation;

#[path = "../benches/traffic/mod.rs"]
mod traffic;

use traffic::{PAGE_LINES, Stream};

/// Runs a stream with queues of `entries` entries each; returns the cycles from the arrival of the
/// accesses to the end of the last data.
fn play(request: fn(u64) -> Operation, count: u64, entries: usize) -> (Cycle, Stats) {
    let mut config = traffic::accesses();
    let queues = &mut config.queues;
    (queues.read_entries, queues.write_entries) = (entries, entries);
    (queues.drain_high, queues.drain_low) = (entries * 3 / 4, entries / 4);
    let (stream, stats) = Stream::new(request, count).play(&config, &mut ());
    (stream.end, stats)
}

/// Compares with the other simulators, within 0.5 %, with 32 and with 64 entries.
fn check(request: fn(u64) -> Operation, count: u64, others: Cycle) {
    for entries in [32, 64] {
        let (end, _) = play(request, count, entries);
        let apart = end.0.abs_diff(others.0) as f64 / others.0 as f64;
        assert!(apart <= 0.005, "{entries} entries: {end} cycles, against {others}: {:.2} % apart", apart * 100.0);
    }
}

#[test]
fn a_million_sequential_reads_agree_with_other_simulators() {
    check(traffic::sequential, 1_000_000, Cycle(4_157_000));
}

#[test]
fn page_copies_by_line_agree_with_other_simulators() {
    check(traffic::page_copies_by_line, 8000 * 2 * PAGE_LINES, Cycle(4_417_000));
}

/// An ACT is wasted if its row is closed before it serves an access.
#[test]
fn a_million_random_lines_take_at_most_6_9_million_cycles_and_waste_few_activations() {
    let (end, stats) = play(traffic::random, 1_000_000, 32);
    assert!(end <= Cycle(6_900_000), "{end}");
    let (wasted, all) = (stats.whole.unused_activates, stats.whole.commands[CommandKind::Activate]);
    assert!(200 * wasted < all, "{wasted} of {all}");
}
