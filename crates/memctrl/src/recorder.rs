//! Keeps the statistics as the run goes on: by epochs, and without the warm-up.

use dram_spec::{Channel, Cycle, Cycles, LINE_BYTES};

use crate::access::Kind;
use crate::config::Config;
use crate::stats::{Depth, Epoch, Figures, Histogram, Stats};

/// How full the queues are.
///
/// A cycle sum is kept as what it will be at cycle 0 of the level staying as it is: each that enters takes away the cycle at which it
/// does, each that leaves adds its own. So nothing is to be done while levels do not change.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// Entries in use, by channel: of reads and of writes.
    accesses: Vec<[u64; 2]>,
    jobs: u64,
    /// The cycle sums, of reads, of writes, of jobs; modulo 2^64.
    sums: [u64; 3],
    /// The most that any channel has had in use since the figures began: of reads, of writes, of jobs.
    most: [u64; 3],
    /// Whether a level has risen above that in this cycle.
    risen: bool,
}

/// The place of jobs behind those of reads and writes.
const JOBS: usize = 2;

impl Levels {
    #[inline]
    pub(crate) fn of(&self, channel: Channel, kind: Kind) -> u64 {
        self.accesses[usize::from(channel.0)][kind as usize]
    }

    #[inline]
    pub(crate) fn enter(&mut self, channel: Channel, kind: Kind, now: Cycle) {
        let level = &mut self.accesses[usize::from(channel.0)][kind as usize];
        *level += 1;
        self.risen |= *level > self.most[kind as usize];
        self.sums[kind as usize] = self.sums[kind as usize].wrapping_sub(now.0);
    }

    #[inline]
    pub(crate) fn leave(&mut self, channel: Channel, kind: Kind, now: Cycle) {
        self.accesses[usize::from(channel.0)][kind as usize] -= 1;
        self.sums[kind as usize] = self.sums[kind as usize].wrapping_add(now.0);
    }

    pub(crate) fn job_leaves(&mut self, now: Cycle) {
        self.jobs -= 1;
        self.sums[JOBS] = self.sums[JOBS].wrapping_add(now.0);
    }

    pub(crate) fn job_enters(&mut self, now: Cycle) {
        self.jobs += 1;
        self.risen = true;
        self.sums[JOBS] = self.sums[JOBS].wrapping_sub(now.0);
    }

    /// A cycle is over in which a level was higher than ever, at some time.
    #[inline(never)]
    fn rise(&mut self) {
        self.risen = false;
        let [most_reads, most_writes, most_jobs] = &mut self.most;
        for [reads, writes] in &self.accesses {
            *most_reads = (*most_reads).max(*reads);
            *most_writes = (*most_writes).max(*writes);
        }
        *most_jobs = (*most_jobs).max(self.jobs);
    }

    /// The sums up to `now`; from there on they are counted anew.
    fn take_sums(&mut self, now: Cycle) -> [u64; 3] {
        let of = |kind: Kind| self.accesses.iter().map(|levels| levels[kind as usize]).sum();
        let total: [u64; 3] = [of(Kind::Read), of(Kind::Write), self.jobs];
        let up_to = |level: usize| total[level].wrapping_mul(now.0);
        let sums = [0, 1, 2].map(|level| self.sums[level].wrapping_add(up_to(level)));
        self.sums = [0, 1, 2].map(|level| 0_u64.wrapping_sub(up_to(level)));
        sums
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
            epoch: config.epoch,
            start,
            levels: Levels {
                accesses: vec![[0; 2]; usize::from(config.system.geometry.channels())],
                jobs: 0,
                sums: [0; 3],
                most: [0; 3],
                risen: false,
            },
        };
        if !recorder.warming_up {
            recorder.open(start);
        }
        recorder
    }

    fn open(&mut self, from: Cycle) {
        (self.levels.risen, self.levels.most) = (true, [0; 3]);
        self.from = from;
        self.until = self.epoch.map_or(Cycle::NEVER, |cycles| from + cycles);
    }

    /// What is counted next, counts at `at`. No level has changed since the last instant before `now`.
    #[inline]
    pub(crate) fn advance_to(&mut self, at: Cycle, now: Cycle) {
        while self.until <= at {
            self.turn(now);
        }
    }

    /// Where the present epoch, or the warm-up, ends.
    pub(crate) fn until(&self) -> Cycle {
        self.until
    }

    /// The present epoch, or the warm-up, is over.
    #[cold]
    fn turn(&mut self, now: Cycle) {
        let until = self.until;
        self.complete(until);
        if self.warming_up {
            self.warming_up = false;
            self.figures = Figures::default();
        } else {
            self.close(until);
        }
        self.open(until);
        if until < now {
            self.end_instant();
        }
    }

    /// Nothing more happens in this cycle: what rose, may be higher than ever.
    #[inline]
    pub(crate) fn end_instant(&mut self) {
        if self.levels.risen {
            self.levels.rise();
        }
    }

    /// What follows from the rest, or from the levels up to `to`, is found out once a stretch, and not at each command.
    fn complete(&mut self, to: Cycle) {
        let figures = &mut self.figures;
        let delivered = [&figures.read_latency, &figures.write_latency, &figures.copy_response];
        figures.requests = delivered.iter().map(|latency| latency.count()).sum();
        figures.channel_bytes = (figures.commands.reads + figures.commands.writes) * LINE_BYTES;
        let [reads, writes, jobs] = self.levels.take_sums(to);
        let [most_reads, most_writes, most_jobs] = self.levels.most;
        self.figures.read_queue = Depth { entry_cycles: reads, most: most_reads };
        self.figures.write_queue = Depth { entry_cycles: writes, most: most_writes };
        self.figures.copy_queue = Depth { entry_cycles: jobs, most: most_jobs };
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
        self.complete(end);
        if self.epoch.is_some() {
            self.close(end);
        } else {
            self.whole = self.figures;
        }
        Stats { from: self.start, end, whole: self.whole, epochs: self.epochs }
    }
}
