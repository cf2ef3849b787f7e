//! The copy engine: snoops, reads and writes of one copy after the other (`docs/copiers.md`).

use std::collections::VecDeque;

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{Copier, EngineMode, EngineSettings, Purpose};

use crate::bulk::{Range, is_whole};
use crate::core::{Data, Stall};
use crate::dispatch::parts;
use crate::machine::{LINE, PlainMachine, Sender};
use crate::processes::PAGE;

/// A copy from its dispatch to its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    pub core: usize,
    /// Unique number.
    pub number: u64,
    pub src: Range,
    pub dst: Range,
}

impl Copy {
    pub fn touches(&self, line: u64) -> bool {
        self.src.lines().contains(&line) || self.dst.lines().contains(&line)
    }
}

/// A read of a source line.
#[derive(Clone, Copy, Debug)]
struct Read {
    line: u64,
    has_data: bool,
}

/// A write of a part of a destination line.
#[derive(Clone, Debug)]
struct Part {
    range: Range,
    /// Positions of its reads.
    reads: Vec<usize>,
}

/// The copy in progress.
#[derive(Debug, Default)]
struct Progress {
    reads: Vec<Read>,
    parts: Vec<Part>,
    /// Reads that have left, writes that have left, and writes that the controller has accepted.
    requested: usize,
    written: usize,
    accepted: usize,
}

impl Progress {
    /// The writes of a copy, each with the source lines that it needs, and the reads of these lines.
    fn new(copy: &Copy) -> Progress {
        let (src, dst, bytes) = (copy.src.from, copy.dst.from, copy.dst.bytes);
        let mut progress = Progress::default();
        let parts = parts(dst, Some(src), bytes, LINE, false);
        for (at, &(first, bytes)) in parts.iter().enumerate() {
            let mut lines: Vec<u64> = Range { from: src + first, bytes }.lines().collect();
            let next = parts.get(at + 1);
            if next.map_or(dst > src && dst < src + bytes, |next| next.0 < first) {
                lines.reverse();
            }
            let mut reads = Vec::new();
            for line in lines {
                // One of the last two lines read is still in the buffer.
                let last = progress.reads.len().saturating_sub(2);
                let earlier = (last..progress.reads.len()).find(|read| progress.reads[*read].line == line);
                reads.push(earlier.unwrap_or_else(|| {
                    progress.reads.push(Read { line, has_data: false });
                    progress.reads.len() - 1
                }));
            }
            progress.parts.push(Part { range: Range { from: dst + first, bytes }, reads });
        }
        progress
    }

    /// Lines in the stream buffer: read, and needed by a write that the controller has not accepted.
    fn buffered(&self) -> usize {
        let left = &self.parts[self.accepted..];
        (0..self.requested).filter(|read| left.iter().any(|part| part.reads.contains(read))).count()
    }
}

pub struct Engine {
    pub settings: EngineSettings,
    /// Copies that have a place in its queue.
    pub places: usize,
    /// Copies that have arrived; the first one is in progress.
    queue: VecDeque<Copy>,
    progress: Progress,
}

impl Engine {
    pub fn new(copier: Copier) -> Option<Engine> {
        let Copier::Engine(settings) = copier else { return None };
        Some(Engine { settings, places: 0, queue: VecDeque::new(), progress: Progress::default() })
    }
}

impl PlainMachine {
    fn engine(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("it has copies")
    }

    /// Dispatches the instruction of a copy.
    pub fn dispatch_copy(&mut self, at: usize, slot: u64, src: u64, dst: u64, bytes: u64) -> Result<(), Stall> {
        let now = slot / self.settings.core.width;
        let number = self.copies;
        let [src, dst] = [src, dst].map(|from| Range { from, bytes });
        let copy = Copy { core: at, number, src, dst };
        let settings = self.engine().settings;
        let places = self.engine().places;
        self.check_window(at)?;
        let core = &self.cores[at];
        if core.lines_on_the_way().any(|line| copy.touches(line)) {
            return Err(Stall::Kernel);
        }
        if places == settings.queue || core.pending.len() == settings.pending_copies {
            return Err(Stall::ControllerCopy);
        }
        self.enter(at, slot, Data::Copy(number), Purpose::KernelCopy)?;
        let mut misses = 0;
        for range in [src, dst] {
            misses += u64::from(self.cores[at].misses_translation(range.from / PAGE, settings.tlb_entries));
        }
        // One translation of a core after the other.
        let latency = self.settings.last_level.latency;
        let leaves = (now + latency).max(self.cores[at].last_command) + misses * settings.tlb_miss_cycles;
        self.cores[at].last_command = leaves;
        self.copies += 1;
        self.engine().places += 1;
        self.cores[at].pending.push(copy);
        self.cores[at].counters.coherence.copies += 1;
        self.send_copy(leaves, copy);
        Ok(())
    }

    /// The engine receives a copy.
    pub fn receive_copy(&mut self, now: u64, copy: Copy) {
        self.engine().queue.push_back(copy);
        if self.engine().settings.mode == EngineMode::Async {
            self.retire_copy(now, copy);
        }
        if self.engine().queue.len() == 1 {
            self.start_copy(now);
        }
    }

    /// The instruction of a copy can retire.
    fn retire_copy(&mut self, now: u64, copy: Copy) {
        let width = self.settings.core.width;
        self.cores[copy.core].receive(Data::Copy(copy.number), now * width);
    }

    fn start_copy(&mut self, now: u64) {
        let Some(&copy) = self.engine().queue.front() else { return };
        self.engine().progress = Progress::new(&copy);
        if self.engine().settings.is_in_dram {
            self.request_copy(now, copy);
        } else {
            self.advance_copy(now);
        }
    }

    /// Snoops all lines, and requests the copy from the controller.
    fn request_copy(&mut self, now: u64, copy: Copy) {
        let progress = std::mem::take(&mut self.engine().progress);
        for read in &progress.reads {
            self.snoop_source(now, copy, read.line);
        }
        for part in &progress.parts {
            self.snoop_destination(now, copy, part.range);
        }
        let [src, dst] = [copy.src, copy.dst].map(|range| PhysicalAddress(range.from));
        self.send(Sender::Engine { core: copy.core }, now, Operation::Copy { src, dst, bytes: copy.dst.bytes });
    }

    /// Writes and reads what can leave.
    fn advance_copy(&mut self, now: u64) {
        let Some(&copy) = self.engine().queue.front() else { return };
        let sender = Sender::Engine { core: copy.core };
        loop {
            let engine = self.engine();
            let progress = &mut engine.progress;
            let next = progress.parts.get(progress.written);
            if let Some(part) = next
                && part.reads.iter().all(|read| progress.reads[*read].has_data)
            {
                let range = part.range;
                progress.written += 1;
                self.cores[copy.core].counters.controller_copy_bytes += range.bytes;
                self.send(sender, now, Operation::Write { address: PhysicalAddress(range.from), bytes: range.bytes });
            } else if progress.requested < progress.reads.len() && progress.buffered() < engine.settings.buffer_lines {
                let read = progress.requested;
                progress.requested += 1;
                let line = progress.reads[read].line;
                let snooped: Vec<Range> = progress
                    .parts
                    .iter()
                    .filter(|part| part.reads.iter().max() == Some(&read))
                    .map(|part| part.range)
                    .collect();
                self.cores[copy.core].counters.controller_copy_bytes += LINE;
                self.send(sender, now, Operation::Read { address: PhysicalAddress(line * LINE), bytes: LINE });
                self.snoop_source(now, copy, line);
                for range in snooped {
                    self.snoop_destination(now, copy, range);
                }
            } else {
                return;
            }
        }
    }

    /// The data of a read of the engine are there.
    pub fn engine_reads(&mut self, now: u64, line: u64) {
        let reads = &mut self.engine().progress.reads;
        let read = reads.iter_mut().find(|read| read.line == line && !read.has_data);
        read.expect("it was requested").has_data = true;
        self.advance_copy(now);
    }

    /// The controller has accepted a write of the engine.
    pub fn engine_wrote(&mut self, now: u64, range: Range) {
        let progress = &mut self.engine().progress;
        if progress.parts.get(progress.accepted).is_none_or(|part| part.range != range) {
            return;
        }
        progress.accepted += 1;
        if progress.accepted == progress.parts.len() {
            self.complete_copy(now);
        } else {
            self.advance_copy(now);
        }
    }

    /// The copy in progress is complete.
    pub fn complete_copy(&mut self, now: u64) {
        let copy = self.engine().queue.pop_front().expect("it is in progress");
        self.engine().places -= 1;
        self.cores[copy.core].pending.retain(|other| other.number != copy.number);
        self.retire_copy(now, copy);
        self.start_copy(now);
    }

    /// A dirty line of the source is passed to the engine, which writes it.
    fn snoop_source(&mut self, now: u64, copy: Copy, line: u64) {
        self.cores[copy.core].counters.coherence.lookups += 1;
        let is_on_its_way = self.drop_write_back(now, line);
        let mut is_dirty = false;
        for cache in &mut self.caches {
            is_dirty |= cache.get(line).is_some_and(|found| found.dirty.take().is_some());
        }
        if is_on_its_way || is_dirty {
            self.write_passed(now, copy, line, is_dirty);
        }
    }

    /// A line of the destination leaves all caches; a dirty line that is covered in part is passed.
    fn snoop_destination(&mut self, now: u64, copy: Copy, range: Range) {
        let line = range.from / LINE;
        self.cores[copy.core].counters.coherence.lookups += 1;
        let is_on_its_way = self.drop_write_back(now, line);
        self.drop_prefetches(line, None);
        let mut is_dirty = false;
        for cache in 0..self.caches.len() {
            let Some(found) = self.caches[cache].remove(line) else { continue };
            self.leave_l1s(cache, line);
            self.cores[copy.core].counters.coherence.invalidated += 1;
            is_dirty |= found.dirty.is_some();
        }
        let is_dirty = is_dirty && !is_whole(line, range.from, range.bytes);
        if is_on_its_way || is_dirty {
            self.write_passed(now, copy, line, is_dirty);
        }
    }

    /// Writes a line that was dirty in a cache, or whose write-back was counted when it was replaced.
    fn write_passed(&mut self, now: u64, copy: Copy, line: u64, is_dirty: bool) {
        let counters = &mut self.cores[copy.core].counters;
        counters.coherence.written_back += u64::from(is_dirty);
        counters.of(Purpose::KernelCopy).write_backs += u64::from(is_dirty);
        let operation = Operation::Write { address: PhysicalAddress(line * LINE), bytes: LINE };
        self.send(Sender::Passed { core: copy.core }, now, operation);
    }
}
