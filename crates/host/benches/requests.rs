//! Benchmark: host time per request of whole runs without contents, on synthetic streams and a
//! recorded trace.

use std::fs::File;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Cycles, Density, System, Width};
use host::{Replay, ReplayCopier, ReplaySettings, Timing, UnusableRecords};
use memctrl::policy::copy::{BASELINE, CopyPolicy, ROWCLONE};
use memctrl::stats::Stats;
use memctrl::{Config, Controller};
use rowclone::{FaultyRows, Planner};
use trace_io::trace::TraceReader;

mod traffic;

use traffic::{Stream, accesses, copies};

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    group
}

fn streams(criterion: &mut Criterion) {
    let cases = [
        ("1 M sequential reads", accesses(), Stream::new(traffic::sequential, 1_000_000), 1_000_000),
        ("1 M random, 30 % writes, over 1 GiB", accesses(), Stream::new(traffic::random, 1_000_000), 1_000_000),
        ("8000 page copies over the channel", accesses(), Stream::new(traffic::page_copies, 8_000), 8_000),
        ("200,000 random, 50 cycles apart", accesses(), Stream::new(traffic::random, 200_000).apart(50), 200_000),
        ("1 M FPM copies", copies(), Stream::new(traffic::fpm_copies, 1_000_000), 1_000_000),
    ];
    let mut group = group(criterion, "streams");
    for (name, config, stream, requests) in cases {
        group.throughput(Throughput::Elements(requests));
        let start = || (config.clone(), stream.clone());
        group.bench_function(name, |bencher| {
            let play = |(config, stream): (Config, Stream)| black_box(stream.play(&config, &mut ()));
            bencher.iter_batched(start, play, BatchSize::PerIteration);
        });
    }
    group.finish();
}

/// The recorded fork, if it exists beside the repository.
fn recorded_fork() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ramulatorsharp/forkset-rc.gz");
    path.is_file().then_some(path)
}

/// Replays the whole trace on the paper's system of 4 GiB, as recorded.
fn play_fork(path: &Path, policy: &'static dyn CopyPolicy) -> Stats {
    let system = System::paper(2, Density::Gb2, Width::X8);
    let planner = Planner::new(AddressMap::preset(system.geometry, MapPreset::RowInterleaved), FaultyRows::default());
    let reader = TraceReader::new(File::open(path).expect("the file exists"), None).expect("its format is known");
    let copier = if policy == BASELINE { ReplayCopier::Cpu } else { ReplayCopier::Controller };
    let settings = ReplaySettings {
        unusable: UnusableRecords::Skip,
        clock: system.clock(),
        timing: Timing::Instructions(5.0),
        copier,
        allocator: None,
        fault: Cycles(0),
    };
    let mut replay = Replay::new(reader, &planner, settings, None).expect("the speed is one");
    let config = Config::new(system, planner.clone().into(), policy);
    let run = Controller::new(&config).run(&mut replay, &mut (), &AtomicBool::new(false));
    replay.into_outcome().expect("it is well formed");
    run.expect("the run is not canceled")
}

#[expect(clippy::print_stderr, reason = "reports that the benchmark is skipped")]
fn recorded(criterion: &mut Criterion) {
    let Some(path) = recorded_fork() else {
        eprintln!("skipped: forkset-rc is not there (../shared/data/ramulatorsharp/forkset-rc.gz)");
        return;
    };
    let mut group = group(criterion, "forkset-rc");
    for policy in [BASELINE, ROWCLONE] {
        group.throughput(Throughput::Elements(play_fork(&path, policy).whole.requests));
        group.bench_function(policy.name(), |bencher| bencher.iter(|| black_box(play_fork(&path, policy))));
    }
    group.finish();
}

criterion_group!(benches, streams, recorded);
criterion_main!(benches);
