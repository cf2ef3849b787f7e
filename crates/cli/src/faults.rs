//! Page faults of memory traces, as recordings.

use std::collections::BTreeMap;
use std::io::Read;

use rowclone_config::Failure;
use trace_io::recording::Event;
use trace_io::recording::request::Task;
use trace_io::trace::{self, Arrival, OsEvent};

/// End of user addresses; higher addresses are those of the kernel.
const USER_END: u64 = 1 << 47;
/// Data that a recording of page faults never has.
pub const UNSEEN: [&str; 3] = [
    "Accesses that cause no page fault.",
    "Whether a write to a write-protected page was a copy: the page may have had one reference.",
    "Calls of mmap, munmap and madvise, and the kernel's own accesses.",
];

/// Calls a function with the words of each block of a recording of page faults, forks and exits.
///
/// # Errors
/// Those of the function; those of the reader, as `refused` makes them.
pub fn blocks<R: Read>(
    reader: trace::TraceReader<R>,
    refused: impl Fn(trace_io::LineError) -> Failure,
    mut each: impl FnMut(Task, Vec<u64>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut numbers = Numbers::default();
    for record in reader {
        let record = record.map_err(&refused)?;
        let (trace::Event::Os(event), Arrival::AtPicoseconds(time)) = (record.event, record.arrival) else { continue };
        for (task, words) in numbers.words(event, time / 1000) {
            each(task, words)?;
        }
    }
    numbers.rest().map_or(Ok(()), |(task, words)| each(task, words))
}

/// Numbers of processes, and the current block of words.
#[derive(Debug, Default)]
struct Numbers {
    of_pid: BTreeMap<u32, u32>,
    count: u32,
    task: Option<Task>,
    words: Vec<u64>,
    /// Time of the last `time` in ns.
    time: Option<u64>,
}

/// Words after which a block is written.
const BLOCK_WORDS: usize = 1 << 15;

impl Numbers {
    /// The blocks that are complete with an event.
    fn words(&mut self, event: OsEvent, nanoseconds: u64) -> Vec<(Task, Vec<u64>)> {
        let mut blocks = Vec::new();
        let pid = match event {
            OsEvent::Fault { pid, .. } | OsEvent::Exec { pid } | OsEvent::Exit { pid } => pid,
            OsEvent::Fork { parent, .. } => parent,
        };
        let known = self.of_pid.get(&pid).copied();
        // The program itself, whose fork is that of perf.
        let process = match known {
            Some(process) => process,
            None => self.number(pid),
        };
        let task = Task { thread: process, process };
        if self.task != Some(task) || self.words.len() > BLOCK_WORDS {
            blocks.extend(self.rest());
            self.task = Some(task);
        }
        if self.time != Some(nanoseconds) {
            self.time = Some(nanoseconds);
            self.push(Event::Time { nanoseconds });
        }
        if known.is_none() {
            self.push(Event::Create { process });
        }
        match event {
            OsEvent::Fault { address, kind, .. } if address.0 < USER_END => {
                self.push(Event::Fault { kind, address: address.0 });
            }
            OsEvent::Fault { .. } => {}
            OsEvent::Fork { child, .. } => {
                let process = self.number(child);
                self.push(Event::Fork { process });
            }
            OsEvent::Exec { .. } => {
                if known.is_some() {
                    self.push(Event::Exit);
                    blocks.extend(self.rest());
                    let process = self.number(pid);
                    self.task = Some(Task { thread: process, process });
                    self.push(Event::Create { process });
                }
            }
            OsEvent::Exit { .. } => {
                self.push(Event::Exit);
                self.of_pid.remove(&pid);
            }
        }
        blocks
    }

    fn push(&mut self, event: Event) {
        self.words.extend(event.words());
    }

    /// A new number for a process.
    fn number(&mut self, pid: u32) -> u32 {
        self.count += 1;
        self.of_pid.insert(pid, self.count);
        self.count
    }

    /// The current block, if it has words.
    fn rest(&mut self) -> Option<(Task, Vec<u64>)> {
        let task = self.task.filter(|_| !self.words.is_empty())?;
        Some((task, std::mem::take(&mut self.words)))
    }
}
