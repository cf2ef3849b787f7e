//! A thread of a copy program at work on its channel. Rules 20 to 23 of `docs/controller.md`; `docs/planner.md` has the rules of steps.

use dram_spec::{
    AutoPrecharge, BankId, BankIndex, BankSet, Cause, Column, Command, Cycle, Cycles, Mechanism, RequestId, Row,
    Topology,
};
use rowclone::{Line, LineWrite, Step, Thread as Steps};

use super::data_gate::DataGate;
use crate::channel::Stamp;

/// What a thread is part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) request: RequestId,
    pub(crate) mechanism: Mechanism,
    /// The number of the program over the run.
    pub(crate) program: u64,
    /// Where the front end keeps the program.
    pub(crate) slot: u32,
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It holds no bank.
    Waiting,
    /// It holds the banks that it is not done with.
    Running,
    /// It closes its rows and releases its banks.
    Preempted,
}

/// A bank of a thread.
#[derive(Clone, Debug)]
struct BankUse {
    bank: BankId,
    index: BankIndex,
    /// The next step that uses it; the number of steps once the thread is done with it.
    next: usize,
    /// The row that the steps so far have opened, and not closed.
    row: Option<Row>,
    is_held: bool,
}

/// The next row command of a thread in a bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowStep {
    pub(crate) bank: BankIndex,
    pub(crate) command: Command,
}

/// The next column command of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnStep {
    pub(crate) command: Command,
    /// From when on its data allows it.
    pub(crate) data_from: Cycle,
}

/// A line that a column command moved over the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MovedLine {
    Read(Line),
    Written(LineWrite),
}

/// A thread in the port of a channel.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) origin: Origin,
    steps: Box<[Step]>,
    banks: Box<[BankUse]>,
    /// The next column step; the number of steps if there is none.
    column: usize,
    /// Lines of that step that are done.
    line: u16,
    pub(crate) gate: DataGate,
    dispatched: Cycle,
    phase: Phase,
    stamp: Stamp,
    /// When it last began.
    begun: Cycle,
    /// When its present term ends.
    term_end: Cycle,
    /// Whether it has executed a column step since it began.
    has_moved: bool,
    write_latency: Cycles,
}

impl Thread {
    /// A thread that has just joined the port.
    pub(crate) fn new(
        origin: Origin,
        thread: Steps,
        gate: DataGate,
        topology: Topology,
        write_latency: Cycles,
        now: Cycle,
    ) -> Thread {
        let steps = thread.steps.into_boxed_slice();
        let mut banks: Vec<BankUse> = Vec::with_capacity(2);
        for (next, step) in steps.iter().enumerate() {
            let (first, second) = step.banks();
            for bank in std::iter::once(first).chain(second) {
                if !banks.iter().any(|used| used.bank == bank) {
                    banks.push(BankUse { bank, index: topology.index(bank), next, row: None, is_held: false });
                }
            }
        }
        let mut thread = Thread {
            origin,
            banks: banks.into(),
            column: 0,
            line: 0,
            gate,
            dispatched: now,
            phase: Phase::Waiting,
            stamp: Stamp::default(),
            begun: Cycle::ZERO,
            term_end: Cycle::NEVER,
            has_moved: false,
            write_latency,
            steps,
        };
        thread.column = thread.next_column(0);
        thread
    }

    /// Why its commands are issued.
    pub(crate) fn cause(&self) -> Cause {
        let Origin { request, mechanism, program, .. } = self.origin;
        Cause::Copy { request, mechanism, program }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Its age: the cycle in which its present term began. Until its first column step, which ends the time in which it cannot be
    /// preempted for reads, it is older than all else.
    pub(crate) fn stamp(&self) -> Stamp {
        if self.awaits_first_column() { Stamp::OLDEST } else { self.stamp }
    }

    /// When it last took its banks.
    pub(crate) fn begun(&self) -> Cycle {
        self.begun
    }

    pub(crate) fn dispatched(&self) -> Cycle {
        self.dispatched
    }

    /// When its present term ends.
    pub(crate) fn term_end(&self) -> Cycle {
        if self.phase == Phase::Running { self.term_end } else { Cycle::NEVER }
    }

    /// Whether it has column steps.
    pub(crate) fn has_columns(&self) -> bool {
        self.steps.iter().any(|step| step.lines().is_some())
    }

    /// Whether it runs, has column steps, and has executed none since it began.
    pub(crate) fn awaits_first_column(&self) -> bool {
        self.phase == Phase::Running && !self.has_moved && self.has_columns()
    }

    /// Whether its next column step is a WR with a line that is not read yet.
    pub(crate) fn awaits_data(&self) -> bool {
        matches!(self.steps.get(self.column), Some(Step::Write { .. })) && self.gate.arrival().is_none()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.banks.iter().all(|bank| bank.next == self.steps.len())
    }

    /// The banks that it is not done with.
    pub(crate) fn remaining(&self) -> BankSet {
        self.banks.iter().filter(|bank| bank.next < self.steps.len()).map(|bank| bank.index).collect()
    }

    /// The banks that it holds.
    pub(crate) fn held(&self) -> BankSet {
        self.banks.iter().filter(|bank| bank.is_held).map(|bank| bank.index).collect()
    }

    /// Whether it stands between the ACT and the copy ACT of a `CopyOpen`.
    pub(crate) fn is_copying(&self) -> bool {
        self.banks.iter().any(|bank| {
            bank.is_held && bank.row.is_some() && matches!(self.steps.get(bank.next), Some(Step::CopyOpen { .. }))
        })
    }

    /// Takes the banks that it is not done with.
    pub(crate) fn begin(&mut self, now: Cycle, term: Option<Cycles>, open: impl Fn(BankIndex) -> Option<Row>) {
        (self.phase, self.has_moved, self.begun) = (Phase::Running, false, now);
        let end = self.steps.len();
        for bank in self.banks.iter_mut().filter(|bank| bank.next < end) {
            bank.is_held = true;
        }
        self.begin_term(now, term);
        for at in 0..self.banks.len() {
            self.skip_done(at, open(self.banks[at].index));
        }
    }

    /// A new term begins: from now on it counts as that old.
    pub(crate) fn begin_term(&mut self, now: Cycle, term: Option<Cycles>) {
        self.stamp = Stamp::of_thread(now);
        self.term_end = match term {
            Some(term) if self.has_columns() => now + term,
            _ => Cycle::NEVER,
        };
    }

    /// Gives its banks up: releases those in which it has no row open.
    pub(crate) fn preempt(&mut self, open: impl Fn(BankIndex) -> Option<Row>) -> BankSet {
        self.phase = Phase::Preempted;
        let mut released = BankSet::EMPTY;
        for bank in self.banks.iter_mut().filter(|bank| bank.is_held) {
            if bank.row.is_none() || open(bank.index) != bank.row {
                bank.is_held = false;
                released.insert(bank.index);
            }
        }
        self.rest();
        released
    }

    /// Waits again once it holds no bank.
    fn rest(&mut self) {
        if self.phase == Phase::Preempted && self.banks.iter().all(|bank| !bank.is_held) {
            self.phase = Phase::Waiting;
        }
    }

    /// The next row command of each bank that it holds, in the order in which the program first uses the banks.
    pub(crate) fn row_steps(&self, open: impl Fn(BankIndex) -> Option<Row>) -> impl Iterator<Item = RowStep> {
        let command = move |used: &BankUse| {
            let BankUse { bank, index, next, row, .. } = *used;
            let is_open = open(index);
            if self.phase == Phase::Preempted {
                return Some(Command::Precharge { bank });
            }
            let wanted = match *self.steps.get(next)? {
                Step::Close { .. } => return Some(Command::Precharge { bank }),
                Step::CopyOpen { row: copy, .. } if is_open == row => {
                    return Some(Command::Activate { bank, row: copy });
                }
                Step::Open { row, .. } => row,
                Step::CopyOpen { .. } | Step::Transfer { .. } | Step::Read { .. } | Step::Write { .. } => row?,
            };
            match is_open {
                None => Some(Command::Activate { bank, row: wanted }),
                Some(found) if found == wanted => None,
                Some(_) => Some(Command::Precharge { bank }),
            }
        };
        let held = self.banks.iter().filter(|bank| bank.is_held);
        held.filter_map(move |used| Some(RowStep { bank: used.index, command: command(used)? }))
    }

    /// The next column command, if the rows that it needs are open and its data is on the way.
    pub(crate) fn column_step(&self, open: impl Fn(BankIndex) -> Option<Row>) -> Option<ColumnStep> {
        if self.phase != Phase::Running {
            return None;
        }
        let is_next = |bank: BankId| {
            let used = self.banks.iter().find(|used| used.bank == bank);
            used.is_some_and(|used| used.is_held && used.next == self.column && open(used.index) == used.row)
        };
        let auto_precharge = AutoPrecharge::No;
        let at = |column: Column| Column(column.0 + self.line);
        let (command, data_from) = match *self.steps.get(self.column)? {
            Step::Transfer { src, src_column, dst, dst_column, .. } if is_next(src) && is_next(dst) => {
                let (src_column, dst_column) = (at(src_column), at(dst_column));
                (Command::Transfer { src, src_column, dst, dst_column }, Cycle::ZERO)
            }
            Step::Read { bank, run } if is_next(bank) => {
                (Command::Read { bank, column: at(run.first.location.column), auto_precharge }, Cycle::ZERO)
            }
            Step::Write { bank, write } if is_next(bank) => {
                let arrival = self.gate.arrival()?;
                let column = at(write.run.first.location.column);
                let from = Cycle(arrival.0.saturating_sub(self.write_latency.0));
                (Command::Write { bank, column, auto_precharge }, from)
            }
            _ => return None,
        };
        Some(ColumnStep { command, data_from })
    }

    /// A row command was issued in a bank that it holds. Returns whether the bank is released.
    pub(crate) fn row_issued(&mut self, bank: BankIndex, open: Option<Row>) -> bool {
        let at =
            self.banks.iter().position(|used| used.index == bank).expect("a thread closes and opens its own banks");
        match self.steps.get(self.banks[at].next) {
            Some(&Step::CopyOpen { row, .. }) if open == Some(row) => {
                self.banks[at].row = Some(row);
                self.advance(at);
            }
            _ => self.skip_done(at, open),
        }
        let used = &mut self.banks[at];
        let is_released = used.next == self.steps.len() || (self.phase == Phase::Preempted && open.is_none());
        if is_released {
            used.is_held = false;
            self.rest();
        }
        is_released
    }

    /// The next column command was issued. Returns the line that it moved over the channel, if it did.
    pub(crate) fn column_issued(&mut self) -> Option<MovedLine> {
        self.has_moved = true;
        let step = self.steps[self.column];
        let (number, lines) = (self.line, step.lines().unwrap_or(0));
        self.line += 1;
        if self.line == lines {
            let column = self.column;
            (self.column, self.line) = (self.next_column(column + 1), 0);
            for at in 0..self.banks.len() {
                if self.banks[at].next == column {
                    self.advance(at);
                }
            }
        }
        match step {
            Step::Read { run, .. } => Some(MovedLine::Read(run.line(number))),
            Step::Write { write, .. } => {
                self.gate.written();
                Some(MovedLine::Written(write.write(number)))
            }
            _ => None,
        }
    }

    /// Goes on to the next step that uses a bank.
    fn advance(&mut self, at: usize) {
        let used = &mut self.banks[at];
        let further = self.steps[used.next + 1..].iter().position(|step| step.uses(used.bank));
        used.next = further.map_or(self.steps.len(), |further| used.next + 1 + further);
    }

    /// Skips row steps of a bank that leave it as it is.
    fn skip_done(&mut self, at: usize, open: Option<Row>) {
        loop {
            let used = &mut self.banks[at];
            match self.steps.get(used.next) {
                Some(&Step::Open { row, .. }) if open == Some(row) => used.row = Some(row),
                Some(Step::Close { .. }) if open.is_none() => used.row = None,
                _ => return,
            }
            self.advance(at);
        }
    }

    fn next_column(&self, from: usize) -> usize {
        let next = self.steps[from..].iter().position(|step| step.lines().is_some());
        next.map_or(self.steps.len(), |next| from + next)
    }
}
