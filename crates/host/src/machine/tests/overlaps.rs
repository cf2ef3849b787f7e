//! Copies between overlapping ranges have the result of `memmove`, under every copier.

use super::coherent::kernels;
use super::*;

const PAGES: u64 = 4;
const BYTES: u64 = PAGES * 4096;

/// Writes each word of the pages, copies, and loads each word.
fn program(dst: u64, src: u64, bytes: u64) -> Vec<Step> {
    let at = |offset: u64| PhysicalAddress(START + offset);
    let words = || (0..BYTES).step_by(8);
    let mut steps = vec![Step::Map { address: at(0), bytes: BYTES }, Step::Present { address: at(0), bytes: BYTES }];
    steps.extend(words().map(|offset| Step::Store { address: at(offset) }));
    steps.push(Step::Copy { dst: at(dst), src: at(src), bytes });
    steps.extend(words().map(|offset| Step::Load { address: at(offset) }));
    steps
}

/// The pages after the run, read at their virtual addresses from the memory that each load was
/// compared with.
fn pages_after(kernel: KernelSettings, policy: &'static dyn CopyPolicy, steps: Vec<Step>) -> Vec<u8> {
    let last_level = CacheShape::new(1 << 13, 4, 12);
    let settings = MachineSettings { last_level, kernel, ..settings() };
    let programs = vec![Box::new(Steps(steps.into_iter())) as Box<dyn Program>];
    let mut machine = run(settings, Region::default(), programs, policy, Some(7)).unwrap().machine;
    let check = machine.memory.check.as_ref().unwrap();
    assert_eq!((check.wrong, check.loads >= BYTES / 8), (None, true), "{kernel:?}");
    let page = |page: u64| {
        let address = PhysicalAddress(START + page * 4096);
        let physical = machine.kernel.translate(&mut machine.cores[0], address, false).unwrap().unwrap();
        check.expected(physical, 4096)
    };
    (0..PAGES).flat_map(page).collect()
}

/// The stores write the numbers 1, 2, 3, ... as words. `memmove` then moves the bytes.
fn check(dst: u64, src: u64, bytes: u64) {
    let mut expected: Vec<u8> = (1..=BYTES / 8).flat_map(u64::to_le_bytes).collect();
    expected.copy_within(src as usize..(src + bytes) as usize, dst as usize);
    for (kernel, policy) in kernels() {
        let found = pages_after(kernel, policy, program(dst, src, bytes));
        let first = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!(first, None, "{dst} {src} {bytes}: {kernel:?} under {}", policy.name());
    }
}

#[test]
fn overlapping_copies_move_the_bytes_up_and_down() {
    // By less than a word, a line and a page; by lines, and by pages; within a page and across.
    for distance in [3, 8, 64, 72, 1000, 4096, 4160] {
        for bytes in [2000, 8192] {
            check(100 + distance, 100, bytes);
            check(100, 100 + distance, bytes);
        }
    }
    check(4096, 0, 3 * 4096);
    check(0, 4096, 3 * 4096);
    check(64, 64, 4096);
}
