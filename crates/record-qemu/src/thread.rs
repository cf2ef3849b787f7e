//! The threads of the program: instructions executed, and words that the recorder does not have yet.
//!
//! Only its own thread changes a [`Thread`], so that relaxed atomic numbers suffice.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use trace_io::recording::request::{BYTES_MAX, RecorderRequest, WORDS_MAX};
use trace_io::recording::{Event, MemoryAccess, Word};

use crate::link::Link;
use crate::qemu;
use crate::routine::{Call, Span};

/// Words after which a thread sends them.
const CHUNK: usize = 1 << 15;
/// Words that a routine may have; one with more is not marked as a call.
const CALL_MAX: usize = WORDS_MAX - 64;
/// Bytes of contents after which a thread sends its words: there is room for one more access.
const CONTENTS_MAX: usize = BYTES_MAX - (1 << LOG2_BYTES_MAX);
/// Largest number of threads at a time.
const THREADS: usize = 1024;
/// Stands for no position in the words.
const NONE: usize = usize::MAX;
/// Log2 of the largest access of a word.
const LOG2_BYTES_MAX: u8 = 7;

/// Whether the contents of accesses are recorded.
pub static HAS_CONTENTS: AtomicBool = AtomicBool::new(false);

static ALL: [Thread; THREADS] = [const { Thread::new() }; THREADS];

/// A thread of the program, by the number of its virtual processor.
#[derive(Debug)]
#[repr(align(128))]
pub struct Thread {
    /// Instructions of the translation blocks before the current one; of a guest all instructions.
    before: AtomicU64,
    /// Instructions of the current translation block.
    block: AtomicU64,
    /// Address of the last string instruction that was repeated.
    repeated: AtomicU64,
    /// Instructions that words have counted.
    counted: AtomicU64,
    /// Number of words.
    length: AtomicUsize,
    /// Position of the last word, if it is an access.
    last: AtomicUsize,
    /// Position of the first word of the current routine.
    call: AtomicUsize,
    /// Number of bytes of contents.
    content_length: AtomicUsize,
    words: OnceLock<Box<[AtomicU64]>>,
    contents: OnceLock<Box<[AtomicU8]>>,
    /// Arguments of the current system call.
    arguments: [AtomicU64; 6],
    link: Mutex<Link>,
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            before: AtomicU64::new(0),
            block: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            counted: AtomicU64::new(0),
            length: AtomicUsize::new(0),
            last: AtomicUsize::new(NONE),
            call: AtomicUsize::new(NONE),
            content_length: AtomicUsize::new(0),
            words: OnceLock::new(),
            contents: OnceLock::new(),
            arguments: [const { AtomicU64::new(0) }; 6],
            link: Mutex::new(Link::new()),
        }
    }

    /// The thread of a virtual processor; the last of the table stands for all beyond it.
    #[inline]
    pub fn of(processor: u32) -> &'static Thread {
        &ALL[(processor as usize).min(THREADS - 1)]
    }

    /// The connection of the thread.
    pub fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the threads of the parent of a forked process, and gives the one thread of the process its number.
    pub fn forked(&self, thread: u32) {
        for other in &ALL {
            // The connection remains open if another thread of the parent was using it.
            if let Ok(mut link) = other.link.try_lock() {
                link.reset(0);
            }
            for number in [&other.before, &other.block, &other.counted] {
                number.store(0, Relaxed);
            }
            for number in [&other.length, &other.content_length] {
                number.store(0, Relaxed);
            }
        }
        self.link().reset(thread);
    }

    /// The number of instructions of a guest, which qemu counts.
    pub fn executed(&self) -> &AtomicU64 {
        &self.before
    }

    /// Leaves out the instructions executed so far.
    pub fn skip(&self) {
        self.counted.store(self.before.load(Relaxed), Relaxed);
    }

    /// Number of words.
    pub fn length(&self) -> usize {
        self.length.load(Relaxed)
    }

    /// Whether a routine has begun and not ended.
    pub fn is_in_call(&self) -> bool {
        self.call.load(Relaxed) != NONE
    }

    /// Begins a translation block.
    #[inline]
    pub fn begin_block(&self, instructions: u64) {
        self.before.store(self.before.load(Relaxed) + self.block.load(Relaxed), Relaxed);
        self.block.store(instructions, Relaxed);
    }

    /// Begins a translation block that ends with a repeated string instruction. All repetitions are one instruction.
    pub fn begin_repeated(&self, instructions: u64, address: u64) {
        self.begin_block(instructions);
        if self.repeated.swap(address, Relaxed) == address && instructions == 1 {
            self.before.store(self.before.load(Relaxed) - 1, Relaxed);
        }
    }

    fn words(&self) -> &[AtomicU64] {
        self.words.get_or_init(|| (0..WORDS_MAX).map(|_| AtomicU64::new(0)).collect())
    }

    /// Adds a word, for which there must be room.
    #[inline]
    fn push(&self, words: &[AtomicU64], word: u64) {
        let length = self.length.load(Relaxed);
        words[length].store(word, Relaxed);
        self.length.store(length + 1, Relaxed);
    }

    /// Adds an access of an instruction: the first of its translation block is 1. Those of a guest that have been
    /// executed since are subtracted.
    #[inline]
    pub fn access(&self, position: u64, is_store: bool, address: u64, log2_bytes: u8) {
        let words = self.words();
        let position = self.before.load(Relaxed).wrapping_add(position);
        // When qemu writes or reads the frame of a signal, it may report an instruction that was executed before.
        let counted = self.counted.load(Relaxed);
        let instructions = position.saturating_sub(counted);
        self.counted.store(position.max(counted), Relaxed);
        if instructions == 0 && self.extend(words, is_store, address, log2_bytes) {
            return self.read_contents(address, log2_bytes);
        }
        let (before, instructions) = MemoryAccess::split(instructions);
        if before > 0 {
            self.push(words, Word::Instructions(before).bits());
        }
        self.last.store(self.length.load(Relaxed), Relaxed);
        self.push(words, Word::Access(MemoryAccess { is_store, address, log2_bytes, instructions }).bits());
        self.read_contents(address, log2_bytes);
        let length = self.length.load(Relaxed);
        let is_full = length >= CALL_MAX || self.content_length.load(Relaxed) >= CONTENTS_MAX;
        if is_full || length >= CHUNK && self.call.load(Relaxed) == NONE {
            self.send();
        }
    }

    /// The load that precedes the store of an atomic instruction, of which qemu reports only the store if the program
    /// has several threads.
    pub fn access_atomic(&self, position: u64, address: u64, log2_bytes: u8) {
        let last = self.last.load(Relaxed);
        let load = MemoryAccess { is_store: false, address, log2_bytes, instructions: 0 };
        let is_last = self.words().get(last).is_some_and(|word| match Word::from_bits(word.load(Relaxed)) {
            Ok(Word::Access(access)) => MemoryAccess { instructions: 0, ..access } == load,
            _ => false,
        });
        let is_same = self.before.load(Relaxed) + position == self.counted.load(Relaxed);
        if !(is_last && is_same) {
            self.access(position, false, address, log2_bytes);
        }
    }

    /// Adds an access to the word before, if both are of one instruction, adjacent, and of one size: qemu divides
    /// accesses of more than 8 bytes, and repeats string instructions.
    fn extend(&self, words: &[AtomicU64], is_store: bool, address: u64, log2_bytes: u8) -> bool {
        let last = self.last.load(Relaxed);
        if last == NONE || last + 1 != self.length.load(Relaxed) {
            return false;
        }
        let mut next = MemoryAccess { is_store, address, log2_bytes, instructions: 0 };
        let mut position = last;
        let mut extended = false;
        // Two halves that have become one may be a half themselves.
        while let Ok(Word::Access(before)) = Word::from_bits(words[position].load(Relaxed)) {
            let is_half = before.is_store == is_store && before.log2_bytes == next.log2_bytes;
            let is_adjacent = before.address.wrapping_add(before.bytes()) == next.address;
            if !is_half || !is_adjacent || next.log2_bytes >= LOG2_BYTES_MAX {
                break;
            }
            next = MemoryAccess { log2_bytes: before.log2_bytes + 1, ..before };
            words[position].store(Word::Access(next).bits(), Relaxed);
            self.last.store(position, Relaxed);
            self.length.store(position + 1, Relaxed);
            extended = true;
            if next.instructions > 0 || position == 0 {
                break;
            }
            position -= 1;
        }
        extended
    }

    /// Adds the bytes of an access.
    #[inline]
    fn read_contents(&self, address: u64, log2_bytes: u8) {
        if !HAS_CONTENTS.load(Relaxed) {
            return;
        }
        let contents = self.contents.get_or_init(|| (0..BYTES_MAX).map(|_| AtomicU8::new(0)).collect());
        let length = self.content_length.load(Relaxed);
        for byte in 0..1 << log2_bytes {
            contents[length + byte].store(qemu::accessed_byte(address + byte as u64), Relaxed);
        }
        self.content_length.store(length + (1 << log2_bytes), Relaxed);
    }

    /// Adds an event.
    pub fn event(&self, event: Event) {
        let words = self.words();
        for word in event.words() {
            self.push(words, word);
        }
        self.last.store(NONE, Relaxed);
        if self.length.load(Relaxed) >= CHUNK {
            self.send();
        }
    }

    /// Begins a routine.
    pub fn begin_call(&self) {
        self.call.store(self.length.load(Relaxed), Relaxed);
    }

    /// Ends the current routine, if there is one, and marks its words as a call if they are one.
    #[inline]
    pub fn end_call(&self) {
        if self.call.load(Relaxed) != NONE {
            self.mark_call();
        }
    }

    fn mark_call(&self) {
        let start = self.call.swap(NONE, Relaxed);
        let words = self.words_from(start);
        if let Some(call) = Call::of(&accesses(&words), qemu::accessed_byte) {
            self.mark(start, call, &words, &[]);
        }
    }

    /// Ends the current routine of a guest's kernel, and marks its words if they copy or clear a page. Words in some
    /// ranges of positions are those of interrupts; they then follow the routine.
    pub fn end_page_call(&self, of_interrupts: &[Range<usize>]) {
        let start = self.call.swap(NONE, Relaxed);
        let is_of_interrupt = |at: usize| of_interrupts.iter().any(|range| range.contains(&at));
        let words = self.words_from(start).into_iter().zip(start..);
        let (others, own): (Vec<_>, Vec<_>) = words.partition(|(_, at)| is_of_interrupt(*at));
        let [own, others] = [own, others].map(|words| words.into_iter().map(|(word, _)| word).collect::<Vec<_>>());
        if let Some(call) = Call::of_page(&accesses(&own)) {
            self.mark(start, call, &own, &others);
        }
    }

    /// The words from a position on.
    fn words_from(&self, start: usize) -> Vec<u64> {
        self.words()[start..self.length.load(Relaxed)].iter().map(|word| word.load(Relaxed)).collect()
    }

    /// Replaces the words from a position on by those of a call, with its marks, and others behind it.
    fn mark(&self, start: usize, Call { routine, dst, bytes }: Call, own: &[u64], others: &[u64]) {
        self.length.store(start, Relaxed);
        let (call, end) = (Event::Call { routine, dst, bytes }.words(), Event::Return.words());
        for word in call.iter().chain(own).chain(&end).chain(others) {
            self.push(self.words(), *word);
        }
        self.last.store(NONE, Relaxed);
        if self.length.load(Relaxed) >= CHUNK {
            self.send();
        }
    }

    /// Counts the instructions that were executed since the last word, and sends all words.
    pub fn flush(&self) {
        let position = self.before.load(Relaxed) + self.block.load(Relaxed);
        let instructions = position.wrapping_sub(self.counted.swap(position, Relaxed));
        if instructions > 0 {
            self.push(self.words(), Word::Instructions(instructions).bits());
        }
        self.send();
    }

    /// Sends all words. A routine that has begun is not marked.
    pub fn send(&self) {
        self.call.store(NONE, Relaxed);
        self.last.store(NONE, Relaxed);
        let length = self.length.swap(0, Relaxed);
        let mut words = vec![0; length];
        for (word, kept) in words.iter_mut().zip(self.words()) {
            *word = kept.load(Relaxed);
        }
        let contents = self.contents.get().map_or(&[][..], |contents| &contents[..]);
        let contents = &contents[..self.content_length.swap(0, Relaxed)];
        let contents = contents.iter().map(|byte| byte.load(Relaxed)).collect();
        let mut link = self.link();
        // Before the words: it gives the thread its number.
        link.begin();
        if !words.is_empty() {
            let task = link.task();
            link.request(&RecorderRequest::Words { task, words, contents });
        }
    }

    /// Keeps the arguments of a system call until it returns.
    pub fn set_arguments(&self, arguments: [u64; 6]) {
        for (kept, argument) in self.arguments.iter().zip(arguments) {
            kept.store(argument, Relaxed);
        }
    }

    /// The arguments of the current system call.
    pub fn arguments(&self) -> [u64; 6] {
        std::array::from_fn(|index| self.arguments[index].load(Relaxed))
    }
}

/// The accesses among words.
fn accesses(words: &[u64]) -> impl Iterator<Item = (bool, Span)> + Clone {
    words.iter().filter_map(|word| match Word::from_bits(*word) {
        Ok(Word::Access(access)) => Some((access.is_store, Span::of(access))),
        _ => None,
    })
}
