//! Consistency of the blocks of a recording.

use super::block::{BLOCK_WORDS_MAX, NUMBER_MAX, check_numbers, wrong_length, wrong_number};
use super::error;
use super::event::Event;
use super::metadata::{Detail, Metadata, Totals};
use super::word::{ACCESS_INSTRUCTIONS_MAX, INLINE_MAX, Word};
use crate::LineError;

/// State of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProcessState {
    #[default]
    NotBegun,
    Running,
    Ended,
}

/// State of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThreadState {
    #[default]
    Unseen,
    Outside,
    /// Between `call` and `return`.
    InRoutine,
}

/// Checks blocks in their order, and counts. It holds a byte per number of a thread or process, at most 8 MiB.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    has_accesses: bool,
    has_contents: bool,
    processes: Vec<ProcessState>,
    threads: Vec<ThreadState>,
    totals: Totals,
}

/// Sums of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sums {
    pub instructions: u64,
    /// Bytes of all accesses; 0 in a recording without contents.
    pub bytes: u32,
}

/// Sums of accesses.
#[derive(Clone, Copy, Debug, Default, derive_more::AddAssign)]
struct AccessSums {
    count: u64,
    stores: u64,
    instructions: u64,
}

impl AccessSums {
    /// Sums up to the first word that is no access, or that may pass the last address. Most words are accesses, so
    /// that this loop is apart and has few instructions.
    #[inline(never)]
    fn at_begin(words: &[u64]) -> AccessSums {
        let mut sums = AccessSums::default();
        for &bits in words {
            if bits >> 63 != 0 || bits & INLINE_MAX > INLINE_MAX - 127 {
                break;
            }
            sums.count += 1;
            sums.stores += bits >> 62;
            sums.instructions += bits >> 48 & ACCESS_INSTRUCTIONS_MAX;
        }
        sums
    }

    /// That of one word; `None` if it goes beyond the last address.
    fn of_word(bits: u64) -> Option<AccessSums> {
        let Ok(Word::Access(access)) = Word::from_bits(bits) else { return None };
        access.address.checked_add(access.bytes() - 1)?;
        Some(AccessSums { count: 1, stores: access.is_store.into(), instructions: access.instructions.into() })
    }
}

/// Bytes of words that are accesses.
fn bytes_of(words: &[u64]) -> u32 {
    words.iter().map(|bits| 1 << (bits >> 59 & 7)).sum()
}

/// The state of a number, which is at most [`NUMBER_MAX`].
fn state<T: Copy + Default>(states: &mut Vec<T>, number: u32) -> &mut T {
    let index = number as usize;
    if states.len() <= index {
        states.resize(index + 1, T::default());
    }
    &mut states[index]
}

impl Checker {
    /// Starts before the first block of a recording.
    pub fn new(metadata: &Metadata) -> Checker {
        Checker {
            has_accesses: metadata.detail == Detail::Accesses,
            has_contents: metadata.contents,
            processes: Vec::new(),
            threads: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// The totals so far.
    pub const fn totals(&self) -> Totals {
        self.totals
    }

    /// Counts a block of contents.
    pub const fn contents(&mut self) {
        self.totals.blocks += 1;
    }

    /// Checks a block of words. The error has the index of the word.
    pub fn words(&mut self, thread: u32, process: u32, words: &[u64]) -> Result<Sums, (usize, LineError)> {
        check_numbers(thread, process).map_err(|fault| (0, fault))?;
        if words.len() > BLOCK_WORDS_MAX {
            return Err((0, wrong_length("the number of words", words.len() as u32)));
        }
        let of_thread = state(&mut self.threads, thread);
        if *of_thread == ThreadState::Unseen {
            *of_thread = ThreadState::Outside;
            self.totals.threads += 1;
        }
        let mut of_process = *state(&mut self.processes, process);
        let (mut accesses, mut instructions, mut bytes) = (AccessSums::default(), 0_u64, 0);
        let mut index = 0;
        while let Some(&bits) = words.get(index) {
            if of_process == ProcessState::Running && bits >> 63 == 0 {
                if !self.has_accesses {
                    return Err((index, error::wrong("an access is in a recording whose `detail` is `faults`")));
                }
                let run = match AccessSums::at_begin(&words[index..]) {
                    AccessSums { count: 0, .. } => AccessSums::of_word(bits)
                        .ok_or_else(|| (index, error::wrong("the access goes beyond the last address, 2^64 - 1")))?,
                    run => run,
                };
                if self.has_contents {
                    bytes += bytes_of(&words[index..][..run.count as usize]);
                }
                accesses += run;
                index += run.count as usize;
                continue;
            }
            let word = Word::from_bits(bits).map_err(|fault| (index, fault.into()))?;
            if let Word::Event { number, further, first } = word {
                let operands = words.get(index + 1..).and_then(|rest| rest.get(..further.into()));
                let operands = operands.ok_or_else(|| (index, error::wrong("the block ends within an event")))?;
                let event = Event::of(number, first, operands).map_err(|fault| (index, fault))?;
                self.event(thread, process, event).map_err(|fault| (index, fault))?;
                of_process = *state(&mut self.processes, process);
                index += 1 + operands.len();
                continue;
            }
            if of_process != ProcessState::Running {
                return Err((index, not_running(process, of_process)));
            }
            if let Word::Instructions(count) = word {
                instructions += count;
            }
            index += 1;
        }
        instructions += accesses.instructions;
        let totals = &mut self.totals;
        totals.blocks += 1;
        totals.words += words.len() as u64;
        totals.loads += accesses.count - accesses.stores;
        totals.stores += accesses.stores;
        match totals.instructions.checked_add(instructions) {
            Some(sum) => totals.instructions = sum,
            None => return Err((0, error::value("the number of instructions", u64::MAX, "below 2^64"))),
        }
        Ok(Sums { instructions, bytes })
    }

    fn event(&mut self, thread: u32, process: u32, event: Event) -> Result<(), LineError> {
        match event {
            Event::Create { process } => return self.begin(process),
            Event::Time { .. } => return Ok(()),
            _ => {}
        }
        let of_process = state(&mut self.processes, process);
        if *of_process != ProcessState::Running {
            return Err(not_running(process, *of_process));
        }
        let of_thread = state(&mut self.threads, thread);
        match event {
            Event::Fork { process } => self.begin(process)?,
            Event::Exit => *of_process = ProcessState::Ended,
            Event::Call { .. } if *of_thread == ThreadState::InRoutine => {
                return Err(LineError::new("a `call` follows a `call` without `return`", error::ROUTINES));
            }
            Event::Call { .. } => *of_thread = ThreadState::InRoutine,
            Event::Return if *of_thread != ThreadState::InRoutine => {
                return Err(LineError::new("a `return` has no `call`", error::ROUTINES));
            }
            Event::Return => *of_thread = ThreadState::Outside,
            _ => {}
        }
        Ok(())
    }

    /// Begins a process.
    fn begin(&mut self, process: u32) -> Result<(), LineError> {
        if process > NUMBER_MAX {
            return Err(wrong_number("the process", process));
        }
        let of_process = state(&mut self.processes, process);
        if *of_process != ProcessState::NotBegun {
            return Err(LineError::new(format!("process {process} begins a second time"), error::PROCESSES));
        }
        *of_process = ProcessState::Running;
        self.totals.processes += 1;
        Ok(())
    }
}

fn not_running(process: u32, state: ProcessState) -> LineError {
    let state = if state == ProcessState::Ended { "ended" } else { "not begun" };
    LineError::new(format!("process {process} has words, but has {state}"), error::PROCESSES)
}
