//! Consistency of the blocks of a recording.

use super::block::{BLOCK_WORDS_MAX, NUMBER_MAX, check_numbers};
use super::error::RecordingFault;
use super::event::Event;
use super::metadata::{Detail, Totals};
use super::word::Word;

/// State of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Process {
    #[default]
    NotBegun,
    Running,
    Ended,
}

/// State of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Thread {
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
    processes: Vec<Process>,
    threads: Vec<Thread>,
    totals: Totals,
}

/// Sums of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sums {
    pub instructions: u64,
    /// Bytes of all accesses.
    pub bytes: u32,
}

/// Sums of accesses.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    count: u64,
    stores: u64,
    bytes: u64,
    instructions: u64,
}

impl Accesses {
    /// Those before the first word that is none, or that goes beyond the last address. Most words are accesses, so
    /// that this loop is apart.
    #[inline(never)]
    fn at_begin(words: &[u64]) -> Accesses {
        let mut sums = Accesses::default();
        for &bits in words {
            let Ok(Word::Access(access)) = Word::from_bits(bits) else { break };
            if access.address > u64::MAX - (access.bytes() - 1) {
                break;
            }
            sums.count += 1;
            sums.stores += u64::from(access.is_store);
            sums.bytes += access.bytes();
            sums.instructions += u64::from(access.instructions);
        }
        sums
    }

    const fn add(&mut self, other: &Accesses) {
        self.count += other.count;
        self.stores += other.stores;
        self.bytes += other.bytes;
        self.instructions += other.instructions;
    }
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
    /// Starts before the first block of a recording of this detail.
    pub fn new(detail: Detail) -> Checker {
        let has_accesses = detail == Detail::Accesses;
        Checker { has_accesses, processes: Vec::new(), threads: Vec::new(), totals: Totals::default() }
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
    pub fn words(&mut self, thread: u32, process: u32, words: &[u64]) -> Result<Sums, (usize, RecordingFault)> {
        check_numbers(thread, process).map_err(|fault| (0, fault))?;
        if words.len() > BLOCK_WORDS_MAX {
            return Err((0, RecordingFault::length("the number of words", words.len() as u32)));
        }
        let of_thread = state(&mut self.threads, thread);
        if *of_thread == Thread::Unseen {
            *of_thread = Thread::Outside;
            self.totals.threads += 1;
        }
        let mut of_process = *state(&mut self.processes, process);
        let (mut accesses, mut instructions) = (Accesses::default(), 0_u64);
        let mut index = 0;
        while let Some(&bits) = words.get(index) {
            if of_process == Process::Running && bits >> 63 == 0 {
                if !self.has_accesses {
                    return Err((index, RecordingFault::AccessAmongFaults));
                }
                let run = Accesses::at_begin(&words[index..]);
                if run.count == 0 {
                    return Err((index, RecordingFault::PastTheEnd));
                }
                accesses.add(&run);
                index += run.count as usize;
                continue;
            }
            let word = Word::from_bits(bits).map_err(|fault| (index, fault.into()))?;
            if let Word::Event { number, further, first } = word {
                let operands = words.get(index + 1..).and_then(|rest| rest.get(..further.into()));
                let operands = operands.ok_or((index, RecordingFault::SplitEvent))?;
                let event = Event::of(number, first, operands).map_err(|fault| (index, fault.into()))?;
                self.event(thread, process, event).map_err(|fault| (index, fault))?;
                of_process = *state(&mut self.processes, process);
                index += 1 + operands.len();
                continue;
            }
            if of_process != Process::Running {
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
            None => return Err((0, RecordingFault::value("the number of instructions", u64::MAX, "below 2^64"))),
        }
        Ok(Sums { instructions, bytes: accesses.bytes as u32 })
    }

    fn event(&mut self, thread: u32, process: u32, event: Event) -> Result<(), RecordingFault> {
        match event {
            Event::Create { process } => return self.begin(process),
            Event::Time { .. } => return Ok(()),
            _ => {}
        }
        let of_process = state(&mut self.processes, process);
        if *of_process != Process::Running {
            return Err(not_running(process, *of_process));
        }
        let of_thread = state(&mut self.threads, thread);
        match event {
            Event::Fork { process } => self.begin(process)?,
            Event::Exit => *of_process = Process::Ended,
            Event::Call { .. } if *of_thread == Thread::InRoutine => return Err(RecordingFault::NestedCall),
            Event::Call { .. } => *of_thread = Thread::InRoutine,
            Event::Return if *of_thread != Thread::InRoutine => return Err(RecordingFault::ReturnWithoutCall),
            Event::Return => *of_thread = Thread::Outside,
            _ => {}
        }
        Ok(())
    }

    /// Begins a process.
    fn begin(&mut self, process: u32) -> Result<(), RecordingFault> {
        if process > NUMBER_MAX {
            return Err(RecordingFault::number("the process", process));
        }
        let of_process = state(&mut self.processes, process);
        if *of_process != Process::NotBegun {
            return Err(RecordingFault::BeginsTwice { process });
        }
        *of_process = Process::Running;
        self.totals.processes += 1;
        Ok(())
    }
}

fn not_running(process: u32, state: Process) -> RecordingFault {
    RecordingFault::NotRunning { process, ended: state == Process::Ended }
}
