//! When the data of a copy over the channel allows its writes. Rule 3 of the programs in `docs/planner.md`.

use std::collections::VecDeque;

use dram_spec::Cycle;

/// When the data of lines to be written is there.
#[derive(Clone, Debug)]
pub(crate) enum DataGate {
    /// Every line waits for all lines that the program reads.
    All {
        /// Lines not read yet.
        missing: u32,
        /// When the last data so far has arrived.
        arrived: Cycle,
    },
    /// Each line waits for the line read in its turn.
    Each(VecDeque<Cycle>),
}

impl DataGate {
    /// A line was read; its data arrives at that cycle.
    pub(crate) fn read(&mut self, arrives: Cycle) {
        match self {
            DataGate::All { missing, arrived } => {
                *missing -= 1;
                *arrived = (*arrived).max(arrives);
            }
            DataGate::Each(lines) => lines.push_back(arrives),
        }
    }

    /// When the data of the next line to be written has arrived, if that is known.
    pub(super) fn arrival(&self) -> Option<Cycle> {
        match self {
            DataGate::All { missing, arrived } => (*missing == 0).then_some(*arrived),
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
