//! The output of `perf script --show-task-events` for the tracepoints of page faults: faults, forks
//! and exits of processes, with their times.
//!
//! ```text
//! <command> <pid> [<cpu>] <time>: exceptions:page_fault_user: address=<address> ip=<ip> error_code=<code>
//! <command> <pid> [<cpu>] <time>: PERF_RECORD_FORK(<child>:<thread>):(<parent>:<thread>)
//! <command> <pid> [<cpu>] <time>: PERF_RECORD_EXIT(<pid>:<thread>):(<parent>:<thread>)
//! <command> <pid> [<cpu>] <time>: PERF_RECORD_COMM exec: <command>:<pid>/<thread>
//! ```
//!
//! The kernel's page faults have the name `page_fault_kernel`. Other names of commands and memory
//! maps hold no record. The command may contain blanks and colons. `<pid>` is a thread, or process
//! and thread as `<pid>/<thread>`.

use std::collections::BTreeMap;

use dram_spec::PhysicalAddress;
use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::batch::parser;
use super::format::{Addresses, Format, RecordTiming, Recorded};
use super::record::{Arrival, Event, OsEvent, Record};
use crate::LineError;
use crate::fields::Fields;
use crate::number::decimal;
use crate::number_field;
use crate::recording::FaultKind;

pub(super) static FORMAT: Format = Format {
    name: "perf",
    aliases: &[],
    extension: None,
    example: "sh 7 [001] 5.250000: exceptions:page_fault_user: address=0x7f00 ip=0x4010 error_code=0x6",
    timing: RecordTiming::Times,
    addresses: Addresses::Processes,
    recorded: Recorded::OsEvents,
    recognizes: |mut fields| {
        let event = PerfLine::split(fields.line()).map_or(&b""[..], |line| line.event);
        event.starts_with(FAULT) || event.starts_with(b"PERF_RECORD_") || is_without_code(event)
    },
    parser: || {
        let mut recording = Recording::default();
        parser(move |fields| recording.parse(fields))
    },
    write: None,
};

const LINE: &str = "`<command> <pid> [<cpu>] <time>: <event>: <fields>`, as perf script prints it without call graphs";
const EVENTS: &str = "exceptions:page_fault_user, exceptions:page_fault_kernel, or PERF_RECORD_ and FORK, EXIT, COMM, \
                      MMAP or MMAP2";
const TIME: &str = "seconds with 6 or 9 decimal places, a number not below the first of the trace";
const PID: &str = "a decimal number below 2^32, or two with a slash between them";
const TASKS: &str = "`(<pid>:<thread>):(<parent>:<thread>)`, decimal numbers below 2^32";
const CODE: &str = "0x6, 0x2 (a write to an absent page), 0x4, 0x14, 0x0, 0x10 (a read or fetch of one), 0x7 or 0x3 (a \
                    write to a write-protected page)";
const OPERANDS: &str = "`address=0x<address> ip=<ip> error_code=<code>`, a hexadecimal number below 2^64";
const FAULT: &[u8] = b"exceptions:page_fault_";

/// Maximum number of threads alive besides the first of each process, which bounds the memory of
/// the reader.
const THREADS_MAX: usize = 1 << 16;

/// Whether this is an event of `perf record -e page-faults` (or `minor-faults`, `major-faults`),
/// which prints a count before the name.
fn is_without_code(event: &[u8]) -> bool {
    memmem::find(event, b"-faults:").is_some()
}

/// Columns of a line.
struct PerfLine<'a> {
    process: &'a [u8],
    time: &'a [u8],
    /// Time in ns; `None` if it is out of range.
    nanoseconds: Option<u64>,
    event: &'a [u8],
}

impl<'a> PerfLine<'a> {
    /// Finds the columns: the first colon after a time ends the time. A command may contain colons.
    fn split(line: &'a [u8]) -> Option<PerfLine<'a>> {
        memchr_iter(b':', line).find_map(|colon| {
            let time = memrchr(b' ', &line[..colon])? + 1;
            let (seconds, rest) = number_field::long_decimal::<b'.'>(&line[time..])?;
            let dot = line.len() - rest.len();
            let (fraction, _) = number_field::long_decimal::<b':'>(&rest[1..])?;
            let unit = match colon - dot - 1 {
                6 => Some(1000),
                9 => Some(1),
                _ => None,
            };
            let nanoseconds = unit.and_then(|unit| seconds.checked_mul(1_000_000_000)?.checked_add(fraction * unit));
            let (before, last) = last_word(&line[..time])?;
            // The processor.
            let process = if last.ends_with(b"]") { last_word(before)?.1 } else { last };
            Some(PerfLine {
                process,
                time: &line[time..colon],
                nanoseconds,
                event: line[colon + 1..].trim_ascii_start(),
            })
        })
    }
}

/// The text before the last word, and the word.
fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_end();
    let start = memrchr(b' ', text).map_or(0, |blank| blank + 1);
    (!text.is_empty()).then(|| text.split_at(start))
}

/// Address and error code of a page fault.
fn operands_of(text: &[u8]) -> Option<(u64, &[u8])> {
    let (address, rest) = number_field::hex::<b' '>(text.strip_prefix(b"address=0x")?)?;
    let rest = rest.strip_prefix(b" ip=")?;
    let code = rest[memchr(b' ', rest)?..].strip_prefix(b" error_code=")?;
    Some((address, code))
}

fn pid(digits: &[u8]) -> Option<u32> {
    u32::try_from(decimal(digits)?).ok()
}

/// Two numbers with a separator between them.
fn pair(text: &[u8], separator: u8) -> Option<(u32, u32)> {
    let at = memchr(separator, text)?;
    Some((pid(&text[..at])?, pid(&text[at + 1..])?))
}

/// Process and thread of a fork or exit, and those of the parent.
fn tasks(text: &[u8]) -> Option<((u32, u32), (u32, u32))> {
    let inner = text.strip_prefix(b"(")?.strip_suffix(b")")?;
    let middle = memmem::find(inner, b"):(")?;
    Some((pair(&inner[..middle], b':')?, pair(&inner[middle + 3..], b':')?))
}

/// State of the reader.
#[derive(Debug, Default)]
struct Recording {
    /// First time above 0, in ns. Events that perf synthesizes for the state at the start of the
    /// recording have time 0.
    first: Option<u64>,
    /// Process of each thread that is alive and is not the first of its process.
    threads: BTreeMap<u32, u32>,
    /// Processes with such threads.
    processes: BTreeMap<u32, ThreadedProcess>,
}

/// A process with several threads.
#[derive(Debug, Default)]
struct ThreadedProcess {
    /// Threads that are alive, apart from the first.
    others: u32,
    /// Whether the first thread ended.
    first_ended: bool,
}

impl Recording {
    #[inline]
    fn parse(&mut self, fields: &mut Fields<'_>) -> Result<Option<Record>, LineError> {
        let text = fields.line();
        let Some(line) = PerfLine::split(text) else { return Fields::wrong(text, "line", LINE) };
        let arrival = self.arrival(&line)?;
        let event = line.event;
        let os = if let Some(fault) = event.strip_prefix(FAULT) {
            Some(self.fault(&line, fault)?)
        } else if let Some(text) = event.strip_prefix(b"PERF_RECORD_FORK") {
            let Some((child, parent)) = tasks(text) else { return Fields::wrong(text, "fork", TASKS) };
            self.fork(child, parent)?
        } else if let Some(text) = event.strip_prefix(b"PERF_RECORD_EXIT") {
            let Some((task, _)) = tasks(text) else { return Fields::wrong(text, "exit", TASKS) };
            self.exit(task)
        } else if let Some(text) = event.strip_prefix(b"PERF_RECORD_COMM exec: ") {
            let task = text.rsplit(|&byte| byte == b':').next().and_then(|task| pair(task, b'/'));
            let Some((pid, _)) = task else { return Fields::wrong(text, "pid", PID) };
            Some(OsEvent::Exec { pid })
        } else if [&b"COMM: "[..], b"MMAP ", b"MMAP2 "]
            .iter()
            .any(|name| event.strip_prefix(b"PERF_RECORD_").is_some_and(|event| event.starts_with(name)))
        {
            None
        } else if is_without_code(event) {
            return Err(LineError::new(
                "is a page fault without its error code, which distinguishes the first write of a page from a copy",
                "record `perf record -e exceptions:page_fault_user -e exceptions:page_fault_kernel -- PROGRAM`, and \
                 print it with `perf script --show-task-events`",
            ));
        } else {
            return Fields::wrong(event, "event", EVENTS);
        };
        Ok(os.map(|os| Record { arrival, event: Event::Os(os) }))
    }

    /// Time since the first of the trace.
    fn arrival(&mut self, line: &PerfLine<'_>) -> Result<Arrival, LineError> {
        let since_first = line.nanoseconds.and_then(|ns| match ns {
            0 => Some(0),
            _ => ns.checked_sub(*self.first.get_or_insert(ns))?.checked_mul(1000),
        });
        since_first.map_or_else(|| Fields::wrong(line.time, "time", TIME), |ps| Ok(Arrival::AtPicoseconds(ps)))
    }

    fn fault(&self, line: &PerfLine<'_>, fault: &[u8]) -> Result<OsEvent, LineError> {
        let named = fault.strip_prefix(b"user: ").or_else(|| fault.strip_prefix(b"kernel: "));
        let Some(operands) = named else { return Fields::wrong(line.event, "event", EVENTS) };
        let Some((address, code)) = operands_of(operands) else {
            return Fields::wrong(operands, "fault", OPERANDS);
        };
        let kind = match code {
            b"0x6" | b"0x2" => FaultKind::WriteAbsent,
            b"0x4" | b"0x14" | b"0x0" | b"0x10" => FaultKind::ReadAbsent,
            b"0x7" | b"0x3" => FaultKind::WriteProtected,
            _ => return Fields::wrong(code, "error_code", CODE),
        };
        let thread = pid(line.process).map(|thread| self.threads.get(&thread).copied().unwrap_or(thread));
        let Some(pid) = thread.or_else(|| pair(line.process, b'/').map(|(pid, _)| pid)) else {
            return Fields::wrong(line.process, "pid", PID);
        };
        Ok(OsEvent::Fault { pid, address: PhysicalAddress(address), kind })
    }

    /// A fork of a process, or of a thread, which holds no record.
    fn fork(&mut self, child: (u32, u32), parent: (u32, u32)) -> Result<Option<OsEvent>, LineError> {
        if child.0 != parent.0 {
            return Ok(Some(OsEvent::Fork { parent: parent.0, child: child.0 }));
        }
        if self.threads.len() == THREADS_MAX {
            let help = "record fewer processes: `perf record -- PROGRAM` follows the program and its children";
            return Err(LineError::new("starts more than 65536 threads at a time", help));
        }
        // A thread of this number whose exit was not recorded.
        let ended = self.threads.insert(child.1, child.0).and_then(|pid| self.leave(pid));
        self.processes.entry(child.0).or_default().others += 1;
        Ok(ended)
    }

    /// The end of a thread. The last one ends its process.
    fn exit(&mut self, (pid, thread): (u32, u32)) -> Option<OsEvent> {
        if let Some(pid) = self.threads.remove(&thread) {
            return self.leave(pid);
        }
        if pid != thread {
            return None;
        }
        match self.processes.get_mut(&pid) {
            Some(process) => {
                process.first_ended = true;
                None
            }
            None => Some(OsEvent::Exit { pid }),
        }
    }

    /// The end of a thread of `threads`.
    fn leave(&mut self, pid: u32) -> Option<OsEvent> {
        let process = self.processes.get_mut(&pid)?;
        process.others -= 1;
        if process.others > 0 {
            return None;
        }
        let process = self.processes.remove(&pid)?;
        process.first_ended.then_some(OsEvent::Exit { pid })
    }
}
