//! Jobs, and the segments that they are cut into.

use std::iter::Peekable;

use dram_core::P;
use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, Cycle, LINE_BYTES, Row};
use memctrl::request::Segments;
use rowclone::{Blocks, Line, LineWrite, Mechanism, Operation, Run, RunWrite, Work};

use super::accesses::conflicts;
use super::plain::Plain;

/// So many segments wait at most before another block is planned.
const WAITING_MOST: usize = 128;

/// A job that is not delivered.
pub struct Job {
    pub request: usize,
    /// The accesses that it waits for.
    pub waits_for: Vec<u64>,
    blocks: Peekable<Blocks>,
    planned: bool,
    /// Segments that are not done.
    left: usize,
    /// When the banks that it has closed can take an ACT again.
    ready: Cycle,
}

/// What a column access does.
#[derive(Clone, Copy)]
pub enum What {
    /// Reads the line at an address.
    Read(u64),
    /// Writes a line.
    Write(LineWrite),
    Transfer,
}

/// One column access of a segment.
pub struct Step {
    pub channel: Channel,
    pub command: Command,
    /// The rows that must be open.
    pub rows: Vec<(BankId, Row)>,
    pub what: What,
    /// When it was issued.
    pub at: Option<Cycle>,
}

/// A bank that a segment uses.
pub struct Used {
    pub channel: Channel,
    pub bank: BankId,
    pub held: bool,
    /// The row that is open there is the segment's.
    pub opened: bool,
    /// The segment has closed it for good.
    pub done: bool,
}

/// A part of a job.
#[expect(clippy::struct_excessive_bools, reason = "plain facts, one by one")]
pub struct Segment {
    /// By request.
    pub job: usize,
    pub place: u64,
    /// In the order in which the plan uses them.
    pub banks: Vec<Used>,
    /// All column accesses, in the order of the plan.
    pub steps: Vec<Step>,
    /// The rows of a copy activation.
    pub fpm: Option<(Row, Row)>,
    /// The copy activation was issued.
    pub copied: bool,
    pub in_flight: bool,
    pub giving_way: bool,
    pub age: u64,
    pub begun: Cycle,
    term: Cycle,
    /// It has made a column access since it began.
    pub moved: bool,
    /// Every line is written as it arrives.
    streams: bool,
    lines: Vec<(u64, dram_core::Line)>,
}

impl Segment {
    fn new(job: usize, place: u64, work: Work) -> Segment {
        let mut steps = Vec::new();
        let mut fpm = None;
        let mut banks: Vec<Used> = Vec::new();
        let mut streams = false;
        match work {
            Work::Fpm { channel, bank, src, dst } => {
                fpm = Some((src, dst));
                banks.push(Used { channel, bank, held: false, opened: false, done: false });
            }
            Work::Psm { channel, src, dst, columns } => {
                steps.extend(columns.iter().map(|&(from, to)| transfer(channel, (src, from), (dst, to))));
            }
            Work::Psm2 { channel, src, temporary, dst, columns } => {
                steps.extend(columns.iter().map(|&(from, to)| transfer(channel, (src, from), (temporary, to))));
                steps.extend(columns.iter().map(|&(_, to)| transfer(channel, (temporary, to), (dst, to))));
            }
            Work::Channel { reads, writes } => {
                let reads: Vec<Line> = reads.iter().flat_map(Run::lines).collect();
                let writes: Vec<LineWrite> = writes.iter().flat_map(RunWrite::writes).collect();
                let all_on = |channels: Vec<Channel>| {
                    let one = channels.first().copied();
                    one.filter(|one| channels.iter().all(|other| other == one))
                };
                let from = all_on(reads.iter().map(|line| line.location.channel).collect());
                let to = all_on(writes.iter().map(|write| write.line.location.channel).collect());
                streams = from.is_some() && to.is_some() && from != to && reads.len() == writes.len();
                for line in reads {
                    let (bank, column) = (line.location.bank, line.location.column);
                    steps.push(Step {
                        channel: line.location.channel,
                        command: Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
                        rows: vec![(bank, line.location.row)],
                        what: What::Read(line.address.0),
                        at: None,
                    });
                }
                for write in writes {
                    let (bank, column) = (write.line.location.bank, write.line.location.column);
                    steps.push(Step {
                        channel: write.line.location.channel,
                        command: Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
                        rows: vec![(bank, write.line.location.row)],
                        what: What::Write(write),
                        at: None,
                    });
                }
            }
        }
        for step in &steps {
            for &(bank, _) in &step.rows {
                if !banks.iter().any(|used| used.channel == step.channel && used.bank == bank) {
                    banks.push(Used { channel: step.channel, bank, held: false, opened: false, done: false });
                }
            }
        }
        Segment {
            job,
            place,
            banks,
            steps,
            fpm,
            copied: false,
            in_flight: false,
            giving_way: false,
            age: 0,
            begun: Cycle::ZERO,
            term: Cycle::ZERO,
            moved: false,
            streams,
            lines: Vec::new(),
        }
    }

    /// By which the oldest goes first: one that has made no column access is older than everything that has.
    pub fn key(&self) -> (u8, u64) {
        if self.moved { (1, self.age) } else { (0, self.place) }
    }

    /// The row that it needs next in a bank.
    fn row_needed(&self, used: &Used) -> Option<Row> {
        if let Some((src, dst)) = self.fpm {
            let next = if used.opened { dst } else { src };
            return (!self.copied).then_some(next);
        }
        let ahead = self.steps.iter().filter(|step| step.at.is_none() && step.channel == used.channel);
        let mut rows = ahead.flat_map(|step| &step.rows);
        rows.find(|(bank, _)| *bank == used.bank).map(|&(_, row)| row)
    }

    fn complete(&self) -> bool {
        (self.fpm.is_none() || self.copied) && self.steps.iter().all(|step| step.at.is_some())
    }
}

fn transfer(
    channel: Channel,
    (src, src_column): ((BankId, Row), Column),
    (dst, dst_column): ((BankId, Row), Column),
) -> Step {
    let command = Command::Transfer { src: src.0, src_column, dst: dst.0, dst_column };
    Step { channel, command, rows: vec![src, dst], what: What::Transfer, at: None }
}

impl Plain {
    /// Accepts a job, if there is room for it.
    pub fn accept_job(&mut self, index: usize) -> bool {
        if self.jobs.len() >= self.config.queues.copy_entries {
            return false;
        }
        let operation = self.requests[index].request.operation;
        let against = self.accesses.iter().filter(|access| conflicts(access.write, access.address, &operation));
        let waits_for = against.map(|access| access.id).collect();
        let blocks = self.config.planner.blocks(&operation).peekable();
        self.jobs.push(Job { request: index, waits_for, blocks, planned: false, left: 0, ready: Cycle::ZERO });
        true
    }

    /// Whether a segment in flight holds a bank.
    pub fn is_held(&self, channel: Channel, bank: BankId) -> bool {
        let holds = |used: &Used| used.held && used.channel == channel && used.bank == bank;
        self.segments.iter().any(|segment| segment.in_flight && segment.banks.iter().any(holds))
    }

    /// Step 2: segments give way, or begin new terms.
    pub fn end_terms(&mut self) {
        for place in self.places(true) {
            let segment = self.segment(place);
            let to_do = || segment.banks.iter().filter(|used| !used.done);
            let must = to_do().any(|used| self.must(used.channel, used.bank.rank));
            let copies = segment.fpm.is_some() && segment.banks[0].opened;
            if segment.giving_way {
                continue;
            }
            if must && !copies {
                self.give_way(place);
                self.figures.count(self.now, |figures| figures.broken_off_for_refresh += 1);
                continue;
            }
            let over = self.config.copy_hold_max.is_some_and(|most| self.now >= segment.term + most);
            if !over || segment.fpm.is_some() || self.first_unmoved() == Some(place) {
                continue;
            }
            let read_in = |used: &Used| self.accesses.iter().any(|access| access.is_read_in(used.channel, used.bank));
            if segment.banks.iter().any(|used| used.held && read_in(used)) {
                self.give_way(place);
                self.figures.count(self.now, |figures| figures.broken_off_for_reads += 1);
            } else {
                let (age, now) = (self.number(), self.now);
                let segment = self.segment_mut(place);
                segment.age = age;
                segment.term = now;
            }
        }
    }

    /// The first segment in flight that has still to make its first column access.
    fn first_unmoved(&self) -> Option<u64> {
        let unmoved =
            |segment: &&Segment| segment.in_flight && !segment.moved && !segment.giving_way && segment.fpm.is_none();
        self.segments.iter().find(unmoved).map(|segment| segment.place)
    }

    fn give_way(&mut self, place: u64) {
        self.segment_mut(place).giving_way = true;
        for index in 0..self.segment(place).banks.len() {
            let used = &self.segment(place).banks[index];
            if used.held && !used.opened {
                self.release(place, index, false);
            }
        }
        self.settle(place);
    }

    /// Step 3, first half: plans blocks while there is room.
    pub fn plan(&mut self) {
        while self.segments.iter().filter(|segment| !segment.in_flight).count() < WAITING_MOST {
            let Some(job) = self.jobs.iter().position(|job| !job.planned) else { return };
            let request = self.jobs[job].request;
            if let Some(block) = self.jobs[job].blocks.next() {
                let mut estimator = self.estimator.clone();
                let choices = estimator.choose(&self.config, &self.look(), &block, self.now);
                for (part, &mechanism) in block.parts().iter().zip(&choices) {
                    let reason = self.config.policy.reason(part, mechanism);
                    self.served(request, mechanism, reason, part.bytes());
                }
                for segment in block.segments(&choices, self.config.staging_lines) {
                    estimator.book(&self.config, &self.look(), &segment.work, self.now);
                    let place = self.number();
                    self.segments.push(Segment::new(request, place, segment.work));
                    self.jobs[job].left += 1;
                }
                self.estimator = estimator;
            }
            if self.jobs[job].blocks.peek().is_none() {
                self.jobs[job].planned = true;
                if self.jobs[job].left == 0 {
                    self.end_job(request);
                }
            }
        }
    }

    fn served(&mut self, request: usize, mechanism: Mechanism, reason: &'static str, bytes: u64) {
        let Segments { count, bytes: all } = self.requests[request].segments.0.entry((mechanism, reason)).or_default();
        *count += 1;
        *all += bytes;
    }

    /// A job has no segment left.
    fn end_job(&mut self, request: usize) {
        let job = self.jobs.iter().find(|job| job.request == request).expect("it is not delivered");
        let ready = job.ready;
        // Without segments: done now, delivered in the next cycle.
        let nothing = self.requests[request].segments.0.is_empty();
        self.requests[request].done = if nothing { self.now } else { ready };
        self.requests[request].due = Some(if nothing { Cycle(self.now.0 + 1) } else { ready });
    }

    /// Step 3, second half: begins segments along the waiting line; whether any began.
    pub fn begin(&mut self) -> bool {
        let mut any = false;
        let giving_way = self.segments.iter().filter(|segment| segment.in_flight && segment.giving_way);
        let theirs = giving_way.flat_map(|segment| &segment.banks).filter(|used| !used.done);
        let mut before: Vec<(Channel, BankId)> = theirs.map(|used| (used.channel, used.bank)).collect();
        for place in self.places(false) {
            let segment = self.segment(place);
            let banks: Vec<_> =
                segment.banks.iter().filter(|used| !used.done).map(|used| (used.channel, used.bank)).collect();
            if banks.iter().any(|bank| before.contains(bank)) || !self.may_begin(segment, &banks) {
                before.extend(banks);
                continue;
            }
            any = true;
            let (age, now) = (self.number(), self.now);
            let rows: Vec<_> =
                self.segment(place).banks.iter().map(|used| self.device(used.channel).open_row(used.bank)).collect();
            let segment = self.segment_mut(place);
            segment.in_flight = true;
            segment.moved = false;
            (segment.age, segment.begun, segment.term) = (age, now, now);
            for (index, open) in rows.into_iter().enumerate() {
                let needed = segment.row_needed(&segment.banks[index]);
                let used = &mut segment.banks[index];
                used.held = !used.done;
                used.opened = used.held && open.is_some() && open == needed;
            }
        }
        any
    }

    fn may_begin(&self, segment: &Segment, banks: &[(Channel, BankId)]) -> bool {
        let job = self.jobs.iter().find(|job| job.request == segment.job).expect("it is not delivered");
        job.waits_for.is_empty()
            && banks.iter().all(|&(channel, bank)| {
                let notes = &self.banks[usize::from(channel.0)][usize::from(bank.rank)][usize::from(bank.bank)];
                let from = notes.release.max(segment.place);
                let older_read =
                    self.accesses.iter().any(|access| access.is_read_in(channel, bank) && access.age < from);
                !self.is_held(channel, bank) && !self.urgent(channel, bank.rank) && !older_read
            })
    }

    /// The places of the segments that are in flight, or of those that wait, in order.
    pub fn places(&self, in_flight: bool) -> Vec<u64> {
        let segments = self.segments.iter().filter(|segment| segment.in_flight == in_flight);
        segments.map(|segment| segment.place).collect()
    }

    pub fn segment(&self, place: u64) -> &Segment {
        self.segments.iter().find(|segment| segment.place == place).expect("it is not done")
    }

    pub fn segment_mut(&mut self, place: u64) -> &mut Segment {
        self.segments.iter_mut().find(|segment| segment.place == place).expect("it is not done")
    }

    /// The row command that comes next in a bank that a segment holds.
    pub fn row_command(&self, segment: &Segment, used: &Used) -> Option<Command> {
        if !segment.in_flight || !used.held {
            return None;
        }
        let bank = used.bank;
        let open = self.device(used.channel).open_row(bank);
        if segment.giving_way {
            return open.map(|_| Command::Precharge { bank });
        }
        match (segment.row_needed(used), open) {
            (Some(row), None) => Some(Command::Activate { bank, row }),
            (Some(row), Some(_)) if segment.fpm.is_some() && used.opened => Some(Command::Activate { bank, row }),
            (Some(row), Some(open)) => (row != open).then_some(Command::Precharge { bank }),
            (None, open) => open.map(|_| Command::Precharge { bank }),
        }
    }

    /// The column access of a segment on a channel that does not wait for data, as the index of its step.
    pub fn column_access(&self, segment: &Segment, channel: Channel) -> Option<usize> {
        if !segment.in_flight || segment.giving_way {
            return None;
        }
        let next = segment.steps.iter().position(|step| step.at.is_none() && step.channel == channel)?;
        let step = &segment.steps[next];
        let held = |bank| segment.banks.iter().any(|used| used.held && used.channel == channel && used.bank == bank);
        let open = |&(bank, row): &(BankId, Row)| held(bank) && self.device(channel).open_row(bank) == Some(row);
        let ready = match step.what {
            What::Transfer => true,
            What::Read(_) => !segment.streams || Self::on_their_way(segment) < self.config.staging_lines,
            What::Write(write) if segment.streams => {
                let source = self.source(segment, write.line.address.0);
                self.arrived(segment.steps.iter().find(|step| matches!(step.what, What::Read(line) if line == source)))
            }
            What::Write(_) => self.arrived(segment.steps.iter().filter(|step| matches!(step.what, What::Read(_)))),
        };
        (step.rows.iter().all(open) && ready).then_some(next)
    }

    /// Lines that are read and not written.
    fn on_their_way(segment: &Segment) -> usize {
        let issued = |step: &&Step| step.at.is_some();
        let reads = segment.steps.iter().filter(issued).filter(|step| matches!(step.what, What::Read(_))).count();
        let writes = segment.steps.iter().filter(issued).filter(|step| matches!(step.what, What::Write(_))).count();
        reads - writes
    }

    /// Whether the data of these reads is there when a WR that is issued now needs it.
    fn arrived<'a>(&self, reads: impl IntoIterator<Item = &'a Step>) -> bool {
        let (latency, needed) = (self.cycles(P::Cl) + 4, self.now.0 + self.cycles(P::Cwl));
        reads.into_iter().all(|step| step.at.is_some_and(|at| at.0 + latency <= needed))
    }

    /// The address that the byte for an address comes from.
    fn source(&self, segment: &Segment, address: u64) -> u64 {
        match self.requests[segment.job].request.operation {
            Operation::Copy { src, dst, .. } => address - dst.0 + src.0,
            Operation::Init { .. } | Operation::Read { .. } | Operation::Write { .. } => address,
        }
    }

    /// The column access of a segment was issued: its data moves.
    pub fn step_issued(&mut self, place: u64, index: usize) {
        let now = self.now;
        let segment = self.segment_mut(place);
        segment.moved = true;
        segment.steps[index].at = Some(now);
        let (channel, what, (bank, row)) =
            (segment.steps[index].channel, segment.steps[index].what, segment.steps[index].rows[0]);
        let (Command::Read { column, .. } | Command::Write { column, .. }) = segment.steps[index].command else {
            return;
        };
        match what {
            What::Read(address) => {
                if let Some(line) = self.devices[usize::from(channel.0)].read_line(bank, row, column) {
                    self.segment_mut(place).lines.push((address, line));
                }
            }
            What::Write(write) => {
                if self.config.contents.is_some() {
                    let line = self.line_to_write(self.segment(place), write);
                    self.devices[usize::from(channel.0)].write_line(bank, row, column, &line);
                }
            }
            What::Transfer => {}
        }
    }

    fn line_to_write(&self, segment: &Segment, write: LineWrite) -> dram_core::Line {
        let request = &self.requests[segment.job].request;
        let byte_read = |address: u64| {
            let base = address / LINE_BYTES * LINE_BYTES;
            let line = segment.lines.iter().find(|(at, _)| *at == base).expect("all that is needed was read");
            line.1[(address - base) as usize]
        };
        std::array::from_fn(|index| {
            let address = write.line.address.0 + index as u64;
            if index < usize::from(write.from) || index >= usize::from(write.to) {
                return byte_read(address);
            }
            match request.operation {
                Operation::Copy { .. } => byte_read(self.source(segment, address)),
                Operation::Init { value, .. } => value,
                Operation::Write { address: start, .. } => {
                    request.payload.as_ref().expect("contents are modelled")[(address - start.0) as usize]
                }
                Operation::Read { .. } => unreachable!("a read is no job"),
            }
        })
    }

    /// A row command of a segment was issued.
    pub fn row_issued(&mut self, place: u64, index: usize, command: &Command) {
        let segment = self.segment_mut(place);
        match command {
            Command::Activate { .. } => {
                segment.copied = segment.fpm.is_some() && segment.banks[index].opened;
                segment.banks[index].opened = true;
            }
            Command::Precharge { .. } => {
                let own = segment.banks[index].opened;
                segment.banks[index].opened = false;
                let nothing_left = segment.row_needed(&segment.banks[index]).is_none();
                segment.banks[index].done = nothing_left;
                if nothing_left || (segment.giving_way && own) {
                    self.job_ready(place, index);
                    self.release(place, index, true);
                    self.settle(place);
                }
            }
            _ => unreachable!("{command} is no row command"),
        }
    }

    fn job_ready(&mut self, place: u64, index: usize) {
        let segment = self.segment(place);
        let (used, request) = (&segment.banks[index], segment.job);
        let ready = self.device(used.channel).ready(used.bank);
        let job = self.jobs.iter_mut().find(|job| job.request == request).expect("it is not delivered");
        job.ready = job.ready.max(ready);
    }

    /// A segment leaves a bank.
    fn release(&mut self, place: u64, index: usize, closed: bool) {
        let release = self.number();
        let segment = self.segment_mut(place);
        segment.banks[index].held = false;
        let (channel, bank, begun) = (segment.banks[index].channel, segment.banks[index].bank, segment.begun);
        self.notes(channel, bank).release = release;
        let reads = self.accesses.iter().filter(|access| access.is_read_in(channel, bank));
        if let Some(oldest) = reads.min_by_key(|access| access.age) {
            let device = self.device(channel);
            // Where it has closed nothing, it keeps nobody waiting any more.
            let free = if closed { device.ready(bank) } else { self.now };
            let held_back =
                free.since(oldest.queued_at.max(begun).max(self.back[usize::from(channel.0)][usize::from(bank.rank)]));
            self.figures.count(self.now, |figures| figures.held_back.record(held_back));
        }
    }

    /// A segment that has left its last bank is done, or waits again.
    fn settle(&mut self, place: u64) {
        let segment = self.segment_mut(place);
        if segment.banks.iter().any(|used| used.held) {
            return;
        }
        segment.in_flight = false;
        segment.giving_way = false;
        if !segment.complete() {
            return;
        }
        let request = segment.job;
        self.segments.retain(|segment| segment.place != place);
        let job = self.jobs.iter_mut().find(|job| job.request == request).expect("it is not delivered");
        job.left -= 1;
        if job.left == 0 && job.planned {
            self.end_job(request);
        }
    }
}
