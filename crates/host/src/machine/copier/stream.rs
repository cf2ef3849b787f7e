//! The instructions of copy loops, as streams for the core.

use dram_spec::PhysicalAddress;
use trace_io::program::{InstructionClass, Needs};

use super::super::core::Work;
use super::super::counters::Purpose;
use super::super::memory::{Access, LoadOrStore, OnMiss, StoreData};
use super::super::settings::{CopyLoop, KernelSettings, LoopSettings, StringStores};

/// Integer instructions of an iteration besides loads and stores: three additions, a comparison and a branch.
const ITERATION_INSTRUCTIONS: u64 = 5;
/// Integer instructions of an iteration that loads lines of a block: two additions, a comparison and a branch.
const STEP_INSTRUCTIONS: u64 = 4;
/// Bytes of an iteration of the AVX2 loop: four registers, as in the C library of GNU.
const AVX2_UNROLL: u64 = 128;
/// Bytes of a register of AVX2.
const AVX2_BYTES: u64 = 32;
/// Bytes of an iteration of the other loops.
const UNROLL: u64 = 64;
/// Bytes of a floating-point register, which moves integers of 64 bits.
const FLOAT_BYTES: u64 = 8;
/// Bytes of a string instruction that are made into instructions of the core at a time.
const STRING_PART: u64 = 64;

/// Instructions of a loop, in program order.
#[derive(Debug, Default)]
struct LoopStream {
    works: Vec<Work>,
    /// Number of instructions.
    count: u64,
    line_bytes: u64,
}

/// The loads of a word, of which there are two if it lies in two lines.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    /// Number of the first of them in the stream.
    first: u64,
    parts: u64,
}

impl LoopStream {
    fn new(line_bytes: u64) -> LoopStream {
        LoopStream { line_bytes, ..LoopStream::default() }
    }

    /// The first part of a range that lies in a line.
    fn part(&self, start: PhysicalAddress, bytes: u64) -> u64 {
        bytes.min(self.line_bytes - start.0 % self.line_bytes)
    }

    fn access(&mut self, access: (PhysicalAddress, u64, LoadOrStore), class: InstructionClass, after: [u16; 2]) {
        let ((address, bytes, kind), purpose) = (access, Purpose::KernelCopy);
        let access = Access { address, bytes, kind, purpose, on_miss: OnMiss::Allocate };
        self.works.push(Work::Instruction { access, needs: Needs { class, after } });
        self.count += 1;
    }

    /// Loads a word.
    fn load(&mut self, class: InstructionClass, src: PhysicalAddress, bytes: u64) -> Loaded {
        let (first, part) = (self.count, self.part(src, bytes));
        self.access((src, part, LoadOrStore::Load), class, [0; 2]);
        if part < bytes {
            self.access((PhysicalAddress(src.0 + part), bytes - part, LoadOrStore::Load), class, [0; 2]);
        }
        Loaded { first, parts: self.count - first }
    }

    /// Stores a loaded word, whose bytes lie at `src` in memory.
    fn store(
        &mut self,
        class: InstructionClass,
        (dst, src, bytes): (PhysicalAddress, PhysicalAddress, u64),
        loaded: Loaded,
        kind: impl Fn(StoreData) -> LoadOrStore,
    ) {
        let mut at = 0;
        while at < bytes {
            let start = PhysicalAddress(dst.0 + at);
            let part = self.part(start, bytes - at);
            let distance = |number: u64| (self.count - number) as u16;
            let second = if loaded.parts > 1 { distance(loaded.first + 1) } else { 0 };
            let after = [distance(loaded.first), second];
            self.access((start, part, kind(StoreData::CopyOf(PhysicalAddress(src.0 + at)))), class, after);
            at += part;
        }
    }

    /// Instructions without memory access.
    fn integers(&mut self, count: u64) {
        self.works.push(Work::Run { count, purpose: Purpose::KernelCopy });
        self.count += count;
    }
}

/// String instructions: those of the string loops, and the tail of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings {
    copy_loop: CopyLoop,
    word_bytes: u64,
    settings: LoopSettings,
    line_bytes: u64,
}

impl Strings {
    pub(super) const fn of(settings: &KernelSettings, line_bytes: u64) -> Strings {
        let KernelSettings { copy_loop, word_bytes, loops, .. } = *settings;
        Strings { copy_loop, word_bytes, settings: loops, line_bytes }
    }

    /// Whether a string instruction moves some bytes in long words.
    pub(super) fn is_fast(&self, bytes: u64) -> bool {
        match self.copy_loop {
            CopyLoop::RepMovsb => true,
            CopyLoop::FastString => bytes >= u64::from(self.settings.fast_string_min_bytes),
            _ => false,
        }
    }

    /// Core cycles before the first word.
    pub(super) fn start(&self, is_fast: bool) -> u64 {
        u64::from(if is_fast { self.settings.fast_string_start_cycles } else { self.settings.string_start_cycles })
    }

    /// Whether a second string instruction moves the bytes that are left.
    pub(super) fn starts_again(&self) -> bool {
        self.copy_loop != CopyLoop::RepMovsb
    }

    /// The next words, and their bytes; none without a whole word.
    pub(super) fn words(
        &self,
        is_fast: bool,
        src: PhysicalAddress,
        dst: PhysicalAddress,
        bytes: u64,
    ) -> (Vec<Work>, u64) {
        let word =
            if is_fast { u64::from(self.settings.fast_string_bytes) } else { self.word_bytes }.min(self.line_bytes);
        let (load, store) = classes(is_fast);
        let mut stream = LoopStream::new(self.line_bytes);
        let mut at = 0;
        while at < STRING_PART && at + word <= bytes {
            let (from, to) = (PhysicalAddress(src.0 + at), PhysicalAddress(dst.0 + at));
            let loaded = stream.load(load, from, word);
            let is_line = to.0.is_multiple_of(self.line_bytes) && at + self.line_bytes <= bytes;
            if is_fast && is_line && self.settings.fast_string_stores == StringStores::NoFetch {
                // The line takes its place with the first word; the next words find it.
                stream.store(store, (to, from, self.line_bytes), loaded, LoadOrStore::WholeLine);
            } else {
                stream.store(store, (to, from, word), loaded, LoadOrStore::Store);
            }
            at += word;
        }
        (stream.works, at)
    }

    /// The last bytes, fewer than a word: one by one, or all at once where a fast string instruction moves them.
    pub(super) fn bytes(&self, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> Vec<Work> {
        let is_fast = self.copy_loop == CopyLoop::RepMovsb;
        let (word, (load, store)) = (if is_fast { bytes.max(1) } else { 1 }, classes(is_fast));
        let mut stream = LoopStream::new(self.line_bytes);
        for at in (0..bytes).step_by(word as usize) {
            let (from, to) = (PhysicalAddress(src.0 + at), PhysicalAddress(dst.0 + at));
            let loaded = stream.load(load, from, word);
            stream.store(store, (to, from, word), loaded, LoadOrStore::Store);
        }
        stream.works
    }
}

/// Classes of the loads and stores of a string instruction.
const fn classes(is_fast: bool) -> (InstructionClass, InstructionClass) {
    if is_fast {
        (InstructionClass::Load, InstructionClass::Store)
    } else {
        (InstructionClass::StringLoad, InstructionClass::StringStore)
    }
}

/// The unrolled body of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    copy_loop: CopyLoop,
    settings: LoopSettings,
    unroll: u64,
    /// Bytes of a register.
    word: u64,
    line_bytes: u64,
}

impl Body {
    /// The body of the loop; none of a loop without one.
    pub(super) fn of(settings: &KernelSettings, line_bytes: u64) -> Option<Body> {
        let loops = settings.loops;
        let (word, unroll) = match settings.copy_loop {
            CopyLoop::Integer => (settings.word_bytes, UNROLL),
            CopyLoop::FloatBlock => (FLOAT_BYTES, UNROLL),
            CopyLoop::SimdBlock | CopyLoop::NonTemporalBlock => (u64::from(loops.simd_bytes), UNROLL),
            CopyLoop::Avx2 => (AVX2_BYTES, AVX2_UNROLL),
            _ => return None,
        };
        let word = word.min(line_bytes);
        // An iteration has whole words, and with stores of lines whole lines, whichever loop the settings were made
        // for.
        let least = if settings.copy_loop == CopyLoop::NonTemporalBlock { line_bytes } else { word };
        let unroll = loops.unroll_bytes.map_or(unroll, u64::from).max(least);
        Some(Body { copy_loop: settings.copy_loop, settings: loops, unroll, word, line_bytes })
    }

    /// Bytes of an iteration.
    pub(super) const fn unroll(&self) -> u64 {
        self.unroll
    }

    /// Whether the body copies a range, and not the tail alone.
    pub(super) fn takes(&self, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> bool {
        let is_aligned = match self.copy_loop {
            CopyLoop::FloatBlock => src.0.is_multiple_of(FLOAT_BYTES) && dst.0.is_multiple_of(FLOAT_BYTES),
            CopyLoop::NonTemporalBlock => dst.0.is_multiple_of(self.line_bytes),
            _ => true,
        };
        is_aligned && bytes >= u64::from(self.settings.loop_min_bytes).max(self.unroll)
    }

    /// Bytes of the next block of the source that is loaded before it is copied; `None` in a loop without blocks,
    /// and at the end of the source.
    pub(super) fn block(&self, bytes: u64) -> Option<u64> {
        let has_blocks =
            matches!(self.copy_loop, CopyLoop::FloatBlock | CopyLoop::SimdBlock | CopyLoop::NonTemporalBlock);
        let block = bytes.min(u64::from(self.settings.block_bytes));
        (has_blocks && block >= u64::from(self.settings.block_step_bytes).max(self.unroll)).then_some(block)
    }

    /// Loads of the lines of a block, as far as it consists of whole steps.
    pub(super) fn load_block(&self, src: PhysicalAddress, block: u64) -> Vec<Work> {
        let (step, mut stream) = (u64::from(self.settings.block_step_bytes), LoopStream::new(self.line_bytes));
        for start in (0..block / step).map(|number| number * step) {
            for line in (0..step).step_by(self.line_bytes as usize) {
                stream.load(InstructionClass::Load, PhysicalAddress(src.0 + start + line), 1);
            }
            stream.integers(STEP_INSTRUCTIONS);
        }
        stream.works
    }

    /// An iteration.
    pub(super) fn iteration(&self, src: PhysicalAddress, dst: PhysicalAddress, bytes: u64) -> Vec<Work> {
        let mut stream = LoopStream::new(self.line_bytes);
        let places: Vec<u64> = (0..self.unroll / self.word).map(|number| number * self.word).collect();
        match self.copy_loop {
            CopyLoop::Integer => {
                self.touch(&mut stream, src, bytes);
                places.chunks(2).for_each(|pair| self.words(&mut stream, (src, dst), pair, false));
            }
            CopyLoop::FloatBlock => self.words(&mut stream, (src, dst), &places, true),
            CopyLoop::NonTemporalBlock => self.lines(&mut stream, src, dst),
            _ => self.words(&mut stream, (src, dst), &places, false),
        }
        stream.integers(ITERATION_INSTRUCTIONS);
        stream.works
    }

    /// Loads a byte of each line that the next iterations load first, as far as the source has it.
    fn touch(&self, stream: &mut LoopStream, src: PhysicalAddress, bytes: u64) {
        let distance = self.settings.touch_bytes.map_or(self.line_bytes, u64::from);
        if distance == 0 {
            return;
        }
        for line in (0..self.unroll).step_by(self.line_bytes as usize) {
            if distance + line < bytes {
                stream.load(InstructionClass::Load, PhysicalAddress(src.0 + distance + line), 1);
            }
        }
    }

    /// Loads words at some places, and then stores them, if `is_reversed` in reverse order.
    fn words(
        &self,
        stream: &mut LoopStream,
        (src, dst): (PhysicalAddress, PhysicalAddress),
        places: &[u64],
        is_reversed: bool,
    ) {
        let is_float = self.copy_loop == CopyLoop::FloatBlock;
        let (load, store) = if is_float {
            (InstructionClass::FloatLoad, InstructionClass::FloatStore)
        } else {
            (InstructionClass::Load, InstructionClass::Store)
        };
        let from = |place: u64| PhysicalAddress(src.0 + place);
        let mut loaded: Vec<(u64, Loaded)> =
            places.iter().map(|&place| (place, stream.load(load, from(place), self.word))).collect();
        if is_reversed {
            loaded.reverse();
        }
        for (place, it) in loaded {
            let to = PhysicalAddress(dst.0 + place);
            stream.store(store, (to, from(place), self.word), it, LoadOrStore::Store);
        }
    }

    /// Loads the words of each line, and then stores the line past the caches.
    fn lines(&self, stream: &mut LoopStream, src: PhysicalAddress, dst: PhysicalAddress) {
        for line in (0..self.unroll).step_by(self.line_bytes as usize) {
            let from = PhysicalAddress(src.0 + line);
            let places = (0..self.line_bytes).step_by(self.word as usize);
            let loads: Vec<Loaded> = places
                .map(|place| stream.load(InstructionClass::Load, PhysicalAddress(from.0 + place), self.word))
                .collect();
            // The store of the last word completes the line; those of the words before take a slot.
            if loads.len() > 1 {
                stream.integers(loads.len() as u64 - 1);
            }
            let last = *loads.last().expect("a line has words");
            let to = PhysicalAddress(dst.0 + line);
            stream.store(InstructionClass::Store, (to, from, self.line_bytes), last, LoadOrStore::NonTemporal);
        }
    }
}
