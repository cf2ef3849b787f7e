//! Keeps the statistics as the run goes on: by epochs, and without the warm-up.

use dram_spec::{Channel, Cycle, Cycles};

use crate::access::Kind;
use crate::config::Config;
use crate::stats::{Depth, Epoch, Figures, Histogram, Stats};

/// How full the queues are.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// Entries in use, by channel: of reads and of writes.
    accesses: Vec<[u64; 2]>,
    /// The same of all channels together.
    total: [u64; 2],
    /// Whether any has risen since the most in use was last looked for.
    risen: bool,
    /// Jobs in progress.
    pub(crate) jobs: u64,
}

impl Levels {
    pub(crate) fn of(&self, channel: Channel, kind: Kind) -> u64 {
        self.accesses[usize::from(channel.0)][kind as usize]
    }

    pub(crate) fn enter(&mut self, channel: Channel, kind: Kind) {
        self.accesses[usize::from(channel.0)][kind as usize] += 1;
        self.total[kind as usize] += 1;
        self.risen = true;
    }

    pub(crate) fn leave(&mut self, channel: Channel, kind: Kind) {
        self.accesses[usize::from(channel.0)][kind as usize] -= 1;
        self.total[kind as usize] -= 1;
    }
}

impl Depth {
    fn last(&mut self, cycles: u64, total: u64, most: u64) {
        self.entry_cycles += cycles * total;
        self.most = self.most.max(most);
    }
}

/// Figures on their way.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// What is counted now.
    pub(crate) figures: Figures<Histogram>,
    whole: Figures<Histogram>,
    epochs: Vec<Epoch>,
    /// Where the present epoch, or the warm-up, began.
    from: Cycle,
    /// Where it ends; never, for a run without epochs.
    until: Cycle,
    warming_up: bool,
    /// The queues' levels are counted up to here.
    counted: Cycle,
    epoch: Option<Cycles>,
    start: Cycle,
    pub(crate) levels: Levels,
}

impl Recorder {
    pub(crate) fn new(config: &Config) -> Recorder {
        let start = Cycle(config.warm_up.0);
        let mut recorder = Recorder {
            figures: Figures::default(),
            whole: Figures::default(),
            epochs: Vec::new(),
            from: Cycle::ZERO,
            until: start,
            warming_up: start > Cycle::ZERO,
            counted: Cycle::ZERO,
            epoch: config.epoch,
            start,
            levels: Levels {
                accesses: vec![[0; 2]; usize::from(config.system.geometry.channels())],
                total: [0; 2],
                risen: false,
                jobs: 0,
            },
        };
        if !recorder.warming_up {
            recorder.open(start);
        }
        recorder
    }

    fn open(&mut self, from: Cycle) {
        self.levels.risen = true;
        self.from = from;
        self.until = self.epoch.map_or(Cycle(u64::MAX), |cycles| from + cycles);
    }

    /// Time has come to `now`, and nothing has happened since the last call.
    pub(crate) fn advance_to(&mut self, now: Cycle) {
        while self.until <= now {
            let until = self.until;
            self.count_levels(until);
            if self.warming_up {
                self.warming_up = false;
                self.figures = Figures::default();
            } else {
                self.close(until);
            }
            self.open(until);
        }
        self.count_levels(now);
    }

    fn count_levels(&mut self, now: Cycle) {
        let cycles = now.0 - self.counted.0;
        if cycles == 0 {
            return;
        }
        self.counted = now;
        let [reads, writes] = self.levels.total;
        self.figures.read_queue.entry_cycles += cycles * reads;
        self.figures.write_queue.entry_cycles += cycles * writes;
        self.figures.copy_queue.last(cycles, self.levels.jobs, self.levels.jobs);
        if std::mem::take(&mut self.levels.risen) {
            for [reads, writes] in &self.levels.accesses {
                self.figures.read_queue.most = self.figures.read_queue.most.max(*reads);
                self.figures.write_queue.most = self.figures.write_queue.most.max(*writes);
            }
        }
    }

    fn close(&mut self, to: Cycle) {
        let figures = std::mem::take(&mut self.figures);
        self.epochs.push(Epoch { from: self.from, to, figures: figures.summarise() });
        self.whole.absorb(&figures);
    }

    /// The run is over.
    pub(crate) fn finish(mut self, end: Cycle) -> Stats {
        if self.warming_up {
            return Stats { from: end, end, ..Stats::default() };
        }
        if self.epoch.is_some() {
            self.close(end);
        } else {
            self.whole = self.figures;
        }
        Stats { from: self.start, end, whole: self.whole, epochs: self.epochs }
    }
}
