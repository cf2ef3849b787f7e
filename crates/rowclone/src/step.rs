//! Steps of copy programs on a channel, and the lines that they move.

use dram_spec::{BankId, Channel, Column, Command, CommandKind, Effect, LINE_BYTES, Location, PhysicalAddress, Row};
use smallvec::SmallVec;

use crate::faulty::BankRow;

/// Step of a copy program. A column step represents `count` lines, one command per line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyStep {
    /// ACT of a row.
    Open {
        /// The bank.
        bank: BankId,
        /// The row.
        row: Row,
    },
    /// A row command by which the contents leave the open row ([`dram_spec::RowChange::Leaves`]), so that the
    /// bank has no open row until the `CopyOpen` that stores them.
    LeaveRow {
        /// The bank.
        bank: BankId,
        /// The command, to this bank.
        command: Command,
        /// [Units](dram_spec::Effect::units) by which the command is counted and priced.
        units: u16,
    },
    /// ACT of another row in the subarray of the open row: copies the open row to that row. After a
    /// `LeaveRow`, it copies the contents that have left their row.
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

impl CopyStep {
    /// ACT of a row.
    pub(crate) const fn open((bank, row): BankRow) -> CopyStep {
        CopyStep::Open { bank, row }
    }

    /// Banks of the step.
    #[inline]
    pub fn banks(&self) -> (BankId, Option<BankId>) {
        match *self {
            CopyStep::Open { bank, .. }
            | CopyStep::LeaveRow { bank, .. }
            | CopyStep::CopyOpen { bank, .. }
            | CopyStep::Close { bank }
            | CopyStep::Read { bank, .. }
            | CopyStep::Write { bank, .. } => (bank, None),
            CopyStep::Transfer { src, dst, .. } => (src, Some(dst)),
        }
    }

    /// Whether the step uses a bank.
    #[inline]
    pub fn uses(&self, bank: BankId) -> bool {
        let (first, second) = self.banks();
        first == bank || second == Some(bank)
    }

    /// Kind of the commands of the step.
    pub const fn kind(&self) -> CommandKind {
        match self {
            CopyStep::Open { .. } => CommandKind::Activate,
            CopyStep::LeaveRow { command, .. } => CommandKind::of(command, Effect::Plain),
            CopyStep::CopyOpen { .. } => CommandKind::CopyActivate,
            CopyStep::Close { .. } => CommandKind::Precharge,
            CopyStep::Transfer { .. } => CommandKind::Transfer,
            CopyStep::Read { .. } => CommandKind::Read,
            CopyStep::Write { .. } => CommandKind::Write,
        }
    }

    /// Units by which the commands of the step are counted and priced: lines, of a column step.
    pub fn units(&self) -> u16 {
        if let CopyStep::LeaveRow { units, .. } = self { *units } else { self.lines().unwrap_or(1) }
    }

    /// Lines of a column step; `None` for a row step.
    #[inline]
    pub fn lines(&self) -> Option<u16> {
        match self {
            CopyStep::Open { .. } | CopyStep::LeaveRow { .. } | CopyStep::CopyOpen { .. } | CopyStep::Close { .. } => {
                None
            }
            CopyStep::Transfer { count, .. } => Some(*count),
            CopyStep::Read { run, .. } => Some(run.count),
            CopyStep::Write { write, .. } => Some(write.run.count),
        }
    }
}

/// Steps of a program on one channel, in order.
///
/// A step waits for all earlier steps of the thread that use one of its banks. A column step
/// (Transfer, Read, Write) also waits for the previous column step. A later step closes each opened
/// bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyThread {
    /// The channel.
    pub channel: Channel,
    /// The steps.
    pub steps: StepList,
}

/// Steps of a thread. Their memory is used again ([`crate::Block::programs_in`]).
pub type StepList = Vec<CopyStep>;

impl CopyThread {
    /// No steps, in spare memory.
    pub(crate) fn on(channel: Channel, spare: &mut Vec<StepList>) -> CopyThread {
        let mut steps = spare.pop().unwrap_or_default();
        steps.clear();
        CopyThread { channel, steps }
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, step: CopyStep) {
        self.steps.push(step);
    }

    /// Opens a row that is not open, after closing another open row of the bank.
    fn open(&mut self, (bank, row): BankRow) {
        let opened = self.steps.iter().rev().find_map(|step| match *step {
            CopyStep::Open { bank: other, row } | CopyStep::CopyOpen { bank: other, row } if other == bank => Some(row),
            _ => None,
        });
        match opened {
            Some(open) if open == row => return,
            Some(_) => self.push(CopyStep::Close { bank }),
            None => {}
        }
        self.push(CopyStep::Open { bank, row });
    }

    /// Copies lines from the open row of a bank to that of another bank.
    pub(crate) fn transfer(&mut self, src: BankId, dst: BankId, columns: impl Iterator<Item = LineRun>) {
        let mut push = |LineRun { src: src_column, dst: dst_column, count }| {
            self.steps.push(CopyStep::Transfer { src, src_column, dst, dst_column, count });
        };
        let mut last: Option<LineRun> = None;
        for run in columns {
            if !last.as_mut().is_some_and(|last| last.append(run)) {
                last.replace(run).into_iter().for_each(&mut push);
            }
        }
        last.into_iter().for_each(push);
    }

    /// Reads lines of a row, which it opens.
    pub(crate) fn read(&mut self, run: Run) {
        let Location { bank, row, .. } = run.first.location;
        self.open((bank, row));
        if let Some(CopyStep::Read { run: last, .. }) = self.steps.last_mut()
            && last.append(&run)
        {
            return;
        }
        self.push(CopyStep::Read { bank, run });
    }

    /// Writes lines of a row, which it opens.
    pub(crate) fn write(&mut self, write: RunWrite) {
        let Location { bank, row, .. } = write.run.first.location;
        self.open((bank, row));
        if let Some(CopyStep::Write { write: last, .. }) = self.steps.last_mut()
            && last.append(&write)
        {
            return;
        }
        self.push(CopyStep::Write { bank, write });
    }

    /// Adds the steps that close all banks, in the order of their first opening.
    pub(crate) fn close(&mut self) {
        let mut opened: SmallVec<[BankId; 8]> = SmallVec::new();
        for step in &self.steps {
            if let CopyStep::Open { bank, .. } = *step
                && !opened.contains(&bank)
            {
                opened.push(bank);
            }
        }
        self.steps.extend(opened.into_iter().map(|bank| CopyStep::Close { bank }));
    }
}

/// Lines that follow each other in a source row and in a destination row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRun {
    /// The first column of the source.
    pub src: Column,
    /// The first column of the destination.
    pub dst: Column,
    /// Lines.
    pub count: u16,
}

impl LineRun {
    /// Returns the same number of lines, some columns further on.
    pub(crate) const fn after(self, columns: u16) -> LineRun {
        LineRun { src: Column(self.src.0 + columns), dst: Column(self.dst.0 + columns), ..self }
    }

    /// Takes in a run that follows it. Returns whether it does.
    pub(crate) fn append(&mut self, next: LineRun) -> bool {
        let end = self.after(self.count);
        let follows = (next.src, next.dst) == (end.src, end.dst);
        if follows {
            self.count += next.count;
        }
        follows
    }
}

/// A line of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Address of the first byte.
    pub address: PhysicalAddress,
    /// Location of the line.
    pub location: Location,
}

/// Lines with consecutive columns in one row, at equal distances in the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First line.
    pub first: Line,
    /// Number of lines, at least one.
    pub count: u16,
    /// Bytes from a line to the next: 64, unless the lines between them lie in other channels or
    /// banks.
    pub stride: u64,
}

impl Run {
    /// Line number `number` of the run, from 0.
    #[inline]
    pub fn line(&self, number: u16) -> Line {
        let Line { address, location } = self.first;
        let column = Column(location.column.0 + number);
        let address = PhysicalAddress(address.0 + u64::from(number) * self.stride);
        Line { address, location: Location { column, ..location } }
    }

    /// `count` lines of the run, from line number `first` on.
    #[must_use]
    pub fn part(&self, first: u16, count: u16) -> Run {
        Run { first: self.line(first), count, ..*self }
    }

    /// Appends a run that follows directly in the row, if all lines then have equal distances.
    /// Returns whether it did.
    pub(crate) fn append(&mut self, next: &Run) -> bool {
        let end = self.line(self.count);
        let Some(beyond) = next.first.address.0.checked_sub(end.address.0) else { return false };
        let stride = self.stride + beyond;
        let is_even = (self.count == 1 || beyond == 0) && (next.count == 1 || next.stride == stride);
        let follows = is_even && next.first.location == end.location;
        if follows {
            (self.count, self.stride) = (self.count + next.count, stride);
        }
        follows
    }

    /// All lines of the run.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = Line> {
        let run = *self;
        (0..run.count).map(move |number| run.line(number))
    }
}

/// A line to write, and the bytes of the line that the operation changes.
///
/// The burst always writes the whole line: x4 chips have no data mask, and a processor's cache
/// merges whole lines. Bytes outside `from..to` were read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineWrite {
    /// The line.
    pub line: Line,
    /// First byte of the line that changes.
    pub from: u16,
    /// End of the changed bytes, at most 64.
    pub to: u16,
}

/// Lines to write, and the bytes that the operation changes: all except for bytes at the start of
/// the first line and at the end of the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunWrite {
    /// The lines.
    pub run: Run,
    /// First changed byte of the first line.
    pub from: u16,
    /// End of the changed bytes in the last line, at most 64.
    pub to: u16,
}

impl RunWrite {
    /// Line number `number` of the run, from 0.
    #[inline]
    pub fn write(&self, number: u16) -> LineWrite {
        LineWrite {
            line: self.run.line(number),
            from: if number == 0 { self.from } else { 0 },
            to: if number + 1 == self.run.count { self.to } else { LINE_BYTES as u16 },
        }
    }

    /// `count` lines of the run, from line number `first` on.
    #[must_use]
    pub fn part(&self, first: u16, count: u16) -> RunWrite {
        let (from, to) = (self.write(first).from, self.write(first + count - 1).to);
        RunWrite { run: self.run.part(first, count), from, to }
    }

    /// Whether all bytes of all lines change.
    pub fn is_whole(&self) -> bool {
        self.from == 0 && u64::from(self.to) == LINE_BYTES
    }

    /// Appends a later run like [`Run::append`], if no byte between the two runs is unchanged.
    pub(crate) fn append(&mut self, next: &RunWrite) -> bool {
        let follows = u64::from(self.to) == LINE_BYTES && next.from == 0 && self.run.append(&next.run);
        if follows {
            self.to = next.to;
        }
        follows
    }

    /// All lines of the run.
    pub fn writes(&self) -> impl Iterator<Item = LineWrite> {
        let write = *self;
        (0..write.run.count).map(move |number| write.write(number))
    }
}
