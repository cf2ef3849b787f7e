//! What the controller is asked for, and what it answers.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Arc;

use dram_spec::{Cycle, Cycles};
use rowclone::{Mechanism, Operation};

/// A request's name, chosen by its source; the controller hands it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// One operation that arrives at the controller.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// When it arrives.
    pub arrival: Cycle,
    /// What is to be done.
    pub operation: Operation,
    /// The bytes of a write, where contents are modelled; as many as the operation has.
    pub payload: Option<Arc<[u8]>>,
}

/// Commands by kind, where kinds differ in cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandCounts {
    /// ACT of a closed bank.
    pub activates: u64,
    /// Copy activations that copied.
    pub copy_activates: u64,
    /// Copy activations that the chips dropped.
    pub dropped_activates: u64,
    /// PRE and PREA.
    pub precharges: u64,
    /// RD and RDA.
    pub reads: u64,
    /// WR and WRA.
    pub writes: u64,
    /// TRANSFER.
    pub transfers: u64,
    /// REF; never on behalf of a request.
    pub refreshes: u64,
    /// PDE; never on behalf of a request.
    pub power_downs: u64,
    /// SRE; never on behalf of a request.
    pub self_refreshes: u64,
    /// PDX and SRX; never on behalf of a request.
    pub wake_ups: u64,
}

/// Which count a command goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Activate,
    CopyActivate,
    DroppedActivate,
    Precharge,
    Read,
    Write,
    Transfer,
    Refresh,
    PowerDown,
    SelfRefresh,
    WakeUp,
}

impl CommandCounts {
    pub(crate) fn count(&mut self, command: Counted) {
        let count = match command {
            Counted::Activate => &mut self.activates,
            Counted::CopyActivate => &mut self.copy_activates,
            Counted::DroppedActivate => &mut self.dropped_activates,
            Counted::Precharge => &mut self.precharges,
            Counted::Read => &mut self.reads,
            Counted::Write => &mut self.writes,
            Counted::Transfer => &mut self.transfers,
            Counted::Refresh => &mut self.refreshes,
            Counted::PowerDown => &mut self.power_downs,
            Counted::SelfRefresh => &mut self.self_refreshes,
            Counted::WakeUp => &mut self.wake_ups,
        };
        *count += 1;
    }
}

impl AddAssign for CommandCounts {
    fn add_assign(&mut self, other: CommandCounts) {
        let CommandCounts {
            activates,
            copy_activates,
            dropped_activates,
            precharges,
            reads,
            writes,
            transfers,
            refreshes,
            power_downs,
            self_refreshes,
            wake_ups,
        } = other;
        self.activates += activates;
        self.copy_activates += copy_activates;
        self.dropped_activates += dropped_activates;
        self.precharges += precharges;
        self.reads += reads;
        self.writes += writes;
        self.transfers += transfers;
        self.refreshes += refreshes;
        self.power_downs += power_downs;
        self.self_refreshes += self_refreshes;
        self.wake_ups += wake_ups;
    }
}

/// How copies and initialisations were served: segments (a destination row's share that comes from one source row) by
/// mechanism, and by the reason why no better one was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentTally(pub BTreeMap<(Mechanism, &'static str), Segments>);

/// How many segments, and how many bytes of operations they served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// Segments.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl SegmentTally {
    pub(crate) fn add(&mut self, mechanism: Mechanism, reason: &'static str, bytes: u64) {
        let entry = self.0.entry((mechanism, reason)).or_default();
        entry.count += 1;
        entry.bytes += bytes;
    }
}

impl AddAssign<&SegmentTally> for SegmentTally {
    fn add_assign(&mut self, other: &SegmentTally) {
        for (&key, segments) in &other.0 {
            let entry = self.0.entry(key).or_default();
            entry.count += segments.count;
            entry.bytes += segments.bytes;
        }
    }
}

/// A request that is done.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Its name.
    pub id: RequestId,
    /// What was done.
    pub operation: Operation,
    /// When it arrived.
    pub arrival: Cycle,
    /// Its first command; nothing where it needed none (a copy onto itself).
    pub first_command: Option<Cycle>,
    /// The end of its last data, for a read and for a write of whole lines; else the cycle from which the last bank that it used can
    /// take an ACT again.
    pub done: Cycle,
    /// The commands issued for it.
    pub commands: CommandCounts,
    /// How its parts were served, of a copy or an initialisation: see [`Completion::segments`].
    pub served: Option<Box<SegmentTally>>,
    /// The bytes that a read returned, where contents are modelled.
    pub data: Option<Vec<u8>>,
}

/// Of what has no segments.
static NO_SEGMENTS: SegmentTally = SegmentTally(BTreeMap::new());

impl Completion {
    /// How the parts of a copy or an initialisation were served. A read or a write has no mechanism and no reason: its data cross the
    /// channel by definition.
    pub fn segments(&self) -> &SegmentTally {
        let served = match self.operation {
            Operation::Copy { .. } | Operation::Init { .. } => self.served.as_deref(),
            Operation::Read { .. } | Operation::Write { .. } => None,
        };
        served.unwrap_or(&NO_SEGMENTS)
    }

    /// Latency as the reports define it: of a read or a write from its arrival, of a copy or an initialisation from its first command, to
    /// [`Self::done`].
    pub fn latency(&self) -> Cycles {
        match self.operation {
            Operation::Read { .. } | Operation::Write { .. } => self.done.since(self.arrival),
            Operation::Copy { .. } | Operation::Init { .. } => {
                self.first_command.map_or(Cycles(0), |first| self.done.since(first))
            }
        }
    }

    /// Bytes that crossed the memory channel for it: a burst a column access.
    pub fn channel_bytes(&self) -> u64 {
        (self.commands.reads + self.commands.writes) * dram_spec::LINE_BYTES
    }
}

/// Whoever issues memory traffic.
pub trait RequestSource {
    /// When the next request arrives, as far as is known now. It may lie in the past: the request is then taken at once.
    fn next_arrival(&self) -> Option<Cycle>;

    /// The request that [`Self::next_arrival`] spoke of, if it has arrived by `now`.
    fn take(&mut self, now: Cycle) -> Option<Request>;

    /// A request is done. This may make new arrivals known.
    fn complete(&mut self, completion: Completion);
}
