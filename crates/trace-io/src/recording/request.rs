//! Requests of a program under a recorder to the process that writes its recording.
//!
//! Each thread has a connection of its own. It sends a request, and waits for the reply of two numbers.

use std::io::{self, ErrorKind, Read, Write};

/// Greatest number of words in a request.
pub const WORDS_MAX: usize = 1 << 18;

/// Greatest number of bytes in a request.
pub const BYTES_MAX: usize = 1 << 22;

/// Numbers in the head of a request.
const HEAD: usize = 7;

/// Reply to a request. Its meaning depends on the request.
pub type Reply = [u64; 2];

/// A thread of a process, by the numbers of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    /// Number of the thread; 0 in a [`Request::Begin`] that asks for a number.
    pub thread: u32,
    /// Number of the process.
    pub process: u32,
}

/// Direction of bytes that pass through a pipe or a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The process reads them.
    In,
    /// The process writes them.
    Out,
}

/// A request of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The first request of a connection. The reply is the number of the thread.
    Begin {
        /// The thread.
        task: Task,
        /// Number of the process in the system.
        pid: u32,
    },
    /// Words that the thread executed, and the contents of their accesses. The reply has no meaning.
    Words {
        /// The thread.
        task: Task,
        /// At most [`WORDS_MAX`] words.
        words: Vec<u64>,
        /// At most [`BYTES_MAX`] bytes.
        contents: Vec<u8>,
    },
    /// The thread is about to fork. The reply has the numbers of the thread and of the process of the child.
    Fork {
        /// The thread.
        task: Task,
        /// Whether the child uses the memory of its parent, as that of `vfork`.
        shares_memory: bool,
    },
    /// The thread waits until a child that uses its memory has ended or executes another program.
    AwaitChild {
        /// Number of the thread of the child.
        thread: u32,
    },
    /// The thread is about to execute another program. The reply has the number of its new process.
    Exec {
        /// The thread.
        task: Task,
        /// Whether another thread uses the memory of the process.
        shares_memory: bool,
    },
    /// The process ends, or the fork of this child failed.
    End {
        /// The thread.
        task: Task,
        /// Whether another thread uses the memory of the process.
        shares_memory: bool,
    },
    /// A file, pipe or socket is about to be named by an event. The reply is its number, and the offset of the bytes.
    Object {
        /// Number of its device.
        device: u64,
        /// Number of its inode.
        inode: u64,
        /// Direction and number of the bytes of a pipe or socket, whose offset the recorder counts.
        stream: Option<(Direction, u64)>,
    },
    /// Something that the recorder could not see: a sentence of the metadata.
    Unseen(String),
}

impl Request {
    /// Writes the request.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let of = |task: &Task| u64::from(task.thread) | u64::from(task.process) << 32;
        let no_words: &[u64] = &[];
        let no_bytes: &[u8] = &[];
        let (kind, task, operands, words, bytes) = match self {
            Request::Begin { task, pid } => (1, of(task), [u64::from(*pid), 0], no_words, no_bytes),
            Request::Words { task, words, contents } => (2, of(task), [0; 2], &words[..], &contents[..]),
            Request::Fork { task, shares_memory } => (3, of(task), [u64::from(*shares_memory), 0], no_words, no_bytes),
            Request::AwaitChild { thread } => (4, u64::from(*thread), [0; 2], no_words, no_bytes),
            Request::Exec { task, shares_memory } => (5, of(task), [u64::from(*shares_memory), 0], no_words, no_bytes),
            Request::End { task, shares_memory } => (6, of(task), [u64::from(*shares_memory), 0], no_words, no_bytes),
            Request::Object { device, inode, stream } => {
                let (direction, bytes) = match stream {
                    None => (0, 0),
                    Some((Direction::In, bytes)) => (1, *bytes),
                    Some((Direction::Out, bytes)) => (2, *bytes),
                };
                (7 | direction << 8, *device, [*inode, bytes], no_words, no_bytes)
            }
            Request::Unseen(text) => (8, 0, [0; 2], no_words, text.as_bytes()),
        };
        let head: [u64; HEAD] = [kind, task, operands[0], operands[1], words.len() as u64, bytes.len() as u64, 0];
        let mut buffer = vec![0; 8 * (HEAD + words.len())];
        for (place, word) in buffer.as_chunks_mut().0.iter_mut().zip(head.iter().chain(words)) {
            *place = word.to_le_bytes();
        }
        buffer.extend_from_slice(bytes);
        output.write_all(&buffer)
    }

    /// Reads the next request; `None` at the end of the connection.
    ///
    /// # Errors
    /// The connection is broken, or the bytes are no request.
    pub fn read(input: &mut impl Read) -> io::Result<Option<Request>> {
        let wrong = || io::Error::new(ErrorKind::InvalidData, "not a request of a recorder");
        let mut head = [0; 8 * HEAD];
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[8 * at + byte]));
        let count = |at: usize, max: usize| usize::try_from(number(at)).ok().filter(|n| *n <= max).ok_or_else(wrong);
        let mut words = vec![0; 8 * count(4, WORDS_MAX)?];
        let mut bytes = vec![0; count(5, BYTES_MAX)?];
        input.read_exact(&mut words)?;
        input.read_exact(&mut bytes)?;
        let task = Task { thread: number(1) as u32, process: (number(1) >> 32) as u32 };
        let shares_memory = number(2) != 0;
        Ok(Some(match number(0) & 0xff {
            1 => Request::Begin { task, pid: number(2) as u32 },
            2 => Request::Words { task, words: words_of(&words), contents: bytes },
            3 => Request::Fork { task, shares_memory },
            4 => Request::AwaitChild { thread: task.thread },
            5 => Request::Exec { task, shares_memory },
            6 => Request::End { task, shares_memory },
            7 => {
                let stream = match number(0) >> 8 {
                    0 => None,
                    1 => Some((Direction::In, number(3))),
                    _ => Some((Direction::Out, number(3))),
                };
                Request::Object { device: number(1), inode: number(2), stream }
            }
            8 => Request::Unseen(String::from_utf8(bytes).map_err(|_| wrong())?),
            _ => return Err(wrong()),
        }))
    }
}

/// The words of bytes. Not generic, so that it is optimized as this crate is.
fn words_of(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Writes the reply to a request.
///
/// # Errors
/// The connection is broken.
pub fn write_reply(output: &mut impl Write, reply: Reply) -> io::Result<()> {
    let [first, second] = reply.map(u64::to_le_bytes);
    output.write_all(&[first, second].concat())
}

/// Reads the reply to a request.
///
/// # Errors
/// The connection is broken.
pub fn read_reply(input: &mut impl Read) -> io::Result<Reply> {
    let mut bytes = [[0; 8]; 2];
    input.read_exact(bytes.as_flattened_mut())?;
    Ok(bytes.map(u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_are_read_as_they_were_written() {
        let task = Task { thread: 3, process: 2 };
        let requests = [
            Request::Begin { task, pid: 77 },
            Request::Words { task, words: vec![1, u64::MAX], contents: vec![7, 8, 9] },
            Request::Fork { task, shares_memory: true },
            Request::AwaitChild { thread: 4 },
            Request::Exec { task, shares_memory: false },
            Request::End { task, shares_memory: true },
            Request::Object { device: 1, inode: 2, stream: None },
            Request::Object { device: 1, inode: 2, stream: Some((Direction::Out, 10)) },
            Request::Unseen("symbols".to_owned()),
        ];
        let mut bytes = Vec::new();
        for request in &requests {
            request.write(&mut bytes).unwrap();
        }
        let mut input = &bytes[..];
        for request in requests {
            assert_eq!(Request::read(&mut input).unwrap(), Some(request));
        }
        assert_eq!(Request::read(&mut input).unwrap(), None);
        let mut bytes = Vec::new();
        write_reply(&mut bytes, [5, u64::MAX]).unwrap();
        assert_eq!(read_reply(&mut &bytes[..]).unwrap(), [5, u64::MAX]);
    }

    #[test]
    fn no_memory_is_allocated_for_a_count_beyond_the_limit() {
        let mut head = [0; 8 * HEAD];
        head[0] = 2;
        head[39] = 1;
        assert_eq!(Request::read(&mut &head[..]).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
