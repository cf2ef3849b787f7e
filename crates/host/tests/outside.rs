//! How long two plain streams take, against four other cycle-accurate simulators, which agree on both to 0.2 %.
//!
//! DDR3-1600 11-11-11, 4 Gb x8 chips, one channel, one rank, FR-FCFS, open rows, no refresh postponed; everything is there at cycle
//! 0, and goes in as fast as the queues take it.

use dram_spec::Cycle;
use rowclone::Operation;

#[path = "../benches/traffic/mod.rs"]
mod traffic;

use traffic::{PAGE_LINES, Stream};

/// From the cycle at which the accesses are there to the end of the last data: within 0.5 % of what the others say.
fn check(request: fn(u64) -> Operation, count: u64, others: Cycle) {
    let (stream, _) = Stream::new(request, count).play(traffic::accesses(), &mut ());
    let apart = stream.end.0.abs_diff(others.0) as f64 / others.0 as f64;
    assert!(apart <= 0.005, "{} cycles, against {others}: {:.2} % apart", stream.end, apart * 100.0);
}

#[test]
fn a_million_sequential_reads_take_as_long_as_elsewhere() {
    check(traffic::sequential, 1_000_000, Cycle(4_157_000));
}

#[test]
fn page_copies_by_line_take_as_long_as_elsewhere() {
    check(traffic::page_copies_by_line, 8000 * 2 * PAGE_LINES, Cycle(4_417_000));
}
