//! Single events, with results computed by hand.

use dram_spec::AddressMap;
use dram_spec::address::MapPreset;
use rowclone::{FPM, Mechanism, PSM2, Reason};

use crate::fixture::{few, geometry, memories};
use crate::{
    Cause, CopyUnit, Destination, Fallback, Fault, Found, Frame, FrameMap, HugePages, Kernel, MemoryOperation,
    PageSize, Policy, Report, RowSharing, ZeroOnFree,
};

/// A kernel without processes over 4 KB rows, which places copies in the subarray of their source.
fn kernel() -> Kernel {
    let (map, set) = memories()[0].clone();
    Kernel::new(map, set, Policy::SubarrayAware, 0, ZeroOnFree::Off).unwrap()
}

/// Two processes over 4 KB rows: zeroed and copied frames, and causes, by hand.
#[test]
fn only_written_pages_are_copied_after_a_fork() {
    let mut kernel = kernel();
    let mut operations = Vec::new();
    let parent = kernel.spawn();
    let first = kernel.map(parent, 3, PageSize::Small).unwrap();
    let mine = kernel.write(parent, first, &mut operations).unwrap();
    kernel.touch(parent, first + 1, &mut operations).unwrap();
    let child = kernel.fork(parent).unwrap();
    assert_eq!(kernel.references(mine), 2);
    let copy = kernel.write(child, first, &mut operations).unwrap();
    assert_eq!(kernel.write(parent, first, &mut operations), Ok(mine), "the last user keeps the frame");
    assert_eq!(
        kernel.touch(child, first + 3, &mut operations),
        Err(Fault::NotMapped { process: child, page: first + 3 })
    );
    let [zero, other, copied] = operations[..] else { panic!("{operations:?}") };
    assert_eq!(zero, MemoryOperation::Zero { dst: mine, frames: 1, cause: Cause::DemandZero });
    assert!(matches!(other, MemoryOperation::Zero { frames: 1, cause: Cause::DemandZero, .. }));
    let found = Found::SourcePool;
    assert_eq!(copied, MemoryOperation::Copy { src: mine, dst: copy, frames: 1, cause: Cause::CopyOnWrite, found });
    let Report { traffic, .. } = kernel.report();
    assert_eq!((traffic.copies().by(FPM), traffic.zeroings().by(FPM)), (1, 2));
    kernel.exit(parent, &mut operations).unwrap();
    kernel.exit(child, &mut operations).unwrap();
    assert_eq!(kernel.report().free.frames(), kernel.frame_set().frames());
}

/// Of four pages of which two share frames of a cache: those discarded stay mapped, and frames without users are
/// free.
#[test]
fn discarded_pages_stay_mapped_and_shared_ones_are_copied() {
    let mut kernel = kernel();
    let mut operations = Vec::new();
    let (cache, process) = (kernel.spawn(), kernel.spawn());
    let (source, first) =
        (kernel.map(cache, 1, PageSize::Small).unwrap(), kernel.map(process, 4, PageSize::Small).unwrap());
    let absent = Err(Fault::NotPresent { process: cache, page: source });
    assert_eq!(kernel.share_page((process, first), (cache, source)), absent);
    let frame = kernel.renew(cache, source, None).unwrap();
    for page in [first, first + 1] {
        assert_eq!(kernel.share_page((process, page), (cache, source)), Ok(frame));
    }
    let present = Err(Fault::Present { process, page: first });
    assert_eq!(kernel.share_page((process, first), (cache, source)), present);
    let copy = kernel.write(process, first, &mut operations).unwrap();
    assert!(matches!(operations[..], [MemoryOperation::Copy { src, dst, .. }] if (src, dst) == (frame, copy)));
    kernel.write(process, first + 3, &mut operations).unwrap();
    assert_eq!(kernel.address_space(process).unwrap().pages_in(first + 1, 2).collect::<Vec<_>>(), [(first + 1, frame)]);
    let free = kernel.report().free.frames();
    kernel.discard(process, first, 3, &mut operations).unwrap();
    assert_eq!((kernel.report().free.frames(), kernel.references(frame)), (free + 1, 1));
    let space = kernel.address_space(process).unwrap();
    assert_eq!((space.is_mapped(first), space.present()), (true, 1));
    assert_eq!(space.pages_in(0, u64::MAX).map(|(page, _)| page).collect::<Vec<_>>(), [first + 3]);
}

/// A page of 4 KiB in rows of 8 KB: FPM serves it together with its neighbor, but not alone.
#[test]
fn a_shared_row_is_allocated_as_a_whole_or_prevents_fpm() {
    let check = |copy_unit: CopyUnit, frames: u32, by: Mechanism, why: Option<Fallback>| {
        let map = AddressMap::preset(geometry(8192), MapPreset::RowInterleaved);
        let (map, set) = few(map, copy_unit);
        let mut kernel = Kernel::new(map, set, Policy::SubarrayAware, 0, ZeroOnFree::Off).unwrap();
        let (parent, mut operations) = (kernel.spawn(), Vec::new());
        kernel.map(parent, 2, PageSize::Small).unwrap();
        kernel.write(parent, 0, &mut operations).unwrap();
        let child = kernel.fork(parent).unwrap();
        kernel.write(child, 0, &mut operations).unwrap();
        let copies = kernel.report().traffic.copies();
        assert_eq!((copies.operations, copies.frames(), copies.by(by)), (1, u64::from(frames), u64::from(frames)));
        for fallback in Fallback::ALL {
            assert_eq!(copies.fallbacks(fallback), u64::from(why == Some(fallback)) * u64::from(frames));
        }
        kernel.report().sharing
    };
    assert_eq!(check(CopyUnit::RowSet, 2, FPM, None), RowSharing::RowSet { frames: 2 });
    let marked = check(CopyUnit::Page, 1, PSM2, Some(Fallback::SharedRow));
    assert_eq!(marked, RowSharing::Page { frames: 2 });
}

/// 512 pages are one copy if a block is free; otherwise only the written page is copied.
#[test]
fn a_huge_page_is_copied_whole_while_there_are_blocks() {
    let (map, set) = memories()[0].clone();
    let mut kernel = Kernel::new(map, set, Policy::Buddy, 0, ZeroOnFree::Off).unwrap();
    let (parent, mut operations) = (kernel.spawn(), Vec::new());
    kernel.map(parent, 3, PageSize::Small).unwrap();
    let first = kernel.map(parent, 512, PageSize::Huge).unwrap();
    assert!(first.is_multiple_of(512));
    kernel.write(parent, first + 17, &mut operations).unwrap();
    let children = [(); 4].map(|()| kernel.fork(parent).unwrap());
    for child in children {
        kernel.write(child, first + 300, &mut operations).unwrap();
    }
    let frames: Vec<u32> = operations
        .iter()
        .map(|operation| match *operation {
            MemoryOperation::Copy { frames, .. } | MemoryOperation::Zero { frames, .. } => frames,
        })
        .collect();
    assert_eq!(frames, [512, 512, 512, 512, 1]);
    assert_eq!(kernel.report().huge_pages, HugePages { wanted: 5, served: 4 });

    // In a full memory the write fails, and is not counted as a request for a huge page.
    let child = kernel.fork(children[0]).unwrap();
    let free = kernel.report().free.frames();
    let last = kernel.map(parent, free, PageSize::Small).unwrap();
    for page in last..last + free {
        kernel.touch(parent, page, &mut operations).unwrap();
    }
    let full = Err(Fault::OutOfMemory { needed: 1, free: 0 });
    assert_eq!(kernel.write(child, first, &mut operations), full);
    assert_eq!(kernel.report().huge_pages, HugePages { wanted: 5, served: 4 });
}

/// A small page in a huge one, allocated while no block was free, keeps later copies small.
#[test]
fn a_huge_page_that_was_split_is_copied_page_by_page() {
    let (map, set) = memories()[0].clone();
    let mut kernel = Kernel::new(map, set, Policy::Buddy, 0, ZeroOnFree::Off).unwrap();
    let (parent, other, mut operations) = (kernel.spawn(), kernel.spawn(), Vec::new());
    kernel.map(parent, 512, PageSize::Huge).unwrap();
    kernel.map(other, 3 * 512, PageSize::Huge).unwrap();
    kernel.write(parent, 0, &mut operations).unwrap();
    for page in [0, 512, 1024] {
        kernel.write(other, page, &mut operations).unwrap();
    }
    let child = kernel.fork(parent).unwrap();
    kernel.write(child, 300, &mut operations).unwrap();
    kernel.exit(other, &mut operations).unwrap();
    kernel.write(parent, 5, &mut operations).unwrap();
    let copied = kernel.report().traffic.copies();
    assert_eq!((copied.operations, copied.frames()), (2, 2));
}

#[test]
fn frames_zeroed_when_freed_are_not_zeroed_when_touched() {
    let (map, set) = memories()[0].clone();
    let mut kernel = Kernel::new(map, set, Policy::Sequential, 0, ZeroOnFree::On).unwrap();
    let mut operations = Vec::new();
    let frames = [(); 2].map(|()| {
        let process = kernel.spawn();
        let page = kernel.map(process, 1, PageSize::Small).unwrap();
        let dst = kernel.write(process, page, &mut operations).unwrap();
        kernel.exit(process, &mut operations).unwrap();
        dst
    });
    let [first, second] = frames;
    assert_eq!(first, second);
    let zero = |cause| MemoryOperation::Zero { dst: first, frames: 1, cause };
    assert_eq!(operations, [Cause::ZeroOnFree, Cause::ZeroOnFree].map(zero));
}

/// Whichever page is written first ends de-duplication; the other keeps the frame and is no longer
/// merged.
#[test]
fn deduplication_is_undone_by_the_first_write() {
    for writer in [0, 1] {
        let mut kernel = kernel();
        let (process, mut operations) = (kernel.spawn(), Vec::new());
        kernel.map(process, 2, PageSize::Small).unwrap();
        for page in [0, 1] {
            kernel.touch(process, page, &mut operations).unwrap();
        }
        assert_eq!(kernel.deduplicate((process, 0), (process, 1), &mut operations), Ok(true));
        assert_eq!(kernel.deduplicate((process, 0), (process, 1), &mut operations), Ok(false));
        for page in [writer, 1 - writer] {
            kernel.write(process, page, &mut operations).unwrap();
        }
        let child = kernel.fork(process).unwrap();
        kernel.write(child, 1 - writer, &mut operations).unwrap();
        let Report { traffic, .. } = kernel.report();
        let copies = [Cause::DedupUndo, Cause::CopyOnWrite].map(|cause| traffic.copies_of(cause).operations);
        assert_eq!(copies, [1, 1]);
    }
}

/// A migration has its reason for not using FPM: the request did not name the source.
#[test]
fn a_migration_elsewhere_is_reported_as_not_asked() {
    let mut kernel = kernel();
    let (process, mut operations) = (kernel.spawn(), Vec::new());
    kernel.map(process, 1, PageSize::Small).unwrap();
    let first = kernel.touch(process, 0, &mut operations).unwrap();
    let elsewhere = kernel.frame_set().grains().find(|&grain| kernel.map.subarray(grain) != kernel.map.subarray(first));
    kernel.migrate(process, 0, Destination::NearSource, &mut operations).unwrap();
    kernel.migrate(process, 0, Destination::Near(elsewhere.unwrap()), &mut operations).unwrap();
    let moves = |kernel: &Kernel| {
        let moves = *kernel.report().traffic.copies_of(Cause::Migration);
        (moves.by(FPM), moves.fallbacks(Fallback::NotAsked), moves.frames())
    };
    assert_eq!(moves(&kernel), (1, 1, 2));
    // The reason is also not that the requested pool is empty.
    let empty = kernel.map.subarray(first);
    let pool: Vec<_> = kernel.frame_set().grains().filter(|&grain| kernel.map.subarray(grain) == empty).collect();
    for grain in pool {
        kernel.allocator.claim(grain);
    }
    kernel.migrate(process, 0, Destination::Near(first), &mut operations).unwrap();
    assert_eq!(moves(&kernel).1 + moves(&kernel).0, 3);
    let child = kernel.fork(process).unwrap();
    let refused = Err(Fault::Shared { process: child, page: 0 });
    assert_eq!(kernel.migrate(child, 0, Destination::Anywhere, &mut operations), refused);
}

/// A frame of the page cache is shared with the cache: it is neither zeroed nor freed, and a write
/// copies it.
#[test]
fn a_page_of_the_page_cache_is_copied_at_its_first_write() {
    let mut kernel = kernel();
    let mut operations = Vec::new();
    let process = kernel.spawn();
    let page = kernel.map(process, 1, PageSize::Small).unwrap();
    let cached = kernel.map_cached(process, page).unwrap();
    assert_eq!((kernel.references(cached), operations.len()), (2, 0));
    assert_eq!(kernel.map_cached(process, page), Err(Fault::Present { process, page }));
    assert_eq!(kernel.map_cached(process, page + 1), Err(Fault::NotMapped { process, page: page + 1 }));
    let own = kernel.write(process, page, &mut operations).unwrap();
    assert!(
        matches!(operations[..], [MemoryOperation::Copy { src, dst, frames: 1, .. }] if (src, dst) == (cached, own))
    );
    let free = kernel.report().free.frames();
    kernel.exit(process, &mut operations).unwrap();
    assert_eq!((kernel.references(cached), kernel.report().free.frames()), (1, free + 1), "the cache keeps its frame");
}

/// A renewed page has an unshared frame in the subarray of the source; the frame before is freed by
/// its last user.
#[test]
fn a_renewed_page_gets_a_frame_near_the_source() {
    let mut kernel = kernel();
    let mut operations = Vec::new();
    let process = kernel.spawn();
    let first = kernel.map(process, 2, PageSize::Small).unwrap();
    let source = kernel.touch(process, first, &mut operations).unwrap();
    let old = kernel.renew(process, first + 1, None).unwrap();
    let child = kernel.fork(process).unwrap();
    let new = kernel.renew(process, first + 1, Some(source)).unwrap();
    assert_eq!(kernel.map.subarray(new), kernel.map.subarray(source));
    assert_eq!((kernel.references(new), kernel.references(old)), (1, 1), "the child keeps its frame");
    assert_eq!(kernel.address_space(child).unwrap().frame(first + 1), Some(old));
    kernel.renew(child, first + 1, None).unwrap();
    assert_eq!((kernel.references(old), operations.len()), (0, 1), "only the touch zeroes a page");
    let missing = Err(Fault::NotMapped { process, page: first + 2 });
    assert_eq!(kernel.renew(process, first + 2, None), missing);
}

/// Counts begin anew after a reset; the state of the memory does not.
#[test]
fn counts_can_be_reset() {
    let mut kernel = kernel();
    let mut operations = Vec::new();
    let process = kernel.spawn();
    let page = kernel.map(process, 600, PageSize::Huge).unwrap();
    kernel.touch(process, page, &mut operations).unwrap();
    let before = kernel.report();
    assert!(before.traffic.zeroings().frames() > 0 && before.huge_pages.wanted == 1);
    kernel.reset_counts();
    let after = kernel.report();
    assert_eq!((after.traffic.zeroings().frames(), after.huge_pages), (0, HugePages::default()));
    assert_eq!(after.free, before.free);
}

/// Rows of 8 KB: a page of 4 KB covers half of its row.
#[test]
fn the_reason_against_fpm_has_the_bytes_that_are_covered() {
    let map = FrameMap::new(AddressMap::preset(geometry(8192), MapPreset::RowInterleaved));
    let covered = |first: u32, frames: u32, at: u32| match map.zeroed(Frame(first), frames, at).fpm {
        Ok(()) => 8192,
        Err(Reason::PartialRow { covered, operation_bytes, .. }) => {
            assert_eq!(operation_bytes, u64::from(frames) * 4096);
            covered
        }
        Err(other) => panic!("{other:?}"),
    };
    // Frames 0 and 1 share a row, and so do 2 and 3.
    assert_eq!([covered(0, 1, 0), covered(1, 2, 0), covered(1, 2, 1)], [4096; 3]);
    assert_eq!([covered(0, 2, 0), covered(0, 2, 1), covered(1, 3, 1)], [8192; 3]);
}

/// A migration needs a free frame, and without one changes nothing.
#[test]
fn a_full_memory_migrates_no_page() {
    let (map, set) = memories()[0].clone();
    let all = set.frames();
    let mut kernel = Kernel::new(map, set, Policy::Sequential, 0, ZeroOnFree::Off).unwrap();
    let (process, mut operations) = (kernel.spawn(), Vec::new());
    kernel.map(process, all, PageSize::Small).unwrap();
    for page in 0..all {
        kernel.touch(process, page, &mut operations).unwrap();
    }
    let frame = |kernel: &Kernel| kernel.address_space(process).unwrap().frame(0);
    let before = (frame(&kernel), kernel.report(), operations.len());
    let full = Err(Fault::OutOfMemory { needed: 1, free: 0 });
    assert_eq!(kernel.migrate(process, 0, Destination::Anywhere, &mut operations), full);
    assert_eq!((frame(&kernel), kernel.report(), operations.len()), before);
}
