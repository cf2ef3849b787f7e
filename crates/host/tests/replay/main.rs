//! Recorded traces: arrivals of records, placement of pages, and copies that FPM can serve.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod arrivals;
mod driver;
mod latency;
mod pages;
mod recorded;
mod refusals;
