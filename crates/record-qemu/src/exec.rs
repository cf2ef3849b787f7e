//! `execve`, of which qemu would run the new program without the plugin.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use trace_io::recording::executable::Executable;
use trace_io::recording::request::RecorderRequest;

use crate::link;
use crate::qemu;
use crate::thread::{HAS_CONTENTS, Thread};

/// Path of the plugin.
pub static PLUGIN: OnceLock<PathBuf> = OnceLock::new();

/// Executes the program of the system call `execve(path, arguments, environment)` under qemu with the plugin.
///
/// Returns if it cannot: the system call of the program then fails, or executes what is not recorded.
pub fn execute(thread: &Thread, [path, arguments, environment]: [u64; 3]) {
    let Ok(memory) = File::open("/proc/self/mem") else { return };
    let mut path = PathBuf::from(OsString::from_vec(string(&memory, path)));
    if path == Path::new("/proc/self/exe") {
        path = qemu::program();
    }
    let mut arguments = strings(&memory, arguments);
    let Some(first) = (if arguments.is_empty() { None } else { Some(arguments.remove(0)) }) else { return };
    let Some(program) = Executable::of(path, first, arguments) else { return };
    if !program.is_for_x86_64 {
        let text = format!("{} is no program for x86-64: it ran without recorder.", program.path.display());
        thread.link().request(&RecorderRequest::Unseen(text));
        return;
    }
    let (Ok(qemu), Some(plugin), Some(socket)) = (fs::read_link("/proc/self/exe"), PLUGIN.get(), link::SOCKET.get())
    else {
        return;
    };
    let task = thread.link().task();
    let shares_memory = link::SHARES_MEMORY.load(Ordering::Relaxed);
    let [process, _] = thread.link().request(&RecorderRequest::Exec { task, shares_memory });
    // A comma separates the arguments of a plugin.
    let quoted = |path: &Path| path.to_string_lossy().replace(',', ",,");
    let plugin = quoted(plugin);
    let contents = if HAS_CONTENTS.load(Ordering::Relaxed) { "on" } else { "off" };
    let plugin = format!(
        "{plugin},plugin={plugin},socket={},thread={},process={process},contents={contents}",
        quoted(socket),
        task.thread
    );
    let environment = strings(&memory, environment);
    let variables = environment.iter().filter_map(|variable| {
        let equals = variable.as_bytes().iter().position(|byte| *byte == b'=')?;
        let (name, value) = variable.as_bytes().split_at(equals);
        Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value[1..].to_vec())))
    });
    let mut command = Command::new(qemu);
    command.args(["-seed", "1", "-plugin", &plugin, "-0"]).arg(program.first).arg(&program.path);
    let error = command.args(program.arguments).env_clear().envs(variables).exec();
    failed(&program.path, &error)
}

/// The old process has ended in the recording.
#[expect(clippy::print_stderr, reason = "the plugin has no other way to tell")]
fn failed(path: &Path, error: &std::io::Error) -> ! {
    eprintln!("rowclone-record-qemu: {} cannot be executed: {error}", path.display());
    std::process::exit(126)
}

/// The bytes of a string in the program's memory.
fn string(memory: &File, address: u64) -> Vec<u8> {
    const PAGE: u64 = 4096;
    let mut bytes = Vec::new();
    let mut next = address.wrapping_add(qemu::base());
    loop {
        let mut part = vec![0; (PAGE - next % PAGE) as usize];
        if memory.read_exact_at(&mut part, next).is_err() {
            return bytes;
        }
        if let Some(end) = part.iter().position(|byte| *byte == 0) {
            bytes.extend_from_slice(&part[..end]);
            return bytes;
        }
        next += part.len() as u64;
        bytes.append(&mut part);
    }
}

/// The strings of an array of addresses that ends in 0, in the program's memory.
fn strings(memory: &File, array: u64) -> Vec<OsString> {
    let mut entry = [0; 8];
    let addresses = (0..).map_while(|index: u64| {
        memory.read_exact_at(&mut entry, array.wrapping_add(qemu::base()) + 8 * index).ok()?;
        Some(u64::from_le_bytes(entry)).filter(|address| *address != 0)
    });
    addresses.map(|address| OsString::from_vec(string(memory, address))).collect()
}
