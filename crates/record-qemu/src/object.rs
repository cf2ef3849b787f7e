//! Files, pipes and sockets.

use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use trace_io::recording::ObjectAddress;
use trace_io::recording::request::{Direction, RecorderRequest};

use crate::thread::Thread;

/// A file, pipe or socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    device: u64,
    inode: u64,
    /// Whether it has no offsets: a pipe, socket or terminal.
    is_stream: bool,
}

impl File {
    /// The kernel's own memory. No file has inode 0.
    pub const KERNEL: File = File { device: 0, inode: 0, is_stream: true };

    fn of(found: &Metadata) -> File {
        let kind = found.file_type();
        let is_stream = kind.is_fifo() || kind.is_socket() || kind.is_char_device();
        File { device: found.dev(), inode: found.ino(), is_stream }
    }

    /// The file of a path, if there is one.
    pub fn of_path(path: &str) -> Option<File> {
        fs::metadata(path).ok().as_ref().map(File::of)
    }

    /// The file of a descriptor, if it is open.
    pub fn of_descriptor(descriptor: u64) -> Option<File> {
        File::of_path(&path_of(descriptor))
    }
}

/// A path by which the file of a descriptor can be opened.
pub fn path_of(descriptor: u64) -> String {
    format!("/proc/self/fd/{}", descriptor as i32)
}

/// Offset at which a descriptor reads or writes next.
pub fn position(descriptor: u64) -> u64 {
    let path = format!("/proc/self/fdinfo/{}", descriptor as i32);
    let text = fs::read_to_string(Path::new(&path)).unwrap_or_default();
    let position = text.lines().find_map(|line| line.strip_prefix("pos:"));
    position.and_then(|position| position.trim().parse().ok()).unwrap_or(0)
}

/// The number that the recording has for a file, and the offset: the given one, or that of the next bytes of a stream.
pub fn number(thread: &Thread, file: File, stream: Option<(Direction, u64)>, offset: u64) -> ObjectAddress {
    let stream = stream.filter(|_| file.is_stream);
    let request = RecorderRequest::Object { device: file.device, inode: file.inode, stream };
    let [object, stream_offset] = thread.link().request(&request);
    ObjectAddress { object, address: if file.is_stream { stream_offset } else { offset } }
}
