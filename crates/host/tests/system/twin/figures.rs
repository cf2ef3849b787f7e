//! What is counted, for the whole run and by epochs.

use dram_core::Effect;
use dram_spec::{Command, Cycle, Cycles};
use memctrl::{CommandCounts, Depth, Epoch, Figures, Histogram, Stats};

/// Counts what happens from the end of the warm-up on.
pub struct Recorder {
    warm_up: Cycle,
    epoch: Option<Cycles>,
    whole: Figures<Histogram>,
    epochs: Vec<Figures<Histogram>>,
}

impl Recorder {
    pub fn new(warm_up: Cycles, epoch: Option<Cycles>) -> Recorder {
        Recorder { warm_up: Cycle(warm_up.0), epoch, whole: Figures::default(), epochs: Vec::new() }
    }

    /// Something happens at `now`.
    pub fn count(&mut self, now: Cycle, event: impl Fn(&mut Figures<Histogram>)) {
        if now < self.warm_up {
            return;
        }
        event(&mut self.whole);
        if let Some(epoch) = self.epoch {
            let index = (now.since(self.warm_up).0 / epoch.0) as usize;
            while self.epochs.len() <= index {
                self.epochs.push(Figures::default());
            }
            event(&mut self.epochs[index]);
        }
    }

    /// The run's last cycle was `end`.
    pub fn finish(self, end: Cycle) -> Stats {
        let mut epochs = Vec::new();
        if let Some(epoch) = self.epoch {
            let from = |index: usize| Cycle(self.warm_up.0 + index as u64 * epoch.0);
            for (index, figures) in self.epochs.iter().enumerate() {
                let to = from(index + 1).min(end);
                epochs.push(Epoch { from: from(index), to, figures: summarise(figures) });
            }
        }
        Stats { from: self.warm_up.min(end), end, whole: self.whole, epochs }
    }
}

/// One queue at the end of a cycle.
pub fn deepen(depth: &mut Depth, entries: usize) {
    depth.entry_cycles += entries as u64;
    depth.most = depth.most.max(entries as u64);
}

/// One more command, by its kind.
pub fn tally(counts: &mut CommandCounts, command: &Command, effect: Effect) {
    let count = match (command, effect) {
        (Command::Activate { .. }, Effect::Plain) => &mut counts.activates,
        (Command::Activate { .. }, Effect::Copied { .. }) => &mut counts.copy_activates,
        (Command::Activate { .. }, Effect::Dropped { .. }) => &mut counts.dropped_activates,
        (Command::Precharge { .. } | Command::PrechargeAll { .. }, _) => &mut counts.precharges,
        (Command::Read { .. }, _) => &mut counts.reads,
        (Command::Write { .. }, _) => &mut counts.writes,
        (Command::Transfer { .. }, _) => &mut counts.transfers,
        (Command::Refresh { .. }, _) => &mut counts.refreshes,
        (Command::PowerDownEnter { .. }, _) => &mut counts.power_downs,
        (Command::SelfRefreshEnter { .. }, _) => &mut counts.self_refreshes,
        (Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }, _) => &mut counts.wake_ups,
    };
    *count += 1;
}

fn summarise(figures: &Figures<Histogram>) -> Figures<memctrl::Summary> {
    Figures {
        requests: figures.requests,
        commands: figures.commands,
        reads: figures.reads,
        writes: figures.writes,
        forwarded: figures.forwarded,
        read_latency: figures.read_latency.summary(),
        write_latency: figures.write_latency.summary(),
        copy_latency: figures.copy_latency.summary(),
        copy_response: figures.copy_response.summary(),
        segments: figures.segments.clone(),
        held_back: figures.held_back.summary(),
        broken_off_for_reads: figures.broken_off_for_reads,
        broken_off_for_refresh: figures.broken_off_for_refresh,
        drains: figures.drains,
        channel_bytes: figures.channel_bytes,
        read_queue: figures.read_queue,
        write_queue: figures.write_queue,
        copy_queue: figures.copy_queue,
    }
}
