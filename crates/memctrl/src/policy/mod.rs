//! Policies: traits with one file for each implementation.

pub mod copy;
pub mod row;
pub mod scheduler;
