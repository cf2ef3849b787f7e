//! The machine and a plain machine that executes each slot of each core cycle.
//!
//! The plain machine implements `docs/cores.md`. It shares no code with the engine, only the
//! settings, the counters and the kernel of `os-alloc-sim`, which decides on frames.
//!
//! Restrictions of the random cases: `filled` stands at the beginning of a program, before any
//! process exits; the map is `row-interleaved`, the scheduler FR-FCFS, and the memory fresh.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod bulk;
mod by_hand;
mod cache;
mod cases;
mod core;
mod deferred;
mod dispatch;
mod engine;
mod kernel;
mod laws;
mod listed;
mod machine;
#[allow(dead_code, reason = "its other users select schedulers and read the cells")]
#[path = "../../../memctrl/tests/plain/mod.rs"]
mod plain;
mod processes;
mod programs;
mod runs;
#[path = "../../../memctrl/tests/twin/sequence.rs"]
mod sequence;
