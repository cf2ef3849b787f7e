//! The connection of a thread to the process that writes the recording.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use trace_io::recording::request::{RecorderRequest, Reply, Task, read_reply};

/// Path of the socket on which the recorder listens.
pub static SOCKET: OnceLock<PathBuf> = OnceLock::new();

/// Number of the process that the program is; it changes at a fork.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether the process uses the memory of its parent: it is a child of `vfork`. In qemu it has a copy.
pub static SHARES_MEMORY: AtomicBool = AtomicBool::new(false);

/// The number of the process that the program is.
pub fn process() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}

/// Sets the number of the process that the program is.
pub fn set_process(process: u32) {
    PROCESS.store(process, Ordering::Relaxed);
}

/// The connection of a thread.
#[derive(Debug)]
pub struct Link {
    /// The socket, and its inode.
    stream: Option<(UnixStream, u64)>,
    /// Number of the thread; 0 before the recorder has given one.
    pub thread: u32,
}

impl Link {
    /// A thread without a connection.
    pub const fn new() -> Link {
        Link { stream: None, thread: 0 }
    }

    /// The thread and its process.
    pub fn task(&self) -> Task {
        Task { thread: self.thread, process: process() }
    }

    /// Ends the connection. The thread gets `thread` as its number, or a new one if that is 0.
    pub fn reset(&mut self, thread: u32) {
        *self = Link { stream: None, thread };
    }

    /// Begins the connection, unless it has begun.
    pub fn begin(&mut self) {
        // A program that closes all descriptors closes the socket too, and may use its number for a file.
        if let Some((stream, _)) = self.stream.take_if(|(stream, inode)| inode_of(stream).ok() != Some(*inode)) {
            // The descriptor is not the socket any longer: it is the program's to close.
            std::mem::forget(stream);
        }
        if self.stream.is_some() {
            return;
        }
        let connected = SOCKET.get().ok_or(io::ErrorKind::NotConnected.into()).and_then(UnixStream::connect);
        let inode = connected.as_ref().map_err(|error| io::Error::from(error.kind())).and_then(inode_of);
        match (connected, inode) {
            (Ok(stream), Ok(inode)) => self.stream = Some((stream, inode)),
            (Err(error), _) | (_, Err(error)) => give_up(&error),
        }
        let begin = RecorderRequest::Begin { task: self.task(), pid: std::process::id() };
        self.thread = self.exchange(&begin)[0] as u32;
    }

    /// Sends a request, and waits for the reply.
    pub fn request(&mut self, request: &RecorderRequest) -> Reply {
        self.begin();
        self.exchange(request)
    }

    fn exchange(&mut self, request: &RecorderRequest) -> Reply {
        let Some((stream, _)) = &mut self.stream else { return [0; 2] };
        match request.write(stream).and_then(|()| read_reply(stream)) {
            Ok(reply) => reply,
            Err(error) => give_up(&error),
        }
    }
}

fn inode_of(stream: &UnixStream) -> io::Result<u64> {
    fs::metadata(format!("/proc/self/fd/{}", stream.as_raw_fd())).map(|found| found.ino())
}

/// Ends the program: without the recorder it would run unrecorded.
#[expect(clippy::print_stderr, reason = "the plugin has no other way to tell")]
fn give_up(error: &io::Error) -> ! {
    eprintln!("rowclone-record-qemu: the recorder does not answer: {error}");
    std::process::exit(1)
}
