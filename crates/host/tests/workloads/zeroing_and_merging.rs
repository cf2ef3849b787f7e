//! De-duplication, zero on free, and allocation units.

use memctrl::policy::copy::ROWCLONE;
use std::collections::{BTreeMap, BTreeSet};

use dram_spec::address::{FRAME_BYTES, MapPreset};
use dram_spec::{Cycle, PhysicalAddress};
use host::AllocatorSettings;
use host::workload::{Deduplication, Fork, ProcessExits, Settings};
use memctrl::Request;
use os_alloc_sim::{Cause, CopyUnit, Fallback, Policy};
use rowclone::{FPM, Operation};

use crate::common::{
    Played, allocator, deduplication, fork, free_memory, paper, planner, play, process_exits, requests, system,
};

fn played(settings: &Settings, allocator: &AllocatorSettings) -> Played {
    let planner = paper();
    play(&system(), &planner, ROWCLONE, |contents| {
        settings.source(&planner, Some(allocator), 1, Some(contents)).unwrap()
    })
}

fn done(played: &Played, request: &Request) -> Cycle {
    played.done.iter().find(|completion| completion.id == request.id).unwrap().done
}

const fn page(address: PhysicalAddress) -> u64 {
    address.0 / FRAME_BYTES
}

/// Ten times 64 lines of both pages alternately, and then the writes: those to merged pages follow
/// a copy of the kept page.
#[test]
fn pages_are_compared_merged_and_copied_at_a_write() {
    let played = played(&Settings::new(deduplication()), &free_memory(Policy::SubarrayAware));
    let (scan, rest) = played.taken.split_at(10 * 128);
    let (mut merged, mut compared) = (BTreeMap::new(), Cycle::ZERO);
    for pages in scan.chunks(128) {
        let [kept, freed] = [&pages[0], &pages[1]].map(|read| page(read.operation.target()));
        assert!(kept != freed && merged.insert(kept, freed).is_none());
        for (line, pair) in pages.chunks(2).enumerate() {
            for (read, of) in pair.iter().zip([kept, freed]) {
                let address = PhysicalAddress(of * FRAME_BYTES + 64 * line as u64);
                assert_eq!(read.operation, Operation::Read { address, bytes: 64 });
                assert!(read.arrival >= Some(compared), "one pair of pages after another");
            }
        }
        compared = pages.iter().map(|read| done(&played, read)).max().unwrap();
    }
    let (mut written, mut copied, mut copy) = (BTreeSet::new(), 0, None);
    for request in rest {
        match request.operation {
            Operation::Copy { src, dst, bytes: FRAME_BYTES } => {
                assert!(merged.remove(&page(src)).is_some(), "{src} is not shared");
                (copied, copy) = (copied + 1, Some((page(dst), done(&played, request))));
            }
            Operation::Write { address, bytes: 64 } => {
                assert!(written.insert(page(address)));
                if let Some((dst, copied)) = copy.take() {
                    assert!(page(address) == dst && request.arrival >= Some(copied), "the write waits for its copy");
                }
                assert!(!merged.contains_key(&page(address)), "{address} is written in the page of the other machine");
            }
            other => panic!("{other}"),
        }
    }
    let report = played.outcome.os.unwrap().report;
    let copies = report.traffic.copies_of(Cause::DedupUndo);
    assert_eq!((written.len(), copies.frames(), copies.by(FPM)), (25, copied, copied));
    assert!((1..10).contains(&copied), "of ten merged pages, some are written");
    // Two machines of forty pages, less the pages still merged.
    assert_eq!(report.frames - report.free.frames(), 80 - 10 + copied);
}

/// At least 95 % by FPM, although the machines, which filled their memory one after the other,
/// occupy a quarter of it.
#[test]
fn fpm_serves_writes_to_merged_pages_under_subarray_aware() {
    let planner = paper();
    let settings = Settings::new(Deduplication { bytes: 64 << 20, pages: 2048, writes: 16_384, ..deduplication() });
    for memory in [free_memory, allocator] {
        let shares = [Policy::Buddy, Policy::SubarrayAware].map(|policy| {
            let workload = settings.source(&planner, Some(&memory(policy)), 1, None).unwrap();
            let traffic = requests(workload).1.os.unwrap().report.traffic;
            let copies = traffic.copies_of(Cause::DedupUndo);
            assert_eq!(copies.frames(), 2048, "all pages are written");
            copies.share(FPM).unwrap()
        });
        assert!(shares[0] < 0.05 && shares[1] >= 0.95, "{shares:?}");
    }
}

/// Twelve writes, and then zeroings of the twelve pages; the next process starts when these
/// complete.
#[test]
fn all_memory_of_a_process_is_zeroed_when_it_ends_and_not_when_it_is_touched() {
    let played = played(&Settings::new(process_exits()), &free_memory(Policy::SubarrayAware));
    assert_eq!((played.taken.len(), played.most_copies), (3 * 24, 4));
    let mut ended = Cycle::ZERO;
    for process in played.taken.chunks(24) {
        let (writes, zeroings) = process.split_at(12);
        let mut pages = BTreeSet::new();
        for write in writes {
            let Operation::Write { address, bytes: 64 } = write.operation else { panic!("{write:?}") };
            assert!(pages.insert(page(address)) && write.arrival >= Some(ended));
        }
        for zeroing in zeroings {
            let Operation::Init { dst, bytes: FRAME_BYTES, value: 0 } = zeroing.operation else {
                panic!("{zeroing:?}")
            };
            assert!(pages.remove(&page(dst)), "{dst} was not the process's, or is zeroed twice");
        }
        ended = zeroings.iter().map(|zeroing| done(&played, zeroing)).max().unwrap();
    }
    let report = played.outcome.os.unwrap().report;
    let [on_free, on_touch] = [Cause::ZeroOnFree, Cause::DemandZero].map(|cause| *report.traffic.zeroings_of(cause));
    assert_eq!((on_free.frames(), on_free.by(FPM), on_touch.frames()), (36, 36, 0));
    assert_eq!(report.free.frames(), report.frames);
}

#[test]
fn one_zeroing_at_a_time_where_the_window_is_one() {
    let settings = Settings::new(ProcessExits { window: 1, ..process_exits() });
    assert_eq!(played(&settings, &allocator(Policy::Buddy)).most_copies, 1);
}

/// With lines interleaved over two channels, two frames share their rows. With `marked`, each is
/// copied alone, and never by FPM.
#[test]
fn marked_frames_are_copied_alone_and_never_by_fpm() {
    let system = dram_spec::System::paper(2, dram_spec::Density::Gb1, dram_spec::Width::X16);
    let planner = planner(&system, MapPreset::LineInterleaved);
    let settings = Settings::new(Fork { bytes: 16 * 4096, pages: 16, ..fork() });
    for (copy_unit, operations, by_fpm) in [(CopyUnit::RowSet, 8, 16), (CopyUnit::Page, 16, 0)] {
        let allocator = AllocatorSettings { copy_unit, ..free_memory(Policy::SubarrayAware) };
        let workload = settings.source(&planner, Some(&allocator), 1, None).unwrap();
        let copies = requests(workload).1.os.unwrap().report.traffic.copies();
        assert_eq!((copies.operations, copies.frames(), copies.by(FPM)), (operations, 16, by_fpm), "{copy_unit:?}");
        assert_eq!(copies.fallbacks(Fallback::SharedRow), 16 - by_fpm);
    }
}
