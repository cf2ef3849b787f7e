//! Row steps of threads.

use dram_core::{Floor, KeptKind};
use dram_spec::{Command, Cycle, GroupIndex, SourceId};

use crate::access::Stamp;

/// The next row command of the thread that holds a bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowStep {
    pub(crate) command: Command,
    /// Rank of the command.
    pub(crate) rank: u8,
    /// Age of the thread.
    pub(crate) stamp: Stamp,
    /// Order of steps of equal age: number of the program over the run, and of the bank in it.
    pub(crate) tie: u64,
    /// Slot of the thread.
    pub(super) slot: u8,
    /// Source of its request.
    pub(crate) source: SourceId,
    /// Kind of the command for the device.
    pub(crate) kind: KeptKind,
    /// What delays it besides its banks, once `ready` is computed.
    pub(crate) floor: Floor,
    /// Cycle at which the bank permits the command; [`Cycle::NEVER`] until it is computed. Only the
    /// thread issues commands to the bank.
    pub(crate) ready: Cycle,
}

impl RowStep {
    /// No step.
    pub(super) const NONE: RowStep = RowStep {
        command: Command::PrechargeAll { rank: 0 },
        rank: 0,
        stamp: Stamp::OLDEST,
        tie: 0,
        slot: 0,
        source: SourceId(0),
        kind: KeptKind::Pre,
        floor: Floor::of(GroupIndex::FIRST, KeptKind::Pre),
        ready: Cycle::NEVER,
    };
}
