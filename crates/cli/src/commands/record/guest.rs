//! The recorder of a guest: qemu-system with the plugin of the crate `rowclone-record-qemu`.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use rowclone_config::Failure;
use tempfile::TempDir;

use super::installed::{found_in_path, install};
use super::kernel_symbols::KernelSymbols;
use super::session::Session;
use super::{Output, RecordedRun, qemu, root, started};
use crate::args::{GuestArgs, RecordArgs};
use crate::child::{POLL, ProcessGroup};
use crate::{interrupt, output};

/// The program of Debian's package `qemu-system-x86`.
const PROGRAM: &str = "qemu-system-x86_64";
/// Words of the kernel's command line before those of the user: a console, fixed addresses of the kernel, and an end of
/// qemu after a panic.
const COMMAND_LINE: &str = "console=ttyS0 nokaslr panic=-1";
/// Limits of the recorder.
const UNSEEN: [&str; 7] = [
    "Processes: addresses are physical, and all accesses are those of process 1, the memory of the guest.",
    "Page table walks of the processor, and instruction fetches.",
    "Copies by other routines than the kernel's copy and clearing of a page: they are loads and stores.",
    "Which of the accesses within a marked routine are those of an interrupt: they follow the routine.",
    "Routines of another process that runs before an interrupted one goes on: they are not marked.",
    "Transfers of devices.",
    "Times: the guest's clock advances by 1 ns per instruction, and idle time takes none.",
];

/// A prepared guest.
#[derive(Debug)]
pub struct GuestSetup<'args> {
    args: &'args GuestArgs,
    program: &'args [OsString],
    kernel: &'args Path,
    folder: TempDir,
    /// The initial RAM disk that boots the guest.
    initrd: PathBuf,
}

/// Checks that the machine has the programs and files for a recording of a guest.
///
/// # Errors
/// A program, a file or the plugin is missing.
pub fn available(args: &RecordArgs) -> Result<(), Failure> {
    found_in_path(OsStr::new(PROGRAM)).ok_or_else(|| install(PROGRAM, "qemu-system-x86"))?;
    qemu::plugin(args).map(drop)
}

impl GuestSetup<'_> {
    /// Prepares a guest: its kernel and its initial RAM disk.
    ///
    /// # Errors
    /// A file cannot be read; busybox or the program cannot run in the guest.
    pub fn new<'args>(args: &'args RecordArgs, kernel: &'args Path) -> Result<GuestSetup<'args>, Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))?;
        for path in [Some(kernel), args.guest.initrd.as_deref()].into_iter().flatten() {
            fs::File::open(path).map_err(|error| Failure::reading(path, &error))?;
        }
        let initrd = match &args.guest.initrd {
            Some(path) => path.clone(),
            None => write(folder.path(), "initrd", &root::of_program(&args.program)?)?,
        };
        Ok(GuestSetup { args: &args.guest, program: &args.program, kernel, folder, initrd })
    }

    /// The command line of qemu, with an initial RAM disk and the words of the kernel's command line. The second serial
    /// port is a file, which this returns.
    fn command(&self, initrd: &Path, words: &str) -> (Command, PathBuf) {
        let port = self.folder.path().join("port");
        let mut command = Command::new(PROGRAM);
        command.args(["-accel", "tcg,thread=single", "-cpu", qemu::PROCESSOR, "-smp", "1", "-seed", "1"]);
        // Time by instructions, so that a slow recorder does not let more time pass in the guest.
        command.args(["-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm"]);
        command.args(["-nodefaults", "-display", "none", "-no-reboot", "-m", &format!("{}M", self.args.memory >> 20)]);
        command.arg("-kernel").arg(self.kernel).arg("-initrd").arg(initrd);
        let append = self.args.append.as_deref().unwrap_or_default();
        command.args(["-append", format!("{COMMAND_LINE} {words} {append}").trim_end()]);
        command.args(["-serial", "stdio", "-serial"]).arg(format!("file:{}", port.display()));
        (command, port)
    }

    /// The symbols of the kernel: those of the file, or those that the kernel shows after a boot.
    fn symbols(&self) -> Result<KernelSymbols, Failure> {
        if let Some(path) = &self.args.symbols {
            let text = fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
            return Ok(KernelSymbols::of(&text));
        }
        output::message("booting the kernel for its symbols");
        let initrd = write(self.folder.path(), "symbols", &root::of_command("cat /proc/kallsyms >/dev/ttyS1")?)?;
        let (mut command, port) = self.command(&initrd, "quiet");
        boot(command.stdin(Stdio::null()).stdout(Stdio::null()))?;
        let text = fs::read_to_string(&port).unwrap_or_default();
        if text.is_empty() {
            let message = format!("{} did not show its symbols", self.kernel.display());
            let help = "it needs CONFIG_KALLSYMS, CONFIG_DEVTMPFS and CONFIG_SERIAL_8250; or give its System.map by \
                        `--symbols FILE`";
            return Err(Failure::new(message).with_help(help));
        }
        Ok(KernelSymbols::of(&text))
    }

    /// Records the guest from its boot to its power-off.
    ///
    /// # Errors
    /// It cannot be started, or does not reach the start of the recording; an interruption.
    pub fn record(&self, args: &RecordArgs, output: Output) -> Result<RecordedRun, Failure> {
        let symbols = self.symbols()?;
        let mut options = format!("memory={},begin={:x}", self.args.memory, symbols.address(&self.args.from)?);
        for routine in symbols.page_routines()? {
            let _ = write!(options, ",routine={:x}-{:x}", routine.start, routine.end);
        }
        let session = Session::begin(self.folder.path())?;
        let (mut command, port) = self.command(&self.initrd, "");
        command.arg("-plugin").arg(session.plugin(&qemu::plugin(args)?, &options));
        let begin = format!("`{}` of {}", self.args.from, self.kernel.display());
        let help = "its messages and the guest's console are above; the plugin needs qemu 7.2 to 8.2, and is built \
                    with this version of rowclone-sim";
        let mut run = session.run(&mut command, output, PROGRAM, (&begin, help))?;
        run.output.unseen.extend(UNSEEN.map(str::to_owned));
        if self.args.initrd.is_none() {
            run.status = program_status(&port)?;
        }
        Ok(run)
    }

    /// Duration of the guest without recorder, in seconds. Its output is dropped, because the recorded run printed the
    /// same.
    ///
    /// # Errors
    /// It cannot be started; an interruption.
    pub fn plain_run(&self) -> Result<f64, Failure> {
        let (mut command, _) = self.command(&self.initrd, "");
        let start = Instant::now();
        boot(command.stdin(Stdio::null()).stdout(Stdio::null()))?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Description of the guest: kernel, command line, and program.
    pub fn words(&self) -> Vec<String> {
        let name = self.kernel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = COMMAND_LINE.split(' ').chain(self.args.append.iter().flat_map(|words| words.split_whitespace()));
        let program = self.program.iter().map(|word| word.to_string_lossy().into_owned());
        let separator = (!self.program.is_empty()).then(|| "--".to_owned());
        std::iter::once(name).chain(line.map(str::to_owned)).chain(separator).chain(program).collect()
    }
}

/// Runs a guest that is not recorded.
fn boot(command: &mut Command) -> Result<(), Failure> {
    let stop = interrupt::flag();
    let mut group = ProcessGroup::spawn(command).map_err(|error| started(PROGRAM, &error))?;
    let status = group.wait(PROGRAM, &stop, POLL)?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("{PROGRAM} ended with {status}")).with_help("its message is above"))
}

/// The exit code of the program, which the first program of the guest has written to a serial port.
fn program_status(port: &Path) -> Result<ExitStatus, Failure> {
    let text = fs::read_to_string(port).map_err(|error| Failure::reading(port, &error))?;
    let code: i32 = text
        .trim()
        .parse()
        .map_err(|_| Failure::new("the guest ended before its program").with_help("its console is above"))?;
    Ok(ExitStatus::from_raw(code << 8))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(|error| Failure::writing(&path, &error))?;
    Ok(path)
}
