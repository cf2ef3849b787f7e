//! Comparisons of copiers on a small machine.

use host::machine::{CacheShape, ClockRatio, CoreSettings, KernelSettings, LineSettings, Sharing};
use os_alloc_sim::Policy;

use super::*;
use crate::SystemBuilder;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A cache of 64 KiB, which a program's working set of 32 KiB fills by half.
pub(super) fn machine() -> MachineSettings {
    MachineSettings {
        clock: ClockRatio::new(6, 1),
        core: CoreSettings::PAPER,
        l1: None,
        l2: None,
        last_level: CacheShape::new(65_536, 16, 15),
        sharing: Sharing::Private,
        bus: None,
        lines: LineSettings::default(),
        network: None,
        kernel: KernelSettings::default(),
        allocator: host::AllocatorSettings {
            policy: Policy::Buddy,
            seed: 1,
            utilization: 0.0,
            fragmentation: 0.0,
            copy_unit: os_alloc_sim::CopyUnit::default(),
        },
    }
}

fn receiver() -> ReceiverSettings {
    ReceiverSettings {
        buffers: 0,
        has_split_headers: false,
        header_bytes: 0,
        payload_bytes: 0,
        interrupt_instructions: 600,
        packet_instructions: 1_000,
        socket_buffer_lines: 5,
        connection_lines: 12,
        wakeup_instructions: 1_000,
        message_bytes: 0,
        message_buffers: 0,
        renews_pages: false,
        message_instructions: 1_000,
        read_stride: 0,
        packets_per_acknowledgment: 0,
        sent_per_100: 0,
        acknowledgment_instructions: 0,
        send_instructions: 1_000,
        connections: 1,
        answer: None,
    }
}

/// The result of a case under a copier, of a machine that gives copies of at least `min` bytes to devices.
fn result(name: &str, operation: CaseOperation, bytes: u64, read_percent: u64, min: u64) -> CopierResult {
    let system = SystemBuilder::default().build().unwrap();
    let mut settings = machine();
    settings.kernel.copier_min_bytes = Some(min);
    let comparison = CopierComparison {
        system: &system,
        settings: &settings,
        devices: &DeviceSettings::default(),
        receiver: receiver(),
        working_set_bytes: CopierComparison::half_of_cache(&settings),
        is_checked: true,
    };
    let case = Case { operation, bytes, read_percent };
    let found = comparison.result(NamedCopier::named(name).unwrap(), case, &NEVER).unwrap();
    assert!(found.passed_checks, "{name}");
    found
}

fn figures_of(name: &str, operation: CaseOperation, bytes: u64, read_percent: u64) -> CopierFigures {
    result(name, operation, bytes, read_percent, 0).figures.unwrap()
}

const COLD: CaseOperation = CaseOperation::Copy(SourceState::Cold);

/// 128 KiB through a cache of 64 KiB replace all 512 lines of the working set. A copy in DRAM replaces none, nor do
/// stores past the cache: these read 64 KiB into the half of the cache that the working set leaves.
#[test]
fn a_loop_displaces_the_working_set_and_a_copy_in_dram_does_not() {
    let lost = |name, bytes| figures_of(name, COLD, bytes, 0).lines_lost.unwrap();
    assert_eq!(lost("loop-cached", 131_072), 512);
    assert_eq!(lost("rowclone", 131_072), 0);
    assert_eq!(lost("dma", 16_384), 0);
    let zeroing = figures_of("loop-non-temporal", CaseOperation::Zero, 131_072, 0);
    assert_eq!((zeroing.lines_lost, zeroing.extra_misses), (Some(0), Some(0)));
}

/// A copy of a page by FPM moves nothing over the channel; each line read afterwards takes 64 bytes. The loop moves two
/// pages, as the destination is fetched, and its reads find the cache.
#[test]
fn channel_bytes_are_those_of_the_copy_and_of_the_reads() {
    let bytes = |name, read| figures_of(name, COLD, 4096, read).channel_bytes;
    assert_eq!([0, 50, 100].map(|read| bytes("rowclone", read)), [0, 2048, 4096]);
    assert_eq!([0, 50, 100].map(|read| bytes("loop-cached", read)), [8192; 3]);
    let warm = CaseOperation::Copy(SourceState::Warm);
    assert_eq!(figures_of("loop-cached", warm, 4096, 0).channel_bytes, 4096);
    let fpm = figures_of("rowclone", COLD, 4096, 0);
    // Two activations of eight chips: 49.5 nJ.
    assert_eq!((fpm.in_dram_share, fpm.energy_nj), (1.0, Some(49.5)));
}

#[test]
fn a_copier_that_leaves_the_operation_to_another_one_says_why() {
    let why = |name, operation, bytes, min| result(name, operation, bytes, 0, min).figures.unwrap_err();
    assert_eq!(why("fpm-only", COLD, 64, 0), Unable::OverChannel("partial-row"));
    assert_eq!(why("fpm-only", COLD, 2048, 0), Unable::OverChannel("partial-row"));
    assert!(result("fpm-only", COLD, 4096, 0, 0).figures.is_ok());
    assert_eq!(why("rowclone", COLD, 32, 0), Unable::OverChannel("partial-line"));
    assert_eq!(why("dma", COLD, 512, 1024), Unable::TooSmall(1024));
    assert!(result("dma", COLD, 1024, 0, 1024).figures.is_ok());
    assert_eq!(why("copy-engine-async-rowclone", CaseOperation::Zero, 4096, 0), Unable::DoesNotZero);
}

/// A message of 4 KiB is a packet: (24 + 66 + 4096) bytes take 3.3488 us on a link of 10 Gb/s. In DRAM, its copy moves
/// no byte over the channel; by the loop at least a page is read and fetched.
#[test]
fn a_message_is_received_under_each_kind_of_copier() {
    let receive = CaseOperation::Receive(Delivery::ALL[0]);
    let of = |name, read| figures_of(name, receive, 4096, read);
    let (by_loop, in_dram, read) = (of("loop-cached", 0), of("rowclone", 0), of("rowclone", 100));
    for figures in [by_loop, in_dram, read, of("dma", 0), of("copy-engine-async", 100)] {
        assert!(figures.time_ns > 3_348.8, "{figures:?}");
        assert!(figures.cpu_ns.unwrap() < figures.time_ns - 3_348.0, "the core is idle until the packet is there");
    }
    assert!(in_dram.in_dram_share > 0.99 && by_loop.in_dram_share == 0.0);
    assert!(by_loop.channel_bytes >= in_dram.channel_bytes + 8192 - 64);
    assert_eq!(read.extra_misses.unwrap() - in_dram.extra_misses.unwrap(), 64);
}

#[test]
fn the_best_copier_has_the_least_figure_and_ties_are_all_named() {
    let of = |time_ns, lost, misses| CopierResult {
        figures: Ok(CopierFigures {
            time_ns,
            lines_lost: Some(lost),
            extra_misses: Some(misses),
            ..CopierFigures::default()
        }),
        passed_checks: true,
    };
    let refused = CopierResult { figures: Err(Unable::DoesNotZero), passed_checks: true };
    let results = [("dma", of(3.0, 0, 5)), ("rowclone", of(2.0, 1, 0)), ("lisa", of(2.0, 0, 4)), ("baseline", refused)];
    let best = |question: Question| {
        let all = results.iter().map(|(name, result)| (NamedCopier::named(name).unwrap(), result));
        question.best(all).map(|best| (best.copiers.iter().map(|copier| copier.name()).collect::<Vec<_>>(), best.value))
    };
    assert_eq!(best(Question::Time), Some((vec!["rowclone", "lisa"], 2.0)));
    assert_eq!(best(Question::Displacement), Some((vec!["lisa"], 0.0)));
    assert_eq!(best(Question::CpuTime), None);
}

#[test]
fn cases_are_ordered_by_operation_share_and_size() {
    let cases = Case::all(&[COLD, CaseOperation::Zero], &[64, 4096], &[0, 100]);
    let found: Vec<_> = cases.iter().map(|case| (case.operation.name(), case.read_percent, case.bytes)).collect();
    assert_eq!(
        found[..5],
        [("copy", 0, 64), ("copy", 0, 4096), ("copy", 100, 64), ("copy", 100, 4096), ("zero", 0, 64)]
    );
    let names: Vec<_> = CaseOperation::all().iter().map(|it| (it.name(), it.state())).collect();
    assert_eq!(names[..4], [("copy", "cold"), ("copy", "warm"), ("copy", "dirty"), ("zero", "")]);
    assert_eq!(names[4..], [("receive", "memory"), ("receive", "cache")]);
}
