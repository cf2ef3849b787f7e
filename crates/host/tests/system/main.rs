//! The whole of it below the command line: sources, controller, device, with both witnesses looking on.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod allocator;
mod cases;
mod common;
mod laws;
mod load;
mod oracles;
mod paper_timings;
mod refresh;
mod regressions;
