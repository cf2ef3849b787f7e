//! When the data of a copy over the channel allows its writes. Rule 3 of the programs in `docs/planner.md`.

use std::collections::VecDeque;

use dram_spec::Cycle;

/// When the data of the lines that a thread writes is there.
#[derive(Clone, Debug)]
pub(crate) enum DataGate {
    /// Every line waits for all lines that the program reads: when the last of them arrives, once that is known.
    All(Option<Cycle>),
    /// Each line waits for the line read in its turn.
    Each(VecDeque<Cycle>),
}

impl DataGate {
    /// The data of the last line, or of the next one, arrives at that cycle.
    pub(super) fn data_arrives(&mut self, at: Cycle) {
        match self {
            DataGate::All(arrived) => *arrived = Some(at),
            DataGate::Each(lines) => lines.push_back(at),
        }
    }

    /// When the data of the next line to be written has arrived, if that is known.
    pub(super) fn arrival(&self) -> Option<Cycle> {
        match self {
            DataGate::All(arrived) => *arrived,
            DataGate::Each(lines) => lines.front().copied(),
        }
    }

    /// A line was written.
    pub(super) fn written(&mut self) {
        if let DataGate::Each(lines) = self {
            lines.pop_front();
        }
    }
}
