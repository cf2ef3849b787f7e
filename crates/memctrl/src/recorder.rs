//! Keeps the statistics as the run goes on: by epochs, and without the warm-up.

use dram_spec::{Cycle, Cycles};

use crate::config::Config;
use crate::stats::{Depth, Epoch, Figures, Histogram, Stats};

/// How full the queues are.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// Entries in use, by channel: of reads and of writes.
    pub(crate) accesses: Vec<[u64; 2]>,
    /// Jobs in progress.
    pub(crate) jobs: u64,
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
            levels: Levels { accesses: vec![[0; 2]; usize::from(config.system.geometry.channels())], jobs: 0 },
        };
        if !recorder.warming_up {
            recorder.open(start);
        }
        recorder
    }

    fn open(&mut self, from: Cycle) {
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
        let (mut total, mut most) = ([0; 2], [0; 2]);
        for used in &self.levels.accesses {
            for kind in 0..2 {
                total[kind] += used[kind];
                most[kind] = most[kind].max(used[kind]);
            }
        }
        self.figures.read_queue.last(cycles, total[0], most[0]);
        self.figures.write_queue.last(cycles, total[1], most[1]);
        self.figures.copy_queue.last(cycles, self.levels.jobs, self.levels.jobs);
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
