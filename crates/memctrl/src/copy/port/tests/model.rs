//! Threads as lists of steps, with rules 20 to 22.

use dram_spec::{AutoPrecharge, BankId, BankIndex, BankSet, Column, Command, Cycle, Row};
use rowclone::CopyStep;

use super::{HOLD, TOPOLOGY, WRITE_LATENCY};
use crate::access::Stamp;
use crate::copy::preemption::{Situation, Surroundings};
use crate::copy::thread::ThreadPhase;

/// State of the channel that threads query, by bank.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    pub(super) open: [Option<Row>; 4],
    pub(super) reads: [Option<Cycle>; 4],
    pub(super) released: [Option<Cycle>; 4],
    pub(super) reads_issued: u64,
    pub(super) unused: BankSet,
    pub(super) urgent: BankSet,
    pub(super) must: BankSet,
}

impl Surroundings for World {
    fn open_row(&self, bank: BankIndex) -> Option<Row> {
        self.open[bank.get()]
    }

    fn oldest_read(&self, bank: BankIndex) -> Option<Cycle> {
        self.reads[bank.get()]
    }
}

impl World {
    pub(super) fn situation(&self) -> Situation {
        let World { reads_issued, unused, urgent, must, .. } = *self;
        Situation { reads_issued, unused, urgent, must }
    }
}

/// A thread as a list of steps, each with its remaining lines; a row step has one.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) steps: Vec<(CopyStep, u16)>,
    pub(super) dispatched: Cycle,
    pub(super) phase: ThreadPhase,
    pub(super) held: BankSet,
    pub(super) begun: Cycle,
    pub(super) stamp: Stamp,
    pub(super) term_end: Cycle,
    pub(super) has_moved: bool,
    pub(super) reads_left: u32,
    pub(super) arrived: Cycle,
}

impl Model {
    pub(super) fn new(steps: &[CopyStep], now: Cycle) -> Model {
        let reads = |step: &CopyStep| if let CopyStep::Read { run, .. } = step { u32::from(run.count) } else { 0 };
        Model {
            steps: steps.iter().map(|step| (*step, step.lines().unwrap_or(1))).collect(),
            dispatched: now,
            phase: ThreadPhase::Waiting,
            held: BankSet::EMPTY,
            begun: Cycle::ZERO,
            stamp: Stamp::default(),
            term_end: Cycle::NEVER,
            has_moved: false,
            reads_left: steps.iter().map(reads).sum(),
            arrived: Cycle::ZERO,
        }
    }

    fn has_columns(&self) -> bool {
        self.steps.iter().any(|(step, _)| step.lines().is_some())
    }

    /// Banks in the order in which the program first uses them.
    pub(super) fn banks(&self) -> Vec<BankId> {
        let mut banks = Vec::new();
        for (step, _) in &self.steps {
            let (first, second) = step.banks();
            banks.extend([Some(first), second].into_iter().flatten());
        }
        let mut known = BankSet::EMPTY;
        banks.retain(|&bank| {
            !known.contains(TOPOLOGY.index(bank)) && {
                known.insert(TOPOLOGY.index(bank));
                true
            }
        });
        banks
    }

    /// First step of a bank that is not done.
    pub(super) fn next(&self, bank: BankId) -> Option<usize> {
        self.steps.iter().position(|(step, left)| *left > 0 && step.uses(bank))
    }

    pub(super) fn remaining(&self) -> BankSet {
        self.banks().into_iter().filter(|&bank| self.next(bank).is_some()).map(|bank| TOPOLOGY.index(bank)).collect()
    }

    /// Row that the completed steps have opened in a bank, and not closed.
    fn row(&self, bank: BankId) -> Option<Row> {
        self.steps.iter().filter(|(_, left)| *left == 0).fold(None, |row, (step, _)| match *step {
            CopyStep::Open { bank: other, row } | CopyStep::CopyOpen { bank: other, row } if other == bank => Some(row),
            CopyStep::Close { bank: other } if other == bank => None,
            _ => row,
        })
    }

    fn is_copying(&self) -> bool {
        self.banks().into_iter().any(|bank| {
            let next = self.next(bank).map(|next| self.steps[next].0);
            matches!(next, Some(CopyStep::CopyOpen { .. }))
                && self.held.contains(TOPOLOGY.index(bank))
                && self.row(bank).is_some()
        })
    }

    pub(super) fn is_exempt(&self) -> bool {
        self.phase == ThreadPhase::Running && self.has_columns() && !self.has_moved
    }

    /// Completes the row steps that leave a bank unchanged.
    pub(super) fn skip(&mut self, bank: BankId, open: Option<Row>) {
        while let Some(next) = self.next(bank) {
            match self.steps[next].0 {
                CopyStep::Open { row, .. } if open == Some(row) => self.steps[next].1 = 0,
                CopyStep::Close { .. } if open.is_none() => self.steps[next].1 = 0,
                _ => return,
            }
        }
    }

    fn begin_term(&mut self, now: Cycle) {
        self.stamp = Stamp::of_thread(now);
        self.term_end = if self.has_columns() { now + HOLD } else { Cycle::NEVER };
    }

    fn begin(&mut self, now: Cycle, world: &World) {
        (self.phase, self.held, self.begun, self.has_moved) = (ThreadPhase::Running, self.remaining(), now, false);
        self.begin_term(now);
        for bank in self.banks() {
            self.skip(bank, world.open[TOPOLOGY.index(bank).get()]);
        }
    }

    /// Preempts the thread; returns the banks that it releases at once.
    fn preempt(&mut self, world: &World) -> BankSet {
        self.phase = ThreadPhase::Preempted;
        let has_row =
            |bank: BankId| self.row(bank).is_some() && world.open[TOPOLOGY.index(bank).get()] == self.row(bank);
        let keeps = self.banks().into_iter().filter(|&bank| has_row(bank)).map(|bank| TOPOLOGY.index(bank));
        let released = self.held.without(keeps.collect());
        self.release(released);
        released
    }

    pub(super) fn release(&mut self, banks: BankSet) {
        self.held = self.held.without(banks);
        if self.phase == ThreadPhase::Preempted && self.held.is_empty() {
            self.phase = ThreadPhase::Waiting;
        }
    }

    pub(super) fn row_steps(&self, world: &World) -> Vec<Command> {
        let held = self.banks().into_iter().filter(|&bank| self.held.contains(TOPOLOGY.index(bank)));
        let command = |bank: BankId| {
            let open = world.open[TOPOLOGY.index(bank).get()];
            let reopened = |row: Row| match open {
                None => Some(Command::Activate { bank, row }),
                Some(other) => (other != row).then_some(Command::Precharge { bank }),
            };
            if self.phase == ThreadPhase::Preempted {
                return Some(Command::Precharge { bank });
            }
            match self.steps[self.next(bank)?].0 {
                CopyStep::Open { row, .. } => reopened(row),
                CopyStep::CopyOpen { row, .. } if open == self.row(bank) => Some(Command::Activate { bank, row }),
                CopyStep::Close { .. } => Some(Command::Precharge { bank }),
                _ => reopened(self.row(bank)?),
            }
        };
        held.filter_map(command).collect()
    }

    /// Next column command, and the cycle from which its data permits it.
    pub(super) fn column_step(&self, world: &World) -> Option<(Command, Cycle)> {
        let at = self.steps.iter().position(|(step, left)| *left > 0 && step.lines().is_some())?;
        let (step, left) = self.steps[at];
        let (first, second) = step.banks();
        let is_ready = |bank: BankId| {
            let index = TOPOLOGY.index(bank);
            self.next(bank) == Some(at) && self.held.contains(index) && world.open[index.get()] == self.row(bank)
        };
        if self.phase != ThreadPhase::Running || !is_ready(first) || !second.is_none_or(is_ready) {
            return None;
        }
        let column = |first: Column| Column(first.0 + step.lines().unwrap() - left);
        let auto_precharge = AutoPrecharge::No;
        match step {
            CopyStep::Transfer { src, src_column, dst, dst_column, .. } => {
                let (src_column, dst_column) = (column(src_column), column(dst_column));
                Some((Command::Transfer { src, src_column, dst, dst_column }, Cycle::ZERO))
            }
            CopyStep::Read { bank, run } => {
                Some((Command::Read { bank, column: column(run.first.location.column), auto_precharge }, Cycle::ZERO))
            }
            CopyStep::Write { bank, write } if self.reads_left == 0 => {
                let column = column(write.run.first.location.column);
                let data_from = Cycle(self.arrived.0.saturating_sub(WRITE_LATENCY.0));
                Some((Command::Write { bank, column, auto_precharge }, data_from))
            }
            _ => None,
        }
    }
}

/// Preempts and begins threads; returns the banks released, and the numbers of threads preempted
/// for reads and for refresh.
pub(super) fn update(models: &mut [Model], now: Cycle, world: &World) -> (Vec<(BankIndex, Cycle)>, (u64, u64)) {
    let (mut released, mut preempted, mut is_exempt_known) = (Vec::new(), (0, 0), false);
    for at in 0..models.len() {
        let earlier = models[..at].iter().fold(BankSet::EMPTY, |set, model| set.union(model.remaining()));
        let held = models.iter().fold(BankSet::EMPTY, |set, model| set.union(model.held));
        let model = &mut models[at];
        let banks = model.remaining();
        let is_exempt = model.is_exempt() && !is_exempt_known;
        if model.phase == ThreadPhase::Waiting {
            let is_first = |bank: BankIndex| {
                let since = model.dispatched.max(world.released[bank.get()].unwrap_or(Cycle::ZERO));
                world.reads[bank.get()].is_none_or(|read| read > since)
            };
            let is_free = [earlier, held, world.unused, world.urgent].iter().all(|set| !set.intersects(banks));
            if is_free && banks.into_iter().all(is_first) {
                model.begin(now, world);
            }
        } else if model.phase == ThreadPhase::Running {
            let reads_wait = model.held.into_iter().any(|bank| world.reads[bank.get()].is_some());
            let begun = model.begun;
            if banks.intersects(world.must) && !model.is_copying() {
                preempted.1 += 1;
                released.extend(model.preempt(world).into_iter().map(|bank| (bank, begun)));
            } else if model.term_end <= now && !is_exempt {
                if reads_wait {
                    preempted.0 += 1;
                    released.extend(model.preempt(world).into_iter().map(|bank| (bank, begun)));
                } else {
                    model.begin_term(now);
                }
            }
        }
        is_exempt_known |= models[at].is_exempt();
    }
    (released, preempted)
}
