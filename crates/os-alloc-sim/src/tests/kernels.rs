//! Kernels compared with a model: processes without sharing, and a memory with contents.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::fixture::memories;
use crate::{
    Age, Cause, CheckpointId, Destination, Fault, Frame, Generator, HugePages, Kernel, MAX_ORDER, MemoryOperation,
    PageSize, Policy, ProcessId, Report, ZeroOnFree,
};

/// An event: its kind, and numbers that select its operands.
type EventRecord = (u8, u32, u64, u64);

/// Contents of a frame or a page: 0 for zeros, a distinct number per write.
type Contents = u64;

/// Contents of frames before the first write.
const UNDEFINED: Contents = u64::MAX;

/// The reference: each process has pages of its own, copied at once.
struct Model<'a> {
    kernel: &'a mut Kernel,
    memory: BTreeMap<Frame, Contents>,
    /// Contents of frames not in `memory`.
    unlisted: Contents,
    /// By process: its mapped pages, and the contents of those touched.
    processes: BTreeMap<ProcessId, BTreeMap<u64, Option<Contents>>>,
    checkpoints: BTreeMap<CheckpointId, Vec<Contents>>,
    writes: Contents,
    /// First pages of the regions of all processes, from which steps select.
    starts: Vec<u64>,
}

impl Model<'_> {
    fn contents(&self, frame: Frame) -> Contents {
        self.memory.get(&frame).copied().unwrap_or(self.unlisted)
    }

    fn apply(&mut self, operations: Vec<MemoryOperation>) {
        for operation in operations {
            match operation {
                MemoryOperation::Zero { dst, frames, .. } => {
                    self.memory.extend((0..frames).map(|at| (dst.plus(at), 0)));
                }
                MemoryOperation::Copy { src, dst, frames, .. } => {
                    for at in 0..frames {
                        let contents = self.contents(src.plus(at));
                        self.memory.insert(dst.plus(at), contents);
                    }
                }
            }
        }
    }

    /// Records a first touch: it gives frames to a whole grain or huge page, and pages not touched
    /// before are zero.
    fn record_first_touch(&mut self, process: ProcessId) {
        let space = self.kernel.address_space(process).unwrap();
        for (page, contents) in self.processes.get_mut(&process).unwrap() {
            if contents.is_none() && space.frame(*page).is_some() {
                *contents = Some(0);
            }
        }
    }

    fn step(&mut self, (kind, which, page, more): EventRecord) -> Result<(), Fault> {
        let ids: Vec<ProcessId> = self.processes.keys().copied().collect();
        let pick = |which: u32| ids.get(which as usize % ids.len().max(1)).copied().unwrap_or(ProcessId(1000));
        let process = pick(which);
        let start = self.starts.get(more as usize % self.starts.len().max(1)).copied().unwrap_or(0);
        let page = start + page;
        let mut operations = Vec::new();
        let grain = self.kernel.frame_set().grain_frames();
        match kind {
            0 => {
                let process = self.kernel.spawn();
                self.processes.insert(process, BTreeMap::new());
            }
            1 => {
                let size = if more.is_multiple_of(2) { PageSize::Huge } else { PageSize::Small };
                let pages = if more.is_multiple_of(4) { 700 } else { 1 + more % 40 };
                let first = self.kernel.map(process, pages, size)?;
                let space = self.processes.get_mut(&process).unwrap();
                space.extend((first..first + pages.next_multiple_of(u64::from(grain))).map(|page| (page, None)));
                self.starts.push(first);
            }
            2 => {
                let frame = self.kernel.touch(process, page, &mut operations)?;
                assert_eq!(self.kernel.address_space(process).unwrap().frame(page), Some(frame));
                self.apply(operations);
                self.record_first_touch(process);
            }
            3 => {
                let frame = self.kernel.write(process, page, &mut operations)?;
                assert_eq!(self.kernel.references(frame), 1, "a written page has one user");
                self.apply(operations);
                self.record_first_touch(process);
                self.writes += 1;
                self.memory.insert(frame, self.writes);
                self.processes.get_mut(&process).unwrap().insert(page, Some(self.writes));
            }
            4 => {
                let child = self.kernel.fork(process)?;
                self.processes.insert(child, self.processes[&process].clone());
            }
            5 => {
                self.kernel.unmap(process, page, more % 50, &mut operations)?;
                self.apply(operations);
                let (grain, end) = (u64::from(grain), page + more % 50);
                let gone = page / grain * grain..end.next_multiple_of(grain);
                self.processes.get_mut(&process).unwrap().retain(|page, _| !gone.contains(page));
            }
            6 => {
                self.kernel.exit(process, &mut operations)?;
                self.apply(operations);
                self.processes.remove(&process);
            }
            7 => {
                let checkpoint = self.kernel.checkpoint(process, &mut operations)?;
                self.apply(operations);
                let contents = self.processes[&process].values().copied().flatten().collect();
                self.checkpoints.insert(checkpoint, contents);
            }
            8 => {
                let kept = self.checkpoints.keys().next().copied().unwrap_or(CheckpointId(9999));
                self.kernel.drop_checkpoint(kept, &mut operations)?;
                self.apply(operations);
                self.checkpoints.remove(&kept);
                assert!(self.kernel.checkpoints.keys().eq(self.checkpoints.keys()), "{kept} was dropped");
            }
            9 => {
                let clone = self.kernel.clone_machine(process, &mut operations)?;
                self.apply(operations);
                self.processes.insert(clone, self.processes[&process].clone());
            }
            10 => {
                // Only grains of equal contents may be merged.
                let other = (pick(more as u32), page / u64::from(grain) * u64::from(grain));
                let page = (process, start / u64::from(grain) * u64::from(grain));
                let contents = |(process, page): (ProcessId, u64)| {
                    let pages = self.processes.get(&process);
                    let at = |at| pages.and_then(|pages| pages.get(&(page + u64::from(at))).copied().flatten());
                    (0..grain).map(at).collect::<Option<Vec<Contents>>>()
                };
                if contents(page) == contents(other) || contents(page).is_none() || contents(other).is_none() {
                    self.kernel.deduplicate(page, other, &mut operations)?;
                    self.apply(operations);
                    let frame = |(process, page)| self.kernel.address_space(process).unwrap().frame(page);
                    assert_eq!(frame(page), frame(other));
                }
            }
            _ => {
                let to = [Destination::NearSource, Destination::Anywhere, Destination::Near(Frame(6 * 1024 + 17))];
                let to = to[more as usize % to.len()];
                let before = self.kernel.address_space(process).and_then(|space| space.frame(page));
                let frame = self.kernel.migrate(process, page, to, &mut operations)?;
                assert_ne!(Some(frame), before);
                self.apply(operations);
            }
        }
        Ok(())
    }

    fn assert_sound(&self) {
        for (&process, pages) in &self.processes {
            let space = self.kernel.address_space(process).unwrap();
            for (&page, contents) in pages {
                let found = space.frame(page).map(|frame| self.contents(frame));
                assert_eq!(found, *contents, "page {page} of {process}");
                assert!(space.is_mapped(page));
            }
            assert_eq!(space.present(), pages.values().flatten().count() as u64);
        }
        for (checkpoint, contents) in &self.checkpoints {
            let frames = self.kernel.checkpoints[checkpoint].iter();
            let frames = frames.flat_map(|grain| (0..self.kernel.grain_frames()).map(|at| grain.plus(at)));
            let found: Vec<Contents> = frames.map(|frame| self.contents(frame)).collect();
            assert_eq!(found, *contents);
        }
        self.assert_every_frame_is_counted();
    }

    /// Each frame has as many references as users, and is free if and only if it has none.
    fn assert_every_frame_is_counted(&self) {
        let mut users: BTreeMap<Frame, u32> = BTreeMap::new();
        let spaces = self.kernel.spaces.values().flat_map(|space| space.entries().map(|(_, entry)| entry.frame));
        let checkpoints = self.kernel.checkpoints.values().flatten().copied();
        for frame in spaces.chain(checkpoints).chain(self.kernel.background().iter().copied()) {
            *users.entry(frame).or_default() += 1;
        }
        let mut free = 0;
        for grain in self.kernel.frame_set().grains() {
            let references = users.remove(&grain).unwrap_or(0);
            assert_eq!(self.kernel.references(grain), references, "{grain}");
            assert_eq!(self.kernel.allocator().is_free(grain), references == 0, "{grain}");
            free += u64::from(references == 0) * u64::from(self.kernel.grain_frames());
        }
        assert!(users.is_empty(), "references without an owner: {users:?}");
        assert_eq!(self.kernel.report().free.frames(), free);
    }

    fn state(&self) -> (Report, BTreeMap<Frame, Contents>) {
        (self.kernel.report(), self.memory.clone())
    }
}

/// Kinds of steps; frequent ones are repeated.
const KINDS: [u8; 18] = [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 10, 11];

fn run(
    memory: usize,
    policy: Policy,
    zero_on_free: ZeroOnFree,
    age: Option<Age>,
    steps: impl IntoIterator<Item = EventRecord>,
) -> Report {
    let (map, set) = memories()[memory].clone();
    let mut kernel = match age {
        None => Kernel::new(map, set, policy, 7, zero_on_free).unwrap(),
        Some(age) => {
            let (allocator, aged) = crate::age(&map, &set, policy, age, &mut Generator::new(7)).unwrap();
            Kernel::aged(map, set, allocator, aged, zero_on_free)
        }
    };
    let mut model = Model {
        kernel: &mut kernel,
        memory: BTreeMap::new(),
        unlisted: if zero_on_free == ZeroOnFree::On { 0 } else { UNDEFINED },
        processes: BTreeMap::new(),
        checkpoints: BTreeMap::new(),
        writes: 0,
        starts: Vec::new(),
    };
    let opening = [(0, 0, 0, 0), (1, 0, 0, 4), (1, 0, 0, 21)];
    for step in opening.into_iter().chain(steps) {
        let before = model.state();
        if model.step(step).is_err() {
            assert!(model.state() == before, "an event that fails changes nothing: {step:?}");
        }
        model.assert_sound();
    }
    kernel.report()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Sharing, merging, moving and zeroing never change what a process reads, and no frame is
    /// lost.
    #[test]
    fn a_process_reads_what_it_wrote_and_no_frame_is_lost(
        memory in 0..memories().len(),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        zero in prop::sample::select(vec![ZeroOnFree::Off, ZeroOnFree::On]),
        utilization in prop::option::of(0.0..0.9),
        steps in prop::collection::vec(
            (prop::sample::select(KINDS.to_vec()), any::<u32>(), 0_u64..30, any::<u64>()), 1..60),
    ) {
        prop_assume!(policy != Policy::Buddy || memories()[memory].1.grain_order() <= MAX_ORDER);
        let age = utilization.map(|utilization| Age::new(utilization, 0.5).unwrap());
        run(memory, policy, zero, age, steps);
    }
}

/// The search above covers huge pages and the reversal of de-duplication.
#[test]
fn the_search_covers_every_cause_and_huge_pages() {
    let mut generator = Generator::new(11);
    let mut step = || {
        let kind = KINDS[generator.below(KINDS.len() as u32) as usize];
        (kind, generator.below(1 << 30), u64::from(generator.below(30)), generator.number())
    };
    let mut met = [0; Cause::ALL.len()];
    let (mut huge, mut huge_copies) = (HugePages::default(), 0);
    for zero_on_free in [ZeroOnFree::Off, ZeroOnFree::On].into_iter().cycle().take(40) {
        let steps: Vec<EventRecord> = (0..60).map(|_| step()).collect();
        let report = run(0, Policy::Buddy, zero_on_free, None, steps);
        for (met, cause) in met.iter_mut().zip(Cause::ALL) {
            *met += report.traffic.copies_of(cause).operations + report.traffic.zeroings_of(cause).operations;
        }
        huge.wanted += report.huge_pages.wanted;
        huge.served += report.huge_pages.served;
        let copies = report.traffic.copies_of(Cause::CopyOnWrite);
        huge_copies += (copies.frames() - copies.operations) / 511;
    }
    assert!(met.iter().all(|met| *met > 0), "{met:?}");
    assert!(huge_copies > 0 && huge.wanted > huge.served, "{huge:?}, {huge_copies} copied");
}
