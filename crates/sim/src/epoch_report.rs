//! Figures of the epochs of a run.

use dram_spec::Clock;
use memctrl::stats::Stats;
use serde::Serialize;

use crate::figures::{FiguresReport, Interval};
use crate::metered::Measured;

/// Figures of one epoch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EpochReport {
    /// First cycle.
    pub from_cycle: u64,
    /// End cycle, exclusive.
    pub to_cycle: u64,
    /// Figures of the epoch.
    #[serde(flatten)]
    pub figures: FiguresReport,
}

impl EpochReport {
    /// Creates the reports of all epochs of a run.
    ///
    /// # Panics
    /// If the numbers of epochs and measurements differ.
    pub(crate) fn all(stats: &Stats, measured: &[Measured], clock: Clock, channels: u8) -> Vec<EpochReport> {
        assert_eq!(stats.epochs.len(), measured.len(), "a measurement for each epoch");
        let interval = |cycles| Interval { cycles, clock, channels };
        let epochs = stats.epochs.iter().zip(measured).map(|(epoch, measured)| EpochReport {
            from_cycle: epoch.from.0,
            to_cycle: epoch.to.0,
            figures: FiguresReport::new(&epoch.figures, measured, interval(epoch.to.since(epoch.from))),
        });
        epochs.collect()
    }
}
