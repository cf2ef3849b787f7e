//! What copies take from a program: slots, and misses after them.

use super::*;

/// The page of [`begin`], whose line 0 is dirty in the cache, a copy of lines 0 to 3 to lines 32 to 35, and further
/// steps.
fn after_copy(copier: PageCopier, lines: u64, steps: &[Step]) -> Played {
    let kernel = KernelSettings { copier, ..settings().kernel };
    let last_level = CacheShape::new(64 * lines, 2, 12);
    let copy = Step::Copy { dst: line(32), src: line(0), bytes: 256 };
    let steps = [&begin()[..], &[copy], steps].concat();
    play(MachineSettings { last_level, kernel, ..settings() }, &steps)
}

/// Line 0 is in the cache, and line 40 belongs to no copy. Lines 32, 33 and 1 are missed once.
#[test]
fn first_accesses_to_lines_that_a_copy_left_in_memory_are_misses_after_it() {
    let loads = [32, 32, 33, 0, 1, 40].map(load);
    let counters = after_copy(PageCopier::Controller, 128, &loads).outcome.cores[0].counters;
    assert_eq!(counters.misses_after_copies, 3);
    let again: Vec<Step> =
        loads.iter().chain(&[Step::Compute { instructions: 9_000 }]).chain(&loads).copied().collect();
    let counters = after_copy(PageCopier::Controller, 128, &again).outcome.cores[0].counters;
    assert_eq!((counters.misses_after_copies, counters.lines[0].misses), (3, 4));
}

/// A cache of 128 lines holds all lines of the loop. One of 2 lines holds lines 3 and 35 in the end: line 32 is missed,
/// and line 35 is hit before it leaves the cache.
#[test]
fn a_loop_leaves_lines_in_the_cache_as_long_as_they_fit() {
    let of = |lines, steps: &[Step]| after_copy(PageCopier::Loop, lines, steps).outcome.cores[0].counters;
    let wait = Step::Compute { instructions: 9_000 };
    assert_eq!(of(128, &[32, 33, 34, 35, 0, 1, 2, 3].map(load)).misses_after_copies, 0);
    let counters = of(2, &[wait, load(35), wait, load(32), wait, load(20), wait, load(21), wait, load(35), load(32)]);
    assert_eq!((counters.misses_after_copies, counters.lines[0].misses), (1, 5));
}

/// A new copy of a line that the program has accessed.
#[test]
fn a_later_copy_counts_anew() {
    let wait = Step::Compute { instructions: 9_000 };
    let copy = Step::Copy { dst: line(32), src: line(0), bytes: 256 };
    let counters = after_copy(PageCopier::Controller, 128, &[load(32), wait, copy, load(32)]).outcome.cores[0].counters;
    assert_eq!(counters.misses_after_copies, 2);
}

/// A loop has 16 instructions per line, a load and a store of eight words each: 64 slots, as eight lines take the eight
/// MSHRs. A copy of the controller lasts from slot 0 to its end, at three slots per cycle and six cycles per clock.
#[test]
fn slots_of_a_copy_end_at_the_first_slot_of_the_next_instruction() {
    let of_loop = after_copy(PageCopier::Loop, 128, &[]).outcome.cores[0].counters;
    assert_eq!((of_loop.copy_slots, of_loop.kernel_instructions), (64, 64));
    let played = after_copy(PageCopier::Controller, 128, &[]);
    let done = played.done.iter().find(|(operation, _)| matches!(operation, Operation::Copy { .. })).unwrap().1;
    assert_eq!(played.outcome.cores[0].counters.copy_slots, done.0 * 6 * 3);
}
