//! Classes, operands, units, deferred accesses and pending copies, by hand.

use trace_io::program::InstructionClass;

use super::*;

fn compute(instructions: u64, class: InstructionClass, after: [u16; 2]) -> Step {
    Step::Instruction { kind: InstructionKind::Compute { instructions }, needs: Needs { class, after } }
}

fn load_after(number: u64, after: u16) -> Step {
    let kind = InstructionKind::Load { address: line(number) };
    Step::Instruction { kind, needs: Needs { class: InstructionClass::Load, after: [after, 0] } }
}

fn store_after(number: u64, after: u16) -> Step {
    let kind = InstructionKind::Store { address: line(number) };
    Step::Instruction { kind, needs: Needs { class: InstructionClass::Store, after: [after, 0] } }
}

/// A core of the paper with a cache of 64 lines, changed.
fn changed(change: impl FnOnce(&mut CoreSettings)) -> MachineSettings {
    let last_level = CacheShape { bytes: 4096, ..super::settings().last_level };
    let mut settings = MachineSettings { last_level, ..super::settings() };
    change(&mut settings.core);
    settings
}

fn after_begin(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    begin().into_iter().chain(steps).collect()
}

fn cycles(settings: MachineSettings, steps: &[Step]) -> u64 {
    play(settings, steps).outcome.cores[0].cycles.0
}

/// Each instruction begins when the one before has its result; the last result is there in cycle 30, where
/// the instruction retires.
#[test]
fn a_chain_of_operands_takes_a_latency_per_instruction() {
    for order in [Order::InOrder, Order::OutOfOrder] {
        let of = |latency: u64, after: u16| {
            let settings = changed(|core| {
                core.order = order;
                core.classes.of_mut(InstructionClass::Multiply).latency = latency;
            });
            cycles(settings, &[compute(30, InstructionClass::Multiply, [after, 0])])
        };
        assert_eq!((of(1, 0), of(1, 1), of(3, 1)), (11, 31, 91), "{order:?}");
        assert_eq!(of(3, 3), 31, "three chains of ten: {order:?}");
    }
}

/// An operand before the program's start is there, and so is one that left the window.
#[test]
fn operands_outside_the_window_are_ready() {
    let far = [compute(300, InstructionClass::Integer, [128, 300])];
    assert_eq!(cycles(changed(|_| {}), &far), 101);
    let first = [compute(30, InstructionClass::Integer, [40, 31])];
    assert_eq!(cycles(changed(|_| {}), &first), 11);
}

/// Two units of a core of width 4 execute 400 instructions in 200 cycles. Each occupies its unit for four
/// cycles, of which the last instruction needs one.
#[test]
fn units_limit_the_instructions_that_begin_per_cycle() {
    for order in [Order::InOrder, Order::OutOfOrder] {
        let of = |units: u64, interval: u64| {
            let settings = changed(|core| {
                (core.order, core.width) = (order, 4);
                let class = core.classes.of_mut(InstructionClass::Integer);
                (class.units, class.interval) = (ClassUnits::Own(units), interval);
            });
            play(settings, &[Step::Compute { instructions: 400 }]).outcome.cores[0]
        };
        assert_eq!(of(4, 1).cycles, CoreCycle(101), "{order:?}");
        assert_eq!(of(2, 1).cycles, CoreCycle(201), "{order:?}");
        assert_eq!(of(2, 4).cycles, CoreCycle(4 * 199 + 2), "{order:?}");
        let stalls = of(2, 1).counters.stalls;
        // In order, two slots of each cycle but the last are lost.
        assert_eq!(stalls.unit, if order == Order::InOrder { 2 * 199 } else { 0 });
    }
}

/// As on the Pentium: integer instructions pair, a multiplication takes a cycle alone.
#[test]
fn an_instruction_that_is_not_paired_dispatches_alone() {
    let settings = changed(|core| {
        (core.order, core.width) = (Order::InOrder, 2);
        core.classes.of_mut(InstructionClass::Multiply).is_paired = false;
    });
    let steps = [
        Step::Compute { instructions: 3 },
        compute(2, InstructionClass::Multiply, [0, 0]),
        Step::Compute { instructions: 1 },
    ];
    let core = play(settings, &steps).outcome.cores[0];
    // Slots 0 to 2, 4, 6 and 8.
    assert_eq!((core.cycles, core.counters.stalls.unit), (CoreCycle(5 + 1), 3));
}

/// The second load needs the address that the first one loads; a younger load of another line goes before it.
#[test]
fn a_load_with_an_operand_is_requested_when_the_operand_is_there() {
    let steps = after_begin([load(8), load_after(9, 1), load(10)]);
    let played = play(changed(|_| {}), &steps);
    let clocks: Vec<u64> = played.requests.iter().map(|(at, _)| at.0).collect();
    let done = played.done[0].1.0;
    assert_eq!(
        clocks,
        [2, 2, done + 2],
        "lines 8 and 10 leave in cycle 12, line 9 twelve cycles after line 8 is there"
    );
    let offsets: Vec<u64> = played.requests.iter().map(|(_, it)| it.target().0 % 4096 / 64).collect();
    assert_eq!(offsets, [8, 10, 9]);
}

/// A load behind a deferred store to its line returns what the store wrote.
#[test]
fn accesses_to_a_line_keep_program_order() {
    for program in [
        vec![load(8), store_after(9, 1), load(9), store(9), load(9)],
        vec![load(8), load_after(0, 1), store(0), load(0), store_after(0, 4), load(0)],
        vec![load(8), store_after(8, 1), load_after(8, 1), store(8), load(8)],
    ] {
        let loads = program.iter().filter(|step| {
            matches!(step, Step::Load { .. } | Step::Instruction { kind: InstructionKind::Load { .. }, .. })
        });
        let loads = loads.count() as u64;
        for order in [Order::InOrder, Order::OutOfOrder] {
            let settings = changed(|core| core.order = order);
            let played = try_play(settings, &[after_begin(program.clone())], ROWCLONE, Some(3)).unwrap();
            assert_eq!(played.outcome.check, Some((loads, None)), "{program:?} {order:?}");
            assert_eq!(played.outcome.wrong, None, "{program:?} {order:?}");
        }
    }
}

/// Two entries: the third load dispatches when the entry of the first one is free, a cycle after it retires.
#[test]
fn the_load_store_queue_limits_the_loads_in_the_window() {
    let steps = after_begin([load(8), load(9), Step::Compute { instructions: 6 }, load(10)]);
    let played = play(changed(|core| core.load_store_queue = Some(2)), &steps);
    let done = played.done[0].1.0 * 6;
    assert_eq!(played.requests[2].0, Cycle((done + 1 + 12).div_ceil(6)));
    let stalls = played.outcome.cores[0].counters.stalls;
    // Slots 0 to 7 dispatch.
    assert_eq!((stalls.load_store_queue, stalls.window), ((done + 1) * 3 - 8, 0));
}

/// A machine in which a copy is pending until the data of a line arrive.
struct UntilLine {
    machine: Machine,
    requests: Vec<(Cycle, Operation)>,
    line: u64,
    done: Option<Cycle>,
}

const COPY: super::super::bulk::CopyId = super::super::bulk::CopyId(7);

impl RequestSource for UntilLine {
    fn next_arrival(&self) -> Option<Cycle> {
        self.machine.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.machine.take(now)?;
        self.requests.push((request.arrival.expect("cores know it"), request.operation));
        Some(request)
    }

    fn complete(&mut self, completion: Completion) {
        let (done, target) = (completion.done, completion.operation.target().0 % 4096 / 64);
        self.machine.complete(completion);
        if target == self.line {
            self.done = Some(done);
            let at = self.machine.settings.clock.core_at(done);
            self.machine.cores[0].copy_completed(COPY, at);
            self.machine.resume(0, at);
        }
    }
}

/// Loads and stores of a line of the copy wait for its end, which is that of the read of line 8.
#[test]
fn accesses_to_a_pending_copy_wait_for_its_end() {
    let steps = after_begin([store(8), load(5), store(5), load(9)]);
    let first = play(changed(|_| {}), &steps).requests[0].1.target().0 / 4096 * 4096;
    for (order, pages) in [(Order::InOrder, 1), (Order::OutOfOrder, 1), (Order::OutOfOrder, 0)] {
        let (system, map) = memory();
        let contents = Contents::new(5, map.clone());
        let program = Box::new(Steps(steps.clone().into_iter())) as Box<dyn Program>;
        let settings = changed(|core| core.order = order);
        let mut machine =
            Machine::new(settings, Region::default(), vec![program], &map, Some(contents.clone())).unwrap();
        // Bytes 1 to 100 of line 5 and the next one are the source, or the destination.
        let (near, far) = (PhysicalAddress(first + 5 * 64 + 1), PhysicalAddress(first + 16 * 4096));
        let (src, dst) = if pages == 1 { (near, far) } else { (far, near) };
        let size = machine.memory.line_size();
        machine.cores[0].add_pending_copy(COPY, Bulk { src: Some(src), dst, bytes: 100 }, size);
        assert_eq!(machine.cores[0].pending_copies().len(), 1);
        let planner = Arc::new(Planner::new(map, FaultyRows::default()));
        let config = Config { contents: Some(Arc::new(contents) as _), ..Config::new(system, planner, ROWCLONE) };
        let mut source = UntilLine { machine, requests: Vec::new(), line: 8, done: None };
        Controller::new(&config).run(&mut source, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
        let done = source.done.expect("line 8 arrives").0;
        let found: Vec<(u64, u64)> = source.requests.iter().map(|(at, it)| (at.0, it.target().0 % 4096 / 64)).collect();
        let outcome = source.machine.into_outcome().unwrap();
        assert_eq!(outcome.check, Some((2, None)));
        let stalls = outcome.cores[0].counters.stalls;
        if order == Order::InOrder {
            assert_eq!(found[..2], [(2, 8), (done + 2, 5)]);
            assert_eq!(stalls.pending_copy, done * 6 * 3 - 1, "all slots after the store");
        } else {
            assert_eq!(found, [(2, 8), (3, 9), (done + 2, 5)], "line 9 is requested in cycle 1");
            assert_eq!(stalls.pending_copy, 0);
        }
    }
}

/// The store takes slot 0, the load slot 1, and 127 instructions slots 2 to 128: the next one waits for the copy, which
/// ends with line 8. The time of the load's line is not that of the copy.
#[test]
fn slots_behind_an_access_to_a_pending_copy_are_those_of_the_copy() {
    let steps = after_begin([store(8), load(5), Step::Compute { instructions: 300 }]);
    let first = play(changed(|_| {}), &steps).requests[0].1.target().0 / 4096 * 4096;
    let (system, map) = memory();
    let program = Box::new(Steps(steps.into_iter())) as Box<dyn Program>;
    let mut machine = Machine::new(changed(|_| {}), Region::default(), vec![program], &map, None).unwrap();
    let (src, dst) = (PhysicalAddress(first + 5 * 64), PhysicalAddress(first + 16 * 4096));
    let size = machine.memory.line_size();
    machine.cores[0].add_pending_copy(COPY, Bulk { src: Some(src), dst, bytes: 64 }, size);
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let mut source = UntilLine { machine, requests: Vec::new(), line: 8, done: None };
    let config = Config::new(system, planner, ROWCLONE);
    Controller::new(&config).run(&mut source, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
    let done = source.done.expect("line 8 arrives").0;
    let counters = source.machine.into_outcome().unwrap().cores[0].counters;
    assert_eq!(counters.copy_slots, done * 6 * 3 - 129);
    assert!(counters.stalls.window > counters.copy_slots, "the window also waits for the line");
}

/// Instructions dispatch until the window is full, also in order, and retire when it completes.
#[test]
fn an_awaited_instruction_blocks_retirement_and_no_dispatch() {
    for order in [Order::InOrder, Order::OutOfOrder] {
        let core = CoreSettings { order, ..CoreSettings::PAPER };
        let mut core = Core::new(0, &core, core.mshrs, Box::new(Steps(std::iter::empty())), u64::MAX);
        let all = core.bounds(CoreCycle(1 << 20), CoreCycle(1 << 20), CoreCycle(1 << 20));
        let (entry, _) = core.dispatch_awaited(Purpose::Program, all).unwrap();
        let mut left = 1_000;
        assert!(matches!(core.run_instructions(&mut left, Purpose::Program, all), Advance::Part));
        assert_eq!((left, core.finished()), (1_000 - 127, None));
        assert!(matches!(core.dispatch_awaited(Purpose::Program, all), Err(Advance::Blocked)));
        core.complete(entry, CoreCycle(500));
        assert!(matches!(core.run_instructions(&mut left, Purpose::Program, all), Advance::Done));
        // It retires in slot 1500, and its entry is used in slot 1503, by the first of 873 instructions.
        assert_eq!(core.position(), 1503 + 873);
        assert_eq!(core.finished(), Some(CoreCycle((1500_u64 + 1001).div_ceil(3))));
    }
}
