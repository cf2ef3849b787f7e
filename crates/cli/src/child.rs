//! The recorded program, or the recorder that runs it.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rowclone_config::Failure;
use rowclone_config::library::locked;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process in a group of its own. The group is killed when this is dropped before [`ProcessGroup::ended`].
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    has_ended: bool,
}

/// Groups that have not ended, for [`kill_all`].
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Kills all groups, before this program exits without dropping them.
pub fn kill_all() {
    locked(&GROUPS).iter().copied().for_each(kill_group);
}

/// Interval at which a process is asked whether it has ended.
pub const POLL: Duration = Duration::from_millis(10);

impl ProcessGroup {
    /// Starts a command in a group of its own.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<ProcessGroup> {
        // A process of another group that reads from the terminal would be stopped.
        if io::stdin().is_terminal() {
            command.stdin(Stdio::null());
        }
        let child = command.process_group(0).spawn()?;
        locked(&GROUPS).insert(child.id());
        Ok(ProcessGroup { child, has_ended: false })
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How the process, whose name in errors is `program`, ended, if it has.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn status(&mut self, program: &str) -> Result<Option<ExitStatus>, Failure> {
        self.child.try_wait().map_err(|error| Failure::new(format!("the state of {program} is unknown: {error}")))
    }

    /// Waits until the process, whose name in errors is `program`, has ended. `interval` is the polling interval.
    ///
    /// # Errors
    /// The system does not tell; an interruption, which raises `stop`.
    pub fn wait(&mut self, program: &str, stop: &AtomicBool, interval: Duration) -> Result<ExitStatus, Failure> {
        loop {
            if let Some(status) = self.status(program)? {
                return Ok(status);
            }
            Failure::if_raised(stop)?;
            std::thread::sleep(interval);
        }
    }

    /// Records that all its processes have ended, so that none is killed.
    pub fn ended(mut self) {
        self.has_ended = true;
    }

    /// Standard output of the process, if it is a pipe.
    pub fn stdout(&mut self) -> Option<std::process::ChildStdout> {
        self.child.stdout.take()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        locked(&GROUPS).remove(&self.child.id());
        if !self.has_ended {
            // Background processes of the group may remain after its first process.
            kill_group(self.child.id());
            let _ = self.child.wait();
        }
    }
}

/// The failure to start a program.
pub fn started(program: &str, error: &io::Error) -> Failure {
    Failure::new(format!("{program} cannot be started: {error}"))
}

/// Kills a process.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn kill_group(leader: u32) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// The exit code of a shell for a program that ended so: its own, or 128 plus the number of the signal.
pub fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
