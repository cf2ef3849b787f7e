//! Allocations and frees per second of each policy, in 4 GiB (1,048,576 frames, 2,048 subarrays),
//! half of them in use.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Density, Geometry, RawGeometry, Standard, Width};
use os_alloc_sim::{Age, CopyUnit, FrameMap, FrameRequest, FrameSet, Generator, Policy, age};

/// Frees and allocations per iteration, half each.
const STEPS: u64 = 20_000;

fn paper() -> Geometry {
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 2,
        ranks: 1,
        density: Density::Gb2,
        width: Width::X8,
        row_bytes: 4096,
        rows_per_subarray: 512.into(),
    };
    Geometry::try_from(raw).expect("the paper's system is a legal geometry")
}

/// Repeatedly frees a random frame and allocates one for a copy of another.
fn churn(criterion: &mut Criterion) {
    let map = FrameMap::new(AddressMap::preset(paper(), MapPreset::RowInterleaved));
    let set = FrameSet::new(&map, CopyUnit::RowSet);
    let half = Age::new(0.5, 0.5).expect("a half is a share");
    let mut group = criterion.benchmark_group("churn");
    group.throughput(Throughput::Elements(STEPS));
    for policy in Policy::ALL {
        let (mut allocator, aged) = age(&map, &set, policy, half, &mut Generator::new(1)).expect("a unit is one frame");
        let mut held = aged.held;
        let mut generator = Generator::new(3);
        group.bench_function(policy.name(), |bencher| {
            bencher.iter(|| {
                for _ in 0..STEPS / 2 {
                    let victim = generator.below(held.len() as u32) as usize;
                    let source = held[generator.below(held.len() as u32) as usize];
                    allocator.free(held[victim]);
                    let grant = allocator.allocate(FrameRequest::near(source));
                    held[victim] = grant.expect("half of the memory is free").frame;
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, churn);
criterion_main!(benches);
