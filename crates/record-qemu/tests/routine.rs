//! Routines that are derived from accesses.

#[path = "../src/routine.rs"]
mod routine;

use routine::{Call, Span};
use trace_io::recording::{MemoryAccess, Routine};

/// The access of a power of two of bytes.
fn access(is_store: bool, address: u64, bytes: u64) -> (bool, Span) {
    let log2_bytes = bytes.ilog2() as u8;
    (is_store, Span::of(MemoryAccess { is_store, address, log2_bytes, instructions: 1 }))
}

/// Accesses of a size at each address of a range.
fn accesses(is_store: bool, start: u64, end: u64, bytes: u64) -> Vec<(bool, Span)> {
    (start..end).step_by(bytes as usize).map(|start| access(is_store, start, bytes)).collect()
}

fn call(accesses: &[(bool, Span)]) -> Option<Call> {
    Call::of(&accesses.iter().copied(), |_| 7)
}

#[test]
fn a_copy_reads_and_writes_ranges_of_equal_size() {
    let mut all = accesses(false, 0x1000, 0x1100, 32);
    all.extend(accesses(true, 0x8000, 0x8100, 32));
    let copy = Call { routine: Routine::Copy { src: 0x1000 }, dst: 0x8000, bytes: 0x100 };
    assert_eq!(call(&all), Some(copy));
    // Vectors at both ends overlap those between, in any order.
    all.push(access(true, 0x80f0, 16));
    all.reverse();
    assert_eq!(call(&all), Some(copy));
    // A constant of the routine.
    all.push(access(false, 0x2000, 8));
    assert_eq!(call(&all), Some(copy));
    all.push(access(false, 0x3000, 32));
    assert_eq!(call(&all), None, "a second source");
}

#[test]
fn ranges_that_overlap_are_moved() {
    let mut all = accesses(false, 0x1000, 0x1100, 16);
    all.extend(accesses(true, 0x1010, 0x1110, 16));
    assert_eq!(call(&all), Some(Call { routine: Routine::Move { src: 0x1000 }, dst: 0x1010, bytes: 0x100 }));
}

#[test]
fn stores_alone_set_memory() {
    let set = Call { routine: Routine::Set { value: 7 }, dst: 0x1000, bytes: 64 };
    assert_eq!(call(&accesses(true, 0x1000, 0x1040, 8)), Some(set));
}

#[test]
fn gaps_small_ranges_and_unequal_sizes_are_no_call() {
    assert_eq!(call(&accesses(true, 0x1000, 0x1020, 8)), None, "below 64 bytes");
    let mut gap = accesses(true, 0x1000, 0x1080, 32);
    gap.remove(1);
    assert_eq!(call(&gap), None, "a gap");
    let mut unequal = accesses(false, 0x1000, 0x1100, 32);
    unequal.extend(accesses(true, 0x8000, 0x8080, 32));
    assert_eq!(call(&unequal), None, "a source of another size");
    assert_eq!(call(&[]), None);
}

/// The kernel's copy of a page, which saves two registers; a copy of more than a page, or between other pages, is none.
#[test]
fn a_page_is_copied_or_cleared_as_a_whole() {
    let (src, dst, stack) = (0x5000, 0x9000, 0x8ff0);
    let page = |accesses: &[(bool, Span)]| Call::of_page(&accesses.iter().copied());
    let loads = accesses(false, src, src + 4096, 8);
    let stores = accesses(true, dst, dst + 4096, 8);
    let clear = Call { routine: Routine::ClearPage, dst, bytes: 4096 };
    assert_eq!(page(&stores), Some(clear));
    assert_eq!(page(&stores[1..]), None, "a part of a page");
    let mut copy = [&loads[..], &stores].concat();
    let expected = Some(Call { routine: Routine::CopyPage { src }, dst, bytes: 4096 });
    assert_eq!(page(&copy), expected);
    copy.extend(accesses(true, stack, stack + 16, 8));
    assert_eq!(page(&copy), None, "stores beside the page");
    copy.extend(accesses(false, stack, stack + 16, 8));
    assert_eq!(page(&copy), expected, "saved and restored registers");
    let other = accesses(false, src + 8, src + 8 + 4096, 8);
    assert_eq!(page(&[&other[..], &stores].concat()), None, "a source in two pages");
    assert_eq!(page(&[]), None);
}
