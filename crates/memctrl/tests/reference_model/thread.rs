//! The steps of a program on one channel (`docs/planner.md`, "Programs").

use dram_core::Device;
use dram_spec::{BankId, Column, Command, Row};
use rowclone::CopyStep;

use super::access::Stamp;

/// State of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Running,
    /// The thread closes its open rows, then waits (21).
    Preempted,
}

/// A thread in a port.
#[derive(Clone, Debug)]
pub struct Thread {
    pub program: usize,
    /// Number of its copy.
    pub request: usize,
    pub dispatched: u64,
    pub state: State,
    /// Banks that it holds, in the order of its program.
    pub held: Vec<BankId>,
    /// Cycle in which it last began.
    pub began: u64,
    /// Stamp after its first column command since then.
    pub term: Stamp,
    /// Cycle in which it may yield to reads (22).
    pub ask_at: u64,
    /// Whether it has issued a column command since it began.
    pub has_moved: bool,
    /// All banks of its program, in the order of its steps.
    banks: Vec<BankId>,
    steps: Vec<CopyStep>,
    /// By step, the number of its completed commands: one for a row step, one per line for a column
    /// step.
    executed: Vec<u16>,
}

impl Thread {
    pub fn new(program: usize, request: usize, dispatched: u64, steps: Vec<CopyStep>) -> Thread {
        let mut banks = Vec::new();
        for step in &steps {
            let (first, second) = step.banks();
            for bank in [Some(first), second].into_iter().flatten() {
                if !banks.contains(&bank) {
                    banks.push(bank);
                }
            }
        }
        Thread {
            program,
            request,
            dispatched,
            state: State::Waiting,
            held: Vec::new(),
            began: 0,
            term: Stamp::after_accesses(0),
            ask_at: 0,
            has_moved: false,
            banks,
            executed: vec![0; steps.len()],
            steps,
        }
    }

    fn is_done_with(&self, step: usize) -> bool {
        self.executed[step] == self.steps[step].lines().unwrap_or(1)
    }

    pub fn is_done(&self) -> bool {
        (0..self.steps.len()).all(|step| self.is_done_with(step))
    }

    /// Age: until its first column command since it began, the thread is older than any access
    /// (20).
    pub fn stamp(&self) -> Stamp {
        if self.state == State::Running && self.has_column_steps() && !self.has_moved {
            Stamp { cycle: 0, order: 0 }
        } else {
            self.term
        }
    }

    pub fn has_column_steps(&self) -> bool {
        self.steps.iter().any(|step| step.lines().is_some())
    }

    /// Next step that uses a bank.
    fn next(&self, bank: BankId) -> Option<usize> {
        (0..self.steps.len()).find(|&step| self.steps[step].uses(bank) && !self.is_done_with(step))
    }

    /// Whether it is not done with a bank.
    pub fn uses(&self, bank: BankId) -> bool {
        self.next(bank).is_some()
    }

    /// Banks that it is not done with, in the order of its program.
    pub fn banks(&self) -> impl Iterator<Item = BankId> {
        self.banks.iter().copied().filter(|&bank| self.uses(bank))
    }

    /// Row of a bank that a column step, `LeaveRow` or `CopyOpen` requires open: that of the last `Open` or
    /// `CopyOpen` before it, if no `LeaveRow` is after that.
    fn needs(&self, bank: BankId, step: usize) -> Option<Row> {
        let last = self.steps[..step].iter().rev().find_map(|before| match *before {
            CopyStep::Open { bank: of, row } | CopyStep::CopyOpen { bank: of, row } => {
                (of == bank).then_some(Some(row))
            }
            CopyStep::LeaveRow { bank: of, .. } => (of == bank).then_some(None),
            _ => None,
        });
        last.flatten()
    }

    /// Whether the open row of a bank is one that its steps opened.
    pub fn has_open(&self, bank: BankId, device: &Device) -> bool {
        let Some(step) = self.next(bank) else { return false };
        let open = device.open_row(bank);
        !matches!(self.steps[step], CopyStep::Open { .. }) && open.is_some() && open == self.needs(bank, step)
    }

    /// Whether it is between the ACT of a source row and the last ACT of a program with a copy ACT (21).
    pub fn is_copying(&self) -> bool {
        let is_act = |step: &usize| matches!(self.steps[*step], CopyStep::Open { .. } | CopyStep::CopyOpen { .. });
        let copies = self.steps.iter().any(|step| matches!(step, CopyStep::CopyOpen { .. }));
        let mut acts = (0..self.steps.len()).filter(is_act);
        let first_is_done = acts.next().is_some_and(|first| self.is_done_with(first));
        copies && first_is_done && !acts.all(|act| self.is_done_with(act))
    }

    /// Row command for a bank that it holds, independent of the cycle.
    pub fn row_command(&self, bank: BankId, device: &Device) -> Option<Command> {
        let open = device.open_row(bank);
        let close = open.map(|_| Command::Precharge { bank });
        if self.state == State::Preempted {
            return close.filter(|_| self.has_open(bank, device));
        }
        let opened = |row| match open {
            Some(open) if open == row => None,
            Some(_) => close,
            None => Some(Command::Activate { bank, row }),
        };
        let step = self.next(bank)?;
        match self.steps[step] {
            CopyStep::Open { row, .. } => opened(row),
            CopyStep::CopyOpen { row, .. } if open == self.needs(bank, step) => Some(Command::Activate { bank, row }),
            CopyStep::LeaveRow { command, .. } if open == self.needs(bank, step) => Some(command),
            CopyStep::Close { .. } => close,
            _ => opened(self.needs(bank, step)?),
        }
    }

    /// Records a row command in a bank, which may be a step.
    pub fn row_command_issued(&mut self, bank: BankId, command: &Command) {
        let Some(step) = self.next(bank) else { return };
        let is_step = match (&self.steps[step], command) {
            (CopyStep::CopyOpen { row, .. }, Command::Activate { row: of, .. }) => row == of,
            (CopyStep::LeaveRow { .. }, Command::MoveRowBuffer { .. })
            | (CopyStep::Open { .. }, Command::Activate { .. })
            | (CopyStep::Close { .. }, Command::Precharge { .. }) => true,
            _ => false,
        };
        self.executed[step] += u16::from(is_step);
    }

    /// Completes the steps of a bank that need no command: an Open whose row is open, a Close of a
    /// closed bank.
    pub fn settle(&mut self, bank: BankId, device: &Device) {
        while let Some(step) = self.next(bank) {
            let is_settled = match self.steps[step] {
                CopyStep::Open { row, .. } => self.state == State::Running && device.open_row(bank) == Some(row),
                CopyStep::Close { .. } => device.open_row(bank).is_none(),
                _ => false,
            };
            if !is_settled {
                return;
            }
            self.executed[step] = 1;
        }
    }

    /// Whether its next column step is a WR.
    pub fn writes_next(&self) -> bool {
        let is_next = |&step: &usize| self.steps[step].lines().is_some() && !self.is_done_with(step);
        (0..self.steps.len()).find(is_next).is_some_and(|at| matches!(self.steps[at], CopyStep::Write { .. }))
    }

    /// The next column step, if its rows are open, and the number of its next line.
    pub fn column_step(&self, device: &Device) -> Option<(&CopyStep, u16)> {
        if self.state != State::Running {
            return None;
        }
        let is_next = |&step: &usize| self.steps[step].lines().is_some() && !self.is_done_with(step);
        let at = (0..self.steps.len()).find(is_next)?;
        let (first, second) = self.steps[at].banks();
        let is_ready = |bank: BankId| {
            let open = device.open_row(bank);
            self.next(bank) == Some(at) && open.is_some() && open == self.needs(bank, at)
        };
        let ready = [Some(first), second].into_iter().flatten().all(is_ready);
        ready.then_some((&self.steps[at], self.executed[at]))
    }

    /// Column command, independent of the cycle.
    pub fn column_command(&self, device: &Device) -> Option<Command> {
        use dram_spec::AutoPrecharge::No;
        let (step, line) = self.column_step(device)?;
        Some(match *step {
            CopyStep::Transfer { src, src_column, dst, dst_column, .. } => Command::Transfer {
                src,
                src_column: Column(src_column.0 + line),
                dst,
                dst_column: Column(dst_column.0 + line),
            },
            CopyStep::Read { bank, run } => {
                Command::Read { bank, column: run.line(line).location.column, auto_precharge: No }
            }
            CopyStep::Write { bank, write } => {
                Command::Write { bank, column: write.run.line(line).location.column, auto_precharge: No }
            }
            _ => return None,
        })
    }

    /// Records its column command.
    pub fn column_command_issued(&mut self) {
        let is_next = |&step: &usize| self.steps[step].lines().is_some() && !self.is_done_with(step);
        let at = (0..self.steps.len()).find(is_next).expect("a column step is left");
        self.executed[at] += 1;
        self.has_moved = true;
    }
}
