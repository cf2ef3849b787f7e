//! Arrival of the data that a copy over the channel writes. Rule 3 of the programs in
//! `docs/planner.md`.

use std::collections::VecDeque;

use dram_spec::Cycle;

/// Arrival of the data of the lines that a thread writes.
#[derive(Clone, Debug)]
pub(crate) enum DataGate {
    /// Every line waits for all lines that the program reads: arrival of the last, once known.
    All(Option<Cycle>),
    /// Each line waits for the corresponding line read.
    Each(VecDeque<Cycle>),
}

impl DataGate {
    /// Records the arrival of the last line, or of the next one.
    pub(super) fn data_arrives(&mut self, at: Cycle) {
        match self {
            DataGate::All(arrived) => *arrived = Some(at),
            DataGate::Each(lines) => lines.push_back(at),
        }
    }

    /// Arrival of the data of the next line to be written, if known.
    pub(super) fn arrival(&self) -> Option<Cycle> {
        match self {
            DataGate::All(arrived) => *arrived,
            DataGate::Each(lines) => lines.front().copied(),
        }
    }

    /// Records that a line was written.
    pub(super) fn written(&mut self) {
        if let DataGate::Each(lines) = self {
            lines.pop_front();
        }
    }
}
