//! The paper's system, and runs of it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_core::{Defect, Defective};
use dram_spec::address::MapPreset;
use dram_spec::{
    AddressMap, CommandKind, CommandLog, Cycle, Density, Dialect, PhysicalAddress, Picojoule, System, Width,
};
use host::{CheckedSource, Contents, FlatMemory, MemoryCheck, Place, Sequence, place};
use memctrl::policy::copy::CopyPolicy;
use memctrl::stats::Stats;
use memctrl::{Completion, Config, Controller, PriceTable};
use rowclone::{FaultyRows, Operation, Planner};

pub fn config(system: System, map: AddressMap, faulty: FaultyRows, policy: &'static dyn CopyPolicy) -> Config {
    // Approximately the prices of `2 Gb x8 -25E`.
    let [activate, copy_activate, read, write, transfer] =
        [24_800.0, 24_800.0, 14_000.0, 30_000.0, 13_000.0].map(Picojoule);
    let prices = Some(
        PriceTable::default()
            .with(CommandKind::Activate, activate)
            .with(CommandKind::CopyActivate, copy_activate)
            .with(CommandKind::Read, read)
            .with(CommandKind::Write, write)
            .with(CommandKind::Transfer, transfer),
    );
    Config { prices, ..Config::new(system, Arc::new(Planner::new(map, faulty)), policy) }
}

pub fn paper(policy: &'static dyn CopyPolicy) -> Config {
    let system = System::paper(2, Density::Gb2, Width::X8);
    let map = AddressMap::new(system.geometry, &MapPreset::RowInterleaved.raw()).unwrap();
    config(system, map, FaultyRows::default(), policy)
}

pub struct Outcome {
    pub log: CommandLog,
    pub stats: Stats,
    pub completions: Vec<Completion>,
    pub memory: MemoryCheck,
    pub dropped: u64,
}

/// Runs the operations with contents; the protocol checker audits the commands.
pub fn run(config: &Config, seed: u64, operations: &[(Operation, Option<Cycle>)], dialect: Dialect) -> Outcome {
    run_with(config, seed, operations, dialect, None)
}

pub fn run_with(
    config: &Config,
    seed: u64,
    operations: &[(Operation, Option<Cycle>)],
    dialect: Dialect,
    defect: Option<Defect>,
) -> Outcome {
    let contents = Contents::new(seed, config.planner.map().clone());
    let config = Config { contents: Some(Arc::new(Defective(contents.clone(), defect))), ..config.clone() };
    let sequence = Sequence::new(operations.iter().copied(), Some(contents.clone()));
    let mut source = CheckedSource::new(sequence, FlatMemory::new(contents));
    let mut log = CommandLog::default();
    let mut controller = Controller::new(&config);
    let stats = controller.run(&mut source, &mut log, &AtomicBool::new(false)).unwrap();
    let channels = config.system.geometry.channels();
    let (sequence, memory) = source.finish(&controller, channels);
    let found = protocol_check::audit(&config.system, dialect, &log);
    assert!(found.is_empty(), "{found:#?}");
    let dropped = (0..channels).map(|channel| controller.device(dram_spec::Channel(channel)).dropped()).sum();
    Outcome { log, stats, completions: sequence.into_completions(), memory, dropped }
}

/// A copy of `bytes` to a fixed destination from a source with this relation.
pub fn copy(config: &Config, relation: Place, bytes: u64) -> Operation {
    let dst = PhysicalAddress(0x0040_0000);
    let src = place(&config.planner, relation, dst, bytes).unwrap();
    Operation::Copy { src, dst, bytes }
}
