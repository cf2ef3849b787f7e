//! The recorder `perf`: page faults, forks and exits with their times.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rowclone_config::Failure;
use trace_io::trace;

use super::installed::{found_in_path, install};
use super::{Output, RecordedRun};
use crate::args::RecordArgs;
use crate::child::started;
use crate::child::{POLL, ProcessGroup};
use crate::{faults, interrupt};

const PROGRAM: &str = "perf";
/// The tracepoints of page faults of x86.
const EVENTS: [&str; 4] = ["-e", "exceptions:page_fault_user", "-e", "exceptions:page_fault_kernel"];

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
pub fn record(args: &RecordArgs, mut output: Output) -> Result<RecordedRun, Failure> {
    let directory = tempfile::tempdir().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))?;
    let data = directory.path().join("perf.data");
    // Before the start: an interruption must end the program, too.
    let stop = interrupt::flag();
    let mut command = Command::new(PROGRAM);
    command.args(["record", "--quiet", "-o"]).arg(&data).args(EVENTS).arg("--").args(&args.program);
    let start = Instant::now();
    let mut group = ProcessGroup::spawn(&mut command).map_err(|error| started(PROGRAM, &error))?;
    let status = group.wait(PROGRAM, &stop, POLL)?;
    let seconds = start.elapsed().as_secs_f64();
    if !data.exists() {
        let message = format!("perf could not record {}: {status}", args.program[0].display());
        return Err(Failure::new(message).with_help("its message is above; is there such a program?"));
    }
    convert(&data, &mut output)?;
    group.ended();
    output.unseen.extend(faults::UNSEEN.map(str::to_owned));
    Ok(RecordedRun { output, status, seconds })
}

/// Writes the page faults of a file of perf.
fn convert(data: &Path, output: &mut Output) -> Result<(), Failure> {
    let mut command = Command::new(PROGRAM);
    command.args(["script", "--show-task-events", "-i"]).arg(data).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut script = ProcessGroup::spawn(&mut command).map_err(|error| started(PROGRAM, &error))?;
    let text = script.stdout().expect("standard output is a pipe");
    let refused = |error: trace_io::LineError| Failure::new(format!("perf script: {error}")).with_help(error.help());
    let reader = trace::TraceReader::new(text, trace::Format::named("perf")).map_err(refused)?;
    faults::blocks(reader, refused, |task, words| output.block(task, &words, &[]))?;
    script.ended();
    Ok(())
}
