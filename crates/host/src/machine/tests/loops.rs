//! Instructions and cycles of copy loops, computed by hand: an in-order core, one instruction per cycle, and all lines
//! in a cache with a latency of a cycle, so that each instruction takes one.

use trace_io::program::InstructionClass;

use super::*;

/// Bytes of the pages of source and destination.
const PAGE: u64 = 4096;

fn base(copy_loop: CopyLoop, word_bytes: u64) -> MachineSettings {
    let mut base = settings();
    base.core = CoreSettings { order: Order::InOrder, width: 1, ..CoreSettings::PAPER };
    base.last_level = CacheShape::new(1 << 16, 16, 1);
    (base.kernel.copy_loop, base.kernel.word_bytes) = (copy_loop, word_bytes);
    base
}

/// Instructions and cycles of a copy of some bytes between two pages, whose lines are in the cache; and its accesses.
fn copy(settings: MachineSettings, bytes: u64, offset: u64) -> (u64, u64, LineCounts) {
    let (src, dst) = (line(0), PhysicalAddress(START + PAGE));
    let pages = [Step::Map { address: src, bytes: 2 * PAGE }, Step::Present { address: src, bytes: 2 * PAGE }];
    let steps: Vec<Step> = pages
        .into_iter()
        .chain((0..128).map(load))
        .chain([Step::Copy { dst: PhysicalAddress(dst.0 + offset), src, bytes }])
        .collect();
    let counters = play(settings, &steps).outcome.cores[0].counters;
    let lines = counters.lines[Purpose::KernelCopy as usize];
    (counters.kernel_instructions, counters.copy_slots / settings.core.width, lines)
}

fn check(settings: MachineSettings, bytes: u64, expected: (u64, u64)) {
    let (instructions, cycles, lines) = copy(settings, bytes, 0);
    assert_eq!((instructions, cycles), expected, "{:?}, {bytes} B", settings.kernel.copy_loop);
    assert_eq!(lines.misses, 0);
}

/// `rep movsl` starts in 12 cycles, and so does `rep movsb`, also without bytes: 10 words of a load and a store; and 2
/// bytes.
#[test]
fn string_instructions_start_and_move_words() {
    check(base(CopyLoop::String, 4), 40, (20, 12 + 20 + 12));
    check(base(CopyLoop::String, 4), 42, (24, 12 + 20 + 12 + 4));
    let mut other = base(CopyLoop::String, 8);
    other.kernel.loops.string_start_cycles = 30;
    check(other, 40, (10, 30 + 10 + 30));
}

/// Slow below 128 bytes; then a start of 72 cycles, and words of 8 bytes. The last 3 bytes are those of `rep movsb`.
#[test]
fn a_fast_string_instruction_moves_longer_words_from_a_size_on() {
    check(base(CopyLoop::FastString, 4), 124, (62, 12 + 62 + 12));
    check(base(CopyLoop::FastString, 4), 131, (32 + 6, 72 + 32 + 12 + 6));
    check(base(CopyLoop::RepMovsb, 4), 131, (32 + 2, 72 + 32 + 2));
}

/// Two iterations of 8 words each, with 5 instructions; the first one touches the line of the second. Then both string
/// instructions of the tail start.
#[test]
fn integer_registers_are_copied_in_iterations() {
    check(base(CopyLoop::Integer, 8), 128, (1 + 21 + 21, 43 + 24));
    let mut far = base(CopyLoop::Integer, 8);
    far.kernel.loops.touch_bytes = Some(0);
    check(far, 128, (42, 42 + 24));
    far.kernel.loops.unroll_bytes = Some(128);
    check(far, 128, (32 + 5, 37 + 24));
    // A word of the tail.
    check(far, 136, (37 + 2, 39 + 24));
}

/// A block of 256 bytes is loaded in one step: 4 lines and 4 instructions. Its 4 iterations have 8 loads, 8 stores and
/// 5 instructions each. A store that occupies the unit for 6 cycles delays the next one: 8 + 7 x 6 + 1 + 5 = 56 cycles.
#[test]
fn blocks_are_loaded_before_they_are_copied() {
    check(base(CopyLoop::FloatBlock, 4), 256, (8 + 84, 92 + 24));
    let mut slow = base(CopyLoop::FloatBlock, 4);
    let class = slow.core.classes.of_mut(InstructionClass::FloatStore);
    (class.latency, class.interval, class.units) = (6, 6, ClassUnits::Own(1));
    check(slow, 256, (92, 8 + 4 * 56 + 24));
    // 2,048 bytes: blocks of 1,792 and 256, of 7 steps and one.
    check(base(CopyLoop::FloatBlock, 4), 2048, (64 + 32 * 21, 64 + 32 * 21 + 24));
    check(base(CopyLoop::SimdBlock, 4), 256, (8 + 4 * (4 + 4 + 5), 60 + 24));
}

/// Registers of 32 bytes, 128 bytes per iteration.
#[test]
fn avx2_copies_four_registers_per_iteration() {
    check(base(CopyLoop::Avx2, 8), 256, (2 * (4 + 4 + 5), 26 + 24));
}

/// Two iterations of 4 loads, 3 instructions in the place of the first stores of a line, its store past the caches, and
/// 5 instructions.
#[test]
fn lines_are_stored_past_the_caches() {
    let (instructions, _, lines) = copy(base(CopyLoop::NonTemporalBlock, 8), 128, 0);
    assert_eq!((instructions, lines.non_temporal, lines.misses), (2 * 13, 2, 0));
    let (instructions, _, lines) = copy(base(CopyLoop::NonTemporalBlock, 8), 128, 8);
    assert_eq!((instructions, lines.non_temporal), (32, 0), "the destination begins within a line: 16 words");
}

/// Below 64 bytes, and where source or destination is no multiple of 8 bytes, the loop of floating-point registers is
/// the string instructions; so are all loops below their smallest size.
#[test]
fn small_copies_are_the_tail() {
    let tail = copy(base(CopyLoop::String, 4), 63, 0);
    for copy_loop in [CopyLoop::Integer, CopyLoop::FloatBlock, CopyLoop::SimdBlock, CopyLoop::NonTemporalBlock] {
        assert_eq!(copy(base(copy_loop, 4), 63, 0), tail, "{copy_loop:?}");
    }
    let unaligned = copy(base(CopyLoop::String, 4), 640, 4);
    assert_eq!(copy(base(CopyLoop::FloatBlock, 4), 640, 4), unaligned);
    let mut large = base(CopyLoop::Integer, 4);
    large.kernel.loops.loop_min_bytes = 1024;
    assert_eq!(copy(large, 640, 4), unaligned);
}

/// A word across two lines is two stores: the destination begins 4 bytes before the end of a line.
#[test]
fn a_word_across_lines_is_two_accesses() {
    let (instructions, cycles, _) = copy(base(CopyLoop::String, 8), 16, 60);
    assert_eq!((instructions, cycles), (2 + 2 + 1, 12 + 5 + 12));
}
