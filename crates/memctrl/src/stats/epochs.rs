//! Figures of epochs, without the warm-up.

use dram_spec::{Cycle, Cycles, LINE_BYTES};

use super::{Depth, Epoch, Figures, Stats};
use crate::channel::{AccessKind, Channel};
use crate::config::Config;

/// Entries in use, of one queue per channel or of the copies.
///
/// The number of entry-cycles is stored minus the product of level and present cycle: an entry
/// subtracts its first cycle, and adds the cycle after its last. Thus no update is needed while
/// levels do not change.
#[derive(Clone, Debug)]
struct Levels {
    by_queue: Vec<u64>,
    /// Modulo 2^64.
    sum: u64,
    most: u64,
}

impl Levels {
    fn new(queues: usize) -> Levels {
        Levels { by_queue: vec![0; queues], sum: 0, most: 0 }
    }

    #[inline]
    fn enter(&mut self, queue: usize, now: Cycle) {
        let level = &mut self.by_queue[queue];
        *level += 1;
        self.most = self.most.max(*level);
        self.sum = self.sum.wrapping_sub(now.0);
    }

    #[inline]
    fn leave(&mut self, queue: usize, after: Cycle) {
        self.by_queue[queue] -= 1;
        self.sum = self.sum.wrapping_add(after.0);
    }

    /// An entry that is freed in the first cycle of an epoch is not in use in it.
    fn begin_epoch(&mut self) {
        self.most = self.by_queue.iter().copied().max().unwrap_or(0);
    }

    /// Returns the depth up to `now`, and restarts the count there.
    fn take(&mut self, now: Cycle) -> Depth {
        let up_to_now = self.by_queue.iter().sum::<u64>().wrapping_mul(now.0);
        let entry_cycles = std::mem::replace(&mut self.sum, 0_u64.wrapping_sub(up_to_now)).wrapping_add(up_to_now);
        let most = std::mem::replace(&mut self.most, self.by_queue.iter().copied().max().unwrap_or(0));
        Depth { entry_cycles, most }
    }
}

/// Recorder of the figures of the front end and of the channels.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Counts of the front end in the present epoch.
    pub(crate) figures: Figures,
    whole: Figures,
    epochs: Vec<Epoch>,
    /// Start of the figures.
    start: Cycle,
    /// Start and end of the present epoch, or of the warm-up.
    from: Cycle,
    until: Cycle,
    epoch: Option<Cycles>,
    is_warming_up: bool,
    accesses: [Levels; 2],
    copies: Levels,
}

impl Recorder {
    pub(crate) fn new(config: &Config) -> Recorder {
        let channels = usize::from(config.system.geometry.channels());
        let start = Cycle::ZERO + config.warm_up;
        let is_warming_up = start > Cycle::ZERO;
        let mut recorder = Recorder {
            figures: Figures::default(),
            whole: Figures::default(),
            epochs: Vec::new(),
            start,
            from: Cycle::ZERO,
            until: start,
            epoch: config.epoch,
            is_warming_up,
            accesses: [Levels::new(channels), Levels::new(channels)],
            copies: Levels::new(1),
        };
        if !is_warming_up {
            recorder.until = recorder.next_end(start);
        }
        recorder
    }

    fn next_end(&self, from: Cycle) -> Cycle {
        self.epoch.map_or(Cycle::NEVER, |cycles| from + cycles)
    }

    /// End of the present epoch, or of the warm-up, exclusive.
    #[inline]
    pub(crate) fn until(&self) -> Cycle {
        self.until
    }

    /// Records that an access takes an entry.
    #[inline]
    pub(crate) fn enter(&mut self, kind: AccessKind, channel: dram_spec::Channel, now: Cycle) {
        self.accesses[kind as usize].enter(usize::from(channel.0), now);
    }

    /// Records that an entry is free from `after` on.
    #[inline]
    pub(crate) fn leave(&mut self, kind: AccessKind, channel: dram_spec::Channel, after: Cycle) {
        self.accesses[kind as usize].leave(usize::from(channel.0), after);
    }

    /// Records an accepted copy.
    pub(crate) fn copy_enters(&mut self, now: Cycle) {
        self.copies.enter(0, now);
    }

    /// Records a delivered copy.
    pub(crate) fn copy_leaves(&mut self, now: Cycle) {
        self.copies.leave(0, now);
    }

    /// Ends every epoch that ends at or before `now`. All events before `now` are counted, and no
    /// later ones.
    pub(crate) fn advance_to(&mut self, now: Cycle, channels: &mut [Channel]) {
        while self.until <= now {
            let until = self.until;
            let figures = self.collect(until, channels);
            if !std::mem::replace(&mut self.is_warming_up, false) {
                self.close(until, figures);
            }
            (self.from, self.until) = (until, self.next_end(until));
        }
    }

    /// Starts an epoch after the entries of its first cycle have been freed.
    pub(crate) fn begin_epoch(&mut self) {
        self.accesses.iter_mut().chain([&mut self.copies]).for_each(Levels::begin_epoch);
    }

    /// Figures of the present epoch up to `to`.
    fn collect(&mut self, to: Cycle, channels: &mut [Channel]) -> Figures {
        let mut figures = std::mem::take(&mut self.figures);
        for channel in channels {
            channel.take_figures(&mut figures);
        }
        let delivered = [&figures.read_latency, &figures.write_latency, &figures.copy_response];
        figures.requests = delivered.iter().map(|latency| latency.count()).sum();
        figures.channel_bytes = (figures.commands.reads + figures.commands.writes) * LINE_BYTES;
        figures.read_queue = self.accesses[AccessKind::Read as usize].take(to);
        figures.write_queue = self.accesses[AccessKind::Write as usize].take(to);
        figures.copy_queue = self.copies.take(to);
        figures
    }

    fn close(&mut self, to: Cycle, figures: Figures) {
        self.whole += &figures;
        if self.epoch.is_some() {
            self.epochs.push(Epoch { from: self.from, to, figures });
        }
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

#[cfg(test)]
mod tests;
