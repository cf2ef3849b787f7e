//! Built-in workloads: their requests, and runs of them under the controller with the protocol checker and the flat
//! memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod addresses;
mod common;
mod fork;
mod processes;
mod properties;
mod reference_cycles;
mod refusals;
mod zeroing_and_merging;
