//! The loop: one visit to each cycle.

use dram_core::{Cells, Device, P};
use dram_spec::{BankId, Channel, Command, CommandSink, Cycle, LINE_BYTES};
use memctrl::estimate::{Estimator, Outlook};
use memctrl::{CommandCounts, Completion, Config, Request, RequestSource, SegmentTally, Stats};
use rowclone::Operation;

use super::accesses::Access;
use super::figures::{Recorder, deepen, tally};
use super::segments::{Job, Segment};

/// No run of a test is as long as this.
const CYCLES_MOST: u64 = 5_000_000;

/// A request that was taken.
pub struct Taken {
    pub request: Request,
    pub first_command: Option<Cycle>,
    pub commands: CommandCounts,
    pub segments: SegmentTally,
    pub data: Option<Vec<u8>>,
    /// The next line to be accepted, as an address; nothing when it is wholly accepted. (Not used for jobs.)
    pub next_line: Option<u64>,
    /// Lines accepted and not answered.
    pub lines_open: usize,
    /// The end of what has been answered so far.
    pub done: Cycle,
    /// When it is to be delivered, once that is known.
    pub due: Option<Cycle>,
    pub delivered: bool,
}

/// What is remembered of a bank.
#[derive(Clone, Copy, Default)]
pub struct BankNotes {
    /// The sequence number of its last release by a segment.
    pub release: u64,
    /// Its last command.
    pub last: Cycle,
    /// Accesses served from the open row.
    pub served: u64,
}

/// The controller.
pub struct Plain {
    pub config: Config,
    pub devices: Vec<Device>,
    pub now: Cycle,
    numbers: u64,
    pub requests: Vec<Taken>,
    /// The request that is being accepted.
    pub current: Option<usize>,
    /// All that hold an entry of a queue, in the order of acceptance.
    pub accesses: Vec<Access>,
    /// All that are not delivered, in the order of acceptance.
    pub jobs: Vec<Job>,
    /// All that wait or are in flight, by place.
    pub segments: Vec<Segment>,
    pub banks: Vec<[[BankNotes; 8]; 4]>,
    /// The last command of an access or a segment to each rank.
    pub used: Vec<[Cycle; 4]>,
    /// The end of the last REF, PDX or SRX of each rank.
    pub back: Vec<[Cycle; 4]>,
    pub writing: Vec<bool>,
    pub estimator: Estimator,
    pub figures: Recorder,
}

/// What the estimates ask.
pub struct Look<'a> {
    devices: &'a [Device],
    accesses: &'a [Access],
}

impl Outlook for Look<'_> {
    fn device(&self, channel: Channel) -> &Device {
        &self.devices[usize::from(channel.0)]
    }

    fn reads_in(&self, channel: Channel, bank: BankId) -> u64 {
        let here = |access: &&Access| access.is_read_in(channel, bank);
        self.accesses.iter().filter(here).count() as u64
    }

    fn reads_on(&self, channel: Channel) -> u64 {
        let here = |access: &&Access| access.queued() && !access.write && access.at.channel == channel;
        self.accesses.iter().filter(here).count() as u64
    }
}

impl Plain {
    pub fn new(config: Config) -> Plain {
        let channels = config.system.geometry.channels();
        let device = |channel| {
            let cells = config.contents.as_ref().map(|contents| {
                let cells = Cells::new(Channel(channel), config.system.geometry, contents.clone());
                cells.with_defect(config.defect)
            });
            Device::new(&config.system, cells)
        };
        Plain {
            devices: (0..channels).map(device).collect(),
            now: Cycle::ZERO,
            numbers: 0,
            requests: Vec::new(),
            current: None,
            accesses: Vec::new(),
            jobs: Vec::new(),
            segments: Vec::new(),
            banks: vec![Default::default(); usize::from(channels)],
            used: vec![Default::default(); usize::from(channels)],
            back: vec![Default::default(); usize::from(channels)],
            writing: vec![false; usize::from(channels)],
            estimator: Estimator::new(&config),
            figures: Recorder::new(config.warm_up, config.epoch),
            config,
        }
    }

    /// Plays a source to its end.
    pub fn run(&mut self, source: &mut impl RequestSource, sink: &mut impl CommandSink) -> Stats {
        let mut end = Cycle::ZERO;
        while source.next_arrival().is_some() || self.requests.iter().any(|request| !request.delivered) {
            end = self.now;
            self.visit(source, sink);
            self.now.0 += 1;
            assert!(self.now.0 < CYCLES_MOST, "no end at cycle {}: {}", self.now, self.state());
        }
        sink.finish(end);
        self.devices.iter().for_each(|device| device.finish(end));
        let idle = Recorder::new(self.config.warm_up, None);
        std::mem::replace(&mut self.figures, idle).finish(end)
    }

    /// One instant.
    fn visit(&mut self, source: &mut impl RequestSource, sink: &mut impl CommandSink) {
        loop {
            let delivered = self.deliver(source);
            let accepted = self.intake(source);
            if !delivered && !accepted {
                break;
            }
        }
        self.end_terms();
        loop {
            self.plan();
            if !self.begin() {
                break;
            }
        }
        for channel in (0..self.config.system.geometry.channels()).map(Channel) {
            self.turn(channel);
            if let Some((command, whom)) = self.choose(channel) {
                sink.push(self.now, channel, &command);
                self.issue(channel, command, whom);
            }
        }
        self.intake(source);
        self.count_depths();
    }

    /// The next sequence number.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub fn look(&self) -> Look<'_> {
        Look { devices: &self.devices, accesses: &self.accesses }
    }

    pub fn device(&self, channel: Channel) -> &Device {
        &self.devices[usize::from(channel.0)]
    }

    pub fn notes(&mut self, channel: Channel, bank: BankId) -> &mut BankNotes {
        &mut self.banks[usize::from(channel.0)][usize::from(bank.rank)][usize::from(bank.bank)]
    }

    pub fn cycles(&self, parameter: P) -> u64 {
        self.devices[0].timings().get(parameter).0
    }

    /// Whether a command can be issued now.
    pub fn can(&self, channel: Channel, command: &Command) -> bool {
        self.device(channel).earliest(command).is_ok_and(|hold| hold.until <= self.now)
    }

    /// Counts a command that was issued for a request.
    pub fn issued_for(&mut self, request: usize, command: &Command, effect: dram_core::Effect) {
        let request = &mut self.requests[request];
        request.first_command.get_or_insert(self.now);
        tally(&mut request.commands, command, effect);
    }

    /// Delivers all that is due.
    fn deliver(&mut self, source: &mut impl RequestSource) -> bool {
        let mut due: Vec<(Cycle, usize)> = Vec::new();
        for (index, request) in self.requests.iter().enumerate() {
            if let Some(at) = request.due.filter(|&at| at <= self.now && !request.delivered) {
                due.push((at, index));
            }
        }
        due.sort_unstable();
        for &(_, index) in &due {
            self.requests[index].delivered = true;
            if self.jobs.iter().any(|job| job.request == index) {
                self.jobs.retain(|job| job.request != index);
                self.release_accesses(index);
            }
            self.count_delivery(index);
            let request = &mut self.requests[index];
            source.complete(Completion {
                id: request.request.id,
                operation: request.request.operation,
                arrival: request.request.arrival,
                first_command: request.first_command,
                done: request.done,
                commands: request.commands,
                served: Some(Box::new(request.segments.clone())),
                data: request.data.take(),
            });
        }
        !due.is_empty()
    }

    fn count_delivery(&mut self, index: usize) {
        let request = &self.requests[index];
        let response = request.done.since(request.request.arrival);
        self.figures.count(self.now, |figures| {
            figures.requests += 1;
            match request.request.operation {
                Operation::Read { .. } => figures.read_latency.record(response),
                Operation::Write { .. } => figures.write_latency.record(response),
                Operation::Copy { .. } | Operation::Init { .. } => {
                    let first = request.first_command.unwrap_or(request.done);
                    figures.copy_latency.record(request.done.since(first));
                    figures.copy_response.record(response);
                    figures.segments += &request.segments;
                }
            }
        });
    }

    fn count_depths(&mut self) {
        for channel in (0..self.config.system.geometry.channels()).map(Channel) {
            let [reads, writes] = [false, true].map(|write| self.entries(channel, write));
            self.figures.count(self.now, |figures| {
                deepen(&mut figures.read_queue, reads);
                deepen(&mut figures.write_queue, writes);
            });
        }
        let jobs = self.jobs.len();
        self.figures.count(self.now, |figures| deepen(&mut figures.copy_queue, jobs));
    }

    /// Takes and accepts requests until one cannot be accepted.
    fn intake(&mut self, source: &mut impl RequestSource) -> bool {
        let mut moved = false;
        loop {
            if self.current.is_none() {
                if source.next_arrival().is_none_or(|at| at > self.now) {
                    return moved;
                }
                let Some(request) = source.take(self.now) else { return moved };
                self.current = Some(self.requests.len());
                let first = request.operation.target().0 / LINE_BYTES * LINE_BYTES;
                let read = matches!(request.operation, Operation::Read { .. }) && self.config.contents.is_some();
                self.requests.push(Taken {
                    first_command: None,
                    commands: CommandCounts::default(),
                    segments: SegmentTally::default(),
                    data: read.then(|| vec![0; request.operation.bytes() as usize]),
                    next_line: Some(first),
                    lines_open: 0,
                    done: Cycle::ZERO,
                    due: None,
                    delivered: false,
                    request,
                });
            }
            let index = self.current.expect("one was taken");
            let wholly = if is_job(&self.requests[index].request.operation) {
                self.accept_job(index)
            } else {
                self.accept_lines(index)
            };
            if !wholly {
                return moved;
            }
            self.current = None;
            moved = true;
        }
    }

    fn state(&self) -> String {
        let undelivered =
            self.requests.iter().filter(|request| !request.delivered).map(|request| request.request.operation);
        let operations: Vec<_> = undelivered.take(8).map(|operation| operation.to_string()).collect();
        let flying = self.segments.iter().filter(|segment| segment.in_flight).count();
        let (accesses, segments) = (self.accesses.len(), self.segments.len());
        format!("{accesses} accesses, {segments} segments ({flying} in flight), {}", operations.join(", "))
    }
}

/// A copy, an initialisation, or a write that starts or ends within a line.
pub fn is_job(operation: &Operation) -> bool {
    match *operation {
        Operation::Copy { .. } | Operation::Init { .. } => true,
        Operation::Write { address, bytes } => address.0 % LINE_BYTES != 0 || bytes % LINE_BYTES != 0,
        Operation::Read { .. } => false,
    }
}
