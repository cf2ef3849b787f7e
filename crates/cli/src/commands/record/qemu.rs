//! The recorder `qemu`: qemu-user with the plugin of the crate `rowclone-record-qemu`.

use std::ffi::{OsStr, OsString};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use rowclone_config::Failure;
use trace_io::recording::executable::Executable;

use super::child::{self, Group, POLL};
use super::collector::{Block, Collector};
use super::progress::Progress;
use super::recorder::{found_in_path, install};
use super::{Output, Run, started};
use crate::args::RecordArgs;
use crate::interrupt;

/// The program of Debian's package `qemu-user`; the static one of `qemu-user-static` loads no plugins.
pub const PROGRAM: &str = "qemu-x86_64";
/// File of the plugin.
const PLUGIN: &str = "librowclone_record_qemu.so";
/// The processor: without fast string instructions, of which qemu would execute one instruction per byte.
const PROCESSOR: &str = "max,-erms,-fsrm";
/// Blocks that may wait for their compression.
const WAITING_BLOCKS: usize = 16;
/// What the recorder never sees.
const UNSEEN: [&str; 6] = [
    "The kernel's own accesses: page tables, zeroed pages, copies of pages. Copies of data and structures by system \
     calls are events.",
    "Copies by code that the compiler has put in place of a call of memcpy.",
    "The race of a copy event and the thread that waits for its data: the event follows its system call.",
    "Frames of signals, accesses of a program that a signal kills since its last system call, and memory of shmat.",
    "Times: system calls and page faults take none.",
    "Instructions that qemu executes by helpers have the accesses of the helpers.",
];

/// The plugin: that of the arguments, or the file beside this program.
///
/// # Errors
/// There is none.
pub fn plugin(args: &RecordArgs) -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.join(PLUGIN)));
    let path = args.plugin.clone().or(beside).unwrap_or_else(|| PathBuf::from(PLUGIN));
    std::fs::canonicalize(&path).map_err(|error| {
        let message = format!("the plugin of qemu, {}, cannot be used: {error}", path.display());
        Failure::new(message).with_help(
            "build it: `cargo build --release -p rowclone-record-qemu`; it is looked for beside rowclone-sim, or where \
             `--plugin PATH` says",
        )
    })
}

/// Path of the program `qemu-x86_64`.
///
/// # Errors
/// It is not installed.
pub fn program() -> Result<PathBuf, Failure> {
    found_in_path(OsStr::new(PROGRAM)).ok_or_else(|| install(PROGRAM, "qemu-user"))
}

/// Records a program.
///
/// # Errors
/// It cannot be started; an interruption.
pub fn record(args: &RecordArgs, output: Output) -> Result<Run, Failure> {
    let (qemu, plugin) = (program()?, plugin(args)?);
    let executable = executable(&args.program)?;
    let directory = tempfile::tempdir().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))?;
    let socket = directory.path().join("socket");
    let listener = UnixListener::bind(&socket).map_err(|error| Failure::writing(&socket, &error))?;
    let (blocks, received) = sync_channel(WAITING_BLOCKS);
    let collector = Collector::new(blocks);
    collector.listen(listener);

    let contents = if args.contents { "on" } else { "off" };
    let plugin = quoted(&plugin);
    let options = format!("{plugin},plugin={plugin},socket={},thread=1,process=1,contents={contents}", quoted(&socket));
    let mut command = Command::new(&qemu);
    command.args(["-cpu", PROCESSOR, "-seed", "1", "-plugin", &options, "-0"]);
    command.arg(&executable.first).arg(&executable.path).args(&executable.arguments);

    let stop = interrupt::flag();
    let progress = Progress::begin();
    let start = Instant::now();
    let mut group = Group::spawn(&mut command).map_err(|error| started(PROGRAM, &error))?;
    let writer = std::thread::spawn(move || write(output, &received));
    let ended = loop {
        let status = group.status().map_err(|error| started(PROGRAM, &error))?;
        if let Some(status) = status.filter(|_| collector.is_idle() || !collector.has_begun()) {
            break Ok(status);
        }
        if let Err(error) = Failure::if_raised(&stop) {
            // Processes that have left the group, such as servers in the background.
            collector.pids().into_iter().for_each(child::kill);
            break Err(error);
        }
        progress.show(collector.words.load(Ordering::Relaxed));
        std::thread::sleep(POLL);
    };
    let seconds = start.elapsed().as_secs_f64();
    let unseen = collector.finish();
    let output = writer.join().expect("the writer does not panic");
    let status = ended?;
    let mut output = output?;
    if !collector.has_begun() {
        let message = format!("{PROGRAM} ended with {status} before it ran {}", args.program[0].display());
        let help = "its message is above; the plugin needs qemu-user 7.2 to 8.2";
        return Err(Failure::new(message).with_help(help));
    }
    group.ended();
    output.unseen.extend(UNSEEN.map(str::to_owned));
    output.unseen.extend(unseen);
    Ok(Run { output, status, seconds })
}

/// Writes the blocks.
fn write(mut output: Output, blocks: &Receiver<Block>) -> Result<Output, Failure> {
    for Block { task, words, contents } in blocks {
        output.block(task, &words, &contents)?;
    }
    Ok(output)
}

/// A path in an option of qemu, in which a comma separates.
fn quoted(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

/// The program to start.
fn executable(program: &[OsString]) -> Result<Executable, Failure> {
    let (name, arguments) = program.split_first().expect("the command line has a program");
    let path = found_in_path(name);
    let executable = path.and_then(|path| Executable::of(path, name.clone(), arguments.to_vec()));
    let Some(executable) = executable else {
        let message = format!("{} cannot be executed: there is no such program", name.display());
        return Err(Failure::new(message).with_help("give the path of a program, or a name that the shell finds"));
    };
    if !executable.is_for_x86_64 {
        let message = format!("{} cannot be recorded by {PROGRAM}: it is no program for x86-64", name.display());
        return Err(Failure::new(message).with_help("try `--recorder perf`"));
    }
    Ok(executable)
}
