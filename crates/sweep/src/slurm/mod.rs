//! A sweep as a job array of Slurm: its tasks run shards, and what is not finished can be submitted again.
//!
//! `docs/cluster.md` is the page about it.

mod client;
mod options;
mod queued;
mod script;
mod submission;

pub use options::Options;
pub use submission::{Submission, Submitted};
