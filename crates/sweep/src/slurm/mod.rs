//! Sweeps as job arrays of Slurm: tasks run shards, and shards that are not finished can be submitted again.
//!
//! `docs/cluster.md` describes the options.

mod client;
mod options;
mod queued;
mod script;
mod submission;

pub use options::Options;
pub use submission::{Submission, Submitted};
