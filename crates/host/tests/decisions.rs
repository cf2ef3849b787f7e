//! Decisions of the controller: the mechanism of a copy, and how long a copy may occupy a bank.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, CommandLog, Cycle, Cycles, Density, Dialect, PhysicalAddress, System, Width};
use host::{Place, Sequence, place};
use memctrl::policy::copy::{BASELINE, CopyPolicy, FASTEST, PSM_ONLY, ROWCLONE};
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller};
use rowclone::{FPM, FaultyRows, Mechanism, Operation, PSM, PSM2, Planner};

fn paper(policy: &'static dyn CopyPolicy, channels: u64) -> Config {
    let system = System::paper(channels, Density::Gb2, Width::X8);
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), policy)
}

type Timed = (Operation, Option<Cycle>);

fn run(config: &Config, operations: &[Timed]) -> (Stats, Vec<Completion>) {
    let mut source = Sequence::new(operations.iter().copied(), None);
    let mut log = CommandLog::default();
    let stats = Controller::new(config).run(&mut source, &mut log, &AtomicBool::new(false)).unwrap();
    let found = protocol_check::audit(&config.system, Dialect::RowClone, &log);
    assert!(found.is_empty(), "{found:#?}");
    (stats, source.into_completions())
}

fn copy(config: &Config, relation: Place, dst: u64, bytes: u64) -> Operation {
    let dst = PhysicalAddress(dst);
    Operation::Copy { src: place(&config.planner, relation, dst, bytes).unwrap(), dst, bytes }
}

/// Mechanism of the last operation, which has one part.
fn mechanism_of(
    policy: &'static dyn CopyPolicy,
    operations: impl Fn(&Config) -> Vec<Timed>,
) -> (Mechanism, &'static str) {
    let config = paper(policy, 2);
    let (_, completions) = run(&config, &operations(&config));
    let parts = &completions.last().unwrap().served;
    assert_eq!(parts.iter().count(), 1, "{parts:?}");
    parts.iter().next().map(|(mechanism, reason, _)| (mechanism, reason)).unwrap()
}

#[test]
fn fastest_takes_the_channel_for_a_page_within_an_idle_bank() {
    let page = |config: &Config| vec![(copy(config, Place::SameBank, 0x40_0000, 4096), None)];
    assert_eq!(mechanism_of(ROWCLONE, page).0, PSM2, "562 cycles");
    assert_eq!(mechanism_of(FASTEST, page), (Mechanism::CHANNEL, "soonest"), "558 cycles");
}

#[test]
fn fastest_takes_the_rule_s_choice_where_that_is_faster() {
    let lies = |relation| move |config: &Config| vec![(copy(config, relation, 0x40_0000, 4096), None)];
    assert_eq!(mechanism_of(FASTEST, lies(Place::SameSubarray)).0, FPM);
    assert_eq!(mechanism_of(FASTEST, lies(Place::OtherBank)).0, PSM);
}

/// A page copy within a bank uses 2 x PSM while reads of other banks occupy the data bus.
#[test]
fn fastest_avoids_an_occupied_data_bus() {
    let under_load = |config: &Config| {
        let dst = config.planner.map().locate(PhysicalAddress(0x40_0000)).unwrap();
        let mut bank = dst;
        bank.bank.bank = (dst.bank.bank + 4) % 8;
        let line = |column| dram_spec::Location { column: dram_spec::Column(column), ..bank };
        let address = |column| config.planner.map().address(line(column)).unwrap();
        let read = |column| (Operation::Read { address: address(column), bytes: 64 }, Some(Cycle::ZERO));
        let mut operations: Vec<Timed> = (0..60).map(read).collect();
        operations.push((copy(config, Place::SameBank, 0x40_0000, 4096), Some(Cycle::ZERO)));
        operations
    };
    assert_eq!(mechanism_of(FASTEST, under_load).0, PSM2);
}

/// A [`memctrl::Durations`] equals the duration of a copy on idle banks with refresh.
#[test]
fn durations_are_those_of_idle_banks() {
    for (policy, relation) in [
        (ROWCLONE, Place::SameSubarray),
        (ROWCLONE, Place::OtherBank),
        (ROWCLONE, Place::SameBank),
        (BASELINE, Place::SameBank),
        (BASELINE, Place::OtherBank),
        (BASELINE, Place::OtherChannel),
    ] {
        for bytes in [64, 640, 4096] {
            let config = paper(policy, 2);
            let operation = copy(&config, relation, 0x40_0000, bytes);
            let block = config.planner.blocks(&operation).next().unwrap();
            let choices = [policy.preferred(&block.parts()[0])];
            let mut programs = Vec::new();
            block.programs(&choices, config.staging_lines, |program| programs.push(program));
            let estimated = memctrl::Durations::new(&config).of(&programs[0]);
            let (_, completions) = run(&config, &[(operation, None)]);
            assert_eq!(estimated, completions[0].latency(), "{policy:?} {relation:?} {bytes} bytes");
        }
    }
}

/// Reads 30 cycles apart over the whole memory, and page copies between banks.
fn loaded(config: &Config) -> Vec<Timed> {
    let mut random = 12_345_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 33
    };
    let relations = [Place::OtherBank, Place::SameBank, Place::SameSubarray];
    let mut operations: Vec<Timed> = Vec::new();
    for step in 0..4000u64 {
        let at = Some(Cycle(step * 30));
        let page = next() % 100_000 * 4096;
        if step % 20 == 0 {
            operations.push((copy(config, relations[(step / 20 % 3) as usize], page, 4096), at));
        } else {
            operations.push((Operation::Read { address: PhysicalAddress(page), bytes: 64 }, at));
        }
    }
    operations
}

fn longest_blocked(policy: &'static dyn CopyPolicy, bound: Option<u64>) -> u64 {
    let config = Config { copy_hold_max: bound.map(Cycles), ..paper(policy, 1) };
    let (stats, completions) = run(&config, &loaded(&config));
    assert_eq!(completions.len(), 4000);
    assert!(
        stats.whole.blocked_by_copies.count() > 50,
        "reads met copies {} times",
        stats.whole.blocked_by_copies.count()
    );
    stats.whole.blocked_by_copies.max().unwrap().0
}

#[test]
fn a_bounded_copy_blocks_a_read_for_its_bound_and_64_cycles_at_most() {
    for policy in [BASELINE, PSM_ONLY, ROWCLONE] {
        for bound in [20, 50, 100, 200] {
            let longest = longest_blocked(policy, Some(bound));
            assert!(longest <= bound + 64, "{policy:?}: {longest} cycles with a bound of {bound}");
        }
        let longest = longest_blocked(policy, None);
        assert!(longest > 200 + 64, "{policy:?}: {longest} cycles without a bound");
    }
}
