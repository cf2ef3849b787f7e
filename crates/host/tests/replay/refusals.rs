//! What cannot be played is refused by name, or left out and counted.

use dram_spec::Cycles;
use dram_spec::address::Preset;
use host::{AllocatorSettings, Placement, ReplayError, ReplayOutcome, ReplaySettings, TraceCounts, UnusableRecords};
use os_alloc_sim::Policy;

use crate::driver::{SETTINGS, allocator, drive, planner, replay, small};

/// The last byte is on the zero row of a subarray; `20000000` is the end of the memory.
const UNUSABLE: &str = "R 1fffffc0 1000 10\nR 1000 20000000 10\nR 20000000 1fffffc0 10\nR 1000 0 10\n\
                        C 1ffff000 1000 4096 7\nC 1000 20000000 64 7\nS 1ffff800 0 4096 7\nS 1fffe000 0 8192 7\nS 1000 0 64 7\n";

fn play(trace: &str, settings: ReplaySettings) -> (Vec<(String, u64)>, Result<ReplayOutcome, ReplayError>) {
    let mut replay = match replay(trace, &planner(&small(), Preset::RowInterleaved), settings, None) {
        Ok(replay) => replay,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut played = Vec::new();
    drive(&mut replay, Cycles(100), |request| played.push((request.operation.to_string(), request.arrival.0)));
    (played, replay.into_outcome())
}

#[test]
fn left_out_records_are_counted_and_their_instructions_still_executed() {
    let (played, outcome) = play(UNUSABLE, ReplaySettings { unusable: UnusableRecords::Skip, ..SETTINGS });
    let expected = [
        ("write 64 bytes 0x1000", 10),
        ("read 64 bytes 0x1000", 20),
        ("read 64 bytes 0x1000", 40),
        ("init 64 bytes 0x1000 with 0x00", 40),
    ];
    assert_eq!(played, expected.map(|(operation, at)| (operation.to_owned(), at)));
    let ReplayOutcome { counts, pages } = outcome.unwrap();
    assert_eq!(pages, None);
    let lines: Vec<u64> = counts.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(lines, [1, 2, 3, 3, 5]);
    let expected = TraceCounts {
        accesses: 4,
        reads: 2,
        writebacks: 1,
        copies: 0,
        fills: 1,
        accesses_outside: 2,
        accesses_reserved: 2,
        skipped_outside: 2,
        skipped_reserved: 2,
        skipped: counts.skipped.clone(),
    };
    assert_eq!(counts, expected);
}

/// With an allocator, an address is the name of a page: only the end of the memory bounds it.
#[test]
fn pages_recorded_on_reserved_rows_are_placed_elsewhere() {
    let placement = Placement::Allocator(allocator(Policy::SubarrayAware));
    let settings = ReplaySettings { unusable: UnusableRecords::Skip, placement, ..SETTINGS };
    let (_, outcome) = play(UNUSABLE, settings);
    let ReplayOutcome { counts, pages } = outcome.unwrap();
    assert_eq!((counts.reads, counts.writebacks, counts.copies, counts.fills), (3, 2, 1, 2));
    assert_eq!((counts.accesses_reserved, counts.skipped_reserved), (0, 0));
    assert_eq!((counts.accesses_outside, counts.skipped_outside), (2, 2));
    // 1ffff000 and 1000 are read or written; the copy takes a new frame for the first, the fill for that and the one before.
    let pages = pages.unwrap();
    assert_eq!((pages.appeared, pages.copied, pages.filled, pages.freed), (2, 1, 2, 2));
    assert_eq!((pages.copies_in_part, pages.fills_in_part, pages.fills_of_other_values), (0, 1, 0));
    assert_eq!(pages.allocator.frames - pages.allocator.free.frames(), pages.allocations() - pages.freed);
}

fn refused(trace: &str, settings: ReplaySettings, message: &str, help: &str) {
    let (_, outcome) = play(trace, settings);
    let error = outcome.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
}

#[test]
fn refusals_name_the_line_and_a_way_out() {
    refused(
        "R 1000 0 1\nR 1000 20000000 1\n",
        SETTINGS,
        "line 2: `address` = 0x20000000 with 64 bytes reaches past the end of the memory at 0x20000000",
        "the last address that fits is 0x1fffffc0; or leave such records out with `unusable_records = \"skip\"`",
    );
    refused(
        "R 1000 0 1\n",
        ReplaySettings { instructions_per_clock: 0.0, ..SETTINGS },
        "`instructions_per_clock` is 0, but must be a finite number above 0",
        "give the instructions that the CPU executes in a clock of the memory, as `instructions_per_clock = 4.0`",
    );
    refused(
        "R 1000 0 1\nR 1000 0 18446744073709551615\n",
        SETTINGS,
        "line 2: arrives after more than 2^52 clocks of the memory",
        "give a larger `instructions_per_clock`, or correct the instructions of the trace",
    );
    let full = |utilisation| {
        let settings = AllocatorSettings { utilisation, ..allocator(Policy::Random) };
        ReplaySettings { placement: Placement::Allocator(settings), ..SETTINGS }
    };
    // 131,072 frames, 8 banks of 32 subarrays and a temporary row.
    refused(
        "R 12345 0 1\n",
        full(1.0),
        "line 1: no frame is left for page 0x12000: all 130808 frames that there are to hand out are in use, 130808 of them \
         since before the trace began",
        "lower `utilisation`, or give the system more memory",
    );
    refused(
        "R 1000 0 1\n",
        full(50.0),
        "`utilisation` is 50, but must be a share from 0 to 1",
        "try `utilisation = 0.5`",
    );
}

/// Operations of a piece that was placed are played; the one that finds no frame ends the trace.
#[test]
fn a_copy_may_run_out_of_frames_halfway() {
    // All but two frames are in use: the source of the first page, and its destination.
    let settings = AllocatorSettings { utilisation: 1.0 - 2.0 / 130_808.0, ..allocator(Policy::SubarrayAware) };
    let (played, outcome) = play(
        "C 8000 10000 8192 5\nR 1000 0 1\n",
        ReplaySettings { placement: Placement::Allocator(settings), ..SETTINGS },
    );
    assert_eq!(played.len(), 1);
    let error = outcome.unwrap_err();
    assert!(matches!(error, ReplayError::OutOfFrames { line: 1, held: 130_806, .. }), "{error}");
}
