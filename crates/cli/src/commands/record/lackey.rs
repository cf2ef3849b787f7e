//! The recorder `lackey`: a tool of valgrind that prints each instruction and access. Each process has a file of its
//! own.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rowclone_config::Failure;
use trace_io::recording::request::Task;
use trace_io::recording::{Event, MapFlags, MemoryAccess, ObjectAddress, Word};

use super::installed::{found_in_path, install};
use super::{Output, PAGE_BYTES, RecordedRun, push, started};
use crate::args::RecordArgs;
use crate::child::{POLL, ProcessGroup};
use crate::interrupt;

const PROGRAM: &str = "valgrind";
/// Words after which a block is written.
const BLOCK_WORDS: usize = 1 << 15;
/// Limits of the recorder.
const UNSEEN: [&str; 4] = [
    "The order of accesses of different processes, but for forks and exits.",
    "Accesses of a process between its fork and the program that it executes.",
    "The threads of a process: valgrind runs one at a time, and the recording has one.",
    "Memory that the program has when it begins, copies by system calls, and the kernel's own accesses.",
];

/// Whether valgrind is installed.
pub fn available() -> Result<(), Failure> {
    found_in_path(OsStr::new(PROGRAM)).map(drop).ok_or_else(|| install(PROGRAM, "valgrind"))
}

/// Records a program.
///
/// # Errors
/// It cannot be started; an interruption.
pub fn record(args: &RecordArgs, output: Output) -> Result<RecordedRun, Failure> {
    // Text of 20 bytes per instruction: beside the output, not in a small folder for temporary files.
    let folder = args.output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = tempfile::tempdir_in(folder).map_err(|error| Failure::writing(folder, &error))?;
    // Before the start: an interruption must end the program, too.
    let stop = interrupt::flag();
    let mut command = Command::new(PROGRAM);
    command.args(["--tool=lackey", "--trace-mem=yes", "--trace-children=yes", "--trace-syscalls=yes"]);
    command.arg(format!("--log-file={}/%p.log", directory.path().display())).args(&args.program);
    let start = Instant::now();
    let mut group = ProcessGroup::spawn(&mut command).map_err(|error| started(PROGRAM, &error))?;
    let pid = group.id();
    let status = group.wait(PROGRAM, &stop, POLL)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut conversion = Conversion { directory: directory.path(), output, processes: 1 };
    let first = ProcessFile::new(1);
    conversion.convert(pid, first, Begin::Create)?;
    group.ended();
    let mut output = conversion.output;
    output.unseen.extend(UNSEEN.map(str::to_owned));
    Ok(RecordedRun { output, status, seconds })
}

/// Origin of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    Create,
    Fork,
}

/// A process whose file is read.
#[derive(Debug)]
struct ProcessFile {
    task: Task,
    words: Vec<u64>,
    /// Instructions since the last word.
    instructions: u64,
    /// End of the memory that `brk` moves.
    end: u64,
}

impl ProcessFile {
    fn new(process: u32) -> ProcessFile {
        ProcessFile { task: Task { thread: process, process }, words: Vec::new(), instructions: 0, end: 0 }
    }

    /// Adds an access, of any size: words of powers of two.
    fn access(&mut self, is_store: bool, address: u64, bytes: u64) {
        let instructions = std::mem::take(&mut self.instructions);
        self.words.extend(MemoryAccess::words(is_store, address, bytes, instructions));
    }

    /// Adds an event, after the instructions before it.
    fn event(&mut self, event: Event) {
        let instructions = std::mem::take(&mut self.instructions);
        if instructions > 0 {
            self.words.push(Word::Instructions(instructions).bits());
        }
        push(&mut self.words, event);
    }

    fn map(&mut self, address: u64, bytes: u64, protection: u64, flags: u64) {
        /// `MAP_SHARED`.
        const SHARED: u64 = 1;
        /// `PROT_WRITE`.
        const WRITE: u64 = 2;
        let flags =
            MapFlags { is_writable: protection & WRITE != 0 || protection == 0, is_shared: flags & SHARED != 0 };
        let of = ObjectAddress { object: ObjectAddress::PROCESS, address: 0 };
        self.event(Event::Map { flags, address, bytes: bytes.next_multiple_of(PAGE_BYTES), of });
    }

    /// Adds the event of a system call: `SYSCALL[pid,thread](number) name ( arguments ) ... Success(0xresult)`.
    fn system_call(&mut self, line: &str) -> Option<()> {
        let (_, call) = line.split_once(") ")?;
        let (name, call) = call.split_once('(')?;
        let (arguments, result) = call.split_once(')')?;
        let result = result.split_once("Success(").and_then(|(_, result)| number(result.split_once(')')?.0))?;
        let arguments: Vec<u64> = arguments.split(',').filter_map(|argument| number(argument.trim())).collect();
        match (name.trim(), &arguments[..]) {
            ("sys_mmap", [_, bytes, protection, flags, ..]) => self.map(result, *bytes, *protection, *flags),
            ("sys_munmap", [address, bytes]) if *bytes > 0 => {
                self.event(Event::Unmap { address: *address, bytes: bytes.next_multiple_of(PAGE_BYTES) });
            }
            ("sys_madvise", [address, bytes, 4]) if *bytes > 0 => {
                self.event(Event::Discard { address: *address, bytes: bytes.next_multiple_of(PAGE_BYTES) });
            }
            ("sys_brk", _) => {
                let old = std::mem::replace(&mut self.end, result.next_multiple_of(PAGE_BYTES));
                if old != 0 && self.end > old {
                    self.map(old, self.end - old, 2, 0);
                } else if self.end < old {
                    self.event(Event::Unmap { address: self.end, bytes: old - self.end });
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// A decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Reads the files of all processes.
struct Conversion<'a> {
    directory: &'a Path,
    output: Output,
    /// Counters for new numbers.
    processes: u32,
}

impl Conversion<'_> {
    /// Reads the file of a process. A child is read where it is forked.
    fn convert(&mut self, pid: u32, mut process: ProcessFile, begin: Begin) -> Result<(), Failure> {
        let path = self.directory.join(format!("{pid}.log"));
        let Ok(file) = File::open(&path) else {
            self.output.unseen.insert("Processes of which valgrind wrote no file.".to_owned());
            return self.end(&mut process);
        };
        if begin == Begin::Create {
            process.event(Event::Create { process: process.task.process });
        }
        let mut lines = BufReader::with_capacity(1 << 20, file);
        let mut line = String::new();
        let mut is_head = true;
        while lines.read_line(&mut line).map_err(|error| Failure::reading(&path, &error))? > 0 {
            let text = line.trim_end();
            if is_head && !text.starts_with("==") {
                is_head = false;
                // The file of a forked child begins with the result of its fork; else the child has executed a program,
                // whose file has replaced its own.
                if begin == Begin::Fork && !text.starts_with(" -->") {
                    process.event(Event::Exit);
                    self.write(&mut process)?;
                    self.processes += 1;
                    process =
                        ProcessFile { task: Task { process: self.processes, ..process.task }, ..ProcessFile::new(0) };
                    process.event(Event::Create { process: self.processes });
                }
            }
            if let Some(access) = text.strip_prefix(" ") {
                if let Some((kind, (address, bytes))) = access.split_once(' ').and_then(|(kind, rest)| {
                    let (address, bytes) = rest.trim_start().split_once(',')?;
                    Some((kind, (u64::from_str_radix(address, 16).ok()?, bytes.parse().ok()?)))
                }) {
                    if kind != "S" {
                        process.access(false, address, bytes);
                    }
                    if kind != "L" {
                        process.access(true, address, bytes);
                    }
                }
            } else if text.starts_with("I ") {
                process.instructions += 1;
            } else if let Some((_, child)) = text.split_once(" created child ") {
                self.fork(&mut process, child.trim().parse().unwrap_or(0))?;
            } else if text.starts_with("SYSCALL[") {
                process.system_call(text);
            }
            if process.words.len() > BLOCK_WORDS {
                self.write(&mut process)?;
            }
            line.clear();
        }
        self.end(&mut process)
    }

    fn fork(&mut self, process: &mut ProcessFile, pid: u32) -> Result<(), Failure> {
        self.processes += 1;
        let child = ProcessFile { end: process.end, ..ProcessFile::new(self.processes) };
        process.event(Event::Fork { process: self.processes });
        self.write(process)?;
        self.convert(pid, child, Begin::Fork)
    }

    fn end(&mut self, process: &mut ProcessFile) -> Result<(), Failure> {
        process.event(Event::Exit);
        self.write(process)
    }

    fn write(&mut self, process: &mut ProcessFile) -> Result<(), Failure> {
        let words = std::mem::take(&mut process.words);
        if words.is_empty() { Ok(()) } else { self.output.block(process.task, &words, &[]) }
    }
}
