//! Figures of epochs, without the warm-up.

use dram_spec::{CommandKind, Cycle, Cycles, LINE_BYTES};

use crate::channel::Channel;
use crate::config::Config;
use crate::stats::accesses::AccessTally;
use crate::stats::gauge::Gauge;
use crate::stats::{Epoch, Figures, Stats};

/// Recorder of the figures of the front end and of the channels.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Counts of the front end in the present epoch.
    pub(crate) figures: Figures,
    whole: Figures,
    epochs: Vec<Epoch>,
    /// Start of the figures.
    start: Cycle,
    /// Start of the present epoch, or of the warm-up.
    from: Cycle,
    epoch: Option<Cycles>,
    is_warming_up: bool,
    pub(crate) accesses: AccessTally,
    /// Undelivered copies.
    pub(crate) copies: Gauge,
}

impl Recorder {
    pub(crate) fn new(config: &Config) -> Recorder {
        let start = Cycle::ZERO + config.warm_up;
        let is_warming_up = start > Cycle::ZERO;
        let next_end = config.epoch.map_or(Cycle::NEVER, |cycles| start + cycles);
        Recorder {
            figures: Figures::default(),
            whole: Figures::default(),
            epochs: Vec::new(),
            start,
            from: Cycle::ZERO,
            epoch: config.epoch,
            is_warming_up,
            accesses: AccessTally::new(if is_warming_up { start } else { next_end }),
            copies: Gauge::default(),
        }
    }

    /// End of the present epoch, or of the warm-up, exclusive.
    #[inline]
    pub(crate) fn until(&self) -> Cycle {
        self.accesses.until()
    }

    /// Ends every epoch that ends at or before `now`. All events before `now` are counted, and no
    /// later ones.
    pub(crate) fn advance_to(&mut self, now: Cycle, channels: &mut [Channel]) {
        while self.until() <= now {
            let until = self.until();
            let figures = self.collect(until, channels);
            if !std::mem::replace(&mut self.is_warming_up, false) {
                self.close(until, figures);
            }
            self.from = until;
            self.accesses.begin_epoch(self.epoch.map_or(Cycle::NEVER, |cycles| until + cycles));
        }
    }

    /// Starts an epoch after the entries of its first cycle have been freed.
    pub(crate) fn begin_epoch(&mut self, channels: &mut [Channel]) {
        self.copies.begin_epoch();
        for channel in channels {
            channel.queues().begin_epoch();
        }
    }

    /// Figures of the present epoch up to `to`.
    fn collect(&mut self, to: Cycle, channels: &mut [Channel]) -> Figures {
        let mut figures = std::mem::take(&mut self.figures);
        self.accesses.take_figures(&mut figures);
        for channel in channels {
            channel.take_figures(&mut figures, to);
        }
        let delivered = [&figures.read_latency, &figures.write_latency, &figures.copy_response];
        figures.requests = delivered.iter().map(|latency| latency.count()).sum();
        figures.channel_bytes =
            (figures.commands[CommandKind::Read] + figures.commands[CommandKind::Write]) * LINE_BYTES;
        figures.copy_queue = self.copies.take(to);
        figures
    }

    fn close(&mut self, to: Cycle, figures: Figures) {
        if self.epoch.is_some() {
            self.epochs.push(Epoch { from: self.from, to, figures: figures.clone() });
        }
        self.whole += figures;
    }

    /// Ends the run, whose last cycle was `end`.
    pub(crate) fn finish(&mut self, end: Cycle, channels: &mut [Channel]) -> Stats {
        let figures = self.collect(end, channels);
        if self.is_warming_up {
            return Stats { from: end, end, ..Stats::default() };
        }
        self.close(end, figures);
        Stats {
            from: self.start,
            end,
            whole: std::mem::take(&mut self.whole),
            epochs: std::mem::take(&mut self.epochs),
        }
    }
}
