//! Replays of a trace without a controller.

use std::io::Read;
use std::sync::Arc;

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Clock, Cycle, Cycles, Density, System, Width};
use host::{AllocatorSettings, Contents, Replay, ReplayCopier, ReplayError, ReplaySettings, Timing, UnusableRecords};
use memctrl::{Completion, Request, RequestSource};
use os_alloc_sim::{CopyUnit, Policy};
use rowclone::{FaultyRows, Operation, Planner};
use trace_io::trace::TraceReader;

/// As recorded, 1 instruction per clock, copies by the controller, no record skipped.
pub const SETTINGS: ReplaySettings = ReplaySettings {
    unusable: UnusableRecords::Refuse,
    clock: Clock::DDR3_1066,
    timing: Timing::Instructions(1.0),
    copier: ReplayCopier::Controller,
    allocator: None,
    fault: Cycles(0),
};

/// A fresh memory with this policy.
pub const fn allocator(policy: Policy) -> AllocatorSettings {
    AllocatorSettings { policy, seed: 1, utilization: 0.0, fragmentation: 0.0, copy_unit: CopyUnit::Page }
}

/// 512 MiB: one channel of the paper's memory, made of four chips.
pub fn small() -> System {
    System::paper(1, Density::Gb1, Width::X16)
}

pub fn planner(system: &System, preset: MapPreset) -> Planner {
    Planner::new(AddressMap::preset(system.geometry, preset), FaultyRows::default())
}

/// The replay of a trace given as text.
pub fn replay<'a>(
    text: &'a str,
    planner: &Planner,
    settings: ReplaySettings,
    contents: Option<Contents>,
) -> Result<Replay<&'a [u8]>, ReplayError> {
    Replay::new(TraceReader::new(text.as_bytes(), None).unwrap(), planner, settings, contents)
}

/// Whether an operation blocks the following records.
pub fn blocks(operation: &Operation) -> bool {
    matches!(operation, Operation::Copy { .. } | Operation::Init { .. })
}

pub fn completion(request: &Request, done: Cycle) -> Completion {
    Completion {
        id: request.id,
        source: request.source,
        operation: request.operation,
        arrival: request.arrival.unwrap_or(done),
        first_command: None,
        done,
        served: memctrl::stats::PartTally::default(),
        data: None,
    }
}

/// Takes each request as it arrives. Copies and fills take `each` cycles; accesses never complete,
/// as no request waits for them.
pub fn drive<R: Read>(replay: &mut Replay<R>, each: Cycles, mut see: impl FnMut(&Request)) {
    while let Some(now) = replay.next_arrival() {
        let request = replay.take(now).expect("it has arrived");
        assert!(request.arrival.is_none_or(|at| at == now));
        let request = Request { arrival: Some(now), ..request };
        see(&request);
        if blocks(&request.operation) {
            replay.complete(completion(&request, now + each));
        }
    }
}

/// A controller configuration for this system.
pub fn config(
    system: &System,
    planner: &Planner,
    policy: &'static dyn memctrl::policy::copy::CopyPolicy,
    contents: &Contents,
) -> memctrl::Config {
    let contents = Some(Arc::new(contents.clone()) as _);
    memctrl::Config { contents, ..memctrl::Config::new(system.clone(), Arc::new(planner.clone()), policy) }
}
