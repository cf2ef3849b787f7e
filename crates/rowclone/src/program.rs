//! Copy programs: what a part becomes once its mechanism is chosen, as untimed steps.
//!
//! A program is data. The controller runs it, the estimator times it on idle banks, the price table adds up its
//! commands, and `explain plan` prints it. `docs/planner.md` has the rules of execution.

use dram_spec::{BankId, Channel, Column, Location, Mechanism, Row};

use crate::block::Block;
use crate::segment::{Run, RunWrite, Segment, Work};

/// The steps that copy or initialize a part of a block by one mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// How it copies.
    pub mechanism: Mechanism,
    /// Bytes of the operation that it serves.
    pub bytes: u64,
    /// Index of the part of the block that it serves; where it serves several over the channel, of the longest.
    pub part: usize,
    /// The steps, by channel, in the order in which the program first uses the channels.
    pub threads: Vec<Thread>,
}

/// The steps of a program on one channel, in order.
///
/// A step waits for all earlier steps of the thread that use one of its banks. A column step (Transfer, Read, Write)
/// also waits for the column step before it. Every bank that is opened is closed by a later step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The channel.
    pub channel: Channel,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A step of a copy program. A column step stands for `count` lines, one command each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// ACT of a row.
    Open {
        /// The bank.
        bank: BankId,
        /// The row.
        row: Row,
    },
    /// ACT of another row of the open row's subarray: the open row is copied to it.
    CopyOpen {
        /// The bank.
        bank: BankId,
        /// The row that is overwritten, all of it.
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
        /// Its first column.
        src_column: Column,
        /// The bank written, of the same rank.
        dst: BankId,
        /// Its first column.
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
    /// The banks that it uses.
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

    /// Whether it uses a bank.
    #[inline]
    pub fn uses(&self, bank: BankId) -> bool {
        let (first, second) = self.banks();
        first == bank || second == Some(bank)
    }

    /// The lines of a column step; none for a row step.
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
    /// How many lines it reads over the channels.
    pub fn lines_read(&self) -> u32 {
        let reads = |step: &Step| if let Step::Read { run, .. } = step { u32::from(run.count) } else { 0 };
        self.threads.iter().flat_map(|thread| &thread.steps).map(reads).sum()
    }

    /// How many lines it writes over the channels.
    pub fn lines_written(&self) -> u32 {
        let writes = |step: &Step| if let Step::Write { write, .. } = step { u32::from(write.run.count) } else { 0 };
        self.threads.iter().flat_map(|thread| &thread.steps).map(writes).sum()
    }

    /// Whether all reads use one channel, all writes another, and there are as many of both: each line is then written as
    /// its data arrives.
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
    /// The programs of the block with a mechanism for each part, in the order in which they are dispatched.
    ///
    /// # Panics
    ///
    /// As [`Block::segments`].
    pub fn programs(&self, choices: &[Mechanism], staging_lines: usize) -> Vec<Program> {
        self.segments(choices, staging_lines).iter().map(Program::from).collect()
    }

    /// The programs of one part alone with a mechanism.
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
                threads.transfer(*channel, *temporary, *dst, columns.iter().map(|&(_, column)| (column, column)));
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

/// Threads of a program in the making.
#[derive(Default)]
struct Threads {
    threads: Vec<Thread>,
}

impl Threads {
    /// The steps on a channel.
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

    /// Opens a row, unless it is the open one; closes another row of the bank before.
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
        columns: impl Iterator<Item = (Column, Column)>,
    ) {
        self.open(channel, src.0, src.1);
        self.open(channel, dst.0, dst.1);
        let steps = self.on(channel);
        let mut run: Option<(Column, Column, u16)> = None;
        let mut push = |(src_column, dst_column, count)| {
            steps.push(Step::Transfer { src: src.0, src_column, dst: dst.0, dst_column, count });
        };
        for (src_column, dst_column) in columns {
            match &mut run {
                Some((from, to, count)) if (from.0 + *count, to.0 + *count) == (src_column.0, dst_column.0) => {
                    *count += 1;
                }
                _ => {
                    run.into_iter().for_each(&mut push);
                    run = Some((src_column, dst_column, 1));
                }
            }
        }
        run.into_iter().for_each(push);
    }

    /// Closes all banks at the end, in the order in which they were opened first.
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
