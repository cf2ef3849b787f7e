//! What a core executes between steps of its program, and what it waits for.

use trace_io::program::Needs;

use super::super::bulk::Bulk;
use super::super::clock::CoreCycle;
use super::super::counters::{Purpose, StallSlots};
use super::super::memory::Access;
use super::pipeline::Slot;

/// Work of a core between steps of its program, or between parts of a step.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Instructions of a copy loop without memory access.
    Run {
        /// Their number.
        count: u64,
        /// On whose behalf.
        purpose: Purpose,
    },
    /// A load or store of a copy loop or of the kernel.
    Access(Access),
    /// A load or store of a copy loop, of a class and with operands: instructions of the loop before it.
    Instruction {
        /// The access.
        access: Access,
        /// Its class and operands.
        needs: Needs,
    },
    /// Time of the kernel, in core cycles.
    Time(u64),
    /// An interrupt of a device that arrived at a cycle, and its time in core cycles.
    Interrupt {
        /// When it arrived.
        at: CoreCycle,
        /// Its time.
        cycles: u64,
    },
    /// A copy or zeroing of physical memory, for the copier.
    Copy(Bulk),
    /// The rest of a copy or zeroing that the copier has begun.
    CopyRest(Bulk),
    /// The end of a copy or zeroing, after which the core continues.
    CopyEnd,
    /// A piece of a copy that the copier is to begin; the core continues.
    Begin {
        /// The piece.
        bulk: Bulk,
        /// Whether it is the last one of its copy.
        is_last: bool,
    },
    /// Lets the copier execute all copies that were begun.
    Issue,
    /// Waits for all copies that were begun.
    Wait,
    /// Pages of an event of the kernel, equal in time and in number of accesses.
    Pages {
        /// Their number.
        pages: u64,
        /// Time of a page.
        cycles: u64,
        /// Data of a page.
        data: u64,
    },
}

/// Outcome of an attempt to execute work: how far the work advances.
#[derive(Clone, Copy, Debug)]
pub enum Advance {
    /// The work is executed.
    Done,
    /// A part is done, or work has been added that precedes the rest.
    Part,
    /// The work can be executed at a cycle.
    Later(CoreCycle),
    /// The work waits for a completion.
    Blocked,
    /// The copier executes the work, and the core waits for its completion.
    Issued,
    /// The program has ended.
    Ended,
}

impl Advance {
    /// Whether work is left to do.
    pub const fn is_unfinished(self) -> bool {
        matches!(self, Advance::Part | Advance::Later(_) | Advance::Blocked)
    }
}

/// How far a core may act.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Instructions without memory access may dispatch before this slot.
    pub run: Slot,
    /// Accesses to lines of its last-level cache may dispatch before this slot.
    pub hit: Slot,
    /// Actions that affect others may take place before this cycle.
    pub until: CoreCycle,
}

/// When a core acts next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAct {
    /// In a cycle.
    At(CoreCycle),
    /// After a completion.
    Blocked,
    /// Never: its program has ended.
    Ended,
}

/// What a core waits for, apart from the data of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// An MSHR, or a place in the cache.
    Mshr,
    /// An entry of the store buffer.
    StoreBuffer,
    /// Instructions, lines and stores in progress, before a request to the kernel or a copy.
    Drain,
    /// The end of a copy or zeroing.
    Copier,
    /// A place in the queue of a device.
    Device,
    /// Packets.
    Idle,
    /// An entry of the load/store queue.
    LoadStoreQueue,
    /// The result of an instruction, in an in-order core.
    Operand,
    /// The end of a pending copy that the access touches, in an in-order core.
    PendingCopy,
}

impl Stall {
    /// The counter of its slots.
    pub const fn slots(self, stalls: &mut StallSlots) -> &mut u64 {
        match self {
            Stall::Mshr => &mut stalls.mshr,
            Stall::StoreBuffer => &mut stalls.store_buffer,
            Stall::Drain => &mut stalls.kernel,
            Stall::Copier | Stall::Device => &mut stalls.controller_copy,
            Stall::Idle => &mut stalls.idle,
            Stall::LoadStoreQueue => &mut stalls.load_store_queue,
            Stall::Operand => &mut stalls.operand,
            Stall::PendingCopy => &mut stalls.pending_copy,
        }
    }
}
