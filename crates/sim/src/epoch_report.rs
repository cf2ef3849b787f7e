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
    /// The cycle after its last one.
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

#[cfg(test)]
mod tests {
    use dram_spec::{Cycle, Cycles};
    use memctrl::stats::{Epoch, Figures};

    use super::*;
    use crate::buses::BusUse;

    /// Epochs of 1,000 and 500 clocks of DDR3-1066, 1,875 and 937.5 ns: 7,500 bytes are 4 and 8 GB/s.
    /// The data buses of two channels are in use for 500 of 2,000 and of 1,000 clocks.
    #[test]
    fn figures_of_an_epoch_refer_to_its_length() {
        let epoch = |from, to, requests| Epoch {
            from: Cycle(from),
            to: Cycle(to),
            figures: Figures { channel_bytes: 7_500, requests, ..Figures::default() },
        };
        let stats = Stats { epochs: vec![epoch(2_000, 3_000, 1), epoch(3_000, 3_500, 2)], ..Stats::default() };
        let buses = BusUse { data: Cycles(500), ..BusUse::default() };
        let measured = [(); 2].map(|()| Measured { buses, ..Measured::default() });
        let epochs = EpochReport::all(&stats, &measured, Clock::DDR3_1066, 2);
        let found = epochs.iter().map(|it| {
            let FiguresReport { requests, bandwidth_gb_s, data_bus_share, .. } = it.figures;
            (it.from_cycle, it.to_cycle, requests, bandwidth_gb_s, data_bus_share)
        });
        assert_eq!(
            found.collect::<Vec<_>>(),
            [(2_000, 3_000, 1, Some(4.0), Some(0.25)), (3_000, 3_500, 2, Some(8.0), Some(0.5))]
        );
    }
}
