//! A thread of a copy program on its channel. Rules 20 to 23 of `docs/controller.md`;
//! `docs/planner.md` has the rules of steps.

use dram_core::KeptKind;
use dram_spec::{AutoPrecharge, BankId, BankIndex, BankSet, Column, Command, Cycle, Cycles, IssueCause, Row, Topology};
use rowclone::{CopyStep, Run, RunWrite, StepList};
use smallvec::SmallVec;

use super::{CopyProgram, DataGate, NextCommand};
use crate::access::{AccessKind, Stamp};

/// Phase of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadPhase {
    /// The thread holds no bank.
    Waiting,
    /// The thread holds the banks with which it is not done.
    Running,
    /// The thread closes its rows and releases its banks.
    Preempted,
}

/// Use of a bank by a thread.
#[derive(Clone, Debug)]
struct BankUse {
    bank: BankId,
    index: BankIndex,
    /// Next step that uses the bank; the number of steps once the thread is done with it.
    next: usize,
    /// Row that the steps so far have opened, and not closed.
    row: Option<Row>,
    /// Open row while the thread holds the bank, which only the thread's commands change.
    open: Option<Row>,
}

/// Lines that column commands moved over the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MovedLines {
    Read(Run),
    Written(RunWrite),
}

/// A thread in the port of a channel.
#[derive(Debug)]
pub(crate) struct PortThread {
    pub(crate) origin: CopyProgram,
    steps: StepList,
    banks: SmallVec<[BankUse; 3]>,
    /// Banks with which the thread is not done.
    remaining: BankSet,
    /// Of these, the banks with which an earlier thread is not done.
    pub(super) blocked: BankSet,
    /// Banks held by the thread.
    held: BankSet,
    /// Whether the thread has column steps.
    has_columns: bool,
    /// Whether the thread has copy ACTs.
    copies_rows: bool,
    /// Next column step; the number of steps if there is none.
    column: usize,
    /// Completed lines of that step.
    line: u16,
    /// Next column command, if its rows are open.
    next_column: Option<NextCommand>,
    /// Age with which the thread contends for column commands, if it does.
    pub(super) contends_since: Option<Stamp>,
    /// Step of the latest column command, and index of its line.
    moved: (usize, u16),
    gate: DataGate,
    dispatched: Cycle,
    phase: ThreadPhase,
    stamp: Stamp,
    /// End of the present term.
    term_end: Cycle,
    /// Whether the thread has executed a column step since it began.
    has_moved: bool,
    write_latency: Cycles,
}

impl PortThread {
    /// Creates a thread that has joined the port.
    pub(crate) fn new(
        origin: CopyProgram,
        steps: StepList,
        gate: DataGate,
        topology: Topology,
        write_latency: Cycles,
        now: Cycle,
    ) -> PortThread {
        let (mut banks, mut remaining) = (SmallVec::new(), BankSet::EMPTY);
        let mut add = |bank, next| {
            let index = topology.index(bank);
            if !remaining.contains(index) {
                remaining.insert(index);
                banks.push(BankUse { bank, index, next, row: None, open: None });
            }
        };
        for (next, step) in steps.iter().enumerate() {
            let (first, second) = step.banks();
            add(first, next);
            if let Some(second) = second {
                add(second, next);
            }
        }
        let mut thread = PortThread {
            origin,
            banks,
            remaining,
            blocked: BankSet::EMPTY,
            held: BankSet::EMPTY,
            has_columns: false,
            copies_rows: steps.iter().any(|step| matches!(step, CopyStep::CopyOpen { .. })),
            column: 0,
            line: 0,
            next_column: None,
            contends_since: None,
            moved: (0, 0),
            gate,
            dispatched: now,
            phase: ThreadPhase::Waiting,
            stamp: Stamp::default(),
            term_end: Cycle::NEVER,
            has_moved: false,
            write_latency,
            steps,
        };
        thread.column = thread.column_from(0);
        thread.has_columns = thread.column < thread.steps.len();
        thread
    }

    /// The memory of the steps of a thread that is done.
    pub(super) fn take_steps(&mut self) -> StepList {
        std::mem::take(&mut self.steps)
    }

    /// Cause of its commands.
    #[inline]
    pub(crate) fn cause(&self) -> IssueCause {
        let CopyProgram { request, mechanism, program, .. } = self.origin;
        IssueCause::Copy { request, mechanism, program }
    }

    pub(crate) fn phase(&self) -> ThreadPhase {
        self.phase
    }

    /// Age: the cycle in which the present term began. Until its first column step, when it cannot
    /// be preempted for reads, the thread is older than any access.
    pub(crate) fn stamp(&self) -> Stamp {
        if self.awaits_first_column() { Stamp::OLDEST } else { self.stamp }
    }

    pub(crate) fn dispatched(&self) -> Cycle {
        self.dispatched
    }

    /// End of the present term.
    pub(crate) fn term_end(&self) -> Cycle {
        if self.phase == ThreadPhase::Running { self.term_end } else { Cycle::NEVER }
    }

    /// Whether the thread runs, has column steps, and has executed none since it began.
    pub(crate) fn awaits_first_column(&self) -> bool {
        self.phase == ThreadPhase::Running && !self.has_moved && self.has_columns
    }

    /// Whether the next column step is a WR of a line that has not been read.
    #[inline]
    pub(crate) fn awaits_data(&self) -> bool {
        matches!(self.steps.get(self.column), Some(CopyStep::Write { .. })) && self.gate.arrival().is_none()
    }

    /// Banks with which the thread is not done.
    pub(crate) fn remaining(&self) -> BankSet {
        self.remaining
    }

    /// Banks held by the thread.
    pub(crate) fn held(&self) -> BankSet {
        self.held
    }

    /// Whether the thread is between the ACT of the source row and the last ACT of a program with a
    /// copy ACT.
    pub(crate) fn is_copying(&self) -> bool {
        let has_begun = |used: &BankUse| self.steps[..used.next].iter().any(|step| step.uses(used.bank));
        self.copies_rows
            && self.banks.iter().any(|used| {
                let mut rest = self.steps[used.next..].iter().filter(|step| step.uses(used.bank));
                let opens = rest.any(|step| matches!(step, CopyStep::Open { .. } | CopyStep::CopyOpen { .. }));
                self.held.contains(used.index) && opens && has_begun(used)
            })
    }

    /// Takes the banks with which the thread is not done.
    pub(crate) fn begin(&mut self, now: Cycle, term: Option<Cycles>, open: impl Fn(BankIndex) -> Option<Row>) {
        (self.phase, self.has_moved) = (ThreadPhase::Running, false);
        self.held = self.remaining;
        self.begin_term(now, term);
        for at in 0..self.banks.len() {
            if self.held.contains(self.banks[at].index) {
                self.banks[at].open = open(self.banks[at].index);
                self.skip_done(at);
            }
        }
        self.find_next_column();
    }

    /// Begins a new term, whose first cycle is the new age.
    pub(crate) fn begin_term(&mut self, now: Cycle, term: Option<Cycles>) {
        self.stamp = Stamp::of_thread(now);
        self.term_end = match term {
            Some(term) if self.has_columns => now + term,
            _ => Cycle::NEVER,
        };
    }

    /// Preempts the thread; releases the banks in which it has no row open.
    pub(crate) fn preempt(&mut self) -> BankSet {
        self.phase = ThreadPhase::Preempted;
        let kept = self.banks.iter().filter(|bank| bank.row.is_some() && bank.open == bank.row);
        let released = self.held.without(kept.map(|bank| bank.index).collect());
        self.release(released);
        self.find_next_column();
        released
    }

    /// Releases banks; a preempted thread waits again once it holds none.
    fn release(&mut self, banks: BankSet) {
        self.held = self.held.without(banks);
        if self.phase == ThreadPhase::Preempted && self.held.is_empty() {
            self.phase = ThreadPhase::Waiting;
        }
    }

    /// Number of banks of the program.
    pub(super) fn banks(&self) -> usize {
        self.banks.len()
    }

    /// A bank by its number in the program, and the next row command there while the thread holds it,
    /// if it needs one, with what that is to the device.
    pub(super) fn row_step(&self, place: usize) -> (BankIndex, Option<(Command, KeptKind)>) {
        let used = &self.banks[place];
        (used.index, self.row_command(used))
    }

    fn row_command(&self, used: &BankUse) -> Option<(Command, KeptKind)> {
        let BankUse { bank, next, row, open, .. } = *used;
        let precharge = (Command::Precharge { bank }, KeptKind::Pre);
        if self.phase == ThreadPhase::Preempted {
            return Some(precharge);
        }
        let wanted = match *self.steps.get(next)? {
            CopyStep::Close { .. } => return Some(precharge),
            CopyStep::CopyOpen { row: copy, .. } if open == row => {
                return Some((Command::Activate { bank, row: copy }, KeptKind::ActCopy));
            }
            CopyStep::LeaveRow { command, .. } if open == row => {
                return Some((command, KeptKind::on_open_row(&command)));
            }
            CopyStep::Open { row, .. } => row,
            CopyStep::LeaveRow { .. }
            | CopyStep::CopyOpen { .. }
            | CopyStep::Transfer { .. }
            | CopyStep::Read { .. }
            | CopyStep::Write { .. } => row?,
        };
        match open {
            None => Some((Command::Activate { bank, row: wanted }, KeptKind::Act)),
            Some(found) if found == wanted => None,
            Some(_) => Some(precharge),
        }
    }

    /// Updates the next column command, which requires its rows to be open.
    fn find_next_column(&mut self) {
        self.next_column = None;
        if self.column == self.steps.len() {
            return;
        }
        let is_next = |bank: BankId| {
            let mut used = self.banks.iter().filter(|used| used.bank == bank);
            used.all(|used| used.next == self.column && used.open == used.row)
        };
        let at = |column: Column| Column(column.0 + self.line);
        let auto_precharge = AutoPrecharge::No;
        let step = self.steps.get(self.column).filter(|_| self.phase == ThreadPhase::Running);
        self.next_column = step.and_then(|step| match *step {
            CopyStep::Transfer { src, src_column, dst, dst_column, .. } if is_next(src) && is_next(dst) => {
                let (src_column, dst_column) = (at(src_column), at(dst_column));
                Some(NextCommand::new(Command::Transfer { src, src_column, dst, dst_column }, KeptKind::Transfer))
            }
            CopyStep::Read { bank, run } if is_next(bank) => {
                let column = at(run.first.location.column);
                Some(NextCommand::new(Command::Read { bank, column, auto_precharge }, KeptKind::Rd))
            }
            CopyStep::Write { bank, write } if is_next(bank) => {
                let column = at(write.run.first.location.column);
                Some(NextCommand::new(Command::Write { bank, column, auto_precharge }, KeptKind::Wr))
            }
            _ => None,
        });
    }

    /// Next column command, if its rows are open.
    #[inline]
    pub(crate) fn next_column(&self) -> Option<&NextCommand> {
        self.next_column.as_ref()
    }

    /// [`Self::next_column`], to compute when the banks permit it.
    #[inline]
    pub(super) fn next_column_mut(&mut self) -> Option<&mut NextCommand> {
        self.next_column.as_mut()
    }

    /// From when on its data allows the next column command, if the arrival of the data is known.
    #[inline]
    pub(crate) fn data_from(&self) -> Option<Cycle> {
        match self.next_column {
            Some(NextCommand { kind: KeptKind::Wr, .. }) => {
                Some(Cycle(self.gate.arrival()?.0.saturating_sub(self.write_latency.0)))
            }
            _ => Some(Cycle::ZERO),
        }
    }

    /// The lines that the latest `count` column commands of a step moved over the
    /// channel.
    pub(crate) fn moved_lines(&self, count: u16) -> MovedLines {
        let (step, last) = self.moved;
        let first = last + 1 - count;
        match &self.steps[step] {
            CopyStep::Read { run, .. } => MovedLines::Read(run.part(first, count)),
            CopyStep::Write { write, .. } => MovedLines::Written(write.part(first, count)),
            step => unreachable!("{step:?} moves no line over the channel"),
        }
    }

    /// Reports that data for its writes arrives at a cycle.
    pub(crate) fn data_arrives(&mut self, at: Cycle) {
        self.gate.data_arrives(at);
    }

    /// Updates the state after a row command in a bank that the thread holds. Returns the number of the
    /// bank in the program, and whether the bank is released.
    pub(crate) fn row_issued(&mut self, bank: BankIndex, open: Option<Row>) -> (usize, bool) {
        let at =
            self.banks.iter().position(|used| used.index == bank).expect("a thread closes and opens its own banks");
        let used = &mut self.banks[at];
        let was_open = std::mem::replace(&mut used.open, open);
        match self.steps.get(used.next) {
            Some(&CopyStep::CopyOpen { row, .. }) if open == Some(row) => {
                used.row = Some(row);
                self.advance(at);
            }
            Some(CopyStep::LeaveRow { .. })
                if used.row.is_some() && was_open == used.row && self.phase == ThreadPhase::Running =>
            {
                used.row = None;
                self.advance(at);
            }
            _ => self.skip_done(at),
        }
        let is_released = !self.remaining.contains(bank) || (self.phase == ThreadPhase::Preempted && open.is_none());
        if is_released {
            self.release(BankSet::of(bank));
        }
        self.find_next_column();
        (at, is_released)
    }

    /// Updates the state after column commands for the next lines of its step. Returns whether they
    /// read or wrote over the channel, and whether the thread is unchanged except for its next line.
    #[inline]
    pub(crate) fn columns_issued(&mut self, count: u64) -> (Option<AccessKind>, bool) {
        let step = &self.steps[self.column];
        let (lines, moved) = match step {
            CopyStep::Read { run, .. } => (run.count, Some(AccessKind::Read)),
            CopyStep::Write { write, .. } => (write.run.count, Some(AccessKind::Write)),
            step => (step.lines().unwrap_or(0), None),
        };
        if moved == Some(AccessKind::Write) {
            self.gate.written();
        }
        self.line += count as u16;
        self.moved = (self.column, self.line - 1);
        if self.line == lines {
            self.step_done();
        } else {
            let step = self.next_column.as_mut().expect("a column step was issued");
            (step.command, step.ready) = (step.command.further(count as u16), Cycle::NEVER);
        }
        let is_steady = std::mem::replace(&mut self.has_moved, true) && self.line > 0;
        (moved, is_steady)
    }

    /// Whether its age stays what it is when it moves its next line.
    #[inline]
    pub(crate) fn keeps_age(&self) -> bool {
        self.has_moved
    }

    /// The next lines of its step that no other channel waits for. The thread is unchanged by them
    /// except for its age and its next line, or its step is done.
    #[inline]
    pub(crate) fn steady_lines(&self) -> u64 {
        let lines = self.steps.get(self.column).and_then(CopyStep::lines).unwrap_or(0);
        match self.gate {
            // Another channel may wait for the last line.
            DataGate::All(_) => u64::from((lines - self.line).saturating_sub(u16::from(!self.origin.is_alone))),
            DataGate::Each(_) => 0,
        }
    }

    /// Ends the column step after its last line.
    fn step_done(&mut self) {
        let column = self.column;
        (self.column, self.line) = (self.column_from(column + 1), 0);
        for at in 0..self.banks.len() {
            if self.banks[at].next == column {
                self.advance(at);
            }
        }
        self.find_next_column();
    }

    /// Advances to the next step that uses a bank.
    fn advance(&mut self, at: usize) {
        let used = &mut self.banks[at];
        let further = self.steps[used.next + 1..].iter().position(|step| step.uses(used.bank));
        used.next = further.map_or(self.steps.len(), |further| used.next + 1 + further);
        self.remaining.set(used.index, further.is_some());
    }

    /// Skips row steps that leave a bank unchanged.
    fn skip_done(&mut self, at: usize) {
        loop {
            let used = &mut self.banks[at];
            match self.steps.get(used.next) {
                Some(&CopyStep::Open { row, .. }) if used.open == Some(row) => used.row = Some(row),
                Some(CopyStep::Close { .. }) if used.open.is_none() => used.row = None,
                _ => return,
            }
            self.advance(at);
        }
    }

    fn column_from(&self, from: usize) -> usize {
        let next = self.steps[from..].iter().position(|step| step.lines().is_some());
        next.map_or(self.steps.len(), |next| from + next)
    }
}
