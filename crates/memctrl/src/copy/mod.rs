//! Copy programs at work on the channels, and what they are estimated to take.

pub(crate) mod data_gate;
pub mod estimate;
pub(crate) mod port;
pub(crate) mod preemption;
pub(crate) mod thread;
