//! Row steps of threads, and their order.

use dram_core::KeptKind;
use dram_spec::{Command, Cycle, SourceId};

use crate::access::Stamp;

/// The next row command of the thread that holds a bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowStep {
    pub(crate) command: Command,
    pub(crate) order: RowOrder,
    /// Slot of the thread.
    pub(super) slot: u8,
    /// Source of its request.
    pub(crate) source: SourceId,
    /// Kind of the command for the device.
    pub(crate) kind: KeptKind,
    /// Cycle at which the bank permits the command; [`Cycle::NEVER`] until it is computed. Only the thread issues commands to the bank.
    pub(crate) ready: Cycle,
}

/// Order of the row steps that can be issued in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowOrder {
    /// Age of the thread.
    pub(crate) stamp: Stamp,
    /// Number of its program over the run.
    pub(crate) program: u64,
    /// Number of the bank in the program, from 1.
    pub(crate) place: u8,
}

impl RowOrder {
    /// After all others.
    pub(crate) const LAST: RowOrder = RowOrder { stamp: Stamp(u64::MAX), program: u64::MAX, place: u8::MAX };
}

impl RowStep {
    /// No step.
    pub(super) const NONE: RowStep = RowStep {
        command: Command::PrechargeAll { rank: 0 },
        order: RowOrder::LAST,
        slot: 0,
        source: SourceId(0),
        kind: KeptKind::Pre,
        ready: Cycle::NEVER,
    };
}
