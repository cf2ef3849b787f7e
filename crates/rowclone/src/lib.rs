//! Plans a copy: fast parallel, pipelined serial, or over the channel. No clock.
//!
//! A [`Planner`] cuts an [`Operation`] into [`Block`]s, one destination row each, and a block into [`Part`]s, each of
//! which knows which [`Mechanism`]s can do it and, for each that cannot, the [`Reason`]. Whoever executes the operation
//! chooses a mechanism for each part, and gets [`Segment`]s.
//! Plans depend on geometry, address map and addresses alone: no cycle and no price appears here.
//!
//! # The contract with the executor
//!
//! Segments of one operation that touch a common bank are executed strictly in the order given, each complete in that
//! bank before the next begins there; segments without a common bank may run at once or in any order. That is enough
//! for the memory to end as `memmove` or `memset` would leave it: every dependence between two segments goes through
//! a row, and so through a bank that both touch. `docs/planner.md` has the rules at length.

mod block;
mod blocks;
mod check;
mod faulty;
mod mechanism;
mod planner;
mod program;
mod reason;
mod rules;
mod segment;
#[cfg(test)]
mod tests;

pub use block::{Block, Part};
pub use blocks::Blocks;
pub use check::PlanError;
pub use dram_spec::{Mechanism, Operation};
pub use faulty::{FaultyRows, RowAddress};
pub use mechanism::{FPM, MECHANISMS, PSM, PSM2, mechanism};
pub use planner::{Classification, Extent, MAX_WINDOW_BYTES, Planner};
pub use program::{Program, Step, Thread};
pub use reason::Reason;
pub use segment::{Line, LineWrite, Run, RunWrite, Segment, Work};
