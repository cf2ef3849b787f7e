//! Built-in workloads: what they ask for, and what the controller makes of it, with both witnesses looking on.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod addresses;
mod common;
mod fork;
mod laws;
mod processes;
mod refusals;
mod witness;
mod zeroing_and_merging;
