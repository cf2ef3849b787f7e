//! `record`: what it refuses, what it leaves behind, and a recording of a small program where qemu and the plugin are
//! there.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use trace_io::recording::{BlockEntry, Event, RecordingReader};

use crate::common::send;

const PROGRAM: &str = env!("CARGO_BIN_EXE_rowclone-sim");

fn record(folder: &TempDir, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).arg("record").args(arguments).current_dir(folder).output().unwrap()
}

fn files(folder: &TempDir) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// The number of a process in the file `pid`, once it is there.
fn written(folder: &TempDir) -> String {
    loop {
        match fs::read_to_string(folder.path().join("pid")) {
            Ok(pid) if pid.ends_with('\n') => return pid,
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Whether a process that sleeps unless it is killed has ended. Waits for the end of a process that was killed, which
/// may take a while.
fn has_ended(pid: &str) -> bool {
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let is_pending = |name| u64::from_str_radix(field(name), 16).is_ok_and(|signals| signals >> 8 & 1 == 1);
        match field("State:").chars().next() {
            None | Some('Z' | 'X') => return true,
            Some('S') if !is_pending("SigPnd:") && !is_pending("ShdPnd:") => return false,
            Some(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// The plugin of a debug or release build, if there is one and qemu is installed.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn plugin() -> Option<PathBuf> {
    let target = Path::new(PROGRAM).ancestors().nth(2)?;
    let builds = ["debug", "release"].map(|build| target.join(build).join("librowclone_record_qemu.so"));
    let plugin = builds.into_iter().find(|path| path.exists());
    let has_qemu = Command::new("qemu-x86_64").arg("--version").output().is_ok_and(|run| run.status.success());
    if plugin.is_none() || !has_qemu {
        eprintln!("skipped: needs qemu-user, and `cargo build --release -p rowclone-record-qemu`");
    }
    plugin.filter(|_| has_qemu)
}

#[test]
fn a_machine_without_recorders_is_told_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    let run = command.args(["record", "-o", "a.rct.zst", "--", "true"]).env("PATH", "").current_dir(&folder).output();
    let run = run.unwrap();
    let message = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(2), "{message}");
    for package in ["qemu-user", "linux-perf", "valgrind"] {
        assert!(message.contains(&format!("apt-get install {package}")), "{message}");
    }
    assert_eq!(files(&folder), 0);
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = record(&folder, &["-o", "a.rct.zst", "--", "no-such-program"]);
    let message = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{message}");
    // Without a recorder, that is the error.
    let named = "no-such-program cannot be executed: there is no such program";
    assert!(message.contains(named) || message.contains("has no recorder"), "{message}");
    assert_eq!(files(&folder), 0);
}

#[test]
fn forks_programs_and_the_exit_code_are_recorded() {
    let Some(plugin) = plugin() else { return };
    let folder = tempfile::tempdir().unwrap();
    let plugin = plugin.to_str().unwrap();
    let arguments = ["--recorder", "qemu", "--plugin", plugin, "-o", "a.rct.zst", "--contents"];
    let program = ["--", "sh", "-c", "(true); ls / >/dev/null; echo out; exit 3"];
    let run = record(&folder, &[&arguments[..], &program].concat());
    let message = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{message}");
    assert_eq!(run.stdout, b"out\n");
    assert!(message.contains("does not see"), "{message}");
    assert_eq!(files(&folder), 1);

    let mut reader = RecordingReader::new(File::open(folder.path().join("a.rct.zst")).unwrap()).unwrap().with_digest();
    assert_eq!(reader.metadata().program[..2], ["sh", "-c"]);
    let (mut forks, mut creates, mut exits, mut maps) = (0, 0, 0, 0);
    while let Some(block) = reader.next_block().unwrap() {
        for entry in block.entries() {
            match entry {
                BlockEntry::Event(Event::Fork { .. }) => forks += 1,
                BlockEntry::Event(Event::Create { .. }) => creates += 1,
                BlockEntry::Event(Event::Exit) => exits += 1,
                BlockEntry::Event(Event::Map { .. }) => maps += 1,
                _ => {}
            }
        }
    }
    // The shell, which forks twice; `ls` is a program. A shell may use `vfork` for it, which begins no process.
    assert!((1..=2).contains(&forks), "{forks} forks");
    assert_eq!(creates, 2);
    assert_eq!(exits, forks + creates);
    assert!(maps > 20, "{maps} maps");

    let mut verify = Command::new(PROGRAM);
    let verify = verify.args(["trace", "verify", "a.rct.zst"]).current_dir(&folder).output().unwrap();
    assert!(String::from_utf8_lossy(&verify.stdout).contains("loaded"), "{verify:?}");

    let again = record(&folder, &[&arguments[..], &program].concat());
    assert_eq!(again.status.code(), Some(2), "an existing file is kept");
    let absent = record(&folder, &["--plugin", plugin, "-o", "b.rct", "--", "no-such-program"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("no-such-program"));
    assert_eq!(files(&folder), 1);
}

#[test]
fn an_interruption_leaves_no_file_and_no_process() {
    let Some(plugin) = plugin() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["record", "--recorder", "qemu", "--plugin", plugin.to_str().unwrap(), "-o", "a.rct.zst", "--"]);
    // The program writes its process number, and sleeps in the background and in the foreground.
    command.args(["sh", "-c", "sleep 100 & echo $! >pid; sleep 100"]);
    let mut child = command.current_dir(&folder).stderr(Stdio::null()).spawn().unwrap();
    let pid = written(&folder);
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(files(&folder), 1, "the file `pid` alone");
    assert!(has_ended(&pid));
}

/// Programs that stand for qemu-system and busybox, a kernel, its symbols, and the plugin.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new(qemu: &str) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, script: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        program("qemu-system-x86_64", qemu);
        program("busybox", "echo sh");
        let addresses =
            "ffffffff81000000 T start_kernel\nffffffff81000010 T copy_page\nffffffff81000020 T clear_page_rep\n";
        for (name, text) in [("kernel", ""), ("plugin.so", ""), ("symbols", addresses)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Machine { folder }
    }

    fn record(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(["record", "--kernel", "kernel", "--plugin", "plugin.so", "-o", "a.rct.zst"]).args(arguments);
        command.env("PATH", self.folder.path()).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Records in vain; returns the message.
    fn refusal(&self, arguments: &[&str]) -> String {
        let before = files(&self.folder);
        let run = self.record(arguments).output().unwrap();
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!((run.status.code(), files(&self.folder)), (Some(2), before), "{message}");
        message
    }
}

#[test]
fn what_cannot_be_recorded_of_a_guest_is_named_with_a_remedy() {
    let machine = Machine::new("exit 1");
    for (arguments, name, remedy) in [
        (&["--contents"][..], "`--contents`", "leave it out"),
        (&["--recorder", "lackey"], "only the recorder qemu", "leave `--recorder` out"),
        (&["--initrd", "absent"], "absent", "spelling"),
        (&["--memory", "3GiB"], "3GiB", "`2GiB`"),
        (&["--", "no-applet"], "no-applet", "busybox --list"),
        (&["--", PROGRAM], "no static program", "-static"),
        (&["--symbols", "kernel"], "start_kernel", "--symbols"),
        (&["--symbols", "symbols", "--from", "nowhere"], "`nowhere`", "run_init_process"),
        (&["--symbols", "symbols"], "before it ran `start_kernel`", "above"),
        (&[], "qemu-system-x86_64 ended with exit status: 1", "above"),
    ] {
        let message = machine.refusal(arguments);
        assert!(message.contains(name) && message.contains(remedy), "{arguments:?}: {message}");
    }
    fs::remove_file(machine.folder.path().join("kernel")).unwrap();
    assert!(machine.refusal(&[]).contains("kernel: cannot be read"));
    fs::write(machine.folder.path().join("kernel"), "").unwrap();
    fs::remove_file(machine.folder.path().join("busybox")).unwrap();
    assert!(machine.refusal(&[]).contains("apt-get install busybox-static"));
    fs::remove_file(machine.folder.path().join("qemu-system-x86_64")).unwrap();
    assert!(machine.refusal(&[]).contains("apt-get install qemu-system-x86"));
    let symbols = Machine::new("exit 0").refusal(&[]);
    assert!(symbols.contains("did not show its symbols") && symbols.contains("CONFIG_KALLSYMS"), "{symbols}");
}

#[test]
fn an_interruption_of_a_guest_leaves_no_file_and_no_process() {
    let machine = Machine::new("echo $$ >pid; exec /bin/sleep 100");
    let before = files(&machine.folder);
    let mut child = machine.record(&["--symbols", "symbols"]).stderr(Stdio::null()).spawn().unwrap();
    let pid = written(&machine.folder);
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(files(&machine.folder), before + 1, "the file `pid` alone");
    assert!(has_ended(&pid));
}
