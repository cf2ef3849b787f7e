//! The statistics, as `memctrl::stats` defines them.

use dram_spec::{Command, CommandKind, Cycle, Effect, LINE_BYTES, Operation};
use memctrl::stats::{Epoch, Figures, Outcomes, Stats};
use memctrl::{Completion, Config};

use super::access::{Access, Kind};
use super::channel::Channel;

/// Counts for the present epoch, and the figures of earlier epochs.
pub struct Recorder {
    pub figures: Figures,
    whole: Figures,
    epochs: Vec<Epoch>,
    start: u64,
    /// Start and end of the present epoch, or of the warm-up.
    from: u64,
    until: u64,
    epoch: u64,
    keeps_epochs: bool,
}

impl Recorder {
    pub fn new(config: &Config) -> Recorder {
        let (start, epoch) = (config.warm_up.0, config.epoch.map_or(u64::MAX / 2, |epoch| epoch.0));
        Recorder {
            figures: Figures::default(),
            whole: Figures::default(),
            epochs: Vec::new(),
            start,
            from: 0,
            until: if start > 0 { start } else { epoch },
            epoch,
            keeps_epochs: config.epoch.is_some(),
        }
    }

    /// Ends the epoch, or the warm-up, whose last cycle is the preceding one.
    pub fn begin_cycle(&mut self, now: u64) {
        if now == self.until {
            self.close(now);
            (self.from, self.until) = (now, now + self.epoch);
        }
    }

    /// Stores the figures of the present epoch, which ends at `to`.
    fn close(&mut self, to: u64) {
        let mut figures = std::mem::take(&mut self.figures);
        figures.channel_bytes =
            (figures.commands[CommandKind::Read] + figures.commands[CommandKind::Write]) * LINE_BYTES;
        let delivered = [&figures.read_latency, &figures.write_latency, &figures.copy_response];
        figures.requests = delivered.iter().map(|latency| latency.count()).sum();
        if self.from < self.start {
            return;
        }
        self.whole += figures.clone();
        if self.keeps_epochs {
            self.epochs.push(Epoch { from: Cycle(self.from), to: Cycle(to), figures });
        }
    }

    /// Ends the run, after the commands of its last cycle.
    pub fn finish(&mut self, end: u64) -> Stats {
        if end < self.start {
            return Stats { from: Cycle(end), end: Cycle(end), ..Stats::default() };
        }
        self.close(end);
        let (whole, epochs) = (std::mem::take(&mut self.whole), std::mem::take(&mut self.epochs));
        Stats { from: Cycle(self.start), end: Cycle(end), whole, epochs }
    }

    /// Samples the entries in use in a cycle, after admission.
    pub fn sample(&mut self, channels: &[Channel], copies: usize) {
        let Figures { read_queue, write_queue, copy_queue, .. } = &mut self.figures;
        let of = |kind| channels.iter().map(move |channel| channel.entries(kind) as u64);
        for (depth, levels) in
            [(read_queue, of(Kind::Read).collect::<Vec<_>>()), (write_queue, of(Kind::Write).collect())]
                .into_iter()
                .chain([(copy_queue, vec![copies as u64])])
        {
            depth.entry_cycles += levels.iter().sum::<u64>();
            depth.most = levels.into_iter().fold(depth.most, u64::max);
        }
    }

    /// Counts a command.
    pub fn command(&mut self, command: &Command, effect: Effect) {
        let (kind, number) = count(command, effect);
        self.figures.commands[kind] += number;
    }

    /// Counts an access at its column command.
    pub fn outcome(&mut self, access: &Access) {
        let outcomes = match access.kind {
            Kind::Read => &mut self.figures.reads,
            Kind::Write => &mut self.figures.writes,
        };
        let Outcomes { hits, misses, conflicts } = outcomes;
        *(if access.precharged {
            conflicts
        } else if access.activated {
            misses
        } else {
            hits
        }) += 1;
    }

    /// Counts a delivered request.
    pub fn delivered(&mut self, completion: &Completion) {
        match completion.operation {
            Operation::Read { .. } => self.figures.read_latency.record(completion.response()),
            Operation::Write { .. } => self.figures.write_latency.record(completion.response()),
            Operation::Copy { .. } | Operation::Init { .. } => {
                self.figures.copy_latency.record(completion.latency());
                self.figures.copy_response.record(completion.response());
                self.figures.parts += &completion.served;
            }
        }
    }
}

/// Kind of a command, and the number that it adds.
fn count(command: &Command, effect: Effect) -> (CommandKind, u64) {
    let number = if let Effect::Moved { hops, .. } = effect { hops.into() } else { 1 };
    let kind = match (command, effect) {
        (Command::Activate { .. }, Effect::Plain | Effect::Moved { .. }) => CommandKind::Activate,
        (Command::Activate { .. }, Effect::Copied { .. }) => CommandKind::CopyActivate,
        (Command::Activate { .. }, Effect::Dropped { .. }) => CommandKind::DroppedActivate,
        (Command::Precharge { .. } | Command::PrechargeAll { .. }, _) => CommandKind::Precharge,
        (Command::Read { .. }, _) => CommandKind::Read,
        (Command::Write { .. }, _) => CommandKind::Write,
        (Command::Transfer { .. }, _) => CommandKind::Transfer,
        (Command::MoveRowBuffer { .. }, _) => CommandKind::MoveRowBuffer,
        (Command::Refresh { .. }, _) => CommandKind::Refresh,
        (Command::RefreshSameBank { .. }, _) => CommandKind::RefreshSameBank,
        (Command::PowerDownEnter { .. }, _) => CommandKind::PowerDownEnter,
        (Command::SelfRefreshEnter { .. }, _) => CommandKind::SelfRefreshEnter,
        (Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }, _) => CommandKind::WakeUp,
    };
    (kind, number)
}
