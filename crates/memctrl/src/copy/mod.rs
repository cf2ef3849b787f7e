//! Copy programs at work on the channels, and what they are estimated to take.

pub(crate) mod data_gate;
pub mod estimate;
pub(crate) mod port;
pub(crate) mod preemption;
pub(crate) mod thread;

use dram_spec::{Mechanism, RequestId};

/// What a thread is part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) request: RequestId,
    pub(crate) mechanism: Mechanism,
    /// The number of the program over the run.
    pub(crate) program: u64,
    /// Where the front end keeps the program.
    pub(crate) slot: u32,
}
