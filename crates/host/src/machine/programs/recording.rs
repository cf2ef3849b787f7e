//! Recordings of programs, as programs.

mod contents;
mod mappings;
mod objects;

use std::collections::VecDeque;
use std::io::Read;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use rustc_hash::{FxHashMap, FxHashSet};
use trace_io::LineError;
use trace_io::program::Step;
use trace_io::recording::{
    BlockEntries, BlockEntry, Detail, Event, MemoryAccess, Metadata, ObjectAddress, RecordingReader, Routine, Word,
};

use self::contents::{ContentsCheck, WordPlace};
pub use self::contents::{ContentsCounts, OtherByte};
use self::mappings::{Backing, Mapping, Mappings};
use self::objects::Objects;
use super::steps::Program;

/// Bytes of a load or store of a copy of the kernel that the program executes.
const WORD_BYTES: u64 = 8;

/// Translations that are kept.
const TRANSLATIONS: usize = 1 << 12;

dram_spec::named! {
    /// The copies of a recording that the copier of a run executes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ChosenCopies {
        /// Those of the kernel.
        #[default]
        Kernel = "kernel",
        /// Those of library routines.
        Library = "library",
        /// Both.
        All = "all",
    }
}

/// Bytes of the smallest copy of a recording that the kernel gives to the controller or a device, unless the machine
/// sets it: a page. Most copies of system calls are shorter than a line, which a loop copies at less cost.
pub const RECORDED_COPIER_MIN_BYTES: u64 = FRAME_BYTES;

/// How a recording is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingSettings {
    /// The copies that the copier executes.
    pub copies: ChosenCopies,
    /// Whether the copier is the CPU: library routines are then executed as recorded.
    pub is_by_cpu: bool,
}

/// A copy or zeroing that loads and stores words.
#[derive(Clone, Copy, Debug)]
struct WordLoop {
    to: u64,
    from: Option<u64>,
    bytes: u64,
}

/// The program of a recording. Process `p` of the recording is process `p + 1` of the program; process 1 is empty,
/// and forks those that a recording creates. Memory grows with the pages and objects that the recording names.
#[derive(derive_more::Debug)]
#[debug("RecordedProgram({settings:?})")]
pub struct RecordedProgram<R: Read> {
    reader: RecordingReader<R>,
    settings: RecordingSettings,
    /// Words of the block, its contents, and the numbers of those that were executed.
    words: Vec<u64>,
    contents: Vec<u8>,
    next_word: usize,
    next_byte: usize,
    /// Number, thread and process of the block.
    block: (u64, u32, u32),
    /// Mapped pages of each process.
    processes: FxHashMap<u32, Mappings>,
    /// The process of the program that runs; 0 after an exit.
    running: u32,
    objects: Objects,
    /// Threads in a routine that a copy or zeroing has replaced.
    replaced: FxHashSet<u32>,
    /// Instructions of accesses beyond those of the recording, which later ones make up for.
    excess: u64,
    /// By process and page: the distance of the address of the program from that of the recording.
    translations: Box<[(u64, u64)]>,
    pending: VecDeque<Step>,
    /// Copies and zeroings of the kernel that the program executes: the rest of each.
    loops: VecDeque<WordLoop>,
    check: Option<ContentsCheck>,
}

impl<R: Read> RecordedProgram<R> {
    /// Creates the program of a recording.
    ///
    /// # Errors
    /// If the recording has no accesses, or pages of another size.
    pub fn new(reader: RecordingReader<R>, settings: RecordingSettings) -> Result<RecordedProgram<R>, LineError> {
        let &Metadata { detail, page_bytes, .. } = reader.metadata();
        if detail == Detail::Faults {
            return Err(LineError::new(
                "the metadata of the recording have `detail` = `faults`: it has page faults, and no accesses for a \
                 core",
                "record the program with `detail` = `accesses`, or run it without cores: `rowclone-sim run FILE \
                 --system SYSTEM`",
            ));
        }
        if page_bytes != FRAME_BYTES {
            return Err(LineError::new(
                format!(
                    "the metadata of the recording have `page_bytes` = {page_bytes}, but pages of the machine have \
                     {FRAME_BYTES} bytes"
                ),
                "record the program on a system with pages of 4 KiB",
            ));
        }
        Ok(RecordedProgram {
            reader,
            settings,
            words: Vec::new(),
            contents: Vec::new(),
            next_word: 0,
            next_byte: 0,
            block: (0, 0, 0),
            processes: FxHashMap::default(),
            running: 1,
            objects: Objects::default(),
            replaced: FxHashSet::default(),
            excess: 0,
            translations: vec![(u64::MAX, 0); TRANSLATIONS].into(),
            pending: VecDeque::new(),
            loops: VecDeque::new(),
            check: None,
        })
    }

    /// Compares the loads of a recording with contents with what its program and the kernel had written.
    ///
    /// # Errors
    /// As [`Self::new`]; the recording cannot be read; or a load reads another byte than the only thread of its
    /// process has stored in the same block, without an event in between.
    pub fn compare_contents(reader: RecordingReader<R>) -> Result<ContentsCounts, LineError> {
        let mut program = RecordedProgram::new(reader, RecordingSettings::default())?;
        program.check = Some(ContentsCheck::default());
        while program.translate()? {
            program.pending.clear();
        }
        program.check.unwrap_or_default().finish()
    }

    /// Number of the process of the block.
    const fn process(&self) -> u32 {
        self.block.2
    }

    fn push(&mut self, step: Step) {
        self.pending.push_back(step);
    }

    /// Switches to the process of the block.
    #[inline]
    fn enter(&mut self) {
        self.switch_to(self.process() + 1);
    }

    #[inline]
    fn switch_to(&mut self, process: u32) {
        if self.running != process {
            self.running = process;
            self.push(Step::Run { process });
        }
    }

    /// Reads the next block; `false` at the end.
    fn next_block(&mut self) -> Result<bool, LineError> {
        let Some(block) = self.reader.next_block()? else { return Ok(false) };
        self.block = (block.number, block.thread, block.process);
        self.words.clear();
        self.words.extend_from_slice(block.words);
        self.contents.clear();
        if let Some(check) = &mut self.check {
            check.begin_block(block.thread, block.process);
            self.contents.extend_from_slice(block.contents.unwrap_or_default());
        }
        (self.next_word, self.next_byte) = (0, 0);
        Ok(true)
    }

    /// The next entry of the block.
    #[inline]
    fn next_entry(&mut self) -> Option<BlockEntry> {
        let mut entries = BlockEntries::new(&self.words[self.next_word..]);
        let entry = entries.next()?;
        self.next_word = self.words.len() - entries.words_left();
        Some(entry)
    }

    /// Appends the steps of the next entry; `false` at the end of the recording.
    fn translate(&mut self) -> Result<bool, LineError> {
        let Some(entry) = self.next_entry() else { return self.next_block() };
        let is_replaced = !self.replaced.is_empty() && self.replaced.contains(&self.block.1);
        match entry {
            BlockEntry::Access(access) => {
                self.compare(&access);
                if !is_replaced {
                    self.access(&access);
                }
            }
            BlockEntry::Instructions(count) if !is_replaced => self.compute(count),
            BlockEntry::Instructions(_) => {}
            BlockEntry::Event(event) => {
                if let Some(check) = &mut self.check {
                    check.event(self.block.2, self.processes.entry(self.block.2).or_default(), &event);
                }
                self.event(event);
            }
        }
        Ok(true)
    }

    /// Compares an access with the bytes that were written.
    #[inline]
    fn compare(&mut self, access: &MemoryAccess) {
        let Some(check) = &mut self.check else { return };
        let (block, _, process) = self.block;
        let store = MemoryAccess { is_store: true, instructions: 0, ..*access };
        let is_modified = self.words.get(self.next_word).is_some_and(|&word| word == Word::Access(store).bits());
        let place = WordPlace { block, process, word: self.next_word - 1, is_modified };
        let bytes = access.bytes() as usize;
        let found = self.contents.get(self.next_byte..self.next_byte + bytes).unwrap_or_default();
        self.next_byte += bytes;
        check.access(place, self.processes.entry(process).or_default(), access, found);
    }

    /// Executes instructions without memory access.
    fn compute(&mut self, count: u64) {
        let made_up = count.min(self.excess);
        self.excess -= made_up;
        if count > made_up {
            self.enter();
            self.push(Step::Compute { instructions: count - made_up });
        }
    }

    /// Executes a load or store: a step per line.
    fn access(&mut self, access: &MemoryAccess) {
        let own = u64::from(access.instructions.min(1));
        self.compute(u64::from(access.instructions) - own);
        self.enter();
        let last = access.address.saturating_add(access.bytes() - 1);
        for line in access.address / LINE_BYTES..=last / LINE_BYTES {
            let address = access.address.max(line * LINE_BYTES);
            let address = PhysicalAddress(address.wrapping_add(self.distance(address / FRAME_BYTES)));
            self.push(if access.is_store { Step::Store { address } } else { Step::Load { address } });
        }
        self.excess += last / LINE_BYTES - access.address / LINE_BYTES + 1 - own;
    }

    /// The distance of the address of the program from that of the recording, of a page of the process. The steps
    /// that map the page are appended.
    #[inline]
    fn distance(&mut self, page: u64) -> u64 {
        let tag = page << 24 | u64::from(self.process());
        let slot = (page as usize ^ self.process() as usize) % TRANSLATIONS;
        let (found, distance) = self.translations[slot];
        if found == tag {
            return distance;
        }
        let distance = self.new_distance(page);
        self.translations[slot] = (tag, distance);
        distance
    }

    #[cold]
    fn new_distance(&mut self, page: u64) -> u64 {
        let address = page * FRAME_BYTES;
        let of_kernel = ObjectAddress { object: Objects::KERNEL, address: address & !(1 << 63) };
        let mappings = self.processes.entry(self.block.2).or_default();
        let of = match mappings.at(page).map(|mapping| mapping.backing) {
            _ if address >> 63 != 0 => of_kernel,
            Some(Backing::Shared(of)) => of,
            Some(Backing::Anonymous | Backing::Private(_)) => return 0,
            None => {
                mappings.insert(page, Mapping { pages: 1, backing: Backing::Anonymous });
                self.enter();
                self.push(Step::Map { address: PhysicalAddress(address), bytes: FRAME_BYTES });
                return 0;
            }
        };
        let (at, _) = self.objects.place(of, &mut self.pending);
        self.objects.present(of.object, (at, FRAME_BYTES), false, &mut self.pending);
        at.wrapping_sub(address)
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Create { process } => {
                self.switch_to(1);
                self.push(Step::Fork { child: process + 1 });
                self.processes.insert(process, Mappings::default());
            }
            Event::Fork { process } => {
                self.enter();
                self.push(Step::Fork { child: process + 1 });
                let mappings = self.processes.get(&self.block.2).cloned().unwrap_or_default();
                self.processes.insert(process, mappings);
            }
            Event::Exit => {
                self.enter();
                self.push(Step::Exit);
                self.processes.remove(&self.block.2);
                self.running = 0;
                self.forget_translations();
            }
            Event::Map { flags, address, bytes, of } => {
                self.unmap(address, bytes);
                let is_anonymous = of.object == ObjectAddress::PROCESS;
                let of = ObjectAddress { address: of.address / FRAME_BYTES * FRAME_BYTES, ..of };
                let backing = match (is_anonymous, flags.is_shared) {
                    (true, true) => Backing::Shared(ObjectAddress { object: self.objects.new_anonymous(), address: 0 }),
                    (true, false) => Backing::Anonymous,
                    (false, true) => Backing::Shared(of),
                    (false, false) => Backing::Private(of),
                };
                self.map(address, bytes, backing);
            }
            Event::Unmap { address, bytes } => self.unmap(address, bytes),
            Event::Discard { address, bytes } => {
                self.enter();
                self.push(Step::Discard { address: PhysicalAddress(address), bytes });
            }
            Event::Move { from, to, bytes } => self.move_pages(from, to, bytes),
            Event::Read { of, bytes } => self.read(of, bytes),
            Event::Copy { dst, src, bytes } => self.copy(dst, Some(src), bytes, self.chooses_kernel()),
            Event::Zero { dst, bytes } => self.copy(dst, None, bytes, self.chooses_kernel()),
            Event::Call { routine, dst, bytes } => self.call(routine, dst, bytes),
            Event::Return => {
                self.replaced.remove(&self.block.1);
            }
            Event::Fault { .. } | Event::Time { .. } => {}
        }
    }

    fn forget_translations(&mut self) {
        self.translations.fill((u64::MAX, 0));
    }

    const fn chooses_kernel(&self) -> bool {
        matches!(self.settings.copies, ChosenCopies::Kernel | ChosenCopies::All)
    }

    /// Maps pages that are not mapped.
    fn map(&mut self, address: u64, bytes: u64, backing: Backing) {
        let (first, end) = (address / FRAME_BYTES, (address + bytes).div_ceil(FRAME_BYTES));
        self.processes.entry(self.block.2).or_default().insert(first, Mapping { pages: end - first, backing });
        self.enter();
        let (mut page, address) = (first, |page: u64| PhysicalAddress(page * FRAME_BYTES));
        match backing {
            Backing::Shared(_) => {}
            Backing::Anonymous => {
                self.push(Step::Map { address: address(first), bytes: (end - first) * FRAME_BYTES });
            }
            Backing::Private(of) => {
                while page < end {
                    let of = ObjectAddress { address: of.address + (page - first) * FRAME_BYTES, ..of };
                    let (source, most) = self.objects.place(of, &mut self.pending);
                    let bytes = most.min((end - page) * FRAME_BYTES);
                    self.push(Step::Share { address: address(page), source: PhysicalAddress(source), bytes });
                    page += bytes / FRAME_BYTES;
                }
            }
        }
    }

    /// Unmaps the mapped pages of a range.
    fn unmap(&mut self, address: u64, bytes: u64) {
        let (first, end) = (address / FRAME_BYTES, (address + bytes).div_ceil(FRAME_BYTES));
        let removed = self.processes.entry(self.block.2).or_default().remove(first, end);
        self.forget_translations();
        if removed.iter().any(|(_, mapping)| !matches!(mapping.backing, Backing::Shared(_))) {
            self.enter();
            let (address, bytes) = (PhysicalAddress(first * FRAME_BYTES), (end - first) * FRAME_BYTES);
            self.push(Step::Unmap { address, bytes });
        }
    }

    /// Maps the mapped pages of a range at another address.
    fn move_pages(&mut self, from: u64, to: u64, bytes: u64) {
        self.unmap(to, bytes);
        let (first, end) = (from / FRAME_BYTES, (from + bytes).div_ceil(FRAME_BYTES));
        let mappings = self.processes.entry(self.block.2).or_default();
        let moved = mappings.remove(first, end);
        let is_own = moved.iter().any(|(_, mapping)| !matches!(mapping.backing, Backing::Shared(_)));
        for (page, mapping) in moved {
            mappings.insert(page - first + to / FRAME_BYTES, mapping);
        }
        self.forget_translations();
        if is_own {
            self.enter();
            let at = |address: u64| PhysicalAddress(address / FRAME_BYTES * FRAME_BYTES);
            self.push(Step::Move { from: at(from), to: at(to), bytes: (end - first) * FRAME_BYTES });
        }
    }

    /// Gives pages of an object frames with contents from a device.
    fn read(&mut self, of: ObjectAddress, bytes: u64) {
        let mut done = 0;
        while done < bytes {
            let (at, most) = self.objects.place(ObjectAddress { address: of.address + done, ..of }, &mut self.pending);
            let part = most.min(bytes - done);
            self.objects.present(of.object, (at, part), true, &mut self.pending);
            done += part;
        }
    }

    /// Replaces a routine by its copy or zeroing, if it is chosen and has one.
    fn call(&mut self, routine: Routine, dst: u64, bytes: u64) {
        let RecordingSettings { copies, is_by_cpu } = self.settings;
        // The CPU copies pages by the kernel's loop, whose instructions are known.
        let is_of_library = copies != ChosenCopies::Kernel && !is_by_cpu;
        if !(if routine.is_of_kernel() { self.chooses_kernel() } else { is_of_library }) {
            return;
        }
        let of_process = |address: u64| ObjectAddress { object: ObjectAddress::PROCESS, address };
        let src = match routine {
            Routine::Copy { src } | Routine::Move { src } | Routine::CopyPage { src } => Some(of_process(src)),
            Routine::Set { value: 0 } | Routine::ClearPage => None,
            Routine::Set { .. } => return,
        };
        self.replaced.insert(self.block.1);
        // The recorded kernel chose the frame for the CPU: for another copier, the simulated one chooses it anew.
        let is_page = dst.is_multiple_of(FRAME_BYTES) && bytes == FRAME_BYTES;
        if let (Routine::CopyPage { src }, true) = (routine, is_page && !is_by_cpu)
            && src.abs_diff(dst) >= FRAME_BYTES
        {
            let [page, source] = [dst, src].map(|at| PhysicalAddress(at.wrapping_add(self.distance(at / FRAME_BYTES))));
            self.enter();
            self.push(Step::Renew { page, source, bytes });
        }
        self.copy(of_process(dst), src, bytes, true);
    }

    /// Copies or zeroes a range: by the copier of the run, or by a loop of the program.
    fn copy(&mut self, dst: ObjectAddress, src: Option<ObjectAddress>, bytes: u64, is_by_copier: bool) {
        let mut done = 0;
        while done < bytes {
            let after = |of: ObjectAddress| ObjectAddress { address: of.address + done, ..of };
            let (to, most) = self.place(after(dst), bytes - done);
            let (from, part) = match src {
                Some(src) => {
                    let (from, most) = self.place(after(src), most);
                    (Some(from), most)
                }
                None => (None, most),
            };
            self.enter();
            self.transfer(to, from, part, is_by_copier);
            done += part;
        }
    }

    /// Appends the steps of a copy or zeroing at addresses of the program.
    fn transfer(&mut self, to: u64, from: Option<u64>, bytes: u64, is_by_copier: bool) {
        if !is_by_copier {
            return self.loops.push_back(WordLoop { to, from, bytes });
        }
        let address = PhysicalAddress(to);
        self.push(match from {
            Some(src) => Step::Copy { dst: address, src: PhysicalAddress(src), bytes },
            None => Step::Zero { address, bytes },
        });
    }

    /// Appends the steps of some words of the first loop; `false` if there is none.
    fn unroll(&mut self) -> bool {
        let Some(WordLoop { to, from, bytes }) = self.loops.pop_front() else { return false };
        let part = bytes.min(LINE_BYTES);
        for at in (0..part).step_by(WORD_BYTES as usize) {
            if let Some(from) = from {
                self.push(Step::Load { address: PhysicalAddress(from + at) });
            }
            self.push(Step::Store { address: PhysicalAddress(to + at) });
        }
        if part < bytes {
            let from = from.map(|from| from + part);
            self.loops.push_front(WordLoop { to: to + part, from, bytes: bytes - part });
        }
        true
    }

    /// The address of a byte of the process or of an object, and the number of bytes from it on, at most some, that
    /// have consecutive addresses.
    fn place(&mut self, of: ObjectAddress, most: u64) -> (u64, u64) {
        if of.object != ObjectAddress::PROCESS {
            let (at, room) = self.objects.place(of, &mut self.pending);
            let bytes = room.min(most);
            self.objects.present(of.object, (at, bytes), false, &mut self.pending);
            return (at, bytes);
        }
        let distance = self.distance(of.address / FRAME_BYTES);
        let mut bytes = (FRAME_BYTES - of.address % FRAME_BYTES).min(most);
        while bytes < most && self.distance((of.address + bytes) / FRAME_BYTES) == distance {
            bytes = (bytes + FRAME_BYTES).min(most);
        }
        (of.address.wrapping_add(distance), bytes)
    }
}

impl<R: Read> Program for RecordedProgram<R> {
    fn next_step(&mut self) -> Result<Option<Step>, LineError> {
        loop {
            if let Some(step) = self.pending.pop_front() {
                return Ok(Some(step));
            }
            if !self.unroll() && !self.translate()? {
                return Ok(None);
            }
        }
    }

    fn copier_min_bytes(&self) -> u64 {
        RECORDED_COPIER_MIN_BYTES
    }
}

#[cfg(test)]
pub(in super::super) mod tests;
