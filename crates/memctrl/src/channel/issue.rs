//! Issue of commands: updates device, queues, threads and counters, and sends the event. No other
//! module issues commands.

use dram_core::{KeptKind, P};
use dram_spec::{
    AutoPrecharge, BankId, BankIndex, Column, ColumnRun, Command, CommandEvent, CommandKind, Cycle, Cycles, Effect,
    EventSink, IssueCause, Queued, RequestId,
};

use super::candidates::Candidate;
use super::offer::Choice;
use super::{Channel, Horizon, PlannedCommand};
use crate::access::{AccessKind, LineAccess, RowOutcome};
use crate::copy::port::{ColumnStepDone, RowStepDone};
use crate::stats::accesses::AccessTally;

/// Effect of a command on the front end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IssueEffect {
    /// None.
    None,
    /// The entry was freed for which the head request waits; nothing else concerns the front end.
    Entry,
    /// The RD or WR of an access was issued, and its entry freed.
    Access(ServedAccess),
    /// A thread executed a step, which is [`Channel::step`].
    CopyStep,
}

/// A served access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedAccess {
    /// Place in the pool of the queues, valid until another access is queued.
    pub(crate) place: u16,

    /// End of its data.
    pub(crate) done: Cycle,
}

/// A step executed by a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadStep {
    /// Slot of its program in the front end.
    pub(crate) program: u32,
    /// Slot of the thread, unless it is done.
    pub(crate) slot: u8,
    /// Whether the step read or wrote lines over the channel, and the end of the data of the last.
    pub(crate) moved: Option<(AccessKind, Cycle)>,
    /// Number of these lines.
    pub(crate) lines: u32,
    /// Earliest next ACT of the bank with which the thread is now done.
    pub(crate) bank_ready: Option<Cycle>,
    /// Whether the thread is done, and its slot free.
    pub(crate) is_done: bool,
}

/// Cause of the commands for an access.
#[inline]
const fn cause(kind: AccessKind, request: RequestId) -> IssueCause {
    match kind {
        AccessKind::Read => IssueCause::Read(request),
        AccessKind::Write => IssueCause::Write(request),
    }
}

impl Channel {
    /// Issues the decided command in the decided cycle, and the run of columns that it begins before
    /// `horizon.runs`.
    #[inline]
    pub(super) fn issue(
        &mut self,
        horizon: &Horizon,
        done: &mut AccessTally,
        sink: &mut impl EventSink,
    ) -> IssueEffect {
        let PlannedCommand { at, choice, .. } = self.next;
        let outcome = match choice {
            Choice::Access(bank) => self.issue_candidate(at, bank, horizon, done, sink),
            Choice::Column(slot) => match self.run_of(slot, horizon.runs) {
                (lines @ 2.., pitch) => return self.issue_run(at, slot, lines, pitch, sink),
                _ => self.issue_column_step(at, slot, sink),
            },
            _ => self.issue_other(at, choice, sink),
        };
        self.changed(at + Cycles(1));
        if horizon.wants_queues {
            self.report_queues(at, sink);
        }
        outcome
    }

    #[inline(never)]
    fn report_queues(&self, at: Cycle, sink: &mut impl EventSink) {
        let [reads, writes] = [AccessKind::Read, AccessKind::Write].map(|kind| self.queues.entries(kind));
        sink.queued(at, self.id, Queued { reads, writes });
    }

    /// Issues a command: device, counters and event.
    // Where the kind of the command is known, little of this is left.
    #[inline(always)]
    fn emit(&mut self, at: Cycle, command: Command, cause: IssueCause, sink: &mut impl EventSink) {
        let effect = self.device.issue(at, &command);
        self.maintenance.issued(command.rank(), cause);
        self.counters.commands.count(&command, effect);
        let held_by = self.device.last_hold().binding(at);
        sink.command(&CommandEvent { at, channel: self.id, command, effect, cause, held_by });
    }

    /// Issues the command of a bank's candidate.
    #[inline]
    fn issue_candidate(
        &mut self,
        at: Cycle,
        index: BankIndex,
        horizon: &Horizon,
        done: &mut AccessTally,
        sink: &mut impl EventSink,
    ) -> IssueEffect {
        let candidate = self.accesses.candidate(index);
        let Candidate { kind, place, bank, .. } = candidate;
        let (row, cause) = (self.queues.get(place).row(), cause(kind, self.queues.get(place).id()));
        match candidate.command {
            KeptKind::Pre => {
                self.emit(at, Command::Precharge { bank }, cause, sink);
                self.counters.unused_activates += u64::from(self.accesses.unused().contains(index));
                self.row_command_issued(at, index, CommandKind::Precharge, RowOutcome::Conflict);
                IssueEffect::None
            }
            KeptKind::Act => {
                self.emit(at, Command::Activate { bank, row }, cause, sink);
                self.row_command_issued(at, index, CommandKind::Activate, RowOutcome::Miss);
                IssueEffect::None
            }
            _ => self.issue_column(at, index, candidate, horizon, done, sink),
        }
    }

    /// Updates the state after the PRE or the ACT of a candidate.
    #[inline]
    fn row_command_issued(&mut self, at: Cycle, index: BankIndex, command: CommandKind, outcome: RowOutcome) {
        let place = self.accesses.candidate(index).place;
        self.queues.note_row_command(place, at, outcome);
        self.accesses.row_command_issued(index, &self.queues, &self.device);
        self.served_access(at, command, place);
    }

    /// Issues the RD or WR of a candidate; with auto-precharge if the row policy closes the row.
    #[inline]
    fn issue_column(
        &mut self,
        at: Cycle,
        index: BankIndex,
        candidate: Candidate,
        horizon: &Horizon,
        done: &mut AccessTally,
        sink: &mut impl EventSink,
    ) -> IssueEffect {
        let Candidate { kind, place, bank, .. } = candidate;
        let (column, cause) = (self.queues.get(place).column(), cause(kind, self.queues.get(place).id()));
        let closes = self.row_policy.closes_with(&self.queues, place)
            && (kind == AccessKind::Write || self.device.permits_auto_precharge(index, at));
        let auto_precharge = AutoPrecharge::No;
        match kind {
            _ if closes => self.issue_closing(at, bank, column, cause, sink),
            AccessKind::Read => self.emit(at, Command::Read { bank, column, auto_precharge }, cause, sink),
            AccessKind::Write => self.emit(at, Command::Write { bank, column, auto_precharge }, cause, sink),
        }
        let outcomes = if kind == AccessKind::Read { &mut self.counters.reads } else { &mut self.counters.writes };
        outcomes.count(self.queues.get(place).row);
        self.queues.remove(place, at);
        self.accesses.served(index);
        let column = if kind == AccessKind::Read { CommandKind::Read } else { CommandKind::Write };
        self.served_access(at, column, place);
        self.reads_issued += u64::from(kind == AccessKind::Read && self.port.remaining().contains(index));
        if closes {
            self.served_access(at, CommandKind::Precharge, place);
            self.closed(index);
        }
        let (queued, end) = (self.queues.get(place), at + self.latencies[kind as usize]);
        if queued.access.slot >= LineAccess::UNREPORTED {
            done.unreported_done(kind, queued.access.arrival, end);
            // The front end moves the data.
            let has_data = self.device.cells().is_some();
            if !(queued.is_awaited || has_data) && (done.unreported > 0 || !horizon.ends) {
                return if horizon.awaits == Some(kind) { IssueEffect::Entry } else { IssueEffect::None };
            }
        }
        IssueEffect::Access(ServedAccess { place, done: end })
    }

    /// Issues the RDA or WRA of an access.
    #[inline(never)]
    fn issue_closing(&mut self, at: Cycle, bank: BankId, column: Column, cause: IssueCause, sink: &mut impl EventSink) {
        let auto_precharge = AutoPrecharge::Yes;
        let command = match cause {
            IssueCause::Write(_) => Command::Write { bank, column, auto_precharge },
            _ => Command::Read { bank, column, auto_precharge },
        };
        self.emit(at, command, cause, sink);
    }

    /// Issues a command other than that of an access or a column step.
    #[inline(never)]
    fn issue_other(&mut self, at: Cycle, choice: Choice, sink: &mut impl EventSink) -> IssueEffect {
        let (command, cause) = match choice {
            Choice::Maintenance(rank) => self.maintenance.command(rank),
            Choice::Row(bank) => self.port.row_command(bank),
            Choice::Timeout(bank) => (Command::Precharge { bank: self.topology.bank(bank) }, IssueCause::RowPolicy),
            Choice::Access(_) | Choice::Column(_) | Choice::Nothing => unreachable!("these have no other command"),
        };
        self.emit(at, command, cause, sink);
        if let Choice::Row(bank) = choice {
            self.served_row_step(at, bank);
            return self.row_step_issued(at, bank);
        }
        self.maintenance_issued(at, &command);
        IssueEffect::None
    }

    /// Updates the state after a maintenance command, or a PRE by the row policy.
    fn maintenance_issued(&mut self, at: Cycle, command: &Command) {
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
            let usable_from = &mut self.usable_from[rank];
            *usable_from = (*usable_from).max(at + busy_for);
        }
        match *command {
            Command::PrechargeAll { .. } => {
                self.topology.rank(rank).into_iter().for_each(|bank| self.closed(bank));
            }
            Command::Precharge { bank } => self.closed(self.topology.index(bank)),
            // They stay closed, but their next ACT waits.
            Command::RefreshSameBank { bank } => {
                self.topology.bank_set(bank).into_iter().for_each(|bank| self.closed(bank));
            }
            _ => {}
        }
    }

    /// Updates the state after a row step of a thread.
    fn row_step_issued(&mut self, at: Cycle, bank: BankIndex) -> IssueEffect {
        let open = self.device.row_in(bank);
        match open {
            Some(_) => self.accesses.opened(bank),
            None => self.closed(bank),
        }
        let RowStepDone { program, slot, is_released, is_left, is_done } = self.port.row_issued(bank, open);
        if is_released {
            self.bank_released(bank, at);
        }
        let bank_ready = is_left.then(|| self.device.precharged(bank));
        self.step = ThreadStep { program, slot, moved: None, lines: 0, bank_ready, is_done };
        IssueEffect::CopyStep
    }

    /// Issues one line of the column step of a thread.
    #[inline(never)]
    fn issue_column_step(&mut self, at: Cycle, slot: u8, sink: &mut impl EventSink) -> IssueEffect {
        let (command, cause) = self.port.column_command(slot);
        self.emit(at, command, cause, sink);
        self.served_columns(at, slot, &command, 1);
        let step = self.port.columns_issued(slot, 1, at);
        self.columns_issued(slot, step, 1, at)
    }

    /// The lines before `until` that the decided column step of a thread begins and that no other
    /// command interrupts, and their distance.
    pub(super) fn run_of(&self, slot: u8, until: Cycle) -> (u64, Cycles) {
        let pitch = self.device.pitch(self.port.column_kind(slot));
        let fitting = until.min(self.next.run_until).since(self.next.at).0.div_ceil(pitch.0);
        (self.port.steady_lines(slot).min(fitting), pitch)
    }

    /// Issues a run of column commands, `pitch` apart: one issue of the device, one count, and one
    /// call of each reader.
    #[inline(never)]
    fn issue_run(&mut self, at: Cycle, slot: u8, lines: u64, pitch: Cycles, sink: &mut impl EventSink) -> IssueEffect {
        let (command, cause) = self.port.column_command(slot);
        let last = at + pitch * (lines - 1);
        self.device.issue_run(at, &command, lines);
        self.maintenance.issued(command.rank(), cause);
        self.counters.commands[CommandKind::of(&command, Effect::Plain)] += lines;
        let held_by = self.device.last_hold().binding(at);
        let first = CommandEvent { at, channel: self.id, command, effect: Effect::Plain, cause, held_by };
        let rest_held_by = self.device.earliest(&command).ok().and_then(|hold| hold.binding(last + pitch));
        let run = ColumnRun { first, lines, pitch, rest_held_by };
        if sink.wants_queues() {
            for event in run.events() {
                sink.command(&event);
                self.report_queues(event.at, sink);
            }
        } else {
            sink.run(&run);
        }
        self.changed(last + Cycles(1));
        self.served_columns(at, slot, &command, lines);
        let step = self.port.columns_issued(slot, lines, last);
        self.columns_issued(slot, step, lines, last)
    }

    /// Effect of column commands of a thread, of which the last was issued at `last`.
    #[inline]
    fn columns_issued(&mut self, slot: u8, step: ColumnStepDone, lines: u64, last: Cycle) -> IssueEffect {
        let ColumnStepDone { program, moved } = step;
        let moved = moved.map(|kind| (kind, last + self.latencies[kind as usize]));
        self.step = ThreadStep { program, slot, moved, lines: lines as u32, bank_ready: None, is_done: false };
        IssueEffect::CopyStep
    }

    /// Updates the state after a bank was closed.
    #[inline]
    fn closed(&mut self, bank: BankIndex) {
        self.counters.unused_activates += u64::from(self.accesses.closed(bank));
    }
}
