//! The reader of the stream.

use dram_spec::{Channel, Command, CommandLog, CommandSink, Cycle, Dialect, Issued, System};

use crate::history::Wires;
use crate::lookback::{Lookback, Setting};
use crate::report::Report;
use crate::rule::Rule;
use crate::violation::Violation;

/// Judges a command stream as it comes, in memory that does not grow with it.
///
/// Total: it accepts any stream, however absurd, and panics on none.
#[derive(Clone, Debug)]
pub struct Checker {
    setting: Setting,
    channels: Vec<Wires>,
    report: Report,
    finished: bool,
}

impl Checker {
    /// A checker for a system at cycle 0: all banks closed, all ranks awake, nothing behind it.
    pub fn new(system: &System, dialect: Dialect) -> Checker {
        let geometry = system.geometry;
        let channels = vec![Wires::new(geometry.ranks(), geometry.banks()); usize::from(geometry.channels())];
        Checker { setting: Setting::new(system, dialect), channels, report: Report::new(), finished: false }
    }

    /// The first [`Report::KEPT`] violations so far.
    pub fn violations(&self) -> &[Violation] {
        self.report.violations()
    }

    /// All violations so far, also those not kept.
    pub fn total(&self) -> u64 {
        self.report.total()
    }

    /// How often a rule was broken so far.
    pub const fn count(&self, rule: Rule) -> u64 {
        self.report.count(rule)
    }

    /// The verdict so far.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// The verdict, for keeps. What was still running counts only after [`CommandSink::finish`].
    pub fn into_report(self) -> Report {
        self.report
    }
}

impl CommandSink for Checker {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        let issued = Issued { at, channel, command: *command };
        let Checker { setting, channels, report, finished: _ } = self;
        let mut look = Lookback { setting, report, at, channel, rank: command.rank(), command: Some(issued) };
        match channels.get_mut(usize::from(channel.0)) {
            Some(wires) => {
                wires.judge(&mut look, command);
                wires.record(issued, setting);
            }
            None => look.state(Rule::Address, None),
        }
    }

    /// Judges what was still running when the run ended. Only the first end counts; one before the last command of a
    /// channel is taken to be at that command.
    fn finish(&mut self, end: Cycle) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        let Checker { setting, channels, report, finished: _ } = self;
        for (channel, wires) in (0..).map(Channel).zip(&*channels) {
            let at = wires.last.map_or(end, |last| last.at.max(end));
            for (rank, history) in (0..).zip(&wires.ranks) {
                history.judge_end(&mut Lookback { setting, report, at, channel, rank, command: None });
            }
        }
    }
}

/// Judges a whole log, its end included.
///
/// Returns the first [`Report::KEPT`] violations; a log without any keeps every rule.
pub fn audit(system: &System, dialect: Dialect, log: &CommandLog) -> Vec<Violation> {
    let mut checker = Checker::new(system, dialect);
    log.replay(&mut checker);
    checker.into_report().into_violations()
}
