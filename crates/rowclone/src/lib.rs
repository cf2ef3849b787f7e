//! Copy planner: fast parallel mode (FPM), pipelined serial mode (PSM), or copy over the channel.
//! Untimed.
//!
//! A [`Planner`] divides an [`Operation`] into [`Block`]s of one destination row each, and a block
//! into [`Part`]s. A part reports the possible [`Mechanism`]s and, for each other mechanism, the
//! [`Reason`]. The executor selects a mechanism per part and obtains [`Program`]s. Plans depend
//! only on geometry, address map and addresses, not on cycles or prices.
//!
//! # The contract with the executor
//!
//! Programs of one operation with a common bank are executed in the given order, each complete in
//! that bank before the next one starts there; programs without a common bank can run concurrently
//! or in any order. The result is that of `memmove` or `memset`, because each dependence between
//! two programs is through a row, and hence through a common bank. `docs/planner.md` defines the
//! rules.

mod block;
mod blocks;
mod check;
mod faulty;
mod mechanism;
mod planner;
mod program;
mod reason;
mod step;
mod stripe;
#[cfg(test)]
mod tests;

pub use block::{Block, Part, Shift};
pub use blocks::Blocks;
pub use check::PlanError;
pub use dram_spec::{Mechanism, Operation};
pub use faulty::{FaultyRows, RowAddress};
pub use mechanism::*;
pub use planner::{Classification, Extent, Planner};
pub use program::Program;
pub use reason::{MAX_WINDOW_BYTES, Reason};
pub use step::{CopyStep, CopyThread, Line, LineWrite, Run, RunWrite, StepList};
