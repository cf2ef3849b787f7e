//! Sources, controller and device together, with the protocol checker and the flat memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod allocator;
mod cases;
mod common;
mod load;
mod oracles;
mod paper_timings;
mod properties;
mod refresh;
mod regressions;
