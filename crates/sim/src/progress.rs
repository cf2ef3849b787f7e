//! Progress of a run.

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// Requests that the controller has taken.
    pub done: u64,
    /// Requests of the whole run, if known in advance.
    pub total: Option<u64>,
}

impl RunProgress {
    /// Requests between two reports.
    pub const STEP_REQUESTS: u64 = 256;
}
