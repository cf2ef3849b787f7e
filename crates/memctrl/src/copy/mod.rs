//! Execution of copy programs on the channels, and estimates of their duration.

pub(crate) mod data_gate;
pub(crate) mod port;
pub(crate) mod preemption;
pub(crate) mod row_step;
pub(crate) mod thread;

use dram_spec::{Mechanism, RequestId, SourceId};

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
