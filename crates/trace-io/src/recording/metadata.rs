//! Metadata of recordings.

use serde::{Deserialize, Serialize};

/// What was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// All accesses.
    #[default]
    Accesses,
    /// Page faults only.
    Faults,
}

/// Order of the blocks of different processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockOrder {
    /// Each system call, fork, exit and wait has its place.
    #[default]
    SystemCalls,
    /// Fork, exit and wait have their places.
    Processes,
}

/// Metadata of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The command line, a list.
    pub program: Vec<String>,
    /// Name and version of the recorder.
    pub recorder: String,
    /// `accesses`, or `faults` where only page faults were recorded: there are no accesses.
    pub detail: Detail,
    /// `system-calls`: blocks are in one order in which each system call, fork, exit and wait has its place;
    /// `processes`: only fork, exit and wait order the blocks of different processes.
    pub order: BlockOrder,
    /// Bytes of a page, a power of two.
    pub page_bytes: u64,
    /// Whether there are contents.
    pub contents: bool,
    /// What the recorder could not see, a list of sentences.
    pub unseen: Vec<String>,
    /// Totals, which the writer counts.
    #[serde(flatten)]
    pub totals: Totals,
    /// SHA-256 of all blocks with the end, uncompressed, in hexadecimal digits. The writer computes it.
    pub digest: String,
}

impl Default for Metadata {
    /// A recording of nothing, with pages of 4 KiB.
    fn default() -> Metadata {
        Metadata {
            program: Vec::new(),
            recorder: String::new(),
            detail: Detail::default(),
            order: BlockOrder::default(),
            page_bytes: 4096,
            contents: false,
            unseen: Vec::new(),
            totals: Totals::default(),
            digest: String::new(),
        }
    }
}

/// Totals of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Threads that have blocks.
    pub threads: u64,
    /// Processes that begin.
    pub processes: u64,
    /// Blocks of words and of contents.
    pub blocks: u64,
    /// Words, with the operands of events.
    pub words: u64,
    /// Instructions.
    pub instructions: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

impl Totals {
    /// The first total that differs: its key, that of `self`, and that of `other`.
    pub(super) fn difference(&self, other: &Totals) -> Option<(String, u64, u64)> {
        let list = |totals: &Totals| match serde_json::to_value(totals) {
            Ok(serde_json::Value::Object(keys)) => keys,
            _ => unreachable!("totals are numbers by key"),
        };
        let mut pairs = list(self).into_iter().zip(list(other));
        let ((key, left), (_, right)) = pairs.find(|((_, left), (_, right))| left != right)?;
        Some((key, left.as_u64()?, right.as_u64()?))
    }
}
