//! Command of a cycle (23-27).

use dram_core::P;
use dram_spec::{AutoPrecharge, BankId, Command, CommandEvent, Cycle, IssueCause};

use super::access::{Kind, Stamp};
use super::channel::Channel;
use super::figures::Recorder;
use super::front::FrontEnd;
use super::rows::Rows;
use super::scheduler::Priority;
use super::thread::Thread;

/// Owner of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Rank(IssueCause),
    /// The thread with this index, and the bank of a row command.
    ThreadRow(usize, BankId),
    ThreadColumn(usize),
    /// The access with this index.
    Access(usize),
    RowPolicy,
}

/// Next command for a bank's accesses.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    access: usize,
    command: Command,
    is_column: bool,
    priority: Priority,
    stamp: Stamp,
}

/// Resources required by column commands of older contenders.
#[derive(Default)]
struct Claims {
    bus: bool,
    ranks: Vec<u8>,
}

impl Claims {
    fn needs_bus(command: &Command) -> bool {
        !matches!(command, Command::Transfer { .. })
    }

    fn block(&self, command: &Command) -> bool {
        self.bus && Claims::needs_bus(command) || self.ranks.contains(&command.rank())
    }

    fn add(&mut self, command: &Command) {
        self.bus |= Claims::needs_bus(command);
        self.ranks.push(command.rank());
    }
}

impl Channel {
    /// Issues the first command, by tier, that the device permits.
    pub fn issue(&mut self, now: u64, front: &mut FrontEnd, recorder: &mut Recorder) -> Option<CommandEvent> {
        self.device.advance_to(Cycle(now));
        let reads: Vec<_> = self.queued(Kind::Read).filter_map(|a| Some((a.place.bank, a.source, a.stamp?))).collect();
        self.scheduler.update(now, &reads);
        let (owner, command) = self.choose(now, front)?;
        let hold = self.device.earliest(&command).expect("it was chosen");
        let held_by = (hold.until().0 == now).then(|| hold.rule()).flatten();
        let (cause, effect) = (self.cause(owner, front), self.effect(&command));
        self.apply(now, owner, &command, front, recorder);
        Some(CommandEvent { at: Cycle(now), channel: self.id, command, effect, cause, held_by })
    }

    fn allows(&self, now: u64, command: &Command) -> bool {
        self.device.earliest(command).is_ok_and(|hold| hold.until().0 <= now)
    }

    fn choose(&self, now: u64, front: &FrontEnd) -> Option<(Owner, Command)> {
        let candidates = self.candidates(now);
        let of_rank = (0..self.config.system.geometry.ranks()).filter_map(|rank| self.rank_command(rank, now));
        let of_rank = of_rank.map(|(command, cause)| (Owner::Rank(cause), command));
        let first = of_rank.chain(self.thread_rows(now, true)).find(|(_, command)| self.allows(now, command));
        first
            .or_else(|| self.column(now, &candidates, front))
            .or_else(|| self.row(now, &candidates, front))
            .or_else(|| self.timeout(now))
    }

    /// Row commands of threads to ranks that must refresh, or to all others: by age of the thread,
    /// then in the order in which its program uses the banks.
    fn thread_rows(&self, now: u64, must: bool) -> Vec<(Owner, Command)> {
        let mut threads: Vec<usize> = (0..self.threads.len()).collect();
        threads.sort_by_key(|&at| self.threads[at].stamp());
        let of_bank = |at: usize, bank: BankId| {
            Some((Owner::ThreadRow(at, bank), self.threads[at].row_command(bank, &self.device)?))
        };
        let is_meant = |bank: &&BankId| self.must_refresh_bank(**bank, now) == must;
        let rows = |at: usize| self.threads[at].held.iter().filter(is_meant).filter_map(move |bank| of_bank(at, *bank));
        threads.into_iter().flat_map(rows).collect()
    }

    /// Candidates of all free banks of usable ranks that may be issued (14).
    fn candidates(&self, now: u64) -> Vec<Candidate> {
        let mut banks = self.all_banks();
        banks.retain(|bank| self.is_free(*bank) && self.is_usable(*bank, now));
        if self.scheduler.is_fifo() {
            banks.retain(|bank| self.head().is_some_and(|head| head.place.bank == *bank));
            return banks.iter().filter_map(|bank| self.candidate(*bank, now)).collect();
        }
        let other = |bank: &BankId| self.unused(*bank).filter(|kind| *kind != self.mode);
        let kind = banks.iter().find_map(other).unwrap_or(self.mode);
        let mut candidates: Vec<_> = banks.iter().filter_map(|bank| self.candidate(*bank, now)).collect();
        candidates.retain(|candidate| !candidate.is_column || self.accesses[candidate.access].kind == kind);
        if self.scheduler.is_strict() {
            candidates.sort_by_key(|candidate| candidate.priority);
            candidates.truncate(1);
        }
        candidates
    }

    fn candidate(&self, bank: BankId, now: u64) -> Option<Candidate> {
        let open = self.device.open_row(bank);
        let unused = self.unused(bank).filter(|kind| *kind != self.mode);
        let served = self.banks[self.device.topology().index(bank).get()].served;
        let possible = (0..self.accesses.len()).filter(|&at| {
            let access = &self.accesses[at];
            let is_of_kind = access.kind == unused.unwrap_or(self.mode);
            let is_of_row = unused.is_none() || open == Some(access.place.row);
            access.place.bank == bank && access.is_queued() && is_of_kind && is_of_row
        });
        let priority = |at: usize| {
            let access = &self.accesses[at];
            self.scheduler.priority(access, open == Some(access.place.row), served)
        };
        let best = possible.min_by_key(|&at| priority(at))?;
        let access = &self.accesses[best];
        let row = access.place.row;
        let command = match open {
            Some(open) if open == row => self.column_command(best, now),
            Some(_) => Command::Precharge { bank },
            None => Command::Activate { bank, row },
        };
        let (priority, stamp) = (priority(best), access.stamp?);
        Some(Candidate { access: best, command, is_column: open == Some(row), priority, stamp })
    }

    fn column_command(&self, at: usize, now: u64) -> Command {
        let (access, place) = (&self.accesses[at], self.accesses[at].place);
        let is_other = |(index, other): (usize, &super::access::Access)| {
            index != at && other.is_queued() && (other.place.bank, other.place.row) == (place.bank, place.row)
        };
        let closes = self.rows == Rows::Closed && !self.accesses.iter().enumerate().any(is_other);
        // A write may have to recover before the row closes: then the RD leaves it open.
        let index = self.device.topology().index(place.bank);
        let may_close = access.kind == Kind::Write || self.device.permits_auto_precharge(index, Cycle(now));
        let auto_precharge = if closes && may_close { AutoPrecharge::Yes } else { AutoPrecharge::No };
        let (bank, column) = (place.bank, place.column);
        match access.kind {
            Kind::Read => Command::Read { bank, column, auto_precharge },
            Kind::Write => Command::Write { bank, column, auto_precharge },
        }
    }

    /// A column command, by age of the contender (24).
    fn column(&self, now: u64, candidates: &[Candidate], front: &FrontEnd) -> Option<(Owner, Command)> {
        let mut columns: Vec<_> = candidates.iter().filter(|candidate| candidate.is_column).collect();
        columns.sort_by_key(|candidate| candidate.priority);
        let mut contenders: Vec<(Stamp, Option<usize>)> = Vec::new();
        contenders.extend(columns.iter().map(|candidate| candidate.stamp).min().map(|stamp| (stamp, None)));
        let is_contender = |thread: &Thread| !self.is_in_rank_that_must(now, thread);
        let threads = self.threads.iter().enumerate().filter(|(_, thread)| is_contender(thread));
        contenders.extend(threads.map(|(at, thread)| (thread.stamp(), Some(at))));
        contenders.sort_by_key(|contender| contender.0);
        let mut claims = Claims::default();
        let column_of = |thread: Option<usize>, claims: &mut Claims| match thread {
            Some(at) => self.thread_column(now, at, claims, front),
            None => self.access_column(now, &columns, candidates, claims),
        };
        contenders.into_iter().find_map(|(_, thread)| column_of(thread, &mut claims))
    }

    /// The column command that a thread may issue now; otherwise the thread may block younger
    /// contenders.
    fn thread_column(&self, now: u64, at: usize, claims: &mut Claims, front: &FrontEnd) -> Option<(Owner, Command)> {
        let command = self.threads[at].column_command(&self.device)?;
        let arrives = match command {
            // None: a required line has not been read.
            Command::Write { .. } => front.programs[self.threads[at].program].data_arrives()?,
            _ => 0,
        };
        if claims.block(&command) || !self.allows(now, &command) {
            claims.add(&command);
            return None;
        }
        // A thread that waits only for its data does not block.
        let has_data = arrives <= now + self.device.timings().get(P::Cwl).0;
        has_data.then_some((Owner::ThreadColumn(at), command))
    }

    /// The column command that an access may issue now; waiting ones block younger contenders.
    /// Column commands are in order of priority.
    fn access_column(
        &self,
        now: u64,
        columns: &[&Candidate],
        candidates: &[Candidate],
        claims: &mut Claims,
    ) -> Option<(Owner, Command)> {
        let is_allowed = |column: &Candidate| !claims.block(&column.command) && self.allows(now, &column.command);
        let (allowed, waiting): (Vec<&Candidate>, Vec<&Candidate>) =
            columns.iter().partition(|column| is_allowed(column));
        if let Some(column) = allowed.first().filter(|column| !self.is_after_row(now, column, candidates)) {
            return Some((Owner::Access(column.access), column.command));
        }
        for column in waiting {
            claims.add(&column.command);
        }
        None
    }

    /// Whether a row command of an access precedes a column command of an access (27).
    fn is_after_row(&self, now: u64, column: &Candidate, candidates: &[Candidate]) -> bool {
        let goes_before =
            |row: &Candidate| !row.is_column && row.priority < column.priority && self.allows(now, &row.command);
        candidates.iter().any(goes_before)
    }

    /// A row command of an access or a thread, by priority (25).
    fn row(&self, now: u64, candidates: &[Candidate], front: &FrontEnd) -> Option<(Owner, Command)> {
        let rows = candidates.iter().filter(|candidate| !candidate.is_column);
        let of_accesses = rows.map(|row| (row.priority, (Owner::Access(row.access), row.command)));
        let priority = |owner: Owner| match owner {
            Owner::ThreadRow(at, _) => {
                let thread = &self.threads[at];
                self.scheduler.thread_priority(front.programs[thread.program].source(), thread.stamp())
            }
            _ => unreachable!("it is a thread's"),
        };
        let of_threads = self.thread_rows(now, false).into_iter().map(|row| (priority(row.0), row));
        let mut all: Vec<_> = of_accesses.chain(of_threads).collect();
        all.sort_by_key(|row| row.0);
        all.into_iter().map(|(_, row)| row).find(|(_, command)| self.allows(now, command))
    }

    /// PRE of a row that no access needs (26).
    fn timeout(&self, now: u64) -> Option<(Owner, Command)> {
        let Rows::Timeout(after) = self.rows else { return None };
        let is_due = |bank: &BankId| {
            let Some(row) = self.device.open_row(*bank) else { return false };
            let is_needed = self.accesses.iter().any(|a| a.is_queued() && (a.place.bank, a.place.row) == (*bank, row));
            let last = self.device.last_in_bank(*bank).expect("it was opened");
            self.is_free(*bank) && self.is_usable(*bank, now) && !is_needed && last.0 + after <= now
        };
        let closes = self.all_banks().into_iter().filter(is_due).map(|bank| Command::Precharge { bank });
        closes.map(|command| (Owner::RowPolicy, command)).find(|(_, command)| self.allows(now, command))
    }

    fn cause(&self, owner: Owner, front: &FrontEnd) -> IssueCause {
        match owner {
            Owner::Rank(cause) => cause,
            Owner::ThreadRow(at, _) | Owner::ThreadColumn(at) => {
                let program = self.threads[at].program;
                front.programs[program].cause(program)
            }
            Owner::Access(at) if self.accesses[at].kind == Kind::Read => IssueCause::Read(self.accesses[at].id),
            Owner::Access(at) => IssueCause::Write(self.accesses[at].id),
            Owner::RowPolicy => IssueCause::RowPolicy,
        }
    }
}
