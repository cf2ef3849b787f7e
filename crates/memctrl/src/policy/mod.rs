//! Policies: one trait per kind, one file per implementation.

pub mod copy;
pub mod row;
pub mod scheduler;
