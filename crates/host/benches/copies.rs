//! Benchmark: host time per copy through the whole controller, without contents.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Cycle, Density, PhysicalAddress, System, Width};
use host::{Place, Sequence, place};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use memctrl::{Config, Controller};
use rowclone::{FaultyRows, Operation, Planner};

fn paper(policy: &'static dyn CopyPolicy) -> Config {
    let system = System::paper(1, Density::Gb2, Width::X8);
    let geometry = system.geometry;
    let planner = Planner::new(AddressMap::preset(geometry, MapPreset::RowInterleaved), FaultyRows::default());
    Config::new(system, Arc::new(planner), policy)
}

/// Page copies with this relation between source and destination, to pages spread over the memory,
/// all arriving at cycle 0.
fn copies(config: &Config, relation: Place, count: u64) -> Vec<(Operation, Option<Cycle>)> {
    let pages = (0..count).map(|index| PhysicalAddress((index * 37 % 100_000) * 4096));
    let copies = pages.filter_map(|dst| {
        let src = place(&config.planner, relation, dst, 4096).ok()?;
        Some((Operation::Copy { src, dst, bytes: 4096 }, Some(Cycle::ZERO)))
    });
    copies.collect()
}

fn bench(criterion: &mut Criterion) {
    let cases = [
        ("page copies over the channel", BASELINE, Place::OtherBank, 2_000),
        ("page copies by PSM", ROWCLONE, Place::OtherBank, 2_000),
        ("page copies by 2 x PSM", ROWCLONE, Place::SameBank, 2_000),
        ("page copies by FPM", ROWCLONE, Place::SameSubarray, 20_000),
    ];
    let mut group = criterion.benchmark_group("copies");
    group.sample_size(10);
    for (name, policy, relation, count) in cases {
        let config = paper(policy);
        let operations = copies(&config, relation, count);
        group.throughput(Throughput::Elements(operations.len() as u64));
        group.bench_function(name, |bencher| {
            let start = || (Controller::new(&config), Sequence::new(operations.iter().copied(), None));
            let run = |(mut controller, mut source): (Controller, Sequence)| {
                black_box(controller.run(&mut source, &mut (), &AtomicBool::new(false)))
            };
            bencher.iter_batched(start, run, BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
