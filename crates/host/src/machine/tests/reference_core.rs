//! A core that is executed slot by slot, by the rules of `docs/cores.md`, against the machine. The cycles in
//! which lines arrive are those of the machine's run.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use trace_io::program::InstructionClass;

use super::*;

/// Lines that the cache holds from the beginning.
const HITS: u64 = 4;
const LATENCY: u64 = 12;

#[derive(Clone, Copy, Debug)]
struct Instruction {
    class: InstructionClass,
    /// The line that it accesses.
    line: Option<u64>,
    after: [u16; 2],
}

impl Instruction {
    fn is_load(&self) -> bool {
        use InstructionClass::{FloatLoad, Load, StringLoad};
        matches!(self.class, Load | FloatLoad | StringLoad)
    }

    fn step(&self) -> Step {
        let kind = match self.line {
            None => InstructionKind::Compute { instructions: 1 },
            Some(number) if self.is_load() => InstructionKind::Load { address: line(number) },
            Some(number) => InstructionKind::Store { address: line(number) },
        };
        Step::Instruction { kind, needs: Needs { class: self.class, after: self.after } }
    }
}

/// A dispatched instruction.
#[derive(Clone, Copy, Debug)]
struct WindowEntry {
    instruction: Instruction,
    dispatched: u64,
    begin: Option<u64>,
    /// Whether the caches have accepted its access.
    is_accepted: bool,
    /// The slot in which its result is there.
    result: Option<u64>,
    retired: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lost {
    Window,
    Queue,
    Operand,
    Unit,
    Mshr,
    StoreBuffer,
}

struct ReferenceCore {
    settings: CoreSettings,
    entries: Vec<WindowEntry>,
    /// Pool of units, first cycle and cycle after the last one.
    occupied: Vec<(InstructionClass, u64, u64)>,
    present: BTreeSet<u64>,
    in_flight: BTreeSet<u64>,
    /// Lines of the stores in the store buffer.
    buffered: Vec<u64>,
    /// Lines requested, with the cycles in which the requests leave.
    requests: Vec<(u64, u64)>,
    /// Slots since the latest dispatch.
    lost: Vec<Lost>,
    /// The first slot in which the window and the queue had entries for the next instruction.
    since: Option<u64>,
    alone_until: u64,
    stalls: [u64; 6],
}

impl ReferenceCore {
    fn units(&self, class: InstructionClass) -> Option<(InstructionClass, u64)> {
        match self.settings.classes.of(class).units {
            ClassUnits::Unlimited => None,
            ClassUnits::Own(units) => Some((class, units)),
            ClassUnits::Of(other) => self.units(other),
        }
    }

    /// First slot from a slot on in which a unit is free.
    fn with_unit(&self, class: InstructionClass, from: u64) -> u64 {
        let (width, interval) = (self.settings.width, self.settings.classes.of(class).interval);
        let Some((pool, units)) = self.units(class) else { return from };
        let is_free = |cycle: u64| {
            let busy =
                self.occupied.iter().filter(|(it, first, after)| *it == pool && (*first..*after).contains(&cycle));
            (busy.count() as u64) < units
        };
        let mut begin = from / width;
        while !(begin..begin + interval).all(is_free) {
            begin += 1;
        }
        from.max(begin * width)
    }

    fn occupy(&mut self, class: InstructionClass, begin: u64) {
        let (cycle, interval) = (begin / self.settings.width, self.settings.classes.of(class).interval);
        self.occupied.extend(self.units(class).map(|(pool, _)| (pool, cycle, cycle + interval)));
    }

    /// The slot in which all operands of an instruction are there, which follows `before` others.
    fn operands(&self, instruction: &Instruction, before: usize) -> Option<u64> {
        let mut from = 0;
        for distance in instruction.after {
            let distance = usize::from(distance);
            if distance > 0 && distance <= before {
                let producer = &self.entries[before - distance];
                from = from.max(producer.result?);
            }
        }
        Some(from)
    }

    /// Lets instructions begin whose operands have become known.
    fn choose_units(&mut self) {
        for at in 0..self.entries.len() {
            let WindowEntry { instruction, begin: None, dispatched, .. } = self.entries[at] else { continue };
            let Some(operands) = self.operands(&instruction, at) else { continue };
            let begin = self.with_unit(instruction.class, operands.max(dispatched));
            self.occupy(instruction.class, begin);
            self.entries[at].begin = Some(begin);
            if instruction.line.is_none() {
                self.entries[at].result = Some(self.after(begin, instruction.class));
            }
        }
    }

    fn after(&self, slot: u64, class: InstructionClass) -> u64 {
        slot + self.settings.classes.of(class).latency.max(1) * self.settings.width
    }

    /// Accesses the cache in a slot; the slot of the result is not known if data are awaited.
    fn access(&mut self, instruction: &Instruction, slot: u64) -> Result<Option<u64>, Lost> {
        let line = instruction.line.unwrap();
        let width = self.settings.width;
        let stored = Some(self.after(slot, instruction.class));
        if self.present.contains(&line) {
            let data = slot + width * (LATENCY + self.settings.classes.of(instruction.class).latency);
            return Ok(if instruction.is_load() { Some(data) } else { stored });
        }
        let lacks_mshr = !self.in_flight.contains(&line) && self.in_flight.len() == self.settings.mshrs;
        if lacks_mshr {
            return Err(Lost::Mshr);
        }
        if !instruction.is_load() && self.buffered.len() == self.settings.store_buffer {
            return Err(Lost::StoreBuffer);
        }
        if self.in_flight.insert(line) {
            self.requests.push((line, slot / width + LATENCY));
        }
        if instruction.is_load() {
            return Ok(None);
        }
        self.buffered.push(line);
        Ok(stored)
    }

    fn arrive(&mut self, line: u64, cycle: u64) {
        self.in_flight.remove(&line);
        self.present.insert(line);
        self.buffered.retain(|&other| other != line);
        for at in 0..self.entries.len() {
            let WindowEntry { instruction, is_accepted: true, result: None, .. } = self.entries[at] else { continue };
            if instruction.line == Some(line) {
                let latency = self.settings.classes.of(instruction.class).latency;
                let result = (cycle + latency) * self.settings.width;
                self.entries[at].result = Some(result.max(self.entries[at].dispatched + self.settings.width));
            }
        }
        self.choose_units();
    }

    /// Attempts the deferred accesses of a cycle.
    fn attempt_deferred(&mut self, cycle: u64) {
        let width = self.settings.width;
        for at in 0..self.entries.len() {
            let WindowEntry { instruction, begin: Some(begin), is_accepted: false, .. } = self.entries[at] else {
                continue;
            };
            if begin / width > cycle || self.is_behind(&instruction, at) {
                continue;
            }
            if let Ok(result) = self.access(&instruction, begin.max(cycle * width)) {
                (self.entries[at].is_accepted, self.entries[at].result) = (true, result);
                self.choose_units();
            }
        }
    }

    /// Whether one of the first entries is an access to the line that the caches have not accepted.
    fn is_behind(&self, instruction: &Instruction, before: usize) -> bool {
        let older = &self.entries[..before];
        older
            .iter()
            .any(|it| !it.is_accepted && it.instruction.line.is_some() && it.instruction.line == instruction.line)
    }

    fn retire(&mut self, slot: u64) {
        let width = self.settings.width;
        if let Some(oldest) = self.entries.iter_mut().find(|it| it.retired.is_none())
            && oldest.result.is_some_and(|result| result.max(oldest.dispatched + width) <= slot)
        {
            oldest.retired = Some(slot);
        }
    }

    fn in_window(&self, slot: u64) -> impl Iterator<Item = &WindowEntry> {
        self.entries.iter().filter(move |it| it.retired.is_none_or(|at| at + self.settings.width > slot))
    }

    /// Dispatches an instruction in a slot, or returns why that is not possible; `None` if it awaits a load.
    fn dispatch(&mut self, instruction: &Instruction, slot: u64) -> Result<(), Option<Lost>> {
        let width = self.settings.width;
        let is_in_order = self.settings.order == Order::InOrder;
        let latest_load = self.entries.last().filter(|it| is_in_order && it.instruction.is_load());
        if latest_load.is_some_and(|it| it.result.is_none_or(|result| result > slot)) {
            return Err(None);
        }
        if self.in_window(slot).count() as u64 == self.settings.window {
            return Err(Some(Lost::Window));
        }
        let queued = self.in_window(slot).filter(|it| it.instruction.line.is_some()).count();
        if instruction.line.is_some() && Some(queued) == self.settings.load_store_queue {
            return Err(Some(Lost::Queue));
        }
        let operands = self.operands(instruction, self.entries.len());
        let is_alone = !self.settings.classes.of(instruction.class).is_paired;
        if is_in_order {
            let since = (*self.since.get_or_insert(slot)).max(self.alone_until);
            let fits = |slot: u64| !is_alone || slot.is_multiple_of(width);
            if slot < since || (since..=slot).all(|slot| !fits(slot)) {
                return Err(Some(Lost::Unit));
            }
            let refused = self.lost.last().filter(|why| matches!(why, Lost::Mshr | Lost::StoreBuffer));
            if let Some(&why) = refused.filter(|_| !fits(slot)) {
                return Err(Some(why));
            }
            if operands.unwrap() > slot {
                return Err(Some(Lost::Operand));
            }
            if !fits(slot) || self.with_unit(instruction.class, slot) > slot {
                return Err(Some(Lost::Unit));
            }
        }
        let begin = operands.map(|operands| self.with_unit(instruction.class, operands.max(slot)));
        let mut entry = WindowEntry {
            instruction: *instruction,
            dispatched: slot,
            begin,
            is_accepted: instruction.line.is_none(),
            result: None,
            retired: None,
        };
        if instruction.line.is_none() {
            entry.result = begin.map(|begin| self.after(begin, instruction.class));
        } else if let Some(begin) = begin
            && begin / width == slot / width
            && !self.is_behind(instruction, self.entries.len())
        {
            entry.result = self.access(instruction, begin).map_err(Some)?;
            entry.is_accepted = true;
        }
        if let Some(begin) = begin {
            self.occupy(instruction.class, begin);
        }
        if is_alone {
            self.alone_until = slot + width;
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Counts a slot without instruction.
    fn lose(&mut self, why: Lost) {
        self.lost.push(why);
        if matches!(why, Lost::Queue | Lost::Mshr | Lost::StoreBuffer) {
            self.lost.iter_mut().filter(|it| **it == Lost::Window).for_each(|it| *it = why);
        }
    }

    fn run(&mut self, instructions: &[Instruction], arrivals: &[(u64, u64)]) -> u64 {
        let mut left = instructions.iter();
        let mut next = left.next();
        for cycle in 0.. {
            for &(line, at) in arrivals {
                if at == cycle && self.in_flight.contains(&line) {
                    self.arrive(line, cycle);
                }
            }
            self.attempt_deferred(cycle);
            for slot in cycle * self.settings.width..(cycle + 1) * self.settings.width {
                self.retire(slot);
                let Some(instruction) = next else { continue };
                if let Err(why) = self.dispatch(instruction, slot) {
                    if let Some(why) = why {
                        self.lose(why);
                    }
                } else {
                    self.lost.drain(..).for_each(|why| self.stalls[why as usize] += 1);
                    self.since = None;
                    next = left.next();
                }
            }
            if next.is_none() && self.entries.iter().all(|it| it.retired.is_some()) {
                break;
            }
            assert!(cycle < 1_000_000, "the core ends");
        }
        let last = |of: fn(&WindowEntry) -> u64| self.entries.iter().map(of).max().unwrap_or(0) + 1;
        last(|it| it.retired.unwrap()).max(last(|it| it.dispatched)).div_ceil(self.settings.width)
    }
}

fn arb_instruction() -> impl Strategy<Value = Instruction> {
    let class = select(InstructionClass::ALL.to_vec());
    let distance = || prop_oneof![3 => Just(0_u16), 3 => 1..4_u16, 1 => 1..40_u16];
    let line = prop_oneof![0..HITS, HITS..HITS + 12];
    (class, line, [distance(), distance()]).prop_map(|(class, line, after)| Instruction {
        class,
        line: class.accesses_memory().then_some(line),
        after,
    })
}

fn arb_classes() -> impl Strategy<Value = Classes> {
    let class = (0..4_u64, 1..4_u64, prop_oneof![Just(0), 1..3_u64], any::<bool>());
    let shares = select(vec![InstructionClass::Integer, InstructionClass::Load, InstructionClass::Multiply]);
    (vec(class, 9), shares, any::<bool>()).prop_map(|(settings, shared, has_sharing)| {
        let mut classes = Classes::PLAIN;
        for (class, (latency, interval, units, is_paired)) in InstructionClass::ALL.into_iter().zip(settings) {
            let it = classes.of_mut(class);
            it.latency += latency;
            it.is_paired = is_paired;
            if units > 0 {
                (it.units, it.interval) = (ClassUnits::Own(units), interval);
            }
        }
        let is_own = matches!(classes.of(shared).units, ClassUnits::Own(_));
        if has_sharing && is_own && shared != InstructionClass::Store {
            classes.of_mut(InstructionClass::Store).units = ClassUnits::Of(shared);
        }
        classes
    })
}

fn arb_core() -> impl Strategy<Value = CoreSettings> {
    let order = select(vec![Order::InOrder, Order::OutOfOrder, Order::OutOfOrder]);
    let queue = prop_oneof![Just(None), (1..8_usize).prop_map(Some)];
    let sizes = (1..5_u64, prop_oneof![0..6_u64, 0..60_u64], 1..5_usize, 1..4_usize);
    let classes = prop_oneof![1 => Just(Classes::PLAIN), 3 => arb_classes()];
    (order, sizes, queue, classes).prop_map(|(order, (width, window, mshrs, store_buffer), queue, mut classes)| {
        if order == Order::OutOfOrder {
            for class in InstructionClass::ALL {
                classes.of_mut(class).is_paired = true;
            }
        }
        CoreSettings { order, width, window: 2 * width + window, mshrs, store_buffer, load_store_queue: queue, classes }
    })
}

/// Runs of instructions without memory access, each of up to some windows.
fn arb_runs() -> impl Strategy<Value = Vec<(Instruction, u64)>> {
    let class = select(&[InstructionClass::Integer, InstructionClass::Multiply, InstructionClass::Float][..]);
    let run = (class, [0..6_u16, 0..6_u16], 1..400_u64);
    vec(run.prop_map(|(class, after, count)| (Instruction { class, line: None, after }, count)), 1..5)
}

proptest! {
    /// Cycles and lost slots of runs are those of their instructions in steps of their own.
    #[test]
    fn runs_take_the_cycles_of_their_instructions(core in arb_core(), runs in arb_runs()) {
        let machine = MachineSettings { core, ..settings() };
        let run = |&(Instruction { class, after, .. }, instructions): &(Instruction, u64)| {
            let kind = InstructionKind::Compute { instructions };
            Step::Instruction { kind, needs: Needs { class, after } }
        };
        let single = |&(instruction, count): &(Instruction, u64)| vec![instruction.step(); count as usize];
        let [in_runs, one_by_one] = [runs.iter().map(run).collect(), runs.iter().flat_map(single).collect::<Vec<_>>()]
            .map(|steps: Vec<Step>| play(machine, &steps).outcome.cores[0]);
        prop_assert_eq!(in_runs.cycles, one_by_one.cycles);
        prop_assert_eq!(in_runs.counters, one_by_one.counters);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Requests, cycles and lost slots are those of a core that is executed slot by slot.
    #[test]
    fn a_core_obeys_the_rules_of_classes_operands_and_units(
        core in arb_core(),
        instructions in vec(arb_instruction(), 1..80),
        seed in prop::option::of(0..9_u64),
    ) {
        let last_level = CacheShape::new(1 << 16, 16, LATENCY);
        let machine = MachineSettings { core, last_level, ..settings() };
        let mut steps =
            vec![Step::Map { address: line(0), bytes: 4096 }, Step::Filled { address: line(0), bytes: HITS * 64 }];
        steps.extend(instructions.iter().map(Instruction::step));
        let played = try_play(machine, &[steps], ROWCLONE, seed).unwrap();

        let number = |operation: Operation| operation.target().0 % 4096 / 64;
        let arrivals: Vec<(u64, u64)> = played.done.iter().map(|(it, at)| (number(*it), at.0 * 6)).collect();
        let mut reference = ReferenceCore {
            settings: core,
            entries: Vec::new(),
            occupied: Vec::new(),
            present: (0..HITS).collect(),
            in_flight: BTreeSet::new(),
            buffered: Vec::new(),
            requests: Vec::new(),
            lost: Vec::new(),
            since: None,
            alone_until: 0,
            stalls: [0; 6],
        };
        let cycles = reference.run(&instructions, &arrivals);
        let requests: Vec<(u64, u64)> = reference.requests.iter().map(|&(line, at)| (line, at.div_ceil(6))).collect();
        let found: Vec<(u64, u64)> = played.requests.iter().map(|(at, it)| (number(*it), at.0)).collect();
        prop_assert_eq!(found, requests);
        let outcome = played.outcome.cores[0];
        prop_assert_eq!(outcome.cycles, CoreCycle(cycles));
        let stalls = outcome.counters.stalls;
        let found =
            [stalls.window, stalls.load_store_queue, stalls.operand, stalls.unit, stalls.mshr, stalls.store_buffer];
        prop_assert_eq!(found, reference.stalls);
        if let Some((loads, wrong)) = played.outcome.check {
            prop_assert_eq!((loads, wrong), (instructions.iter().filter(|it| it.is_load()).count() as u64, None));
        }
    }
}

/// The random cores and programs lose slots for each cause.
#[test]
fn random_programs_meet_each_rule() {
    let mut seen = BTreeMap::<usize, u64>::new();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (arb_core(), vec(arb_instruction(), 60));
    for _ in 0..60 {
        let (core, instructions) = strategy.new_tree(&mut runner).unwrap().current();
        let machine = MachineSettings { core, last_level: CacheShape::new(1 << 16, 16, LATENCY), ..settings() };
        let mut steps = begin();
        steps.extend(instructions.iter().map(Instruction::step));
        let stalls = play(machine, &steps).outcome.cores[0].counters.stalls;
        let causes =
            [stalls.window, stalls.load_store_queue, stalls.operand, stalls.unit, stalls.mshr, stalls.store_buffer];
        for (cause, slots) in causes.into_iter().enumerate() {
            *seen.entry(cause).or_default() += u64::from(slots > 0);
        }
    }
    assert!(seen.values().all(|&cores| cores >= 5) && seen.len() == 6, "{seen:?}");
}
