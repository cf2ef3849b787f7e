//! Lines that wait in queues: how they get there, and what each bank would have next.

use dram_core::Power;
use dram_spec::{AutoPrecharge, BankId, Channel, Command, Cycle, LINE_BYTES, Location, PhysicalAddress};
use memctrl::{RowPolicy, Scheduler};
use rowclone::Operation;

use super::plain::Plain;

/// One line of a read or of a write, from its acceptance until its RD or WR.
pub struct Access {
    /// Names it.
    pub id: u64,
    pub request: usize,
    pub write: bool,
    pub address: u64,
    pub at: Location,
    /// The jobs that it waits for, by request.
    pub blocked_by: Vec<usize>,
    /// Its sequence number, once it is queued.
    pub age: u64,
    pub queued_at: Cycle,
    /// Whether an ACT was issued for it.
    pub activated: bool,
    /// Whether a PRE was issued for it.
    pub precharged: bool,
}

impl Access {
    pub fn queued(&self) -> bool {
        self.blocked_by.is_empty()
    }

    pub fn is_in(&self, channel: Channel, bank: BankId) -> bool {
        self.queued() && self.at.channel == channel && self.at.bank == bank
    }

    pub fn is_read_in(&self, channel: Channel, bank: BankId) -> bool {
        !self.write && self.is_in(channel, bank)
    }
}

/// What a bank would have next for an access.
pub struct Candidate {
    /// Its index in the list.
    pub access: usize,
    pub age: u64,
    pub command: Command,
}

impl Candidate {
    pub fn is_column(&self) -> bool {
        matches!(self.command, Command::Read { .. } | Command::Write { .. })
    }
}

/// Whether a range has a byte of the line at `line`.
fn touches(start: PhysicalAddress, bytes: u64, line: u64) -> bool {
    start.0 < line + LINE_BYTES && line < start.0 + bytes
}

/// Whether an access conflicts with a job: a read with what it writes, a write with what it reads or writes.
pub fn conflicts(write: bool, line: u64, job: &Operation) -> bool {
    let reads = job.src().is_some_and(|src| touches(src, job.bytes(), line));
    touches(job.target(), job.bytes(), line) || (write && reads)
}

impl Plain {
    /// Entries in use.
    pub fn entries(&self, channel: Channel, write: bool) -> usize {
        self.accesses.iter().filter(|access| access.write == write && access.at.channel == channel).count()
    }

    /// Accepts lines of a read or a write; whether all of them are.
    pub fn accept_lines(&mut self, index: usize) -> bool {
        let operation = self.requests[index].request.operation;
        let write = matches!(operation, Operation::Write { .. });
        let end = operation.target().0 + operation.bytes();
        while let Some(line) = self.requests[index].next_line {
            if !self.accept_line(index, write, line) {
                return false;
            }
            let next = line + LINE_BYTES;
            self.requests[index].next_line = Some(next).filter(|&next| next < end);
        }
        self.close_request(index);
        true
    }

    fn accept_line(&mut self, index: usize, write: bool, line: u64) -> bool {
        let at = self.config.planner.map().locate(PhysicalAddress(line)).expect("the source asks for what there is");
        if write && self.accesses.iter().any(|access| !access.write && access.address == line) {
            return false;
        }
        let mut blocked_by = Vec::new();
        for job in &self.jobs {
            if conflicts(write, line, &self.requests[job.request].request.operation) {
                blocked_by.push(job.request);
            }
        }
        if !write && blocked_by.is_empty() && self.forward(index, line) {
            return true;
        }
        let queues = self.config.queues;
        let room = if write { queues.write_entries } else { queues.read_entries };
        if self.entries(at.channel, write) >= room {
            return false;
        }
        let id = self.number();
        let (age, queued_at) = (id, self.now);
        self.requests[index].lines_open += 1;
        let (activated, precharged) = (false, false);
        self.accesses.push(Access {
            id,
            request: index,
            write,
            address: line,
            at,
            blocked_by,
            age,
            queued_at,
            activated,
            precharged,
        });
        true
    }

    /// Answers a line of a read from the newest write of it that is queued, if there is one.
    fn forward(&mut self, index: usize, line: u64) -> bool {
        let held = self.accesses.iter().rfind(|access| access.write && access.address == line);
        let Some(write) = held.map(|access| access.request) else { return false };
        let bytes = self.written_line(write, line);
        self.answer(index, line, bytes, Cycle(self.now.0 + 1));
        self.figures.count(self.now, |figures| figures.forwarded += 1);
        true
    }

    /// The bytes that a write has for one of its lines.
    pub fn written_line(&self, request: usize, line: u64) -> Option<dram_core::Line> {
        let request = &self.requests[request].request;
        let from = (line - request.operation.target().0) as usize;
        let payload = request.payload.as_ref()?;
        Some(payload[from..from + LINE_BYTES as usize].try_into().expect("a whole line"))
    }

    /// A line of a read or a write is answered: its data ends at `done`.
    pub fn answer(&mut self, index: usize, line: u64, bytes: Option<dram_core::Line>, done: Cycle) {
        let request = &mut self.requests[index];
        request.done = request.done.max(done);
        let start = request.request.operation.target().0;
        if let (Some(data), Some(bytes)) = (&mut request.data, bytes) {
            for (address, byte) in (line..).zip(bytes) {
                if let Some(at) = address.checked_sub(start).filter(|&at| at < data.len() as u64) {
                    data[at as usize] = byte;
                }
            }
        }
    }

    /// A read or a write is due when all its lines are accepted and answered.
    pub fn close_request(&mut self, index: usize) {
        let request = &mut self.requests[index];
        if request.next_line.is_none() && request.lines_open == 0 {
            request.due = Some(request.done);
        }
    }

    /// A job is delivered: accesses that waited for no other are accepted again.
    pub fn release_accesses(&mut self, job: usize) {
        let mut released = Vec::new();
        for access in &mut self.accesses {
            if access.blocked_by.contains(&job) {
                access.blocked_by.retain(|&other| other != job);
                if access.queued() {
                    released.push(access.id);
                    // Not queued before its turn comes.
                    access.blocked_by.push(job);
                }
            }
        }
        for id in released {
            let at = self.accesses.iter().position(|access| access.id == id).expect("it holds its entry");
            let (write, request, line) =
                (self.accesses[at].write, self.accesses[at].request, self.accesses[at].address);
            if !write && self.forward(request, line) {
                self.leave(at);
                continue;
            }
            let age = self.number();
            let access = &mut self.accesses[at];
            access.blocked_by.clear();
            access.age = age;
            access.queued_at = self.now;
        }
    }

    /// An access gives its entry back.
    pub fn leave(&mut self, at: usize) -> Access {
        let access = self.accesses.remove(at);
        for job in &mut self.jobs {
            job.waits_for.retain(|&id| id != access.id);
        }
        self.requests[access.request].lines_open -= 1;
        self.close_request(access.request);
        access
    }

    /// Turns between read mode and write mode.
    pub fn turn(&mut self, channel: Channel) {
        let queued = |write| {
            let here = move |access: &&Access| access.queued() && access.at.channel == channel && access.write == write;
            self.accesses.iter().filter(here)
        };
        let all = queued(true).count();
        let writes = queued(true).filter(|access| !self.is_held(channel, access.at.bank)).count();
        let reads = queued(false).count();
        let forced = queued(true).any(|access| self.jobs.iter().any(|job| job.waits_for.contains(&access.id)));
        let queues = self.config.queues;
        let writing = &mut self.writing[usize::from(channel.0)];
        if !*writing {
            if writes > 0 && (all >= queues.drain_high || reads == 0 || forced) {
                *writing = true;
                self.figures.count(self.now, |figures| figures.drains += 1);
            }
        } else if writes == 0 || (all <= queues.drain_low && reads > 0 && !forced) {
            *writing = false;
        }
    }

    /// Whether a bank may have a command of an access.
    pub fn is_free(&self, channel: Channel, bank: BankId) -> bool {
        let awake = self.device(channel).power(bank.rank) == Power::Awake;
        awake && !self.is_held(channel, bank) && !self.urgent(channel, bank.rank)
    }

    /// What each bank would have next.
    pub fn candidates(&self, channel: Channel) -> Vec<Candidate> {
        let writing = self.writing[usize::from(channel.0)];
        let mut candidates = Vec::new();
        // Indices of the queued accesses of the mode's kind, the oldest first.
        let mut queued: Vec<usize> = Vec::new();
        for (index, access) in self.accesses.iter().enumerate() {
            if access.queued() && access.write == writing && access.at.channel == channel {
                queued.push(index);
            }
        }
        queued.sort_unstable_by_key(|&index| self.accesses[index].age);
        if self.config.scheduler == Scheduler::Fcfs {
            queued.truncate(1);
        }
        for rank in 0..self.config.system.geometry.ranks() {
            for bank in (0..8).map(|bank| BankId { rank, bank }) {
                let here: Vec<usize> =
                    queued.iter().copied().filter(|&index| self.accesses[index].at.bank == bank).collect();
                if !here.is_empty() && self.is_free(channel, bank) {
                    candidates.push(self.candidate(channel, bank, &here));
                }
            }
        }
        candidates
    }

    /// What a bank would have next for one of these accesses, the oldest of which is the first.
    fn candidate(&self, channel: Channel, bank: BankId, here: &[usize]) -> Candidate {
        let oldest = here[0];
        let make = |access: usize, command| Candidate { access, age: self.accesses[access].age, command };
        let Some(open) = self.device(channel).open_row(bank) else {
            return make(oldest, Command::Activate { bank, row: self.accesses[oldest].at.row });
        };
        let served = self.banks[usize::from(channel.0)][usize::from(bank.rank)][usize::from(bank.bank)].served;
        let capped = matches!(self.config.scheduler, Scheduler::FrFcfsCap(cap) if served >= u64::from(cap));
        let hit = here.iter().copied().find(|&index| self.accesses[index].at.row == open);
        match hit {
            Some(hit) if !(capped && self.accesses[oldest].at.row != open) => make(hit, self.column_command(hit)),
            _ => make(oldest, Command::Precharge { bank }),
        }
    }

    fn column_command(&self, index: usize) -> Command {
        let access = &self.accesses[index];
        let (channel, bank, row) = (access.at.channel, access.at.bank, access.at.row);
        let same_row = |other: &&Access| other.is_in(channel, bank) && other.at.row == row && other.id != access.id;
        let last = !self.accesses.iter().any(|other| same_row(&other));
        let closes = self.config.row_policy == RowPolicy::Closed && last;
        let auto_precharge = if closes { AutoPrecharge::Yes } else { AutoPrecharge::No };
        let column = access.at.column;
        if access.write {
            Command::Write { bank, column, auto_precharge }
        } else {
            Command::Read { bank, column, auto_precharge }
        }
    }
}
