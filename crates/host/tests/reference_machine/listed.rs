//! Accesses that a program lists, computed from its steps alone.
//!
//! A page is a frame, and the memory has more frames than the programs use.

use std::collections::BTreeMap;

use host::machine::{CopyLoop, CoreCounters, KernelSettings, PageCopier};
use trace_io::program::{InstructionKind, Step};

use crate::processes::{KERNEL, PAGE};

/// Number of the kernel among the processes.
const OF_KERNEL: u32 = u32::MAX;

/// Accesses by purpose, operations of the controller, instructions and faults of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub program: u64,
    pub kernel_copy: u64,
    pub kernel_zero: u64,
    pub kernel_data: u64,
    /// Accesses of the kernel that bypass the cache.
    pub bypassing: u64,
    pub controller_copies: u64,
    pub controller_zeroings: u64,
    pub instructions: u64,
    pub kernel_instructions: u64,
    pub faults: u64,
}

impl Listed {
    /// The quantities as a core counted them.
    pub fn counted(counters: &CoreCounters) -> Listed {
        let [program, kernel_copy, kernel_zero, kernel_data, _] = counters.lines.map(|lines| {
            lines.hits + lines.misses + lines.merged + lines.allocated + lines.non_temporal + lines.passed
        });
        Listed {
            program,
            kernel_copy,
            kernel_zero,
            kernel_data,
            bypassing: counters.lines[1..].iter().map(|lines| lines.non_temporal).sum(),
            controller_copies: counters.coherence.copies,
            controller_zeroings: counters.coherence.zeroings,
            instructions: counters.instructions,
            kernel_instructions: counters.kernel_instructions,
            faults: counters.faults,
        }
    }

    /// The quantities of the steps of a program.
    pub fn of(steps: &[Step], kernel: &KernelSettings, line_bytes: u64) -> Listed {
        let mut reader = Reader {
            line_bytes,
            kernel: *kernel,
            listed: Listed::default(),
            running: 1,
            processes: BTreeMap::from([(1, BTreeMap::new()), (OF_KERNEL, BTreeMap::new())]),
            sources: BTreeMap::new(),
            frames: 0,
        };
        for step in steps {
            reader.read(step);
        }
        reader.listed
    }
}

struct Reader {
    line_bytes: u64,
    kernel: KernelSettings,
    listed: Listed,
    running: u32,
    /// Frame of each page that has one, by process.
    processes: BTreeMap<u32, BTreeMap<u64, u64>>,
    /// The page of the kernel whose frame a page shares, by process and page.
    sources: BTreeMap<(u32, u64), u64>,
    /// Frames used until now.
    frames: u64,
}

/// The pages that contain a range.
fn pages_of(address: u64, bytes: u64) -> std::ops::Range<u64> {
    address / PAGE..(address + bytes).div_ceil(PAGE)
}

impl Reader {
    /// A load and a store of each of some entries and descriptors.
    fn use_data(&mut self, entries: u64, descriptors: u64) {
        let data = entries * u64::from(self.kernel.page_table_entry_bytes > 0)
            + descriptors * u64::from(self.kernel.page_descriptor_bytes > 0);
        self.listed.kernel_data += 2 * data;
        self.listed.kernel_instructions += 2 * data;
    }

    fn users(&self, frame: u64) -> usize {
        self.processes.values().flat_map(BTreeMap::values).filter(|other| **other == frame).count()
    }

    /// The running process, or the kernel for a page of its region.
    fn owner(&self, page: u64) -> u32 {
        if page >= KERNEL / PAGE { OF_KERNEL } else { self.running }
    }

    fn pages(&mut self, page: u64) -> &mut BTreeMap<u64, u64> {
        let owner = self.owner(page);
        self.processes.get_mut(&owner).expect("it lives")
    }

    /// Takes the frames of the pages of a range; returns their number.
    fn release(&mut self, address: u64, bytes: u64) -> u64 {
        let range = pages_of(address, bytes);
        range.filter(|page| self.pages(*page).remove(page).is_some()).count() as u64
    }

    /// Gives the page of an access its frame.
    fn touch(&mut self, address: u64, is_store: bool) {
        let (page, owner) = (address / PAGE, self.owner(address / PAGE));
        let mut frame = self.pages(page).get(&page).copied();
        if frame.is_some_and(|frame| !is_store || owner == OF_KERNEL || self.users(frame) == 1) {
            return;
        }
        self.listed.faults += 1;
        let source = self.sources.get(&(owner, page)).copied().filter(|_| frame.is_none());
        if let Some(source) = source {
            if !self.pages(source).contains_key(&source) {
                self.give_frame(source);
            }
            frame = self.pages(source).get(&source).copied();
            self.pages(page).extend(frame.map(|frame| (page, frame)));
            if !is_store {
                return self.use_data(1, 1);
            }
        }
        let copies = frame.is_some();
        self.use_data(1, if copies { 2 } else { 1 });
        let src = copies.then_some(page * PAGE);
        self.transfer(src, page * PAGE, PAGE);
        self.give_frame(page);
    }

    fn give_frame(&mut self, page: u64) {
        self.frames += 1;
        let frame = self.frames;
        self.pages(page).insert(page, frame);
    }

    /// Copies or zeroes bytes of one page.
    fn transfer(&mut self, src: Option<u64>, dst: u64, bytes: u64) {
        let is_large = src.is_none() || bytes >= self.kernel.copier_min_bytes.unwrap_or(0);
        if self.kernel.copier == PageCopier::Controller && is_large {
            let listed = &mut self.listed;
            *if src.is_some() { &mut listed.controller_copies } else { &mut listed.controller_zeroings } += 1;
            return;
        }
        let line_bytes = self.line_bytes;
        // The bytes of a step lie in one line of each range.
        let starts_step = |byte: &u64| {
            *byte == 0
                || (dst + byte).is_multiple_of(line_bytes)
                || src.is_some_and(|src| (src + byte).is_multiple_of(line_bytes))
        };
        let mut starts: Vec<u64> = (0..bytes).filter(starts_step).collect();
        starts.push(bytes);
        for step in starts.windows(2) {
            let words = (step[1] - step[0]).div_ceil(self.kernel.word_bytes);
            let listed = &mut self.listed;
            if src.is_some() {
                listed.kernel_copy += 2;
                listed.kernel_instructions += 2 * words;
            } else {
                listed.kernel_zero += 1;
                listed.kernel_instructions += words;
            }
            let is_whole = step[1] - step[0] == line_bytes;
            listed.bypassing += u64::from(is_whole && self.kernel.copy_loop == CopyLoop::NonTemporal);
        }
    }

    /// Copies or zeroes a range, by pages of the destination and of the source.
    fn bulk(&mut self, src: Option<u64>, dst: u64, bytes: u64) {
        self.listed.instructions += 1;
        let mut from = 0;
        for byte in 1..=bytes {
            let is_page = |start: u64| (start + byte).is_multiple_of(PAGE);
            if byte < bytes && !is_page(dst) && !src.is_some_and(is_page) {
                continue;
            }
            if let Some(src) = src {
                self.touch(src + from, false);
            }
            self.touch(dst + from, true);
            self.transfer(src.map(|src| src + from), dst + from, byte - from);
            from = byte;
        }
    }

    fn read(&mut self, step: &Step) {
        match *step {
            Step::Compute { instructions } => self.listed.instructions += instructions,
            Step::Load { address } | Step::Store { address } => {
                self.touch(address.0, matches!(step, Step::Store { .. }));
                self.listed.instructions += 1;
                self.listed.program += 1;
            }
            Step::Copy { dst, src, bytes } => self.bulk(Some(src.0), dst.0, bytes),
            Step::Zero { address, bytes } => self.bulk(None, address.0, bytes),
            Step::Map { .. } => {}
            Step::Filled { address, bytes } | Step::Present { address, bytes } => {
                pages_of(address.0, bytes).for_each(|page| self.give_frame(page));
            }
            Step::Fork { child } => {
                let pages = self.processes[&self.running].clone();
                self.use_data(2 * pages.len() as u64, pages.len() as u64);
                self.processes.insert(child, pages);
                let of_parent = |((process, page), source): (&(u32, u64), &u64)| {
                    (*process == self.running).then_some(((child, *page), *source))
                };
                let inherited: Vec<_> = self.sources.iter().filter_map(of_parent).collect();
                self.sources.extend(inherited);
            }
            Step::Run { process } => self.running = process,
            Step::Exit => {
                let pages = self.processes.remove(&self.running).expect("it lives").len() as u64;
                self.use_data(pages, pages);
            }
            Step::Share { address, source, bytes } => {
                let pages = pages_of(address.0, bytes).map(|page| (self.running, page));
                self.sources.extend(pages.zip(source.0 / PAGE..));
            }
            Step::Unmap { address, bytes } => {
                let pages = self.release(address.0, bytes);
                self.use_data(pages, pages);
                self.sources.retain(|key, _| key.0 != self.running || !pages_of(address.0, bytes).contains(&key.1));
            }
            Step::Discard { address, bytes } => {
                let pages = self.release(address.0, bytes);
                self.use_data(pages, pages);
            }
            Step::Move { from, to, bytes } => {
                let mut entries = 0;
                for page in pages_of(from.0, bytes) {
                    let new = page - from.0 / PAGE + to.0 / PAGE;
                    if let Some(frame) = self.pages(page).remove(&page) {
                        self.pages(page).insert(new, frame);
                        entries += 1;
                    }
                    if let Some(source) = self.sources.remove(&(self.running, page)) {
                        self.sources.insert((self.running, new), source);
                    }
                }
                self.use_data(entries, 0);
            }
            Step::Device(_) => unreachable!("no list has a device"),
            Step::Renew { .. } => unreachable!("memory traces need this step, and no test has one"),
            Step::Instruction { kind, .. } => match kind {
                InstructionKind::Compute { instructions } => self.listed.instructions += instructions,
                InstructionKind::Load { address } => self.read(&Step::Load { address }),
                InstructionKind::Store { address } => self.read(&Step::Store { address }),
            },
        }
    }
}
