//! The recorder `perf`: page faults, forks and exits with their times.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rowclone_config::Failure;
use trace_io::recording::request::Task;
use trace_io::recording::{Event, FaultKind};
use trace_io::trace::{self, Arrival, OsEvent};

use super::child::{Group, POLL};
use super::recorder::{found_in_path, install};
use super::{Output, Run, push, started};
use crate::args::RecordArgs;
use crate::interrupt;

const PROGRAM: &str = "perf";
/// The tracepoints of page faults of x86.
const EVENTS: [&str; 4] = ["-e", "exceptions:page_fault_user", "-e", "exceptions:page_fault_kernel"];
/// Address bits of the user half: above is the kernel's.
const USER_END: u64 = 1 << 47;
/// What the recorder never sees.
const UNSEEN: [&str; 3] = [
    "Accesses that cause no page fault.",
    "Whether a write to a write-protected page was a copy: the page may have had one reference.",
    "Calls of mmap, munmap and madvise, and the kernel's own accesses.",
];

/// Whether perf is installed, and may record page faults.
pub fn available() -> Result<(), Failure> {
    let path = found_in_path(OsStr::new(PROGRAM)).ok_or_else(|| install(PROGRAM, "linux-perf"))?;
    let tried = Command::new(path).args(["record", "-o", "/dev/null"]).args(EVENTS).args(["--", "true"]).output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(Failure::new("perf may not record page faults on this machine").with_help(
            "run as root, with `mount -t tracefs tracefs /sys/kernel/tracing` and a kernel with the tracepoints \
             exceptions:page_fault_user and exceptions:page_fault_kernel",
        )),
    }
}

/// Records a program.
///
/// # Errors
/// It cannot be started; an interruption; perf prints what cannot be read.
pub fn record(args: &RecordArgs, mut output: Output) -> Result<Run, Failure> {
    let directory = tempfile::tempdir().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))?;
    let data = directory.path().join("perf.data");
    let stop = interrupt::flag();
    let mut command = Command::new(PROGRAM);
    command.args(["record", "--quiet", "-o"]).arg(&data).args(EVENTS).arg("--").args(&args.program);
    let start = Instant::now();
    let mut group = Group::spawn(&mut command).map_err(|error| started(PROGRAM, &error))?;
    let status = loop {
        if let Some(status) = group.status().map_err(|error| started(PROGRAM, &error))? {
            break status;
        }
        Failure::if_raised(&stop)?;
        std::thread::sleep(POLL);
    };
    let seconds = start.elapsed().as_secs_f64();
    if !data.exists() {
        let message = format!("perf could not record {}: {status}", args.program[0].display());
        return Err(Failure::new(message).with_help("its message is above; is there such a program?"));
    }
    convert(&data, &mut output)?;
    group.ended();
    output.unseen.extend(UNSEEN.map(str::to_owned));
    Ok(Run { output, status, seconds })
}

/// Writes the page faults of a file of perf.
fn convert(data: &Path, output: &mut Output) -> Result<(), Failure> {
    let mut command = Command::new(PROGRAM);
    command.args(["script", "--show-task-events", "-i"]).arg(data).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut script = Group::spawn(&mut command).map_err(|error| started(PROGRAM, &error))?;
    let text = script.stdout().expect("standard output is a pipe");
    let refused = |error: trace::TraceError| Failure::new(format!("perf script: {error}")).with_help(error.help());
    let reader = trace::Reader::new(text, trace::Format::named("perf")).map_err(refused)?;
    let mut numbers = Numbers::default();
    for record in reader {
        let record = record.map_err(refused)?;
        let (trace::Event::Os(event), Arrival::AtPicoseconds(time)) = (record.event, record.arrival) else { continue };
        for (task, words) in numbers.words(event, time / 1000) {
            output.block(task, &words, &[])?;
        }
    }
    if let Some((task, words)) = numbers.rest() {
        output.block(task, &words, &[])?;
    }
    script.ended();
    Ok(())
}

/// Numbers of processes, and the words of a block that grows.
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
            push(&mut self.words, Event::Time { nanoseconds });
        }
        if known.is_none() {
            push(&mut self.words, Event::Create { process });
        }
        match event {
            OsEvent::Fault { address, kind, .. } if address.0 < USER_END => {
                let kind = match kind {
                    trace::FaultKind::ReadAbsent => FaultKind::AbsentRead,
                    trace::FaultKind::WriteAbsent => FaultKind::AbsentWrite,
                    trace::FaultKind::WriteProtected => FaultKind::ProtectedWrite,
                };
                push(&mut self.words, Event::Fault { kind, address: address.0 });
            }
            OsEvent::Fault { .. } => {}
            OsEvent::Fork { child, .. } => {
                let process = self.number(child);
                push(&mut self.words, Event::Fork { process });
            }
            OsEvent::Exec { .. } => {
                if known.is_some() {
                    push(&mut self.words, Event::Exit);
                    blocks.extend(self.rest());
                    let process = self.number(pid);
                    self.task = Some(Task { thread: process, process });
                    push(&mut self.words, Event::Create { process });
                }
            }
            OsEvent::Exit { .. } => {
                push(&mut self.words, Event::Exit);
                self.of_pid.remove(&pid);
            }
        }
        blocks
    }

    /// A new number for a process.
    fn number(&mut self, pid: u32) -> u32 {
        self.count += 1;
        self.of_pid.insert(pid, self.count);
        self.count
    }

    /// The block that grows, if it has words.
    fn rest(&mut self) -> Option<(Task, Vec<u64>)> {
        let task = self.task.filter(|_| !self.words.is_empty())?;
        Some((task, std::mem::take(&mut self.words)))
    }
}
