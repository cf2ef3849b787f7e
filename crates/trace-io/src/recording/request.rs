//! Requests of a program under a recorder to the process that writes its recording.
//!
//! Each thread has a connection of its own. It sends a request, and waits for the reply of two numbers.

use std::io::{self, ErrorKind, Read, Write};

use serde::{Deserialize, Serialize};

/// Greatest number of words in a request.
pub const WORDS_MAX: usize = 1 << 18;

/// Greatest number of bytes in a request.
pub const BYTES_MAX: usize = 1 << 22;

/// Greatest lengths of words, contents and JSON.
const LENGTHS_MAX: [usize; 3] = [WORDS_MAX, BYTES_MAX, BYTES_MAX];

/// Reply to a request. Its meaning depends on the request.
pub type Reply = [u64; 2];

/// A thread of a process, by the numbers of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Task {
    /// Number of the thread; 0 in a [`RecorderRequest::Begin`] that asks for a number.
    pub thread: u32,
    /// Number of the process.
    pub process: u32,
}

/// Direction of bytes that pass through a pipe or a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// The process reads them.
    In,
    /// The process writes them.
    Out,
}

/// A request of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecorderRequest {
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
        #[serde(skip)]
        words: Vec<u64>,
        /// At most [`BYTES_MAX`] bytes.
        #[serde(skip)]
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

impl RecorderRequest {
    /// Writes the request: the lengths of the parts that follow, its words and contents, and all else as JSON.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn write(&self, output: &mut impl Write) -> io::Result<()> {
        let (words, contents): (&[u64], &[u8]) = match self {
            RecorderRequest::Words { words, contents, .. } => (words, contents),
            _ => (&[], &[]),
        };
        let text = serde_json::to_vec(self)?;
        let lengths = [words.len(), contents.len(), text.len()].map(|length| length as u64);
        let mut buffer = vec![0; 8 * (lengths.len() + words.len())];
        for (place, word) in buffer.as_chunks_mut().0.iter_mut().zip(lengths.iter().chain(words)) {
            *place = word.to_le_bytes();
        }
        buffer.extend_from_slice(contents);
        buffer.extend(text);
        output.write_all(&buffer)
    }

    /// Reads the next request; `None` at the end of the connection.
    ///
    /// # Errors
    /// The connection is broken, or the bytes are no request.
    pub fn read(input: &mut impl Read) -> io::Result<Option<RecorderRequest>> {
        let mut lengths = [[0; 8]; LENGTHS_MAX.len()];
        match input.read_exact(lengths.as_flattened_mut()) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let lengths = lengths.map(u64::from_le_bytes);
        if lengths.iter().zip(LENGTHS_MAX).any(|(length, most)| *length > most as u64) {
            return Err(io::Error::new(ErrorKind::InvalidData, "not a request of a recorder"));
        }
        let mut part = |bytes: u64| {
            let mut part = vec![0; bytes as usize];
            input.read_exact(&mut part).map(|()| part)
        };
        let (words_bytes, contents_bytes, text) = (part(8 * lengths[0])?, part(lengths[1])?, part(lengths[2])?);
        let mut request = serde_json::from_slice(&text)?;
        if let RecorderRequest::Words { words, contents, .. } = &mut request {
            (*words, *contents) = (words_of(&words_bytes), contents_bytes);
        }
        Ok(Some(request))
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
            RecorderRequest::Begin { task, pid: 77 },
            RecorderRequest::Words { task, words: vec![1, u64::MAX], contents: vec![7, 8, 9] },
            RecorderRequest::Fork { task, shares_memory: true },
            RecorderRequest::AwaitChild { thread: 4 },
            RecorderRequest::Exec { task, shares_memory: false },
            RecorderRequest::End { task, shares_memory: true },
            RecorderRequest::Object { device: 1, inode: 2, stream: None },
            RecorderRequest::Object { device: 1, inode: 2, stream: Some((Direction::Out, 10)) },
            RecorderRequest::Unseen("symbols".to_owned()),
        ];
        let mut bytes = Vec::new();
        for request in &requests {
            request.write(&mut bytes).unwrap();
        }
        let mut input = &bytes[..];
        for request in requests {
            assert_eq!(RecorderRequest::read(&mut input).unwrap(), Some(request));
        }
        assert_eq!(RecorderRequest::read(&mut input).unwrap(), None);
        let mut bytes = Vec::new();
        write_reply(&mut bytes, [5, u64::MAX]).unwrap();
        assert_eq!(read_reply(&mut &bytes[..]).unwrap(), [5, u64::MAX]);
    }

    #[test]
    fn no_memory_is_allocated_for_a_count_beyond_the_limit() {
        let mut lengths = [0; 24];
        lengths[7] = 1;
        assert_eq!(RecorderRequest::read(&mut &lengths[..]).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
