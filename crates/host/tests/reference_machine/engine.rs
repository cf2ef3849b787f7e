//! The copy engine: snoops, reads and writes of one copy after the other (`docs/copiers.md`).

use std::collections::VecDeque;

use dram_spec::{Operation, PhysicalAddress};
use host::machine::{EngineMode, EngineSettings, PageCopier, Purpose};

use crate::bulk::Range;
use crate::core::{Data, Stall};
use crate::devices::Snooper;
use crate::machine::{LINE, ReferenceMachine};
use crate::processes::PAGE;
use crate::traffic::{Message, Sender};
use crate::transfer::{Next, Transfer};

/// A copy from its dispatch to its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    pub core: usize,
    /// Unique number.
    pub number: u64,
    pub src: Range,
    pub dst: Range,
    /// The cycle in which all caches answer the snoop of the command.
    answers: Option<u64>,
}

/// A message of the engine to the core of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    Entered,
    Completed,
}

impl Copy {
    pub fn touches(&self, line: u64) -> bool {
        self.src.lines().contains(&line) || self.dst.lines().contains(&line)
    }
}

pub struct Engine {
    pub settings: EngineSettings,
    /// Copies that have a place in its queue.
    pub places: usize,
    /// Copies that have arrived; the first one is in progress.
    queue: VecDeque<Copy>,
    transfer: Transfer,
}

impl Engine {
    pub fn new(copier: PageCopier) -> Option<Engine> {
        let PageCopier::Engine(settings) = copier else { return None };
        Some(Engine { settings, places: 0, queue: VecDeque::new(), transfer: Transfer::default() })
    }
}

impl ReferenceMachine {
    fn engine(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("it has copies")
    }

    /// Dispatches the instruction of a copy.
    pub fn dispatch_copy(&mut self, at: usize, slot: u64, src: u64, dst: u64, bytes: u64) -> Result<(), Stall> {
        let now = slot / self.settings.core.width;
        let number = self.copies;
        let [src, dst] = [src, dst].map(|from| Range { from, bytes });
        let copy = Copy { core: at, number, src, dst, answers: None };
        let settings = self.engine().settings;
        let places = self.engine().places;
        self.check_window(at)?;
        let core = &self.cores[at];
        let awaits_prefetch = self.prefetches.iter().any(|it| it.core == at && it.has_place && copy.touches(it.line));
        if awaits_prefetch || core.lines_on_the_way().any(|line| copy.touches(line)) {
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
        self.post(now, leaves, Message::Copy(copy));
        Ok(())
    }

    /// The engine receives a copy.
    pub fn receive_copy(&mut self, now: u64, mut copy: Copy) {
        if self.engine().settings.mode == EngineMode::Async {
            let answers = self.bus.snoop(now);
            copy.answers = Some(answers);
            self.post(now, answers, Message::Reply(copy, Reply::Entered));
        }
        self.engine().queue.push_back(copy);
        if self.engine().queue.len() == 1 {
            self.start_copy(now);
        }
    }

    /// A message of the engine reaches the core.
    pub fn receive_reply(&mut self, now: u64, copy: Copy, reply: Reply) {
        let width = self.settings.core.width;
        if matches!(reply, Reply::Completed) {
            self.engine().places -= 1;
            self.cores[copy.core].pending.retain(|other| other.number != copy.number);
        }
        self.cores[copy.core].receive(Data::Copy(copy.number), now * width);
    }

    fn start_copy(&mut self, now: u64) {
        let Some(&copy) = self.engine().queue.front() else { return };
        self.engine().transfer = Transfer::new(copy.src, copy.dst, LINE);
        if self.engine().settings.is_in_dram {
            self.request_copy(now, copy);
        } else {
            self.advance_copy(now);
        }
    }

    /// The cycle in which the caches have answered a snoop for a copy that begins now.
    fn answers(&mut self, now: u64, copy: Copy) -> u64 {
        copy.answers.map_or_else(|| self.bus.snoop(now), |answers| answers.max(now))
    }

    /// Snoops all lines, and requests the copy from the controller when the caches have answered and passed.
    fn request_copy(&mut self, now: u64, copy: Copy) {
        let transfer = std::mem::take(&mut self.engine().transfer);
        let snooper = snooper(copy);
        let mut leaves = now;
        for &read in transfer.reads() {
            let answers = self.answers(now, copy);
            leaves = leaves.max(self.snoop_for_reading(now, answers, snooper, read.line));
        }
        for part in transfer.parts() {
            let answers = self.answers(now, copy);
            leaves = leaves.max(self.snoop_for_writing(now, answers, snooper, part));
        }
        let [src, dst] = [copy.src, copy.dst].map(|range| PhysicalAddress(range.from));
        self.send(Sender::Engine { core: copy.core }, leaves, Operation::Copy { src, dst, bytes: copy.dst.bytes });
    }

    /// Writes and reads what can leave.
    pub fn advance_copy(&mut self, now: u64) {
        let Some(&copy) = self.engine().queue.front() else { return };
        if self.engine().settings.is_in_dram {
            return;
        }
        let (sender, snooper) = (Sender::Engine { core: copy.core }, snooper(copy));
        loop {
            let engine = self.engine();
            let Some(next) = engine.transfer.next(now, engine.settings.buffer_lines) else { return };
            let operation = next.operation(LINE);
            self.cores[copy.core].counters.controller_copy_bytes += operation.bytes();
            self.send(sender, now, operation);
            let Next::Read { at, line } = next else { continue };
            let answers = self.answers(now, copy);
            let snooped = self.snoop_for_reading(now, answers, snooper, line);
            self.engine().transfer.read(at).snooped = snooped;
            self.wake(now, snooped);
            for (part, range) in self.engine().transfer.parts_after(at) {
                let answers = self.answers(now, copy);
                let there = self.snoop_for_writing(now, answers, snooper, range);
                self.engine().transfer.part_snooped(part, there);
                self.wake(now, there);
            }
        }
    }

    /// The data of a read of the engine are there.
    pub fn engine_reads(&mut self, now: u64, line: u64) {
        self.engine().transfer.receive(line);
        self.advance_copy(now);
    }

    /// The controller has accepted a write of the engine.
    pub fn engine_wrote(&mut self, now: u64, range: Range) {
        let transfer = &mut self.engine().transfer;
        if transfer.next_accepted() != Some(range) {
            return;
        }
        if transfer.accept() {
            self.complete_copy(now);
        } else {
            self.advance_copy(now);
        }
    }

    /// The copy in progress is complete.
    pub fn complete_copy(&mut self, now: u64) {
        let copy = self.engine().queue.pop_front().expect("it is in progress");
        self.post(now, now, Message::Reply(copy, Reply::Completed));
        self.start_copy(now);
    }
}

fn snooper(copy: Copy) -> Snooper {
    Snooper { core: copy.core, purpose: Purpose::KernelCopy, device: 0 }
}
