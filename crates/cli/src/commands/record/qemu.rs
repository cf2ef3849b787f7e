//! The recorder `qemu`: qemu-user with the plugin of the crate `rowclone-record-qemu`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use rowclone_config::Failure;
use trace_io::recording::executable::Executable;

use super::installed::{found_in_path, install, no_program};
use super::session::Session;
use super::{Output, RecordedRun};
use crate::args::RecordArgs;

/// The program of Debian's package `qemu-user`; the static one of `qemu-user-static` loads no plugins.
pub const PROGRAM: &str = "qemu-x86_64";
/// File of the plugin.
const PLUGIN: &str = "librowclone_record_qemu.so";
/// The processor: without fast string instructions, of which qemu would execute one instruction per byte.
pub const PROCESSOR: &str = "max,-erms,-fsrm";
/// Limits of the recorder.
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
/// The plugin does not exist.
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
pub fn record(args: &RecordArgs, output: Output) -> Result<RecordedRun, Failure> {
    let (qemu, plugin) = (program()?, plugin(args)?);
    let executable = executable(&args.program)?;
    let folder = tempfile::tempdir().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))?;
    let session = Session::begin(folder.path())?;
    let contents = if args.contents { "contents=on" } else { "contents=off" };
    let mut command = Command::new(&qemu);
    command.args(["-cpu", PROCESSOR, "-seed", "1", "-plugin", &session.plugin(&plugin, contents), "-0"]);
    command.arg(&executable.first).arg(&executable.path).args(&executable.arguments);
    let help =
        "its message is above; the plugin needs qemu-user 7.2 to 8.2, and is built with this version of rowclone-sim";
    let mut run = session.run(&mut command, output, PROGRAM, (&args.program[0].to_string_lossy(), help))?;
    run.output.unseen.extend(UNSEEN.map(str::to_owned));
    Ok(run)
}

/// The program to start.
fn executable(program: &[OsString]) -> Result<Executable, Failure> {
    let (name, arguments) = program.split_first().expect("the command line has a program");
    let path = found_in_path(name);
    let executable = path.and_then(|path| Executable::of(path, name.clone(), arguments.to_vec()));
    let executable = executable.ok_or_else(|| no_program(name))?;
    if !executable.is_for_x86_64 {
        let message = format!("{} cannot be recorded by {PROGRAM}: it is no program for x86-64", name.display());
        return Err(Failure::new(message).with_help("try `--recorder perf`"));
    }
    Ok(executable)
}
