//! `record`: records a run of a program.

mod collector;
mod guest;
mod initramfs;
mod installed;
mod kernel_symbols;
mod lackey;
mod perf;
mod qemu;
mod root;
mod session;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

use rowclone_config::Failure;
use rowclone_sim::quantity::grouped;
use trace_io::recording::request::Task;
use trace_io::recording::{BlockOrder, Detail, Event, Metadata, Totals, Word};

use crate::args::{RecordArgs, Recorder};
use crate::child::{POLL, ProcessGroup, started};
use crate::recording::{RecordingFile, is_packed};
use crate::{interrupt, output};
use guest::GuestSetup;
use installed::{found_in_path, no_program};

/// Bytes of a page of the recorded machine.
const PAGE_BYTES: u64 = 4096;

/// A recording that is being written.
struct Output {
    file: RecordingFile,
    /// What the recorder could not observe.
    unseen: BTreeSet<String>,
    events: u64,
}

/// A recorded run of a program.
struct RecordedRun {
    output: Output,
    status: ExitStatus,
    /// Duration of the run in seconds.
    seconds: f64,
}

/// Records a program.
///
/// # Errors
/// There is no recorder, or no such program; the file exists or cannot be written; an interruption. Then no file is
/// written.
pub fn run(args: &RecordArgs) -> Result<ExitCode, Failure> {
    if let Some(kernel) = &args.guest.kernel {
        return run_guest(args, kernel);
    }
    let recorder = chosen(args)?;
    if found_in_path(&args.program[0]).is_none() {
        return Err(no_program(&args.program[0]));
    }
    if args.contents && recorder != Recorder::Qemu {
        let message = "`--contents` needs the recorder qemu";
        return Err(Failure::new(message).with_help("leave it out, or use `--recorder qemu`"));
    }
    let (name, detail, order) = match recorder {
        Recorder::Qemu => ("qemu-user with the plugin of rowclone-sim", Detail::Accesses, BlockOrder::SystemCalls),
        Recorder::Perf => ("perf, tracepoints of page faults", Detail::Faults, BlockOrder::SystemCalls),
        Recorder::Lackey => ("valgrind lackey", Detail::Accesses, BlockOrder::Processes),
    };
    let program = args.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let output = Output::new(args, program, name, detail, order)?;
    let run = match recorder {
        Recorder::Qemu => qemu::record(args, output)?,
        Recorder::Perf => perf::record(args, output)?,
        Recorder::Lackey => lackey::record(args, output)?,
    };
    complete(args, run, &args.program[0].to_string_lossy(), || plain_run(&args.program))
}

/// Records a guest.
fn run_guest(args: &RecordArgs, kernel: &Path) -> Result<ExitCode, Failure> {
    if args.contents {
        let message = "`--contents` cannot be used with `--kernel`: qemu shows addresses of a guest, and no bytes";
        return Err(Failure::new(message).with_help("leave it out"));
    }
    if args.recorder.is_some_and(|recorder| recorder != Recorder::Qemu) {
        return Err(Failure::new("only the recorder qemu records a guest").with_help("leave `--recorder` out"));
    }
    guest::available(args)?;
    let guest = GuestSetup::new(args, kernel)?;
    let name = "qemu-system with the plugin of rowclone-sim";
    let output = Output::new(args, guest.words(), name, Detail::Accesses, BlockOrder::SystemCalls)?;
    let run = guest.record(args, output)?;
    let program = args.program.first().map_or_else(|| kernel.to_string_lossy(), |program| program.to_string_lossy());
    complete(args, run, &program, || guest.plain_run())
}

/// Completes the file, and prints what was recorded. The exit code is that of the program.
fn complete(
    args: &RecordArgs,
    run: RecordedRun,
    program: &str,
    plain_run: impl FnOnce() -> Result<f64, Failure>,
) -> Result<ExitCode, Failure> {
    let RecordedRun { output, status, seconds } = run;
    let events = output.events;
    let metadata = output.finish()?;
    summarize(&metadata, events, args, seconds)?;
    if args.overhead {
        let plain = plain_run()?;
        output::message(&format!("overhead: {:.1} times the plain run of {plain:.3} s", seconds / plain));
    }
    if !status.success() {
        output::message(&format!("warning: {program} ended with {status}"));
    }
    Ok(ExitCode::from(crate::child::exit_code(status)))
}

impl Output {
    /// Begins the file, and prints the name of the recorder.
    fn new(
        args: &RecordArgs,
        program: Vec<String>,
        recorder: &str,
        detail: Detail,
        order: BlockOrder,
    ) -> Result<Output, Failure> {
        let metadata = Metadata {
            program,
            recorder: format!("{recorder}, rowclone-sim {}", env!("CARGO_PKG_VERSION")),
            detail,
            order,
            page_bytes: PAGE_BYTES,
            contents: args.contents,
            ..Metadata::default()
        };
        let level = is_packed(&args.output).then_some(args.level);
        let file = RecordingFile::create(&args.output, level, args.force, metadata)?;
        output::message(&format!("recording with {recorder}"));
        Ok(Output { file, unseen: BTreeSet::new(), events: 0 })
    }

    /// Adds a block of words, and the contents of its accesses if they are recorded.
    fn block(&mut self, task: Task, words: &[u64], contents: &[u8]) -> Result<(), Failure> {
        self.events += count_events(words);
        self.file.block(task.thread, task.process, words, Some(contents))
    }

    fn finish(self) -> Result<Metadata, Failure> {
        let Output { mut file, unseen, .. } = self;
        file.set_unseen(unseen.into_iter().collect());
        file.finish()
    }
}

/// Prints the totals of the recording.
fn summarize(metadata: &Metadata, events: u64, args: &RecordArgs, seconds: f64) -> Result<(), Failure> {
    let bytes = args.output.metadata().map_err(|error| Failure::reading(&args.output, &error))?.len();
    let Totals { instructions, loads, stores, processes, threads, .. } = metadata.totals;
    let [bytes_text, processes, threads, events] = [bytes, processes, threads, events].map(grouped);
    let path = args.output.display();
    output::message(&format!(
        "wrote {path}: {bytes_text} bytes, {processes} processes, {threads} threads, {events} events"
    ));
    if instructions > 0 {
        let [loads, stores] = [loads, stores].map(grouped);
        let instructions_text = grouped(instructions);
        output::message(&format!("{instructions_text} instructions, {loads} loads, {stores} stores"));
        let count = instructions as f64;
        let (bits, nanoseconds) = (8.0 * bytes as f64 / count, 1e9 * seconds / count);
        let time = match args.guest.kernel {
            Some(_) => "with what precedes the recording".to_owned(),
            None => format!("{nanoseconds:.1} ns per instruction"),
        };
        output::message(&format!("{bits:.3} bits per instruction, {seconds:.2} s, {time}"));
    } else {
        output::message(&format!("{seconds:.2} s"));
    }
    output::message("the recorder does not see:");
    for sentence in &metadata.unseen {
        output::message(&format!("  {sentence}"));
    }
    Ok(())
}

/// Duration of the program without recorder, in seconds. Its output is dropped, because the recorded run had its
/// effects.
fn plain_run(program: &[OsString]) -> Result<f64, Failure> {
    let stop = interrupt::flag();
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).stdout(Stdio::null()).stderr(Stdio::null());
    let name = program[0].to_string_lossy();
    let start = Instant::now();
    ProcessGroup::spawn(&mut command).map_err(|error| started(&name, &error))?.wait(&name, &stop, POLL / 10)?;
    Ok(start.elapsed().as_secs_f64())
}

/// The recorder of the arguments, or the first installed one; prints why those before it are not used.
///
/// # Errors
/// The recorder is not installed, or none is.
fn chosen(args: &RecordArgs) -> Result<Recorder, Failure> {
    if let Some(recorder) = args.recorder {
        available(recorder, args)?;
        return Ok(recorder);
    }
    let mut missing = Vec::new();
    for recorder in [Recorder::Qemu, Recorder::Perf, Recorder::Lackey] {
        match available(recorder, args) {
            Ok(()) => {
                for reason in missing {
                    output::message(&format!("not used: {reason}"));
                }
                return Ok(recorder);
            }
            Err(error) => missing.push(match error.help {
                Some(help) => format!("{}; {help}", error.message),
                None => error.message,
            }),
        }
    }
    Err(Failure::new("this machine has no recorder").with_help(missing.join("\n      ")))
}

/// Whether a recorder is installed.
fn available(recorder: Recorder, args: &RecordArgs) -> Result<(), Failure> {
    match recorder {
        Recorder::Qemu => qemu::program().and_then(|_| qemu::plugin(args)).map(drop),
        Recorder::Perf => perf::available(),
        Recorder::Lackey => lackey::available(),
    }
}

/// Adds an event to words.
fn push(words: &mut Vec<u64>, event: Event) {
    words.extend_from_slice(&event.words());
}

/// Events among the words of a block.
fn count_events(words: &[u64]) -> u64 {
    let (mut index, mut events) = (0, 0);
    while let Some(bits) = words.get(index) {
        index += 1;
        if let Ok(Word::Event { further, .. }) = Word::from_bits(*bits) {
            index += usize::from(further);
            events += 1;
        }
    }
    events
}
