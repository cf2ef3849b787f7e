//! Copy programs: the untimed steps that copy or initialize rows by the selected mechanisms.
//!
//! A program is data. The controller runs it, the estimator computes its time on an idle device, the
//! price table sums the prices of its commands, and `explain plan` prints it. `docs/planner.md`
//! defines the rules of execution.

use dram_spec::{LINE_BYTES, Location, Mechanism, Operation, PhysicalAddress};
use smallvec::SmallVec;

use crate::block::{Block, Part, PieceOrder, Shift};
use crate::faulty::RowAddress;
use crate::mechanism::Columns;
use crate::step::{CopyStep, CopyThread, Line, Run, RunWrite, StepList};
use crate::stripe::{Bytes, Stripe, Stripes, chunks, falling, joined};

/// Steps that copy or initialize a part of a block by one mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Mechanism of the copy.
    pub mechanism: Mechanism,
    /// Bytes of the operation that the program copies.
    pub bytes: u64,
    /// Index of the part in its block; for several parts over the channel, index of the longest.
    pub part: usize,
    /// Steps per channel, in the order in which the program first uses the channels.
    pub threads: SmallVec<[CopyThread; 1]>,
}

impl Program {
    /// Lines that the program reads over the channels.
    pub fn lines_read(&self) -> u32 {
        let reads = |step: &CopyStep| if let CopyStep::Read { run, .. } = step { u32::from(run.count) } else { 0 };
        self.steps().map(reads).sum()
    }

    /// Lines that the program writes over the channels.
    pub fn lines_written(&self) -> u32 {
        let writes =
            |step: &CopyStep| if let CopyStep::Write { write, .. } = step { u32::from(write.run.count) } else { 0 };
        self.steps().map(writes).sum()
    }

    /// Steps of all threads.
    pub fn steps(&self) -> impl Iterator<Item = &CopyStep> {
        self.threads.iter().flat_map(|thread| &thread.steps)
    }

    /// Whether all reads use one channel and equally many writes use another: each line is then
    /// written when its data arrives.
    pub fn is_pipelined(&self) -> bool {
        let only = |thread: &CopyThread, read: bool| {
            thread.steps.iter().all(|step| match step {
                CopyStep::Read { .. } => read,
                CopyStep::Write { .. } => !read,
                _ => true,
            })
        };
        let [one, other] = &self.threads[..] else { return false };
        let separate = only(one, true) && only(other, false) || only(one, false) && only(other, true);
        separate && self.lines_read() == self.lines_written()
    }
}

impl Block {
    /// Passes on the programs of the block with a mechanism per part, in dispatch order.
    ///
    /// Each part copied in DRAM is one program. All parts over the channel are merged, sorted by
    /// address, and divided into programs of at most `staging_lines` written lines (of a read: read
    /// lines). Whole lines from one channel to another are not divided.
    ///
    /// # Panics
    ///
    /// If there is not one choice per part, if a part does not allow its choice, or if
    /// `staging_lines` is 0.
    pub fn programs(&self, choices: &[Mechanism], staging_lines: usize, pass_on: impl FnMut(Program)) {
        self.programs_in(&mut Vec::new(), choices, staging_lines, pass_on);
    }

    /// [`Self::programs`] in the memory of step lists that are no longer used.
    ///
    /// # Panics
    ///
    /// As [`Self::programs`].
    pub fn programs_in(
        &self,
        spare: &mut Vec<StepList>,
        choices: &[Mechanism],
        staging_lines: usize,
        mut pass_on: impl FnMut(Program),
    ) {
        assert_eq!(choices.len(), self.parts.len(), "one mechanism a part");
        assert!(staging_lines > 0, "a copy over the channel needs room for a line");
        // Of the parts that go over the channel: the longest, the bytes of all, and whether all come from one other
        // channel.
        let mut longest: Option<(usize, &Part)> = None;
        let (mut targets, mut crosses) = (Stripes::new(), true);
        for (index, (part, &mechanism)) in self.parts.iter().zip(choices).enumerate() {
            if let Some(thread) = self.in_dram(spare, part, mechanism) {
                let threads = SmallVec::from_buf([thread]);
                pass_on(Program { mechanism, bytes: part.bytes, part: index, threads });
                continue;
            }
            let from = longest.unwrap_or((index, part)).1.src().map(|src| src.channel);
            crosses &= from.is_some_and(|from| from != part.dst.channel) && part.src().map(|src| src.channel) == from;
            targets.extend(part.pieces.iter().map(|piece| piece.dst));
            if longest.is_none_or(|(_, longest)| longest.bytes < part.bytes) {
                longest = Some((index, part));
            }
        }
        let Some((part, _)) = longest else { return };
        let mut targets = joined(targets);
        if self.order == PieceOrder::Descending {
            targets = falling(targets);
        }
        // From one channel to another, each line is written as it arrives: the buffer bounds what is on its way, and
        // not the program.
        let most = if crosses { usize::MAX } else { staging_lines };
        chunks(targets, most, |targets| {
            let (mechanism, bytes) = (Mechanism::CHANNEL, targets.iter().map(Stripe::total).sum());
            pass_on(Program { mechanism, bytes, part, threads: self.over_channel(spare, targets) });
        });
    }

    /// Programs of one part alone with a mechanism.
    ///
    /// # Panics
    ///
    /// As [`Block::programs`], and if there is no such part.
    pub fn programs_of(&self, part: usize, mechanism: Mechanism, staging_lines: usize) -> Vec<Program> {
        let parts = vec![self.parts[part].clone()];
        let (alone, mut programs) = (Block { parts, ..self.clone() }, Vec::new());
        alone.programs(&[mechanism], staging_lines, |program| programs.push(program));
        programs
    }

    /// The steps of a part without the channel; `None` for a choice of the channel.
    fn in_dram(&self, spare: &mut Vec<StepList>, part: &Part, mechanism: Mechanism) -> Option<CopyThread> {
        let (in_dram, route) = match part.route(mechanism)? {
            (in_dram, Ok(route)) => (in_dram, route),
            (_, Err(reason)) => {
                panic!("{} was chosen for a part of {} that does not allow it: {reason}", mechanism.name(), part.dst)
            }
        };
        let run_lines = (self.shared.map.run_bytes() / LINE_BYTES) as u16;
        let RowAddress { channel, bank, row } = part.dst;
        let columns = Columns { pieces: &part.pieces, run_lines, geometry: self.shared.map.geometry() };
        let mut thread = CopyThread::on(channel, spare);
        in_dram.program(&route, (bank, row), &columns, &mut thread);
        Some(thread)
    }

    /// The steps over the channels: all reads, then all writes.
    ///
    /// Lines are read once, by rising address, or by falling address if the writes are. They include
    /// each partially written line, whose other bytes are merged. Of a copy, the byte written at
    /// address `a` is the byte read at `a - dst + src`.
    fn over_channel(&self, spare: &mut Vec<StepList>, targets: &[Stripe]) -> SmallVec<[CopyThread; 1]> {
        let mut threads = SmallVec::new();
        if let Operation::Read { .. } = self.operation {
            for target in targets {
                self.runs(target, |run| on(&mut threads, spare, &run).read(run));
            }
        } else {
            self.reads_for(targets, |run| on(&mut threads, spare, &run).read(run));
            for target in targets {
                self.runs(target, |run| on(&mut threads, spare, &run).write(write(target, run)));
            }
        }
        threads.iter_mut().for_each(CopyThread::close);
        threads
    }

    /// Passes on the source lines of some writes, and the lines that must be merged.
    fn reads_for(&self, targets: &[Stripe], mut pass_on: impl FnMut(Run)) {
        let mut needed = Stripes::new();
        for target in targets {
            if let Some(src) = self.operation.src() {
                needed
                    .push(Stripe { start: target.start - self.operation.target().0 + src.0, ..*target }.whole_lines());
            }
            let ragged = [target.start, target.end()].into_iter().filter(|end| !end.is_multiple_of(LINE_BYTES));
            needed.extend(ragged.map(|end| Stripe::from(end..end).whole_lines()));
        }
        let needed = joined(needed);
        if self.order == PieceOrder::Ascending {
            return needed.iter().for_each(|stripe| self.runs(stripe, &mut pass_on));
        }
        let mut rising = Vec::with_capacity(needed.len());
        needed.iter().for_each(|stripe| self.runs(stripe, |run| rising.push(run)));
        let falling = rising.iter().rev().flat_map(|run| run.lines().rev());
        falling.for_each(|first| pass_on(Run { first, count: 1, stride: LINE_BYTES }));
    }

    /// Passes on the lines that hold a byte of a stripe, run by run.
    fn runs(&self, stripe: &Stripe, mut pass_on: impl FnMut(Run)) {
        let lines = stripe.whole_lines();
        let step = self.shared.map.run_bytes();
        // Where runs of the map are lines, those of a stripe are one run here; longer ranges have a run each.
        let is_one = lines.bytes == LINE_BYTES && step == LINE_BYTES;
        let (ranges, together) = if is_one { (1, lines.count) } else { (lines.count, 1) };
        for Bytes { start, end } in lines.ranges().take(ranges as usize) {
            let mut address = start;
            while address < end {
                let next = end.min((address / step + 1) * step);
                let location = self.locate(address);
                let count = (together * (next - address) / LINE_BYTES) as u16;
                let stride = if together > 1 { lines.stride } else { LINE_BYTES };
                pass_on(Run { first: Line { address: PhysicalAddress(address), location }, count, stride });
                address = next;
            }
        }
    }
}

impl Shift {
    fn line(self, Line { address, location }: Line) -> Line {
        let address = PhysicalAddress(address.0 + self.bytes);
        Line { address, location: Location { channel: self.channel(location.channel), ..location } }
    }

    fn step(self, step: &CopyStep) -> CopyStep {
        let shifted = |run: Run| Run { first: self.line(run.first), ..run };
        match *step {
            CopyStep::Read { bank, run } => CopyStep::Read { bank, run: shifted(run) },
            CopyStep::Write { bank, write } => {
                CopyStep::Write { bank, write: RunWrite { run: shifted(write.run), ..write } }
            }
            CopyStep::Open { .. }
            | CopyStep::LeaveRow { .. }
            | CopyStep::CopyOpen { .. }
            | CopyStep::Close { .. }
            | CopyStep::Transfer { .. } => *step,
        }
    }

    /// The program of the other block that corresponds to one of this block.
    pub fn program(self, program: &Program, spare: &mut Vec<StepList>) -> Program {
        let threads = program.threads.iter().map(|thread| {
            let mut shifted = CopyThread::on(self.channel(thread.channel), spare);
            shifted.steps.extend(thread.steps.iter().map(|step| self.step(step)));
            shifted
        });
        Program { threads: threads.collect(), ..*program }
    }
}

/// The steps on the channel of a run.
fn on<'a>(threads: &'a mut SmallVec<[CopyThread; 1]>, spare: &mut Vec<StepList>, run: &Run) -> &'a mut CopyThread {
    let channel = run.first.location.channel;
    let index = threads.iter().position(|thread| thread.channel == channel).unwrap_or_else(|| {
        threads.push(CopyThread::on(channel, spare));
        threads.len() - 1
    });
    &mut threads[index]
}

/// A run of a stripe as it is written.
fn write(target: &Stripe, run: Run) -> RunWrite {
    let (first, last) = (run.first.address.0, run.line(run.count - 1).address.0);
    let from = target.start.max(first) - first;
    RunWrite { run, from: from as u16, to: (target.end() - last).min(LINE_BYTES) as u16 }
}
