//! Copy programs: the untimed steps that copy or initialize a part by its selected mechanism.
//!
//! A program is data. The controller runs it, the estimator computes its time on idle banks, the
//! price table sums the prices of its commands, and `explain plan` prints it. `docs/planner.md`
//! defines the rules of execution.

use dram_spec::{BankId, Channel, Column, Location, Mechanism, Row};

use crate::block::Block;
use crate::segment::{ColumnRun, Run, RunWrite, Segment, Work};

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
    pub threads: Vec<Thread>,
}

/// Steps of a program on one channel, in order.
///
/// A step waits for all earlier steps of the thread that use one of its banks. A column step
/// (Transfer, Read, Write) also waits for the previous column step. A later step closes each opened
/// bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The channel.
    pub channel: Channel,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Step of a copy program. A column step represents `count` lines, one command per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// ACT of a row.
    Open {
        /// The bank.
        bank: BankId,
        /// The row.
        row: Row,
    },
    /// ACT of another row in the subarray of the open row: copies the open row to that row.
    CopyOpen {
        /// The bank.
        bank: BankId,
        /// Row that is overwritten completely.
        row: Row,
    },
    /// PRE.
    Close {
        /// The bank.
        bank: BankId,
    },
    /// TRANSFER of consecutive columns from the open row of `src` to the open row of `dst`.
    Transfer {
        /// The bank read.
        src: BankId,
        /// First column in that bank.
        src_column: Column,
        /// The bank written, of the same rank.
        dst: BankId,
        /// First column in that bank.
        dst_column: Column,
        /// Lines.
        count: u16,
    },
    /// RD of consecutive lines into the staging buffer.
    Read {
        /// The bank.
        bank: BankId,
        /// The lines.
        run: Run,
    },
    /// WR of consecutive lines from the staging buffer.
    Write {
        /// The bank.
        bank: BankId,
        /// The lines, and the bytes of them that the operation changes.
        write: RunWrite,
    },
}

impl Step {
    /// Banks of the step.
    #[inline]
    pub fn banks(&self) -> (BankId, Option<BankId>) {
        match *self {
            Step::Open { bank, .. }
            | Step::CopyOpen { bank, .. }
            | Step::Close { bank }
            | Step::Read { bank, .. }
            | Step::Write { bank, .. } => (bank, None),
            Step::Transfer { src, dst, .. } => (src, Some(dst)),
        }
    }

    /// Whether the step uses a bank.
    #[inline]
    pub fn uses(&self, bank: BankId) -> bool {
        let (first, second) = self.banks();
        first == bank || second == Some(bank)
    }

    /// Lines of a column step; `None` for a row step.
    #[inline]
    pub fn lines(&self) -> Option<u16> {
        match self {
            Step::Open { .. } | Step::CopyOpen { .. } | Step::Close { .. } => None,
            Step::Transfer { count, .. } => Some(*count),
            Step::Read { run, .. } => Some(run.count),
            Step::Write { write, .. } => Some(write.run.count),
        }
    }
}

impl Program {
    /// Lines that the program reads over the channels.
    pub fn lines_read(&self) -> u32 {
        let reads = |step: &Step| if let Step::Read { run, .. } = step { u32::from(run.count) } else { 0 };
        self.threads.iter().flat_map(|thread| &thread.steps).map(reads).sum()
    }

    /// Lines that the program writes over the channels.
    pub fn lines_written(&self) -> u32 {
        let writes = |step: &Step| if let Step::Write { write, .. } = step { u32::from(write.run.count) } else { 0 };
        self.threads.iter().flat_map(|thread| &thread.steps).map(writes).sum()
    }

    /// Whether all reads use one channel and equally many writes use another: each line is then
    /// written when its data arrives.
    pub fn is_pipelined(&self) -> bool {
        let only = |thread: &Thread, read: bool| {
            thread.steps.iter().all(|step| match step {
                Step::Read { .. } => read,
                Step::Write { .. } => !read,
                _ => true,
            })
        };
        let [one, other] = &self.threads[..] else { return false };
        let separate = only(one, true) && only(other, false) || only(one, false) && only(other, true);
        separate && self.lines_read() == self.lines_written()
    }
}

impl Block {
    /// Programs of the block with a mechanism per part, in dispatch order.
    ///
    /// # Panics
    ///
    /// As [`Block::segments`].
    pub fn programs(&self, choices: &[Mechanism], staging_lines: usize) -> impl Iterator<Item = Program> {
        self.segments(choices, staging_lines).into_iter().map(|segment| Program::from(&segment))
    }

    /// Programs of one part alone with a mechanism.
    ///
    /// # Panics
    ///
    /// As [`Block::segments_of`].
    pub fn programs_of(&self, part: usize, mechanism: Mechanism, staging_lines: usize) -> Vec<Program> {
        self.segments_of(part, mechanism, staging_lines).iter().map(Program::from).collect()
    }
}

impl From<&Segment> for Program {
    fn from(segment: &Segment) -> Program {
        let mut threads = Threads::default();
        match &segment.work {
            Work::Fpm { channel, bank, src, dst } => {
                threads.open(*channel, *bank, *src);
                threads.on(*channel).push(Step::CopyOpen { bank: *bank, row: *dst });
            }
            Work::Psm { channel, src, dst, columns } => threads.transfer(*channel, *src, *dst, columns.iter().copied()),
            Work::Psm2 { channel, src, temporary, dst, columns } => {
                threads.transfer(*channel, *src, *temporary, columns.iter().copied());
                let same = |run: &ColumnRun| ColumnRun { src: run.dst, ..*run };
                threads.transfer(*channel, *temporary, *dst, columns.iter().map(same));
            }
            Work::Channel { reads, writes } => {
                for &run in reads {
                    let place = run.first.location;
                    threads.open(place.channel, place.bank, place.row);
                    threads.read(run);
                }
                for &write in writes {
                    let place = write.run.first.location;
                    threads.open(place.channel, place.bank, place.row);
                    threads.write(write);
                }
            }
        }
        Program { mechanism: segment.mechanism, bytes: segment.bytes, part: segment.part, threads: threads.close() }
    }
}

/// Threads of a program under construction.
#[derive(Default)]
struct Threads {
    threads: Vec<Thread>,
}

impl Threads {
    /// Steps on a channel.
    fn on(&mut self, channel: Channel) -> &mut Vec<Step> {
        let index = self.threads.iter().position(|thread| thread.channel == channel).unwrap_or_else(|| {
            self.threads.push(Thread { channel, steps: Vec::with_capacity(8) });
            self.threads.len() - 1
        });
        &mut self.threads[index].steps
    }

    /// Reads a run from the open row of its bank.
    fn read(&mut self, run: Run) {
        let Location { channel, bank, .. } = run.first.location;
        let steps = self.on(channel);
        if let Some(Step::Read { run: last, .. }) = steps.last_mut()
            && last.append(&run)
        {
            return;
        }
        steps.push(Step::Read { bank, run });
    }

    /// Writes a run to the open row of its bank.
    fn write(&mut self, write: RunWrite) {
        let Location { channel, bank, .. } = write.run.first.location;
        let steps = self.on(channel);
        if let Some(Step::Write { write: last, .. }) = steps.last_mut()
            && last.append(&write)
        {
            return;
        }
        steps.push(Step::Write { bank, write });
    }

    /// Opens a row that is not open, after closing another open row of the bank.
    fn open(&mut self, channel: Channel, bank: BankId, row: Row) {
        let steps = self.on(channel);
        let opened = steps.iter().rev().find_map(|step| match *step {
            Step::Open { bank: other, row } | Step::CopyOpen { bank: other, row } if other == bank => Some(row),
            _ => None,
        });
        match opened {
            Some(open) if open == row => return,
            Some(_) => steps.push(Step::Close { bank }),
            None => {}
        }
        steps.push(Step::Open { bank, row });
    }

    fn transfer(
        &mut self,
        channel: Channel,
        src: (BankId, Row),
        dst: (BankId, Row),
        columns: impl Iterator<Item = ColumnRun>,
    ) {
        self.open(channel, src.0, src.1);
        self.open(channel, dst.0, dst.1);
        let steps = self.on(channel);
        let mut push = |ColumnRun { src: src_column, dst: dst_column, count }| {
            steps.push(Step::Transfer { src: src.0, src_column, dst: dst.0, dst_column, count });
        };
        let mut last: Option<ColumnRun> = None;
        for run in columns {
            if !last.as_mut().is_some_and(|last| last.append(run)) {
                last.replace(run).into_iter().for_each(&mut push);
            }
        }
        last.into_iter().for_each(push);
    }

    /// Adds the steps that close all banks, in the order of their first opening.
    fn close(mut self) -> Vec<Thread> {
        for Thread { steps, .. } in &mut self.threads {
            for at in 0..steps.len() {
                if let Step::Open { bank, .. } = steps[at]
                    && !steps[..at].iter().any(|step| matches!(step, Step::Open { bank: other, .. } if *other == bank))
                {
                    steps.push(Step::Close { bank });
                }
            }
        }
        self.threads
    }
}
