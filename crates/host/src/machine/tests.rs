//! Machines in front of a controller: timing by hand, and coherence.

mod by_hand;
mod caches;
mod coherent;
mod copies;
mod dma;
mod issue;
mod loops;
mod network;
mod overlaps;
mod receiver;
mod recordings;
mod reference_core;
mod regions;
mod unaligned;
mod virtual_addresses;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Cycle, Density, Operation, PhysicalAddress, System, Width};
use memctrl::policy::copy::{CopyPolicy, ROWCLONE};
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use os_alloc_sim::{CopyUnit, Policy};
use rowclone::{FaultyRows, Planner};
use trace_io::program::{InstructionKind, Needs, Step};

use super::*;
use crate::AllocatorSettings;

/// A machine that records its requests and their completions.
struct Recorded {
    machine: Machine,
    requests: Vec<(Cycle, Operation)>,
    done: Vec<(Operation, Cycle)>,
}

impl RequestSource for Recorded {
    fn next_arrival(&self) -> Option<Cycle> {
        self.machine.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.machine.take(now)?;
        self.requests.push((request.arrival.expect("cores know it"), request.operation));
        Some(request)
    }

    fn complete(&mut self, completion: Completion) {
        self.done.push((completion.operation, completion.done));
        self.machine.complete(completion);
    }
}

/// Requests of a run, their completions, and its results.
#[derive(Debug)]
struct Played {
    requests: Vec<(Cycle, Operation)>,
    done: Vec<(Operation, Cycle)>,
    outcome: MachineOutcome,
}

/// A core of the paper with a cache of two lines, and a latency of 12 cycles.
pub(super) fn settings() -> MachineSettings {
    let allocator = AllocatorSettings {
        policy: Policy::SubarrayAware,
        seed: 1,
        utilization: 0.0,
        fragmentation: 0.0,
        copy_unit: CopyUnit::RowSet,
    };
    MachineSettings {
        clock: ClockRatio::new(6, 1),
        core: CoreSettings::PAPER,
        l1: None,
        last_level: CacheShape::new(128, 2, 12),
        l2: None,
        sharing: Sharing::Private,
        bus: None,
        lines: LineSettings::default(),
        network: None,
        kernel: KernelSettings { page_table_entry_bytes: 0, page_descriptor_bytes: 0, ..KernelSettings::default() },
        allocator,
    }
}

fn memory() -> (System, AddressMap) {
    let system = System::paper(1, Density::Gb1, Width::X16);
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    (system, map)
}

/// Runs programs, with data and checks if `seed` is given.
fn try_play(
    settings: MachineSettings,
    programs: &[Vec<Step>],
    policy: &'static dyn CopyPolicy,
    seed: Option<u64>,
) -> Result<Played, MachineError> {
    let boxed = programs.iter().map(|steps| Box::new(Steps(steps.clone().into_iter())) as Box<dyn Program>);
    play_boxed(settings, Region::default(), boxed.collect(), policy, seed)
}

/// Runs programs up to the ends of their regions.
fn play_boxed(
    settings: MachineSettings,
    region: Region,
    programs: Vec<Box<dyn Program>>,
    policy: &'static dyn CopyPolicy,
    seed: Option<u64>,
) -> Result<Played, MachineError> {
    let Recorded { machine, requests, done } = run(settings, region, programs, policy, seed)?;
    Ok(Played { requests, done, outcome: machine.into_outcome()? })
}

/// Memories of the machines, most of which have equal ones.
static MEMORIES: LazyLock<AgedMemories> = LazyLock::new(AgedMemories::default);

/// Runs programs, and returns the machine in its last state.
fn run(
    settings: MachineSettings,
    region: Region,
    programs: Vec<Box<dyn Program>>,
    policy: &'static dyn CopyPolicy,
    seed: Option<u64>,
) -> Result<Recorded, MachineError> {
    let (system, map) = memory();
    let contents = seed.map(|seed| Contents::new(seed, map.clone()));
    let regions = vec![region; programs.len()];
    let machine = Machine::with_memories(&MEMORIES, settings, regions, programs, &map, contents.clone())?;
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let config =
        Config { contents: contents.map(|contents| Arc::new(contents) as _), ..Config::new(system, planner, policy) };
    let mut source = Recorded { machine, requests: Vec::new(), done: Vec::new() };
    Controller::new(&config).run(&mut source, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
    Ok(source)
}

fn play(settings: MachineSettings, steps: &[Step]) -> Played {
    try_play(settings, &[steps.to_vec()], ROWCLONE, None).unwrap()
}

const START: u64 = 0x1_0000;

/// Line `number` of the first page that programs map.
const fn line(number: u64) -> PhysicalAddress {
    PhysicalAddress(START + 64 * number)
}

/// Maps a page, gives it a frame and makes its line 0 dirty in the cache.
fn begin() -> Vec<Step> {
    vec![Step::Map { address: line(0), bytes: 4096 }, Step::Filled { address: line(0), bytes: 64 }]
}

const fn load(number: u64) -> Step {
    Step::Load { address: line(number) }
}

const fn store(number: u64) -> Step {
    Step::Store { address: line(number) }
}
