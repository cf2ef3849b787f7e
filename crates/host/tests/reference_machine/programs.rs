//! Random programs.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use dram_spec::PhysicalAddress;
use proptest::collection::vec;
use proptest::prelude::*;
use trace_io::program::{DeviceStep, InstructionClass, InstructionKind, Needs, Step};

use crate::processes::{KERNEL, PAGE};

const START: u64 = 0x1_0000;

/// Bytes of the longest line.
const LINE_MAX: u64 = 128;

/// A step without its process: a kind, and numbers that choose addresses and sizes.
#[derive(Clone, Copy, Debug)]
pub struct Draft {
    kind: Kind,
    near: u64,
    far: u64,
    size: u64,
    /// Chooses class and operands.
    needs: u64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Compute,
    Load,
    Store,
    Copy,
    CopyPage,
    Zero,
    ZeroPage,
    Map,
    MapPresent,
    MapKernel,
    MapKernelPresent,
    Share,
    Unmap,
    Discard,
    Move,
    Fork,
    Run,
    Exit,
}

/// Pages of the first mapping, those of its beginning that are filled, and the drafts.
#[derive(Clone, Debug)]
pub struct ProgramDraft {
    pages: u64,
    filled: u64,
    drafts: Vec<Draft>,
    /// Whether its instructions have classes and operands.
    has_classes: bool,
}

pub fn arb_program() -> impl Strategy<Value = ProgramDraft> {
    let kind = prop_oneof![
        8 => Just(Kind::Compute),
        24 => Just(Kind::Load),
        24 => Just(Kind::Store),
        3 => Just(Kind::Copy),
        2 => Just(Kind::CopyPage),
        2 => Just(Kind::Zero),
        1 => Just(Kind::ZeroPage),
        1 => Just(Kind::Map),
        1 => Just(Kind::MapPresent),
        1 => Just(Kind::MapKernel),
        1 => Just(Kind::MapKernelPresent),
        2 => Just(Kind::Share),
        1 => Just(Kind::Unmap),
        1 => Just(Kind::Discard),
        1 => Just(Kind::Move),
        2 => Just(Kind::Fork),
        3 => Just(Kind::Run),
        1 => Just(Kind::Exit),
    ];
    let draft = (kind, any::<[u16; 4]>()).prop_map(|(kind, numbers)| {
        let [near, far, size, needs] = numbers.map(u64::from);
        Draft { kind, near, far, size, needs }
    });
    let has_classes = prop_oneof![2 => Just(false), 1 => Just(true)];
    (1_u64..4, 0_u64..3 * PAGE, vec(draft, 1..60), has_classes).prop_map(|(pages, filled, drafts, has_classes)| {
        ProgramDraft { has_classes, pages, filled: filled.min(pages * PAGE), drafts }
    })
}

/// A step with a class and operands, if it is an instruction and not every time.
fn with_needs(step: Step, number: u64) -> Step {
    let kind = match step {
        Step::Compute { instructions } => InstructionKind::Compute { instructions },
        Step::Load { address } => InstructionKind::Load { address },
        Step::Store { address } => InstructionKind::Store { address },
        other => return other,
    };
    let classes = match kind {
        InstructionKind::Compute { .. } => {
            [InstructionClass::Integer, InstructionClass::Multiply, InstructionClass::Float]
        }
        InstructionKind::Load { .. } => {
            [InstructionClass::Load, InstructionClass::FloatLoad, InstructionClass::StringLoad]
        }
        InstructionKind::Store { .. } => {
            [InstructionClass::Store, InstructionClass::FloatStore, InstructionClass::StringStore]
        }
    };
    let class = classes[number as usize % 3];
    // Most operands are near, and half of the instructions have none.
    let distance = |number: u64| match number % 8 {
        0..4 => 0,
        near @ 4..7 => near as u16 - 3,
        _ => 1 + (number / 8 % 32) as u16,
    };
    Step::Instruction { kind, needs: Needs { class, after: [distance(number / 4), distance(number / 64)] } }
}

/// Begins copies without waiting for their ends, and adds steps `issue` and `wait`, as numbers choose.
pub fn with_begins(steps: Vec<Step>, numbers: &[u8]) -> Vec<Step> {
    let mut changed = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        let number = numbers[at % numbers.len()];
        changed.push(match step {
            Step::Copy { dst, src, bytes } if !number.is_multiple_of(3) => {
                Step::Device(DeviceStep::Begin { dst, src, bytes })
            }
            other => other,
        });
        match number / 3 {
            0..4 => changed.push(Step::Device(DeviceStep::Issue)),
            4..8 => changed.push(Step::Device(DeviceStep::Wait)),
            _ => {}
        }
    }
    changed
}

/// Addresses that a `share` or a `move` gave other pages: first byte, that of the pages, and bytes.
type Alias = (u64, u64, u64);

/// The lines of a range, at the addresses that their pages had first.
fn original_lines(aliases: &[Alias], address: PhysicalAddress, bytes: u64) -> RangeInclusive<u64> {
    let original = |address, &(from, to, bytes): &Alias| {
        if (from..from + bytes).contains(&address) { address - from + to } else { address }
    };
    let first = aliases.iter().rev().fold(address.0, original);
    first / LINE_MAX..=(first + bytes - 1) / LINE_MAX
}

/// Adds a `wait` before each step that may access a line which copies in progress read or write.
pub fn with_waits(steps: Vec<Step>) -> Vec<Step> {
    let mut aliases = Vec::new();
    let mut begun: Vec<RangeInclusive<u64>> = Vec::new();
    let mut waiting = Vec::new();
    for step in steps {
        let lines = |address, bytes| original_lines(&aliases, address, bytes);
        let touched = match step {
            Step::Load { address } | Step::Store { address } => vec![lines(address, 8)],
            Step::Instruction {
                kind: InstructionKind::Load { address } | InstructionKind::Store { address }, ..
            } => {
                vec![lines(address, 8)]
            }
            Step::Copy { dst, src, bytes } | Step::Device(DeviceStep::Begin { dst, src, bytes }) => {
                vec![lines(dst, bytes), lines(src, bytes)]
            }
            Step::Zero { address, bytes } => vec![lines(address, bytes)],
            // They may change any frame.
            Step::Unmap { .. } | Step::Discard { .. } | Step::Move { .. } | Step::Share { .. } => vec![0..=u64::MAX],
            _ => Vec::new(),
        };
        let overlaps = |one: &RangeInclusive<u64>| {
            begun.iter().any(|other| one.start() <= other.end() && other.start() <= one.end())
        };
        if touched.iter().any(overlaps) {
            waiting.push(Step::Device(DeviceStep::Wait));
            begun.clear();
        }
        match step {
            Step::Device(DeviceStep::Begin { .. }) => begun.extend(touched),
            Step::Device(DeviceStep::Wait) | Step::Fork { .. } | Step::Run { .. } | Step::Exit => begun.clear(),
            Step::Share { address: from, source: to, bytes } | Step::Move { from: to, to: from, bytes } => {
                aliases.push((from.0, to.0, bytes));
            }
            _ => {}
        }
        waiting.push(step);
    }
    waiting
}

/// The processes of a program while it is written.
struct Writer {
    steps: Vec<Step>,
    /// First byte and bytes of each mapped range of each process that lives.
    ranges: BTreeMap<u32, Vec<(u64, u64)>>,
    /// Those of the kernel's region.
    of_kernel: Vec<(u64, u64)>,
    running: u32,
    /// Number of the next child, and first byte of the next range.
    next: (u32, u64),
}

impl ProgramDraft {
    /// The steps, among which are changes of mapped pages only where frames are given one by one.
    pub fn steps(&self, changes_mappings: bool) -> Vec<Step> {
        let bytes = self.pages * PAGE;
        let address = PhysicalAddress(START);
        let mut steps = vec![Step::Map { address, bytes }];
        if self.filled > 0 {
            steps.push(Step::Filled { address, bytes: self.filled });
        }
        // All ranges are filled before a process exits.
        steps.push(Step::Compute { instructions: 1 });
        let ranges = BTreeMap::from([(1, vec![(START, bytes)])]);
        let of_kernel = Vec::new();
        let mut writer = Writer { steps, ranges, of_kernel, running: 1, next: (2, START + 16 * PAGE) };
        for draft in &self.drafts {
            let changes = matches!(draft.kind, Kind::Share | Kind::Unmap | Kind::Discard | Kind::Move);
            if changes && !changes_mappings {
                continue;
            }
            if !writer.write(*draft) {
                break;
            }
            if self.has_classes
                && let Some(step) = writer.steps.last_mut()
            {
                *step = with_needs(*step, draft.needs);
            }
        }
        writer.steps
    }
}

impl Writer {
    /// A range of at most `most` bytes that is mapped in the running process.
    fn range(&self, number: u64, most: u64) -> (u64, u64) {
        let (first, bytes) = self.any_range(number);
        // Few lines, of which some are near the end of a page.
        let offset = match number / 8 % 4 {
            0 => number / 32 % 8 * 64 + number % 8 * 8,
            1 => PAGE - 64 + number / 32 % 16 * 8,
            2 => number / 32 * 64,
            _ => number / 32 * 8,
        } % bytes;
        (first + offset, most.min(bytes - offset))
    }

    /// A range of the running process or of the kernel.
    fn any_range(&self, number: u64) -> (u64, u64) {
        let of_process = &self.ranges[&self.running];
        let at = number as usize % (of_process.len() + self.of_kernel.len());
        of_process.get(at).copied().unwrap_or_else(|| self.of_kernel[at - of_process.len()])
    }

    /// Number of a range of the running process.
    fn own_range(&self, number: u64) -> usize {
        number as usize % self.ranges[&self.running].len()
    }

    fn page(&self, number: u64) -> u64 {
        let (first, bytes) = self.any_range(number);
        first + number / 8 % (bytes / PAGE) * PAGE
    }

    fn own_ranges(&mut self) -> &mut Vec<(u64, u64)> {
        self.ranges.get_mut(&self.running).expect("it lives")
    }

    /// The next range, which is not mapped.
    fn next_range(&mut self, size: u64) -> (u64, u64) {
        let first = self.next.1;
        self.next.1 += 4 * PAGE;
        (first, (1 + size % 2) * PAGE)
    }

    /// Maps the next range.
    fn map(&mut self, size: u64, is_of_kernel: bool) -> Step {
        let (first, bytes) = self.next_range(size);
        let first = if is_of_kernel { first + KERNEL } else { first };
        let ranges = if is_of_kernel { &mut self.of_kernel } else { self.own_ranges() };
        ranges.push((first, bytes));
        Step::Map { address: PhysicalAddress(first), bytes }
    }

    /// Unmaps pages of a range, unless it is the only one.
    fn unmap(&mut self, near: u64, size: u64) -> Step {
        let at = self.own_range(near);
        let ranges = self.own_ranges();
        if ranges.len() == 1 {
            return Step::Compute { instructions: 1 };
        }
        let (first, bytes) = ranges.swap_remove(at);
        let pages = bytes / PAGE;
        let from = size % pages;
        let end = (from + 1 + size / 8 % pages).min(pages);
        let parts = [(first, from * PAGE), (first + end * PAGE, (pages - end) * PAGE)];
        ranges.extend(parts.into_iter().filter(|(_, bytes)| *bytes > 0));
        if ranges.is_empty() {
            ranges.push((first, bytes));
            return Step::Compute { instructions: 1 };
        }
        Step::Unmap { address: PhysicalAddress(first + from * PAGE), bytes: (end - from) * PAGE - size % 3 }
    }

    /// Appends a step; returns whether a process still runs.
    fn write(&mut self, Draft { kind, near, far, size, .. }: Draft) -> bool {
        let at = PhysicalAddress;
        let step = match kind {
            Kind::Compute => Step::Compute { instructions: 1 + size % 100 },
            Kind::Load => Step::Load { address: at(self.range(near, 8).0 / 8 * 8) },
            Kind::Store => Step::Store { address: at(self.range(near, 8).0 / 8 * 8) },
            Kind::Copy => {
                let (dst, most) = self.range(near, 1 + size % 1500);
                let (src, bytes) = self.range(far, most);
                let dst = dst + if size % 3 == 0 { size % 8 } else { 0 };
                let bytes = bytes.saturating_sub(8).max(1);
                Step::Copy { dst: at(dst), src: at(src), bytes }
            }
            Kind::CopyPage => {
                let (dst, src) = (self.page(near), self.page(far));
                Step::Copy { dst: at(dst), src: at(src), bytes: PAGE }
            }
            Kind::Zero => {
                let (address, bytes) = self.range(near, 1 + size % 1500);
                Step::Zero { address: at(address), bytes }
            }
            Kind::ZeroPage => Step::Zero { address: at(self.page(near)), bytes: PAGE },
            Kind::Map | Kind::MapKernel => self.map(size, matches!(kind, Kind::MapKernel)),
            Kind::Share => {
                let Some(&(source, bytes)) = self.of_kernel.get(far as usize % self.of_kernel.len().max(1)) else {
                    return true;
                };
                let (first, _) = self.next_range(size);
                self.own_ranges().push((first, bytes));
                Step::Share { address: at(first), source: at(source), bytes }
            }
            Kind::Unmap => self.unmap(near, size),
            Kind::Discard => Step::Discard { address: at(self.page(near)), bytes: 1 + size % PAGE },
            Kind::Move => {
                let (number, (to, _)) = (self.own_range(near), self.next_range(size));
                let range = &mut self.own_ranges()[number];
                let (from, bytes) = *range;
                range.0 = to;
                Step::Move { from: at(from), to: at(to), bytes }
            }
            Kind::MapPresent | Kind::MapKernelPresent => {
                let map = self.map(size, matches!(kind, Kind::MapKernelPresent));
                let Step::Map { address, bytes } = map else { unreachable!("it is one") };
                self.steps.push(map);
                Step::Present { address, bytes: 1 + far % bytes }
            }
            Kind::Fork => {
                let child = self.next.0;
                self.next.0 += 1;
                self.ranges.insert(child, self.ranges[&self.running].clone());
                Step::Fork { child }
            }
            Kind::Run => {
                self.running = *self.ranges.keys().nth(near as usize % self.ranges.len()).expect("it lives");
                Step::Run { process: self.running }
            }
            Kind::Exit => {
                self.steps.push(Step::Exit);
                self.ranges.remove(&self.running);
                let Some((&process, _)) = self.ranges.first_key_value() else { return false };
                self.running = process;
                Step::Run { process }
            }
        };
        self.steps.push(step);
        true
    }
}
