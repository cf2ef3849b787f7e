//! The figures of each epoch of a run.

use dram_spec::Clock;
use memctrl::stats::Stats;
use serde::Serialize;

use crate::figures::{FiguresReport, Stretch};
use crate::metered::Measured;

/// A stretch of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EpochReport {
    /// Its first cycle.
    pub from_cycle: u64,
    /// The cycle after its last.
    pub to_cycle: u64,
    /// What was done in it.
    #[serde(flatten)]
    pub figures: FiguresReport,
}

impl EpochReport {
    /// The epochs of a run.
    ///
    /// # Panics
    /// If there is not a measurement for each epoch.
    pub(crate) fn all(stats: &Stats, measured: &[Measured], clock: Clock, channels: u8) -> Vec<EpochReport> {
        assert_eq!(stats.epochs.len(), measured.len(), "a measurement for each epoch");
        let stretch = |cycles| Stretch { cycles, clock, channels };
        let epochs = stats.epochs.iter().zip(measured).map(|(epoch, measured)| EpochReport {
            from_cycle: epoch.from.0,
            to_cycle: epoch.to.0,
            figures: FiguresReport::new(&epoch.figures, measured, stretch(epoch.to.since(epoch.from))),
        });
        epochs.collect()
    }
}
