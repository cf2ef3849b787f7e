//! Policies: one trait or enum per kind, one file per policy.

pub mod copy;
pub mod row;
pub mod scheduler;
