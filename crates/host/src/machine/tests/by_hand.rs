//! Cycles and requests of short programs.

use crate::Sequence;

use super::*;

fn after_begin(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    begin().into_iter().chain(steps).collect()
}

/// Line of the page that an operation accesses. The page has the first frame handed out.
fn line_of(operation: Operation, played: &Played) -> u64 {
    let first = played.requests.iter().map(|(_, operation)| operation.target().0).min().unwrap() / 4096 * 4096;
    (operation.target().0 - first) / 64
}

/// Kind and line of each request.
fn listed(played: &Played) -> Vec<(char, u64)> {
    let kind = |operation: Operation| match operation {
        Operation::Read { .. } => 'R',
        Operation::Write { .. } => 'W',
        Operation::Copy { .. } => 'C',
        Operation::Init { .. } => 'I',
    };
    played.requests.iter().map(|&(_, operation)| (kind(operation), line_of(operation, played))).collect()
}

/// The load dispatches in cycle 0 and its request leaves the cache in cycle 12, which is clock 2 of
/// the memory. The core has ended when the data are there and the load has retired.
#[test]
fn a_miss_costs_what_the_controller_says() {
    let played = play(settings(), &after_begin([load(5)]));
    let (arrival, operation) = played.requests[0];
    assert_eq!((arrival, played.requests.len()), (Cycle(2), 1));
    let (system, map) = memory();
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let mut alone = Sequence::new([(operation, Some(arrival))], None);
    let mut controller = Controller::new(&Config::new(system, planner, ROWCLONE));
    controller.run(&mut alone, &mut (), &AtomicBool::new(false)).unwrap();
    let done = alone.into_completions()[0].done;
    assert!(done > Cycle(2 + 16), "tRCD and CL are 8 clocks each");
    let core = played.outcome.cores[0];
    assert_eq!(core.cycles, CoreCycle(done.0 * 6 + 1));
    assert_eq!((core.counters.instructions, core.counters.lines[0].misses), (1, 1));
}

/// 6,000 instructions at 3 per cycle, of which the last retire a cycle after their dispatch.
#[test]
fn instructions_without_misses_run_at_the_width_of_the_core() {
    let played = play(settings(), &[Step::Compute { instructions: 6_000 }]);
    assert_eq!(played.outcome.cores[0].cycles, CoreCycle(2_001));
    let hits = after_begin(std::iter::repeat_n(load(0), 6_000));
    let core = play(settings(), &hits).outcome.cores[0];
    assert_eq!(core.cycles, CoreCycle(2_000 + 12 - 1 + 1), "hits overlap");
    assert_eq!(core.counters.lines[0].hits, 6_000);
}

/// Four pages that are declared present together, or each before its first access: the accesses
/// leave in the same clocks.
#[test]
fn presence_takes_no_time() {
    let page = |number: u64| PhysicalAddress(START + number * 4096);
    let declared = |first: u64, pages: u64| {
        let (address, bytes) = (page(first), pages * 4096);
        [Step::Map { address, bytes }, Step::Present { address, bytes }]
    };
    let line = |number: u64| PhysicalAddress(page(number).0 + number * 64);
    let access = |number: u64| [Step::Compute { instructions: 3 }, Step::Load { address: line(number) }];
    let together = [&declared(0, 4)[..], &(0..4).flat_map(access).collect::<Vec<_>>()].concat();
    let each: Vec<Step> = (0..4).flat_map(|number| [declared(number, 1), access(number)].concat()).collect();
    let last_level = CacheShape { bytes: 4096, ..settings().last_level };
    for order in [Order::InOrder, Order::OutOfOrder] {
        let settings =
            MachineSettings { core: CoreSettings { order, ..CoreSettings::PAPER }, last_level, ..settings() };
        let [together, each] = [&together, &each].map(|steps| play(settings, steps));
        assert_eq!(together.requests, each.requests, "{order:?}");
        assert_eq!(together.outcome.cores, each.outcome.cores, "{order:?}");
    }
    // Out of order, the loads dispatch in slots 3, 7, 11 and 15 and leave 12 cycles later.
    let clocks: Vec<u64> =
        play(MachineSettings { last_level, ..settings() }, &each).requests.iter().map(|(at, _)| at.0).collect();
    assert_eq!(clocks, [13, 14, 15, 17].map(|cycle: u64| cycle.div_ceil(6)));
}

/// Time of the kernel and copies after the last instruction count: 16 pages take 80 cycles each at
/// the exit, and a zeroing lasts at least tRAS + tRAS + tRP.
#[test]
fn a_run_lasts_until_the_end_of_its_last_copy() {
    let steps = [Step::Map { address: line(0), bytes: 65_536 }, Step::Filled { address: line(0), bytes: 65_536 }];
    let run = |last: &[Step]| {
        let mut base = settings();
        base.kernel.copier = PageCopier::Controller;
        play(base, &[&steps, last].concat()).outcome.cores[0].cycles
    };
    assert_eq!((run(&[]), run(&[Step::Exit])), (CoreCycle(0), CoreCycle(16 * 80)));
    assert!(run(&[Step::Zero { address: line(0), bytes: 4096 }]) >= CoreCycle(48 * 6));
}

/// With two MSHRs, the third request leaves when the first line is there.
#[test]
fn mshrs_limit_the_lines_in_flight() {
    let loads = after_begin([load(8), load(9), load(10), load(11)]);
    let mut last_level = settings().last_level;
    last_level.bytes = 4096;
    let of = |mshrs| {
        let core = CoreSettings { mshrs, ..CoreSettings::PAPER };
        play(MachineSettings { core, last_level, ..settings() }, &loads)
    };
    let free = of(8);
    assert!(free.requests.iter().all(|(arrival, _)| arrival.0 <= 3), "{:?}", free.requests);
    let two = of(2);
    // A line is there at a clock; the next request then takes 12 core cycles, or two clocks.
    assert_eq!(two.requests[2].0, Cycle(two.done[0].1.0 + 2));
    assert_eq!(two.requests[3].0, Cycle(two.done[1].1.0 + 2));
    assert!(two.outcome.cores[0].counters.stalls.mshr > 0);
    assert_eq!(free.outcome.cores[0].counters.stalls.mshr, 0);
}

/// 127 instructions fit in the window behind a load; the next waits until the load has retired.
#[test]
fn the_window_limits_the_distance_of_two_misses() {
    let run = |instructions| {
        let steps = after_begin([load(8), Step::Compute { instructions }, load(9)]);
        let mut last_level = settings().last_level;
        last_level.bytes = 4096;
        play(MachineSettings { last_level, ..settings() }, &steps)
    };
    let near = run(126);
    assert_eq!(near.requests[1].0, Cycle(9), "cycle 42 + 12, 9 clocks");
    let far = run(127);
    // The load retires when its data are there; its entry is free a cycle later.
    assert_eq!(far.requests[1].0, Cycle((far.done[0].1.0 * 6 + 1 + 12).div_ceil(6)));
    assert!(far.outcome.cores[0].counters.stalls.window > 0);
}

#[test]
fn an_in_order_core_has_one_load_in_flight() {
    let core = CoreSettings { order: Order::InOrder, ..CoreSettings::PAPER };
    let played = play(MachineSettings { core, ..settings() }, &after_begin([load(8), load(9)]));
    assert_eq!(played.requests[1].0, Cycle(played.done[0].1.0 + 2));
}

/// The cache has one set of two ways. Line 0 is dirty from the beginning.
#[test]
fn a_dirty_victim_is_written_back_and_a_clean_one_is_not() {
    let played = play(settings(), &after_begin([load(1), load(2)]));
    assert_eq!(listed(&played), [('R', 1), ('R', 2), ('W', 0)]);
    // More instructions than the window has: line 1 is there before line 0 is used again.
    let wait = Step::Compute { instructions: 200 };
    let touched = play(settings(), &after_begin([load(1), wait, load(0), load(2)]));
    assert_eq!(listed(&touched), [('R', 1), ('R', 2)], "line 1 is the least recently used");
    let counts = played.outcome.cores[0].counters.lines[0];
    assert_eq!((counts.misses, counts.write_backs), (2, 1));
}

#[test]
fn accesses_to_a_line_in_flight_merge() {
    let played = play(settings(), &after_begin([load(5), load(5), store(5), load(5)]));
    assert_eq!(listed(&played), [('R', 5)]);
    let counts = played.outcome.cores[0].counters.lines[0];
    assert_eq!((counts.misses, counts.merged, counts.hits), (1, 3, 0));
}

/// A store waits for its line in the store buffer, not in the window.
#[test]
fn a_missing_store_retires_and_the_store_buffer_limits_stores() {
    let mut last_level = settings().last_level;
    last_level.bytes = 4096;
    let steps = after_begin([store(8), Step::Compute { instructions: 300 }, store(9), store(10)]);
    let run = |store_buffer| {
        let core = CoreSettings { store_buffer, ..CoreSettings::PAPER };
        play(MachineSettings { core, last_level, ..settings() }, &steps)
    };
    let wide = run(32);
    assert!(wide.requests[1].0 < wide.requests[0].0 + dram_spec::Cycles(30));
    assert_eq!(wide.outcome.cores[0].counters.stalls.window, 0);
    let narrow = run(1);
    assert_eq!(narrow.requests[2].0, Cycle(narrow.done[1].1.0 + 2));
    assert!(narrow.outcome.cores[0].counters.stalls.store_buffer > 0);
}

#[test]
fn an_l1_shortens_hits_and_keeps_no_line_that_the_last_level_lacks() {
    let l1 = Some(CacheShape::new(128, 2, 3));
    let hits = after_begin([load(0), load(0)]);
    let counts = play(MachineSettings { l1, ..settings() }, &hits).outcome.cores[0].counters.lines[0];
    assert_eq!((counts.hits, counts.l1_hits), (2, 1));
    // Lines 1 and 2 replace line 0 in the last level, and so in the L1.
    let steps = after_begin([load(0), load(1), load(2), load(0)]);
    let played = play(MachineSettings { l1, ..settings() }, &steps);
    assert_eq!(listed(&played), [('R', 1), ('R', 2), ('W', 0), ('R', 0)]);
}

/// The fault begins when the earlier instructions have retired. The page is zeroed by a loop: 64
/// stores of whole lines, each followed by 7 stores of words.
#[test]
fn a_page_fault_zeroes_the_page_by_a_loop() {
    let steps = [Step::Map { address: line(0), bytes: 4096 }, Step::Compute { instructions: 30 }, store(1)];
    let mut base = settings();
    base.last_level.bytes = 1 << 16;
    let core = play(base, &steps).outcome.cores[0];
    assert_eq!((core.counters.faults, core.counters.kernel_instructions), (1, 512));
    assert_eq!((core.counters.lines[2].misses, core.counters.lines[0].hits), (64, 1));
    let mut slower = base;
    slower.kernel.fault_cycles += 6_000;
    let after = play(slower, &steps).outcome.cores[0];
    let difference = after.cycles.0 - core.cycles.0;
    assert!((5_900..6_100).contains(&difference), "{difference}: refresh moves by a few clocks");
    base.kernel.copy_loop = CopyLoop::NonTemporal;
    let bypassed = play(base, &steps);
    let counters = bypassed.outcome.cores[0].counters;
    assert_eq!((counters.lines[2].misses, counters.lines[2].non_temporal), (0, 64));
    assert_eq!(counters.lines[0].misses + counters.lines[0].hits, 1);
}

/// A fork of three pages reads and writes three entries of each process and three descriptors. The
/// child's fault uses its entry and the descriptors of both frames, its exit three entries and three
/// descriptors. The entries of a process take a line, and each descriptor of 64 bytes takes one. Of 16
/// bytes, those of the parent's frames share a line; the frame of the copy, the highest of its pool, is
/// far from them.
#[test]
fn a_fork_a_fault_and_an_exit_use_the_data_of_their_pages() {
    let (address, bytes) = (line(0), 3 * 4096);
    let steps = [
        Step::Map { address, bytes },
        Step::Filled { address, bytes },
        Step::Fork { child: 2 },
        Step::Run { process: 2 },
        store(1),
        Step::Exit,
    ];
    let mut base = settings();
    base.last_level.bytes = 1 << 16;
    base.kernel.copier = PageCopier::Controller;
    for (entry, descriptor, accesses, misses) in
        [(8, 64, 2 * (9 + 3 + 6), 2 + 4), (8, 0, 2 * (6 + 1 + 3), 2), (0, 16, 2 * (3 + 2 + 3), 2), (0, 0, 0, 0)]
    {
        base.kernel.page_table_entry_bytes = entry;
        base.kernel.page_descriptor_bytes = descriptor;
        let counters = play(base, &steps).outcome.cores[0].counters;
        let of = counters.lines[Purpose::KernelData as usize];
        assert_eq!((of.hits + of.merged + of.misses, of.misses), (accesses, misses), "{entry} {descriptor}");
        assert_eq!((counters.kernel_instructions, counters.faults), (accesses, 1));
    }
}

/// The whole lines of a copy without fetches take places in the cache; only its source is read.
#[test]
fn stores_of_whole_lines_read_nothing_without_fetches() {
    let steps = after_begin([Step::Fork { child: 2 }, Step::Run { process: 2 }, store(1), load(5), Step::Exit]);
    let of = |copy_loop| {
        let mut base = settings();
        base.last_level.bytes = 1 << 16;
        base.kernel.copy_loop = copy_loop;
        let counts = play(base, &steps).outcome.cores[0].counters.lines;
        (counts[1].misses, counts[1].allocated, counts[0].hits)
    };
    // Line 0 of the source is in the cache.
    assert_eq!(of(CopyLoop::Cached), (63 + 64, 0, 2));
    assert_eq!(of(CopyLoop::NoFetch), (63, 64, 2));
}

/// A program of last-level misses.
#[derive(Debug)]
struct BehindLastLevel(Steps<std::vec::IntoIter<Step>>);

impl Program for BehindLastLevel {
    fn next_step(&mut self) -> Result<Option<Step>, trace_io::LineError> {
        self.0.next_step()
    }

    fn recorded(&self) -> trace_io::trace::Recorded {
        trace_io::trace::Recorded::BehindLastLevel
    }
}

/// A load joins the request of its line, a store is a write of its line, and a load behind it reads it.
#[test]
fn accesses_recorded_behind_the_last_level_take_no_place_in_the_cache() {
    let (address, bytes) = (line(0), 4096);
    let steps = [Step::Map { address, bytes }, Step::Present { address, bytes }, load(5), load(5), store(6), load(6)];
    let program = Box::new(BehindLastLevel(Steps(Vec::from(steps).into_iter())));
    let played = play_boxed(settings(), Region::default(), vec![program], ROWCLONE, Some(3)).unwrap();
    let lines: Vec<(char, u64)> = listed(&played).iter().map(|&(kind, line)| (kind, line)).collect();
    assert_eq!(lines, [('R', 5), ('W', 6), ('R', 6)]);
    let counts = played.outcome.cores[0].counters.lines[0];
    assert_eq!((counts.misses, counts.merged, counts.non_temporal, counts.hits), (2, 1, 1, 0));
    assert_eq!(played.outcome.check, Some((3, None)));
}

/// A store that waits for its operand, and then finds its line in a cache that writes through, changes its own bytes
/// in memory, and no others. The zeroing of the page's fault leaves the line there, that of another page evicts it.
#[test]
fn a_store_recorded_behind_the_last_level_and_deferred_changes_its_bytes() {
    let mut base = settings();
    base.last_level = CacheShape::new(1 << 10, 1, 12);
    base.lines.write = WritePolicy::WriteThrough;
    let (address, bytes, other) = (line(0), 4096, line(64));
    let needs = Needs { class: trace_io::program::InstructionClass::Store, after: [1, 0] };
    let kind = InstructionKind::Store { address: PhysicalAddress(line(50).0 + 56) };
    let steps = [
        Step::Map { address, bytes: 2 * bytes },
        load(0),
        Step::Instruction { kind, needs },
        Step::Zero { address: other, bytes },
        load(50),
    ];
    let program = Box::new(BehindLastLevel(Steps(Vec::from(steps).into_iter())));
    let played = play_boxed(base, Region::default(), vec![program], ROWCLONE, Some(3)).unwrap();
    let written =
        played.requests.iter().filter(|(_, operation)| matches!(operation, Operation::Write { bytes: 8, .. }));
    assert_eq!(written.count(), 1);
    assert_eq!(played.outcome.check, Some((2, None)));
}

/// FPM copies the page of a child that writes: nothing else crosses the channel than the dirty line
/// and the line written.
#[test]
fn a_copy_on_write_in_dram_writes_dirty_source_lines_back() {
    let mut base = settings();
    base.last_level.bytes = 1 << 16;
    base.kernel.copier = PageCopier::Controller;
    let steps = after_begin([Step::Fork { child: 2 }, Step::Run { process: 2 }, store(1), Step::Exit]);
    let played = play(base, &steps);
    let kinds: String = listed(&played).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, "WCR", "the write-back, the copy, the line of the store");
    let coherence = played.outcome.cores[0].counters.coherence;
    assert_eq!((coherence.copies, coherence.written_back, coherence.lookups), (1, 1, 128));
    base.kernel.dirty_source = DirtySource::CopyInCache;
    let played = play(base, &steps);
    let coherence = played.outcome.cores[0].counters.coherence;
    assert_eq!((coherence.written_back, coherence.copied_in_cache), (0, 1));
    let mut free = base;
    free.kernel.coherence_cycles_per_line = 0;
    let counters = play(free, &steps).outcome.cores[0].counters;
    assert_eq!(counters.stalls.coherence, 0);
    assert_eq!(played.outcome.cores[0].counters.stalls.coherence, 3 * (128 + 2), "lookups, the line read and inserted");
}

#[test]
fn zero_lines_inserted_spare_the_first_misses() {
    let mut base = settings();
    base.last_level.bytes = 1 << 16;
    base.kernel.copier = PageCopier::Controller;
    let steps: Vec<Step> = [Step::Map { address: line(0), bytes: 4096 }].into_iter().chain((0..64).map(load)).collect();
    let plain = play(base, &steps).outcome.cores[0].counters;
    base.kernel.inserts_zero_lines = true;
    let inserted = play(base, &steps).outcome.cores[0].counters;
    assert_eq!((plain.lines[0].misses, inserted.lines[0].misses), (64, 0));
    assert_eq!((plain.coherence.zero_lines, inserted.coherence.zero_lines), (0, 64));
}

#[test]
fn a_program_that_breaks_a_rule_of_the_kernel_is_an_error() {
    for (steps, message) in [
        (vec![load(0)], "the program of core 0: address 0x10000 of process 1 is not mapped"),
        (vec![Step::Run { process: 2 }], "the program of core 0: process 2 does not exist"),
        (vec![Step::Fork { child: 1 }], "the program of core 0: process 1 exists already"),
        (
            [begin(), begin()].concat(),
            "the program of core 0: a page of the 4096 bytes at 0x10000 of process 1 is already mapped",
        ),
        (vec![Step::Exit, Step::Exit], "the program of core 0: process 1 does not exist"),
        (
            vec![Step::Map { address: line(0), bytes: 1 << 40 }, Step::Filled { address: line(0), bytes: 1 << 40 }],
            "the program of core 0: 1 frames are needed, but 0 are free",
        ),
    ] {
        let error = try_play(settings(), &[steps], ROWCLONE, None).err().unwrap();
        assert_eq!(error.to_string(), message);
        assert!(!error.help().is_empty());
    }
}

/// A loop of words of 8 bytes needs 3 for 20 bytes, 1 for 1 byte and 8 for a line; each is loaded and
/// stored. A copy of 100 bytes from byte 20 on has steps of 44 and 56 bytes, of 6 and 7 words.
#[test]
fn a_part_of_a_line_is_copied_in_as_many_words_as_it_needs() {
    let instructions = |word_bytes, from: u64, bytes| {
        let mut base = settings();
        base.last_level.bytes = 1 << 16;
        base.kernel.word_bytes = word_bytes;
        let mapped = line(0);
        let at = |byte| PhysicalAddress(START + byte);
        let steps = [
            Step::Map { address: mapped, bytes: 2 * 4096 },
            Step::Filled { address: mapped, bytes: 2 * 4096 },
            Step::Copy { dst: at(4096 + from), src: at(from), bytes },
        ];
        let counters = play(base, &steps).outcome.cores[0].counters;
        let accesses = counters.lines[Purpose::KernelCopy as usize];
        (counters.kernel_instructions, accesses.hits + accesses.merged + accesses.misses)
    };
    assert_eq!(instructions(8, 0, 64), (16, 2));
    assert_eq!(instructions(8, 0, 20), (6, 2));
    assert_eq!(instructions(8, 0, 1), (2, 2));
    assert_eq!(instructions(16, 0, 20), (4, 2));
    assert_eq!(instructions(8, 20, 100), (2 * (6 + 7), 4));
}
