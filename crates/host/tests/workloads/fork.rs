//! Forks: the pages that the child copies and writes, and the mechanisms of its copies.

use memctrl::policy::copy::{BASELINE, ROWCLONE};
use std::collections::BTreeSet;

use dram_spec::address::{FRAME_BYTES, MapPreset};
use dram_spec::{Cycles, Density, Geometry, RawGeometry, RowsPerSubarray, SpeedBin, Standard, System, Width};
use host::AllocatorSettings;
use host::workload::{Fill, Fork, Settings};
use os_alloc_sim::{Cause, Policy};
use rowclone::{FPM, Operation};

use crate::common::{allocator, fork, free_memory, paper, planner, play, requests, system};

/// Bytes copied by FPM, and by all mechanisms.
fn parts(stats: &memctrl::stats::Stats) -> (u64, u64) {
    let mut bytes = (0, 0);
    for (mechanism, _, parts) in stats.whole.parts.iter() {
        bytes.1 += parts.bytes;
        bytes.0 += if mechanism == rowclone::FPM { parts.bytes } else { 0 };
    }
    bytes
}

/// On the paper's system with free memory, the controller uses the mechanisms that the allocator
/// counted.
#[test]
fn a_subarray_aware_fork_copies_by_fpm() {
    let (system, planner) = (system(), paper());
    let settings = Settings::new(Fork { bytes: 512 * 4096, pages: 200, ..fork() });
    for policy in Policy::ALL {
        let played = play(&system, &planner, ROWCLONE, |contents| {
            settings.source(&planner, Some(&free_memory(policy)), 1, Some(contents)).unwrap()
        });
        let report = played.outcome.os.unwrap().report;
        let copies = *report.traffic.copies_of(Cause::CopyOnWrite);
        assert_eq!((copies.frames(), report.traffic.copies().frames(), report.policy), (200, 200, policy));
        assert_eq!(parts(&played.stats), (copies.by(FPM) * FRAME_BYTES, 200 * FRAME_BYTES), "{policy}");
        let share = copies.share(FPM).unwrap();
        assert!(policy != Policy::SubarrayAware || share >= 0.95, "{share}");
        assert!(policy != Policy::Random || share <= 0.05, "{share}");
        assert_eq!(report.frames - report.free.frames(), 512, "the child has exited, the parent has not");
    }
}

/// A process of an eighth of the memory, all of which the child writes.
#[test]
fn a_subarray_aware_fork_copies_by_fpm_in_an_aged_memory() {
    let planner = paper();
    let settings = Settings::new(Fork { bytes: 64 << 20, pages: 16_384, ..fork() });
    for (utilization, fragmentation) in [(0.0, 0.0), (0.3, 0.0), (0.5, 0.5), (0.5, 1.0), (0.6, 0.9)] {
        let allocator = AllocatorSettings { utilization, fragmentation, ..allocator(Policy::SubarrayAware) };
        let workload = settings.source(&planner, Some(&allocator), 1, None).unwrap();
        let traffic = requests(workload).1.os.unwrap().report.traffic;
        let copies = traffic.copies_of(Cause::CopyOnWrite);
        assert_eq!(copies.frames(), 16_384);
        let share = copies.share(FPM).unwrap();
        assert!(share >= 0.95, "{utilization} in use, {fragmentation} fragmented: {share}");
    }
}

/// 16,384 copies in a memory of 256 subarrays: 64 expected, to 4 sigma (of sqrt(64) = 8).
#[test]
fn fpm_serves_random_frames_with_the_expected_probability() {
    let planner = paper();
    let geometry = planner.map().geometry();
    let subarrays = u64::from(geometry.subarrays_per_bank()) * u64::from(geometry.banks());
    assert_eq!(subarrays, 256);
    let settings = Settings::new(Fork { bytes: 64 << 20, pages: 16_384, ..fork() });
    let by_fpm = |policy| {
        let workload = settings.source(&planner, Some(&free_memory(policy)), 1, None).unwrap();
        let report = requests(workload).1.os.unwrap().report;
        report.traffic.copies().by(FPM)
    };
    assert!((64 - 32..=64 + 32).contains(&by_fpm(Policy::Random)), "{}", by_fpm(Policy::Random));
    assert!(by_fpm(Policy::SubarrayAware) * 100 >= 16_384 * 95);
}

/// Checks that every copy of the child lies in the subarray of the parent's page, on DDR4; `subarray` derives its
/// number from that of the row.
fn copies_stay_in_subarrays(rows_per_subarray: RowsPerSubarray, subarray: impl Fn(u32) -> (u32, usize)) {
    let (standard, density, width, row_bytes) = (Standard::Ddr4, Density::Gb4, Width::X8, ROW);
    let (channels, ranks) = (1, 1);
    let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
    let system = System::new(SpeedBin::named("DDR4-2400R").unwrap(), Geometry::try_from(raw).unwrap());
    let planner = planner(&system, MapPreset::RowInterleaved);
    let settings = Settings::new(Fork { bytes: 2048 * 4096, pages: 1024, ..fork() });
    let allocator = free_memory(Policy::SubarrayAware);
    let played = play(&system, &planner, ROWCLONE, |contents| {
        settings.source(&planner, Some(&allocator), 1, Some(contents)).unwrap()
    });
    let mut copies = 0;
    for request in &played.taken {
        let Operation::Copy { src, dst, bytes: ROW } = request.operation else { continue };
        let [src, dst] = [src, dst].map(|address| planner.map().locate(address).unwrap());
        assert_eq!((src.bank, subarray(src.row.0)), (dst.bank, subarray(dst.row.0)));
        copies += 1;
    }
    assert!(copies > 0, "copies of whole rows");
    assert_eq!(parts(&played.stats), (copies * ROW, copies * ROW));
}

#[test]
fn copies_on_write_stay_in_the_subarrays_of_a_pattern() {
    let number = |row: u32| (row / 2048, [640, 1280].iter().filter(|&&end| row % 2048 >= end).count());
    copies_stay_in_subarrays([640, 640, 768].into(), number);
    copies_stay_in_subarrays(576.into(), |row| (row / 576, 0));
}

/// Bytes of a row of DDR4 x8 chips, two pages.
const ROW: u64 = 8192;

/// A copy of each page, then the child's line, written in the copy and not in the parent's page.
#[test]
fn the_child_writes_to_its_copies_and_waits_for_each() {
    let planner = paper();
    let (gap, fork) = (Cycles(300), Fork { gap: Cycles(300).into(), ..fork() });
    let played = play(&system(), &planner, BASELINE, |contents| {
        Settings::new(fork).source(&planner, Some(&allocator(Policy::Random)), 1, Some(contents)).unwrap()
    });
    let (mut parents, mut copies) = (BTreeSet::new(), BTreeSet::new());
    for (pair, requests) in played.taken.chunks(2).enumerate() {
        let [copy, write] = requests else { panic!("a copy without a write") };
        let Operation::Copy { src, dst, bytes: FRAME_BYTES } = copy.operation else { panic!("{copy:?}") };
        let Operation::Write { address, bytes: 64 } = write.operation else { panic!("{write:?}") };
        assert!(parents.insert(src) && copies.insert(dst));
        assert!((dst.0..dst.0 + FRAME_BYTES).contains(&address.0), "{address} is not in the copy at {dst}");
        let done = played.done.iter().find(|completion| completion.id == copy.id).unwrap().done;
        assert_eq!(write.arrival, Some(done));
        if let Some(next) = played.taken.get(2 * pair + 2) {
            assert_eq!(next.arrival, write.arrival.map(|at| at + gap));
        }
    }
    assert_eq!((parents.len(), copies.len(), played.most_copies), (16, 16, 1));
    assert!(parents.is_disjoint(&copies));
}

/// Each page of the parent is zeroed, and then written as a whole; the child copies these pages.
#[test]
fn a_played_parent_fills_its_memory_first() {
    let planner = paper();
    let fork = Fork { bytes: 8 * 4096, pages: 5, fill: Fill::Played, gap: Cycles(0).into() };
    let played = play(&system(), &planner, ROWCLONE, |contents| {
        Settings::new(fork).source(&planner, Some(&allocator(Policy::Buddy)), 1, Some(contents)).unwrap()
    });
    let (filling, child) = played.taken.split_at(8 * 65);
    let mut pages = BTreeSet::new();
    for page in filling.chunks(65) {
        let Operation::Init { dst, bytes: FRAME_BYTES, value: 0 } = page[0].operation else { panic!("{:?}", page[0]) };
        assert!(pages.insert(dst));
        for (line, write) in page[1..].iter().enumerate() {
            assert_eq!((write.operation.target().0, write.operation.bytes()), (dst.0 + 64 * line as u64, 64));
        }
        let done = played.done.iter().find(|completion| completion.id == page[0].id).unwrap().done;
        assert!(page[1].arrival >= Some(done), "the parent waits for the zeroing");
    }
    let sources = child.iter().filter_map(|request| request.operation.src());
    assert_eq!(sources.inspect(|src| assert!(pages.contains(src))).count(), 5);
    let traffic = played.outcome.os.unwrap().report.traffic;
    assert_eq!((traffic.zeroings_of(Cause::DemandZero).frames(), traffic.copies().frames()), (8, 5));
}

/// If two channels share the lines of a page, two frames are one unit: FPM copies it once, for both
/// frames.
#[test]
fn frames_that_share_rows_are_copied_together() {
    let system = dram_spec::System::paper(2, dram_spec::Density::Gb1, dram_spec::Width::X16);
    let planner = planner(&system, MapPreset::LineInterleaved);
    let settings = Settings::new(Fork { bytes: 16 * 4096, pages: 16, ..fork() });
    let allocator = AllocatorSettings { utilization: 0.1, ..allocator(Policy::SubarrayAware) };
    let played = play(&system, &planner, ROWCLONE, |contents| {
        settings.source(&planner, Some(&allocator), 1, Some(contents)).unwrap()
    });
    let copies = played.outcome.os.unwrap().report.traffic.copies();
    assert_eq!((copies.operations, copies.frames(), copies.by(FPM)), (8, 16, 16));
    assert_eq!((played.requests, played.taken.len()), (Some(24), 24));
    let all = 16 * FRAME_BYTES;
    assert_eq!(parts(&played.stats), (all, all));
}
