//! Requests of the threads of a recorded program, and the blocks that they become.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use rowclone_config::library::locked;
use trace_io::recording::request::{Direction, RecorderRequest, Reply, Task, write_reply};
use trace_io::recording::{BLOCK_WORDS_MAX, CONTENTS_MAX, Event, ObjectAddress, Word};

/// Words of a thread, and the contents of their accesses.
#[derive(Debug, Default)]
pub struct ThreadWords {
    pub task: Task,
    pub words: Vec<u64>,
    pub contents: Vec<u8>,
}

/// Receives the requests of all threads, and sends blocks in the order of their arrival.
#[derive(Debug)]
pub struct Collector {
    state: Mutex<State>,
    /// Notified when a thread may have ended.
    ended: Condvar,
    /// Number of words that have arrived.
    pub words: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// Counters for new numbers.
    threads: u32,
    processes: u32,
    /// The current block.
    block: ThreadWords,
    blocks: Option<SyncSender<ThreadWords>>,
    /// Threads that will connect, without those that the program starts with `clone`.
    expected: BTreeSet<u32>,
    /// Processes that begin without memory.
    created: BTreeSet<u32>,
    /// Connections by thread, and the numbers of their processes in the recording and in the system.
    connected: BTreeMap<u32, (u32, u32)>,
    /// Threads that use the memory of their parent, as a child of `vfork`.
    borrowers: BTreeSet<u32>,
    /// Processes that have begun and not ended.
    running: BTreeSet<u32>,
    /// Numbers of objects by device and inode.
    objects: HashMap<(u64, u64), u64>,
    /// Bytes that passed through a pipe or socket, by its number.
    written: HashMap<u64, u64>,
    read: HashMap<u64, u64>,
    unseen: BTreeSet<String>,
}

impl Collector {
    /// A collector that sends blocks to `blocks`, and expects the first thread of the first process.
    pub fn new(blocks: SyncSender<ThreadWords>) -> Arc<Collector> {
        let first = Task { thread: 1, process: 1 };
        let state = State {
            threads: 1,
            processes: 1,
            block: ThreadWords { task: first, ..ThreadWords::default() },
            blocks: Some(blocks),
            expected: BTreeSet::from([first.thread]),
            created: BTreeSet::from([first.process]),
            ..State::default()
        };
        Arc::new(Collector { state: Mutex::new(state), ended: Condvar::new(), words: AtomicU64::new(0) })
    }

    /// Accepts connections, each in a thread of its own, until the program ends.
    pub fn listen(self: &Arc<Collector>, listener: UnixListener) {
        let collector = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let collector = Arc::clone(&collector);
                std::thread::spawn(move || {
                    let mut thread = None;
                    // A program that is killed breaks its connection.
                    let _ = collector.answer(stream, &mut thread);
                    if let Some(thread) = thread {
                        let mut state = locked(&collector.state);
                        state.leave(thread);
                        collector.ended.notify_all();
                    }
                });
            }
        });
    }

    /// Answers the requests of a connection.
    fn answer(&self, mut stream: UnixStream, thread: &mut Option<u32>) -> io::Result<()> {
        while let Some(request) = RecorderRequest::read(&mut stream)? {
            let mut state = locked(&self.state);
            let reply = match request {
                RecorderRequest::Begin { task, pid } => {
                    let begun = state.begin(task, pid);
                    *thread = Some(begun);
                    [begun.into(), 0]
                }
                RecorderRequest::Words { task, words, contents } => {
                    self.words.fetch_add(words.len() as u64, Ordering::Relaxed);
                    state.push(task, &words, &contents).ok_or(io::ErrorKind::InvalidData)?;
                    [0; 2]
                }
                RecorderRequest::Fork { task, shares_memory } => state.fork(task, shares_memory),
                RecorderRequest::AwaitChild { thread } => self.await_child(state, thread),
                RecorderRequest::Exec { task, shares_memory } => {
                    state.end(task, shares_memory);
                    state.processes += 1;
                    let process = state.processes;
                    state.created.insert(process);
                    state.expected.insert(task.thread);
                    [process.into(), 0]
                }
                RecorderRequest::End { task, shares_memory } => {
                    state.expected.remove(&task.thread);
                    state.end(task, shares_memory);
                    [0; 2]
                }
                RecorderRequest::Object { device, inode, stream } => state.object((device, inode), stream),
                RecorderRequest::Unseen(text) => {
                    state.unseen.insert(text);
                    [0; 2]
                }
            };
            self.ended.notify_all();
            write_reply(&mut stream, reply)?;
        }
        Ok(())
    }

    fn await_child(&self, state: MutexGuard<'_, State>, thread: u32) -> Reply {
        drop(self.ended.wait_while(state, |state| state.borrowers.contains(&thread)));
        [0; 2]
    }

    /// Whether all processes have ended.
    pub fn is_idle(&self) -> bool {
        let state = locked(&self.state);
        state.expected.is_empty() && state.connected.is_empty()
    }

    /// Whether the program has begun.
    pub fn has_begun(&self) -> bool {
        !locked(&self.state).created.contains(&1)
    }

    /// System process numbers of the running processes.
    pub fn pids(&self) -> BTreeSet<u32> {
        locked(&self.state).connected.values().map(|(_, pid)| *pid).collect()
    }

    /// Sends the last block; later words are dropped. Returns what the recorder could not observe.
    pub fn finish(&self) -> BTreeSet<String> {
        let mut state = locked(&self.state);
        state.send();
        state.blocks = None;
        std::mem::take(&mut state.unseen)
    }
}

impl State {
    fn begin(&mut self, mut task: Task, pid: u32) -> u32 {
        if task.thread == 0 {
            self.threads += 1;
            task.thread = self.threads;
        }
        self.expected.remove(&task.thread);
        self.connected.insert(task.thread, (task.process, pid));
        if self.created.remove(&task.process) {
            self.running.insert(task.process);
            self.event(task, Event::Create { process: task.process });
        }
        task.thread
    }

    fn fork(&mut self, task: Task, shares_memory: bool) -> Reply {
        self.threads += 1;
        self.expected.insert(self.threads);
        if shares_memory {
            self.borrowers.insert(self.threads);
            return [self.threads.into(), task.process.into()];
        }
        self.processes += 1;
        if self.running.contains(&task.process) {
            self.event(task, Event::Fork { process: self.processes });
            self.running.insert(self.processes);
        }
        [self.threads.into(), self.processes.into()]
    }

    /// The end of a process, but not of memory that another thread uses.
    fn end(&mut self, task: Task, shares_memory: bool) {
        self.borrowers.remove(&task.thread);
        if !shares_memory {
            self.event(task, Event::Exit);
            self.running.remove(&task.process);
        }
    }

    /// The end of a connection.
    fn leave(&mut self, thread: u32) {
        let Some((process, _)) = self.connected.remove(&thread) else { return };
        let is_used = self.connected.values().any(|(other, _)| *other == process);
        self.end(Task { thread, process }, is_used);
    }

    fn object(&mut self, file: (u64, u64), stream: Option<(Direction, u64)>) -> Reply {
        let next = self.objects.len() as u64 + 1;
        let number = *self.objects.entry(file).or_insert(next);
        let Some((direction, bytes)) = stream else { return [number, 0] };
        let number = ObjectAddress::STREAMS + number;
        let positions = match direction {
            Direction::In => &mut self.read,
            Direction::Out => &mut self.written,
        };
        let position = positions.entry(number).or_default();
        let offset = *position;
        *position += bytes;
        [number, offset]
    }

    fn event(&mut self, task: Task, event: Event) {
        self.push(task, &event.words(), &[]);
    }

    /// Adds words to the block, and their contents; `None` if they are no words.
    fn push(&mut self, task: Task, mut words: &[u64], mut contents: &[u8]) -> Option<()> {
        // The other threads of a process that ends may still run.
        if !self.running.contains(&task.process) {
            return Some(());
        }
        if task != self.block.task {
            self.send();
            self.block.task = task;
        }
        loop {
            let words_left = BLOCK_WORDS_MAX - self.block.words.len();
            let bytes_left = CONTENTS_MAX as usize - self.block.contents.len();
            let (length, bytes) = if words.len() <= words_left && contents.len() <= bytes_left {
                (words.len(), contents.len())
            } else {
                part(words, !contents.is_empty(), words_left, bytes_left)?
            };
            self.block.words.extend_from_slice(&words[..length]);
            self.block.contents.extend_from_slice(contents.get(..bytes)?);
            (words, contents) = (&words[length..], &contents[bytes..]);
            if words.is_empty() {
                return Some(());
            }
            self.send();
        }
    }

    /// Sends the block, unless it is empty. An error of the writer is reported by the writer.
    fn send(&mut self) {
        let empty = ThreadWords { task: self.block.task, words: Vec::new(), contents: Vec::new() };
        let block = std::mem::replace(&mut self.block, empty);
        if let (Some(blocks), false) = (&self.blocks, block.words.is_empty()) {
            let _ = blocks.send(block);
        }
    }
}

/// The number of words that fit into a block, events with their operands, and that of the bytes of their accesses.
fn part(words: &[u64], has_contents: bool, words_left: usize, bytes_left: usize) -> Option<(usize, usize)> {
    let (mut length, mut bytes) = (0, 0);
    while let Some(first) = words.get(length) {
        let (further, size) = match Word::from_bits(*first).ok()? {
            Word::Access(access) if has_contents => (0, access.bytes() as usize),
            Word::Access(_) | Word::Instructions(_) => (0, 0),
            Word::Event { further, .. } => (usize::from(further), 0),
        };
        if length + 1 + further > words_left || bytes + size > bytes_left {
            break;
        }
        (length, bytes) = (length + 1 + further, bytes + size);
    }
    (length <= words.len()).then_some((length, bytes))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};

    use trace_io::recording::request::read_reply;

    use super::*;

    fn collector() -> (Arc<Collector>, Receiver<ThreadWords>) {
        let (blocks, received) = sync_channel(100);
        (Collector::new(blocks), received)
    }

    /// Sends a few requests over a connection, and closes it.
    fn send(collector: &Collector, requests: &[RecorderRequest]) -> Vec<Reply> {
        let (mut program, recorder) = UnixStream::pair().unwrap();
        for request in requests {
            request.write(&mut program).unwrap();
        }
        program.shutdown(std::net::Shutdown::Write).unwrap();
        let mut thread = None;
        collector.answer(recorder, &mut thread).unwrap();
        if let Some(thread) = thread {
            locked(&collector.state).leave(thread);
        }
        requests.iter().map(|_| read_reply(&mut program).unwrap()).collect()
    }

    fn words(received: &Receiver<ThreadWords>) -> Vec<(u32, u32, Vec<u64>)> {
        received.try_iter().map(|block| (block.task.thread, block.task.process, block.words)).collect()
    }

    fn event(event: Event) -> Vec<u64> {
        event.words().to_vec()
    }

    const FIRST: Task = Task { thread: 1, process: 1 };
    const INSTRUCTION: u64 = Word::Instructions(1).bits();

    #[test]
    fn a_fork_precedes_the_words_of_the_child_and_closed_connections_end_processes() {
        let (collector, received) = collector();
        let begin = |task| RecorderRequest::Begin { task, pid: 9 };
        let one = |task| RecorderRequest::Words { task, words: vec![INSTRUCTION], contents: Vec::new() };
        let fork = RecorderRequest::Fork { task: FIRST, shares_memory: false };
        let replies = send(&collector, &[begin(FIRST), one(FIRST), fork]);
        assert_eq!(replies, [[1, 0], [0, 0], [2, 2]]);
        assert!(!collector.is_idle(), "the child is expected");
        let child = Task { thread: 2, process: 2 };
        send(&collector, &[begin(child), one(child)]);
        assert!(collector.is_idle());
        collector.finish();
        let [create, fork] = [Event::Create { process: 1 }, Event::Fork { process: 2 }].map(event);
        let of_first = [create, vec![INSTRUCTION], fork, event(Event::Exit)].concat();
        let of_child = [vec![INSTRUCTION], event(Event::Exit)].concat();
        assert_eq!(words(&received), [(1, 1, of_first), (2, 2, of_child)]);
    }

    #[test]
    fn a_child_that_shares_memory_ends_no_process_and_gets_one_by_exec() {
        let (collector, received) = collector();
        let begin = |task| RecorderRequest::Begin { task, pid: 9 };
        let (parent, recorder) = UnixStream::pair().unwrap();
        let mut thread = None;
        begin(FIRST).write(&mut &parent).unwrap();
        RecorderRequest::Fork { task: FIRST, shares_memory: true }.write(&mut &parent).unwrap();
        parent.shutdown(std::net::Shutdown::Write).unwrap();
        collector.answer(recorder, &mut thread).unwrap();
        let child = Task { thread: 2, process: 1 };
        let replies = send(&collector, &[begin(child), RecorderRequest::Exec { task: child, shares_memory: true }]);
        assert_eq!(replies[1], [2, 0]);
        // The child no longer uses the memory.
        send(&collector, &[RecorderRequest::AwaitChild { thread: 2 }, begin(Task { thread: 2, process: 2 })]);
        collector.finish();
        let of_child = [event(Event::Create { process: 2 }), event(Event::Exit)].concat();
        assert_eq!(words(&received), [(1, 1, event(Event::Create { process: 1 })), (2, 2, of_child)]);
    }

    #[test]
    fn objects_have_numbers_by_appearance_and_streams_have_offsets() {
        let (collector, _received) = collector();
        let object = |inode, stream| RecorderRequest::Object { device: 1, inode, stream };
        let requests = [
            object(50, None),
            object(40, Some((Direction::Out, 10))),
            object(40, Some((Direction::Out, 5))),
            object(40, Some((Direction::In, 3))),
            object(50, None),
        ];
        let stream = ObjectAddress::STREAMS + 2;
        assert_eq!(send(&collector, &requests), [[1, 0], [stream, 0], [stream, 10], [stream, 0], [1, 0]]);
    }

    #[test]
    fn a_block_ends_before_an_event_that_it_has_no_room_for() {
        let (collector, received) = collector();
        let unmap = event(Event::Unmap { address: 4096, bytes: 4096 });
        let mut all = vec![INSTRUCTION; BLOCK_WORDS_MAX - 2];
        all.extend(&unmap);
        let mut state = locked(&collector.state);
        state.begin(FIRST, 9);
        state.push(FIRST, &all, &[]).unwrap();
        drop(state);
        collector.finish();
        let lengths = received.try_iter().map(|block| block.words.len());
        assert!(lengths.eq([BLOCK_WORDS_MAX - 1, unmap.len()]));
    }
}
