use std::collections::BTreeMap;

use dram_spec::PhysicalAddress;
use dram_spec::address::{AddressMap, Field, MapPreset, RawAddressMap};
use proptest::prelude::*;

use super::arbitrary::{arb_case, arb_map, paper};
use super::memory::{Memory, banks};
use crate::{
    CopyStep, CopySupport, FPM, FaultyRows, LISA, MECHANISMS, Mechanism, Operation, PSM, PSM2, PlanError, Planner,
    Program, Reason,
};

/// A small generator of choices, so that a failing case consists of few numbers.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Planner of chips that offer every mechanism.
fn everything(map: AddressMap, faulty: FaultyRows) -> Planner {
    Planner::of_chips(map, faulty, CopySupport::offering(CopySupport::names()))
}

/// All programs of an operation, each part by a random permitted mechanism.
fn plan(planner: &Planner, operation: &Operation, staging_lines: usize, choices: &mut Choices) -> Vec<Program> {
    let mut programs = Vec::new();
    for block in planner.blocks(operation) {
        let mechanisms: Vec<Mechanism> = block
            .parts()
            .iter()
            .map(|part| {
                let possible: Vec<Mechanism> =
                    MECHANISMS.into_iter().filter(|&mechanism| part.allows(mechanism).is_ok()).collect();
                possible[choices.below(possible.len())]
            })
            .collect();
        block.programs(&mechanisms, staging_lines, |program| programs.push(program));
    }
    programs
}

/// A random order in which programs with a common bank keep their order.
fn shuffled(mut programs: Vec<Program>, choices: &mut Choices) -> Vec<Program> {
    let mut order = Vec::new();
    while !programs.is_empty() {
        // Few at a time, as if they were in flight concurrently.
        let window = programs.len().min(12);
        let free: Vec<usize> = (0..window)
            .filter(|&index| {
                let mine = banks(&programs[index]);
                programs[..index].iter().all(|earlier| banks(earlier).is_disjoint(&mine))
            })
            .collect();
        order.push(programs.remove(free[choices.below(free.len())]));
    }
    order
}

fn data(address: u64) -> u8 {
    (address ^ address >> 8) as u8
}

/// 600 cases, or the number in `PROPTEST_CASES`.
fn runs() -> ProptestConfig {
    let asked = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { asked } else { ProptestConfig { cases: 600, ..asked } }
}

proptest! {
    #![proptest_config(runs())]

    /// For any permitted mechanisms, and any permitted order, the memory ends as after `memmove`,
    /// `memset` or a plain write, and each byte of the destination, and no other, is written
    /// exactly once.
    #[test]
    fn every_plan_ends_as_a_flat_memory_would(
        (map, faulty, operation) in arb_case(),
        seed in any::<u64>(),
        staging_lines in prop_oneof![Just(1_usize), 2..20_usize, Just(64), Just(1000)],
    ) {
        let planner = everything(map, faulty);
        prop_assume!(planner.check(&operation).is_ok());
        let choices = &mut Choices(seed);
        let programs = plan(&planner, &operation, staging_lines, choices);
        let before = Memory::new(planner.map());
        let mut after = Memory::new(planner.map());
        for program in &shuffled(programs, choices) {
            if program.mechanism == Mechanism::CHANNEL {
                let (reads, writes) = (program.lines_read(), program.lines_written());
                let lines = if writes == 0 { reads } else { writes } as usize;
                // From one channel to another, no line waits for all reads.
                let most = if program.is_pipelined() { usize::MAX } else { staging_lines };
                prop_assert!((1..=most).contains(&lines), "{lines} lines in a stage of {staging_lines}");
            }
            after.execute(&operation, program, data);
        }
        let (start, bytes) = (operation.target().0, operation.bytes());
        let bytes_of_memory = planner.map().geometry().bytes();
        for address in (start.saturating_sub(64)..start + bytes + 64).filter(|&a| a < bytes_of_memory) {
            let expected = match operation {
                _ if !(start..start + bytes).contains(&address) => before.byte(address),
                Operation::Copy { src, dst, .. } => before.byte(address - dst.0 + src.0),
                Operation::Init { value, .. } => value,
                Operation::Write { .. } => data(address),
                Operation::Read { .. } => before.byte(address),
            };
            prop_assert_eq!(after.byte(address), expected, "at {:#x}", address);
        }
        let written: u64 = after.written.values().map(|mask| u64::from(mask.count_ones())).sum();
        let writes = match operation {
            Operation::Read { .. } => 0,
            Operation::Copy { src, dst, .. } if src == dst => 0,
            _ => bytes,
        };
        // Each byte of the range has the expected value, and the number of bytes written is that of
        // the range, so none lies outside.
        prop_assert_eq!(written, writes);
    }

    /// The bytes of parts and of programs add up, block by block.
    #[test]
    fn parts_and_programs_share_out_the_operation(
        (map, faulty, operation) in arb_case(),
        liked in proptest::sample::subsequence(vec![FPM, LISA, PSM, PSM2], 0..=4),
    ) {
        let planner = everything(map, faulty);
        prop_assume!(planner.check(&operation).is_ok() && operation.src() != Some(operation.target()));
        let mut total = 0;
        for block in planner.blocks(&operation) {
            let choices: Vec<Mechanism> = block.parts().iter().map(|part| best(part, &liked)).collect();
            let mut programs = Vec::new();
            block.programs(&choices, 64, |program| programs.push(program));
            let bytes: u64 = block.parts().iter().map(crate::Part::bytes).sum();
            prop_assert!(bytes > 0 && bytes <= planner.map().geometry().row_bytes());
            prop_assert_eq!(programs.iter().map(|program| program.bytes).sum::<u64>(), bytes);
            prop_assert!(programs.iter().all(|program| choices[program.part] == program.mechanism));
            total += bytes;
        }
        prop_assert_eq!(total, operation.bytes());
    }

    /// A block that stands for others has their programs, shifted.
    #[test]
    fn shifted_programs_are_those_of_the_next_blocks(
        (map, faulty, operation) in arb_case(),
        (most, is_sound) in (1..9_u64, any::<bool>()),
        liked in proptest::sample::subsequence(vec![FPM, LISA, PSM, PSM2], 0..=4),
    ) {
        let planner = Planner::new(map, if is_sound { FaultyRows::default() } else { faulty });
        prop_assume!(planner.check(&operation).is_ok());
        let mut blocks = planner.blocks(&operation);
        let mut alone = planner.blocks(&operation);
        while let Some((block, alike)) = blocks.take_next(most) {
            let choices: Vec<Mechanism> = block.parts().iter().map(|part| best(part, &liked)).collect();
            let programs = super::programs(block, &choices, 3);
            for number in 0..alike {
                let other = alone.next().expect("the blocks of both are equally many");
                let chosen: Vec<Mechanism> = other.parts().iter().map(|part| best(part, &liked)).collect();
                prop_assert_eq!(&chosen, &choices);
                let shift = block.shift(number);
                let shifted = programs.iter().map(|program| shift.program(program, &mut Vec::new()));
                let shifted: Vec<Program> = shifted.collect();
                prop_assert_eq!(shifted, super::programs(&other, &choices, 3));
            }
        }
        prop_assert!(alone.next().is_none());
    }

    /// Lines are read and written by rising address, or by falling address.
    #[test]
    fn a_program_over_the_channel_moves_its_lines_in_order((map, faulty, operation) in arb_case()) {
        let planner = everything(map, faulty);
        prop_assume!(planner.check(&operation).is_ok());
        for program in plan_by(&planner, &operation, Mechanism::CHANNEL) {
            for thread in &program.threads {
                let (mut read, mut written) = (Vec::new(), Vec::new());
                for step in &thread.steps {
                    match step {
                        CopyStep::Read { run, .. } => read.extend(run.lines().map(|line| line.address)),
                        CopyStep::Write { write, .. } => written.extend(write.writes().map(|write| write.line.address)),
                        _ => {}
                    }
                }
                let is_sorted = |lines: &[PhysicalAddress]| lines.is_sorted() || lines.iter().rev().is_sorted();
                prop_assert!(is_sorted(&read) && is_sorted(&written), "{program:?}");
            }
        }
    }

    /// Chips that offer less serve the same parts as others whose policy admits less, except that
    /// zeros come from the zero rows.
    #[test]
    fn chips_serve_what_they_offer((map, faulty, operation) in arb_case(), offers in 0..16_usize) {
        let names = CopySupport::names();
        let offered = names.iter().enumerate().filter(|(index, _)| offers >> index & 1 == 1).map(|(_, name)| *name);
        let (offered, all) = (offered.collect::<Vec<_>>(), everything(map.clone(), faulty.clone()));
        let planner = Planner::of_chips(map, faulty, CopySupport::offering(offered.iter().copied()));
        prop_assume!(planner.check(&operation).is_ok());
        for (part, other) in planner.blocks(&operation).zip(all.blocks(&operation)) {
            for (part, other) in part.parts().iter().zip(other.parts()) {
                for mechanism in [FPM, LISA, PSM, PSM2] {
                    let name = if mechanism == PSM2 { PSM.name() } else { mechanism.name() };
                    match part.allows(mechanism) {
                        Ok(()) => prop_assert!(offered.contains(&name)),
                        Err(reason) if !offered.contains(&name) => {
                            let is_known = matches!(reason, Reason::NotOffered)
                                || Err(reason) == other.allows(mechanism)
                                || !offered.contains(&"zero-rows");
                            prop_assert!(is_known, "{reason:?}");
                        }
                        Err(_) => {}
                    }
                    if !matches!(operation, Operation::Init { value: 0, .. }) && offered.contains(&name) {
                        prop_assert_eq!(part.allows(mechanism), other.allows(mechanism));
                    }
                }
            }
        }
    }

    /// The search for reserved rows by address bits equals a search of every line.
    #[test]
    fn a_check_refuses_exactly_what_touches_a_reserved_row(
        map in arb_map(), start in any::<u64>(), bytes in 1..100_000_u64,
    ) {
        let planner = Planner::new(map, FaultyRows::default());
        let map = planner.map();
        // Near the end of a subarray more often than elsewhere.
        let mut start = start % (map.geometry().bytes() - bytes);
        if start.is_multiple_of(2) {
            for part in map.parts().iter().filter(|part| part.field == Field::Row) {
                start |= ((1 << part.bits) - 1) << part.address_bit;
            }
            start = start.saturating_sub(bytes).min(map.geometry().bytes() - bytes);
        }
        let reserved = |&line: &u64| map.geometry().reserved(map.locate(PhysicalAddress(line)).unwrap().row).is_some();
        let first = (start / 64 * 64..start + bytes).step_by(64).find(reserved).map(|line| line.max(start));
        let found = match planner.check(&Operation::Read { address: PhysicalAddress(start), bytes }) {
            Ok(()) => None,
            Err(PlanError::Reserved { address, .. }) => Some(address.0),
            Err(PlanError::PastEnd { end, .. }) => Some(end.0.max(start)),
            Err(other) => panic!("{other}"),
        };
        prop_assert_eq!(found, first);
    }
}

/// The random operations cover every mechanism and every reason.
#[test]
fn random_operations_reach_every_mechanism_and_most_reasons() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..1500 {
        let (map, faulty, operation) = arb_case().new_tree(&mut runner).unwrap().current();
        let planner = everything(map, faulty);
        if planner.check(&operation).is_err() {
            continue;
        }
        for part in planner.blocks(&operation).take(100).flat_map(|block| block.parts().to_vec()) {
            for mechanism in MECHANISMS {
                let name = part.allows(mechanism).map_or_else(|reason| reason.name(), |()| mechanism.name());
                *seen.entry(name).or_default() += 1;
            }
        }
    }
    let expected = [
        "channel",
        "columns-differ",
        "faulty-row",
        "first-row-is-written",
        "fpm",
        "interleaved",
        "line-misaligned",
        "lisa",
        "no-source",
        "not-a-copy",
        "other-bank",
        "other-channel",
        "other-rank",
        "other-subarray",
        "overlap",
        "partial-line",
        "partial-row",
        "psm",
        "psm-suffices",
        "psm2",
        "same-bank",
        "same-row",
        "same-subarray",
    ];
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), expected, "{seen:?}");
}

/// 1 GiB by blocks of 4 KB, on a map with the reserved rows at the end; only the next blocks are in
/// memory.
#[test]
fn a_gibibyte_is_planned_block_by_block() {
    let fields = ["row", "subarray", "rank", "bank", "channel", "column", "offset"].map(str::to_owned).to_vec();
    let map = AddressMap::new(paper(2, 4096), &RawAddressMap { fields: fields.into(), xor: Vec::new() }).unwrap();
    let planner = Planner::new(map, FaultyRows::default());
    let copy = Operation::Copy { src: PhysicalAddress(0), dst: PhysicalAddress(1 << 31), bytes: 1 << 30 };
    planner.check(&copy).unwrap();
    let mut blocks = planner.blocks(&copy);
    assert_eq!(blocks.by_ref().take(1000).map(|block| block.parts()[0].bytes()).sum::<u64>(), 1000 * 4096);
    assert!(blocks.all(|block| block.parts().len() == 1 && block.parts()[0].allows(FPM).is_ok()));
}

#[test]
fn a_copy_onto_itself_is_no_work() {
    let planner = Planner::new(AddressMap::preset(paper(1, 4096), MapPreset::RowInterleaved), FaultyRows::default());
    let copy = Operation::Copy { src: PhysicalAddress(100), dst: PhysicalAddress(100), bytes: 10_000 };
    assert_eq!(planner.blocks(&copy).count(), 0);
}

/// All programs of an operation by one mechanism.
fn plan_by(planner: &Planner, operation: &Operation, mechanism: Mechanism) -> Vec<Program> {
    let mut programs = Vec::new();
    for block in planner.blocks(operation) {
        block.programs(&vec![mechanism; block.parts().len()], 64, |program| programs.push(program));
    }
    programs
}

/// The first of these mechanisms that the part allows; else the channel.
fn best(part: &crate::Part, liked: &[Mechanism]) -> Mechanism {
    liked.iter().copied().find(|&mechanism| part.allows(mechanism).is_ok()).unwrap_or(Mechanism::CHANNEL)
}
