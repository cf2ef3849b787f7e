//! Levels, lines, store policies and prefetchers of the caches: cycles and requests by hand.

use trace_io::program::InstructionClass;

use super::*;

fn after_begin(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    begin().into_iter().chain(steps).collect()
}

/// Settings with a last level of 4 KiB.
fn large() -> MachineSettings {
    MachineSettings { last_level: CacheShape::new(4096, 2, 12), ..settings() }
}

/// Clock, kind, line of the first page and bytes of each request: `2 R5:64`.
fn listed(played: &Played) -> Vec<String> {
    let first = played.requests.iter().map(|(_, operation)| operation.target().0).min().unwrap() / 4096 * 4096;
    let listed = |&(at, operation): &(Cycle, Operation)| {
        let kind = if matches!(operation, Operation::Read { .. }) { 'R' } else { 'W' };
        format!("{} {kind}{}:{}", at.0, (operation.target().0 - first) / 64, operation.bytes())
    };
    played.requests.iter().map(listed).collect()
}

const WAIT: Step = Step::Compute { instructions: 3_000 };

/// An in-order core loads line 0, which is in the last level: 12 cycles. Lines 8 and 9 replace it in an
/// L1 of two lines, and not in the L2: 7 cycles. Then the L1 has it: 3 cycles.
#[test]
fn an_l2_serves_what_the_l1_has_lost() {
    let core = CoreSettings { order: Order::InOrder, ..CoreSettings::PAPER };
    let (l1, l2) = (Some(CacheShape::new(128, 2, 3)), Some(CacheShape::new(512, 8, 7)));
    let before = [load(0), load(8), load(9)];
    let cycles = |loads: usize| {
        let steps = before.into_iter().chain(std::iter::repeat_n(load(0), loads));
        let played = play(MachineSettings { core, l1, l2, ..large() }, &after_begin(steps));
        (played.outcome.cores[0].cycles.0, played.outcome.cores[0].counters.lines[0])
    };
    let ([none, one, two], counts) = ([0, 1, 2].map(|loads| cycles(loads).0), cycles(2).1);
    assert_eq!((one - none, two - one), (7, 3));
    assert_eq!((counts.hits, counts.l1_hits, counts.l2_hits, counts.misses), (3, 1, 1, 2));
}

/// Lines of 128 bytes are read as one request of two bursts: lines 8 and 9, and 10 and 11. Of 32 bytes,
/// each half of line 8 is one.
#[test]
fn a_miss_requests_a_line_of_its_size() {
    let of = |bytes| {
        let lines = LineSettings { bytes, ..LineSettings::default() };
        let steps = [8 * 64, 8 * 64 + 32, 9 * 64, 11 * 64];
        let loads = steps.map(|offset| Step::Load { address: PhysicalAddress(START + offset) });
        play(MachineSettings { lines, ..large() }, &after_begin(loads))
    };
    assert_eq!(listed(&of(128)), ["2 R8:128", "3 R10:128"]);
    assert_eq!(listed(&of(64)), ["2 R8:64", "2 R9:64", "3 R11:64"]);
    assert_eq!(listed(&of(32)), ["2 R8:32", "2 R8:32", "2 R9:32", "3 R11:32"]);
    // The second burst follows the first one after tCCD, four clocks.
    let done = |bytes| of(bytes).done[0].1.0;
    assert_eq!((done(128) - done(64), done(64) - done(32)), (4, 0));
}

/// With one entry, a store leaves at once, in cycle 12 or clock 2, when the controller accepts it. The
/// next one dispatches then, in cycle 12, and leaves in cycle 24.
#[test]
fn stores_past_the_cache_wait_for_the_write_buffer() {
    let last_level = CacheShape { store_miss: StoreMiss::NoAllocate, ..large().last_level };
    let run = |write_buffer, steps: &[Step]| {
        let lines = LineSettings { write_buffer, ..LineSettings::default() };
        play(MachineSettings { last_level, lines, ..large() }, &after_begin(steps.iter().copied()))
    };
    let narrow = run(1, &[store(8), store(9)]);
    assert_eq!(listed(&narrow), ["2 W8:8", "4 W9:8"]);
    let counters = narrow.outcome.cores[0].counters;
    assert_eq!((counters.stalls.store_buffer, counters.stalls.mshr), (12 * 3 - 1, 0));
    assert_eq!((counters.lines[0].passed, counters.lines[0].buffered, counters.lines[0].misses), (2, 2, 0));
    // Two entries combine two stores to a line, which leaves for the next one; that one stays.
    let second = Step::Store { address: PhysicalAddress(line(8).0 + 8) };
    let wide = run(2, &[store(8), second, store(9)]);
    assert_eq!((listed(&wide), wide.outcome.cores[0].counters.stalls.store_buffer), (vec!["2 W8:16".to_owned()], 0));
    // A load makes the stores to its line leave.
    assert_eq!(listed(&run(4, &[store(8), load(8)])), ["2 W8:8", "2 R8:64"]);
}

/// Each store is a write, and no line is written back: line 0 is clean when lines 32 and 64 replace it.
#[test]
fn a_cache_that_writes_through_has_no_dirty_lines() {
    let lines = LineSettings { write: WritePolicy::WriteThrough, write_buffer: 1, ..LineSettings::default() };
    let steps = after_begin([store(0), WAIT, store(9), WAIT, load(32), WAIT]);
    let played = play(MachineSettings { lines, last_level: CacheShape::new(128, 2, 12), ..settings() }, &steps);
    let kinds: Vec<_> = listed(&played).iter().map(|text| text.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(kinds, ["W0:8", "R9:64", "W9:8", "R32:64"]);
    let counts = played.outcome.cores[0].counters.lines[0];
    assert_eq!((counts.hits, counts.misses, counts.write_backs, counts.buffered), (1, 2, 0, 2));
}

/// A load of line 8 also requests line 9, with it; the load of line 9 hits after it has arrived, and
/// requests line 10.
#[test]
fn a_prefetched_line_is_requested_with_the_miss() {
    let last_level = CacheShape { prefetcher: PrefetcherKind::NextLine, ..large().last_level };
    let played = play(MachineSettings { last_level, ..large() }, &after_begin([load(8), WAIT, load(9)]));
    // The load of line 9 is instruction 3,001: behind the load, the window lets 127 instructions pass.
    let (first, last) = (&listed(&played)[..2], played.requests[2]);
    assert_eq!((first, last.1.bytes()), (&["2 R8:64".to_owned(), "2 R9:64".to_owned()][..], 64));
    let counters = played.outcome.cores[0].counters;
    assert_eq!((counters.lines[0].misses, counters.lines[0].hits), (1, 1));
    assert_eq!((counters.prefetches.requested, counters.prefetches.useful), (2, 1));
    // Also where loads have units.
    let mut core = settings().core;
    core.classes.of_mut(InstructionClass::Load).units = ClassUnits::Own(2);
    let units = play(MachineSettings { core, last_level, ..large() }, &after_begin([load(8), WAIT, load(9)]));
    assert_eq!(units.outcome.cores[0].counters.prefetches, counters.prefetches);
    // Directly behind, the load waits for the prefetch.
    let late = play(MachineSettings { last_level, ..large() }, &after_begin([load(8), load(9)]));
    assert_eq!(listed(&late), ["2 R8:64", "2 R9:64", "2 R10:64"]);
    let counters = late.outcome.cores[0].counters;
    assert_eq!((counters.lines[0].misses, counters.lines[0].merged, counters.prefetches.late), (1, 1, 1));
}

/// With all of its MSHRs in use by accesses, a core still prefetches, and with all registers of prefetches
/// in use, it still accesses.
#[test]
fn prefetches_take_no_mshr_of_an_access() {
    let last_level = CacheShape { prefetcher: PrefetcherKind::NextLine, ..large().last_level };
    let core = CoreSettings { mshrs: 2, ..CoreSettings::PAPER };
    let lines =
        LineSettings { prefetch: PrefetchSettings { degree: 1, distance: 1, mshrs: 1 }, ..LineSettings::default() };
    let played = play(MachineSettings { core, last_level, lines, ..large() }, &after_begin([load(8), load(20)]));
    assert_eq!(listed(&played), ["2 R8:64", "2 R9:64", "2 R20:64"]);
    assert_eq!(played.outcome.cores[0].counters.stalls.mshr, 0);
}

/// Loads of every third line: the third one confirms the distance, and each one from then on prefetches
/// the next.
#[test]
fn a_stride_is_prefetched_from_its_third_access_on() {
    let last_level = CacheShape { prefetcher: PrefetcherKind::Stride, ..large().last_level };
    let loads = [3, 6, 9, 12, 15].into_iter().flat_map(|line| [load(line), WAIT]);
    let played = play(MachineSettings { last_level, ..large() }, &after_begin(loads));
    let lines: Vec<_> = listed(&played).iter().map(|text| text.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(lines, ["R3:64", "R6:64", "R9:64", "R12:64", "R15:64", "R18:64"]);
    let counters = played.outcome.cores[0].counters;
    assert_eq!((counters.lines[0].misses, counters.prefetches.requested, counters.prefetches.useful), (3, 3, 2));
}
