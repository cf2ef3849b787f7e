//! The only place where a command of a channel is issued: device, queues, threads, counters and event follow from it here.

use dram_core::{Kind, P};
use dram_spec::{AutoPrecharge, BankIndex, Cause, Command, CommandEvent, Cycle, Cycles, EventSink, Queued};

use super::Channel;
use super::access::AccessKind;
use super::arbiter::{Choice, Decision};
use super::candidate::Action;
use crate::copy::thread::{MovedLine, Origin};
use crate::policy::scheduler::Changes;

/// What a command did that concerns the front end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// Nothing.
    None,
    /// The RD or WR of an access was issued: its entry is free.
    Access(Served),
    /// A step of a thread was executed.
    Step(ThreadStep),
}

/// An access that was served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served {
    /// Its place in the pool of the queues, where it stays until another access is queued.
    pub(crate) place: u16,

    /// The end of its data.
    pub(crate) done: Cycle,
}

/// A step that a thread has executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadStep {
    pub(crate) origin: Origin,
    /// The line that it moved over the channel, and the end of its data.
    pub(crate) moved: Option<(MovedLine, Cycle)>,
    /// When the bank that the thread is now done with can take an ACT again.
    pub(crate) bank_ready: Option<Cycle>,
    /// Whether the thread is done: its slot is free.
    pub(crate) is_done: bool,
}

impl Channel {
    /// Issues the decided command, in the decided cycle.
    #[inline]
    pub(crate) fn issue(&mut self, sink: &mut impl EventSink) -> Outcome {
        let Decision { at, choice, hold } = self.decision.take().expect("a command was decided");
        self.from = at + Cycles(1);
        let (command, cause) = self.command(choice);
        let effect = self.device.issue(at, &command);
        self.maintenance.issued(command.rank(), matches!(choice, Choice::Maintenance(_) | Choice::Timeout(_)));
        self.counters.commands.count(&command, effect);
        let held_by = if hold.until() == at { hold.rule() } else { None };
        sink.command(&CommandEvent { at, channel: self.id, command, cause, held_by });
        let outcome = match choice {
            Choice::Access(bank) => self.access_issued(at, bank, &command),
            Choice::Row(place, bank) => self.row_step_issued(at, place.into(), bank),
            Choice::Column(place) => self.column_step_issued(at, place.into()),
            Choice::Maintenance(_) | Choice::Timeout(_) => {
                self.upkeep_issued(at, &command);
                Outcome::None
            }
            Choice::Nothing => unreachable!("it has no command"),
        };
        if sink.wants_queues() {
            let entries = |kind| self.queues.entries(kind) as u64;
            let queued = Queued { reads: entries(AccessKind::Read), writes: entries(AccessKind::Write) };
            sink.queued(at, self.id, queued);
        }
        outcome
    }

    /// The command of a choice, and why it is issued.
    #[inline]
    fn command(&mut self, choice: Choice) -> (Command, Cause) {
        match choice {
            Choice::Access(bank) => self.access_command(bank),
            Choice::Maintenance(rank) => self.maintenance.command(rank),
            Choice::Row(place, bank) => {
                let thread = self.port.get(place.into());
                let step = thread.row_steps(|bank| self.device.row_in(bank)).find(|step| step.bank == bank);
                (step.expect("the thread has a row step there").command, thread.cause())
            }
            Choice::Column(place) => {
                let thread = self.port.get(place.into());
                let step = thread.column_step(|bank| self.device.row_in(bank));
                (step.expect("the thread has a column step").command, thread.cause())
            }
            Choice::Timeout(bank) => (Command::Precharge { bank: self.topology.bank(bank) }, Cause::RowPolicy),
            Choice::Nothing => unreachable!("it has no command"),
        }
    }

    /// The candidate of a bank was issued.
    #[inline]
    fn access_issued(&mut self, at: Cycle, bank: BankIndex, command: &Command) -> Outcome {
        let candidate = self.candidate(bank).expect("the bank has a candidate");
        let place = candidate.access.place;
        match candidate.action {
            Action::Precharge => {
                self.queues.note_row_command(place, at, false);
                self.closed(bank);
                return Outcome::None;
            }
            Action::Activate => {
                self.queues.note_row_command(place, at, true);
                self.opened(bank, Some(candidate.kind));
                return Outcome::None;
            }
            Action::Column => {}
        }
        self.queues.remove(candidate.kind, bank, candidate.access.position);
        self.has_served(bank);
        if let Command::Read { auto_precharge: AutoPrecharge::Yes, .. }
        | Command::Write { auto_precharge: AutoPrecharge::Yes, .. } = command
        {
            self.closed(bank);
        }
        let access = self.queues.get(place);
        if self.scheduler.served(access, at) == Changes::All {
            self.shared_version += 1;
        }
        let (latency, outcomes) = match candidate.kind {
            AccessKind::Read => (self.read_latency, &mut self.counters.reads),
            AccessKind::Write => (self.write_latency, &mut self.counters.writes),
        };
        outcomes.count(access.row_commands);
        Outcome::Access(Served { place, done: at + latency })
    }

    /// The own command of a rank, or a PRE by the row policy, was issued.
    fn upkeep_issued(&mut self, at: Cycle, command: &Command) {
        let n = |parameter| self.device.timings().get(parameter);
        let rank = command.rank();
        let busy_for = match command {
            Command::Refresh { .. } => n(P::Rfc),
            Command::PowerDownExit { .. } => n(P::Xp),
            Command::SelfRefreshExit { .. } => n(P::Dllk),
            _ => Cycles(0),
        };
        if busy_for > Cycles(0) {
            // A PDX within tRFC does not end the REF.
            let usable_from = &mut self.usable_from[usize::from(rank)];
            *usable_from = (*usable_from).max(at + busy_for);
        }
        match *command {
            Command::PrechargeAll { .. } => {
                self.topology.rank(rank).into_iter().for_each(|bank| self.closed(bank));
            }
            Command::Precharge { bank } => self.closed(self.topology.index(bank)),
            _ => {}
        }
    }

    /// The row step of a thread was issued.
    fn row_step_issued(&mut self, at: Cycle, place: usize, bank: BankIndex) -> Outcome {
        let open = self.device.row_in(bank);
        match open {
            Some(_) => self.opened(bank, None),
            None => self.closed(bank),
        }
        let thread = self.port.get_mut(place);
        let is_released = thread.row_issued(bank, open);
        let (origin, since, is_done) = (thread.origin, thread.begun(), thread.is_done());
        let is_left = !thread.remaining().contains(bank);
        if is_released {
            self.port.released(place, bank);
            self.bank_released(bank, since, at);
        }
        if is_done {
            self.port.remove(place);
        }
        let bank_ready = is_left.then(|| self.device.bank_hold(bank, Kind::Act).until());
        Outcome::Step(ThreadStep { origin, moved: None, bank_ready, is_done })
    }

    /// The column step of a thread was issued.
    fn column_step_issued(&mut self, at: Cycle, place: usize) -> Outcome {
        let (read_latency, write_latency) = (self.read_latency, self.write_latency);
        let thread = self.port.get_mut(place);
        let moved = thread.column_issued().map(|line| match line {
            MovedLine::Read(_) => (line, at + read_latency),
            MovedLine::Written(_) => (line, at + write_latency),
        });
        if let Some((MovedLine::Read(_), arrives)) = moved {
            thread.gate.read(arrives);
        }
        Outcome::Step(ThreadStep { origin: thread.origin, moved, bank_ready: None, is_done: false })
    }

    /// A row was opened, for an access of a kind or for a thread.
    fn opened(&mut self, bank: BankIndex, kind: Option<AccessKind>) {
        self.banks[bank.get()].opened(kind);
        self.set_unused(bank, kind);
    }

    /// The open row of a bank has served an access.
    #[inline]
    fn has_served(&mut self, bank: BankIndex) {
        self.banks[bank.get()].has_served();
        self.set_unused(bank, None);
    }

    /// A bank was closed.
    fn closed(&mut self, bank: BankIndex) {
        self.counters.unused_activates += u64::from(self.banks[bank.get()].unused().is_some());
        self.banks[bank.get()].closed();
        self.set_unused(bank, None);
    }

    #[inline]
    fn set_unused(&mut self, bank: BankIndex, kind: Option<AccessKind>) {
        self.unused_reads.set(bank, kind == Some(AccessKind::Read));
        self.unused_writes.set(bank, kind == Some(AccessKind::Write));
    }
}
