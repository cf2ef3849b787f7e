//! Recorded traces: when their records arrive, where their pages lie, and what the frames of real ones allow.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod arrivals;
mod driver;
mod latency;
mod pages;
mod recorded;
mod refusals;
