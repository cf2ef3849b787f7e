//! Execution of copy programs on the channels, and what their threads, the port and the channel exchange.

pub(crate) mod port;
pub(crate) mod preemption;
pub(crate) mod thread;

use std::collections::VecDeque;

use dram_core::{Floor, KeptKind};
use dram_spec::{Command, Cycle, GroupIndex, Mechanism, RequestId, SourceId};

use crate::access::Stamp;

/// Program of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyProgram {
    pub(crate) request: RequestId,
    pub(crate) source: SourceId,
    pub(crate) mechanism: Mechanism,
    /// Number of the program over the run.
    pub(crate) program: u64,
    /// Slot of the program in the front end.
    pub(crate) slot: u32,
    /// Whether the program has no thread on another channel.
    pub(crate) is_alone: bool,
}

/// Arrival of the data of the lines that a thread writes.
#[derive(Clone, Debug)]
pub(crate) enum DataGate {
    /// Every line waits for all lines that the program reads: arrival of the last, once known.
    All(Option<Cycle>),
    /// Each line waits for the corresponding line read.
    Each(VecDeque<Cycle>),
}

impl DataGate {
    /// Records the arrival of the last line, or of the next one.
    pub(crate) fn data_arrives(&mut self, at: Cycle) {
        match self {
            DataGate::All(arrived) => *arrived = Some(at),
            DataGate::Each(lines) => lines.push_back(at),
        }
    }

    /// Arrival of the data of the next line to be written, if known.
    pub(crate) fn arrival(&self) -> Option<Cycle> {
        match self {
            DataGate::All(arrived) => *arrived,
            DataGate::Each(lines) => lines.front().copied(),
        }
    }

    /// Records that a line was written.
    pub(crate) fn written(&mut self) {
        if let DataGate::Each(lines) = self {
            lines.pop_front();
        }
    }
}

/// The next command of a thread, and what delays it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextCommand {
    pub(crate) command: Command,
    /// Its rank.
    pub(crate) rank: u8,
    /// Its kind for the device.
    pub(crate) kind: KeptKind,
    /// What delays it besides its banks, once `ready` is computed.
    pub(crate) floor: Floor,
    /// Cycle at which its banks permit it; [`Cycle::NEVER`] until it is computed. Only the thread issues
    /// commands to the banks.
    pub(crate) ready: Cycle,
}

impl NextCommand {
    pub(crate) const fn new(command: Command, kind: KeptKind) -> NextCommand {
        let floor = Floor::of(GroupIndex::FIRST, kind);
        NextCommand { command, rank: command.rank(), kind, floor, ready: Cycle::NEVER }
    }
}

/// The next row command of the thread that holds a bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowStep {
    pub(crate) next: NextCommand,
    /// Age of the thread.
    pub(crate) stamp: Stamp,
    /// Order of steps of equal age: number of the program over the run, and of the bank in it.
    pub(crate) tie: u64,
    /// Slot of the thread.
    pub(crate) slot: u8,
    /// Source of its request.
    pub(crate) source: SourceId,
}

impl RowStep {
    /// No step.
    pub(crate) const NONE: RowStep = RowStep {
        next: NextCommand::new(Command::PrechargeAll { rank: 0 }, KeptKind::Pre),
        stamp: Stamp::OLDEST,
        tie: 0,
        slot: 0,
        source: SourceId(0),
    };
}
