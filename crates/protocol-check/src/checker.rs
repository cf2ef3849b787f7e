//! The checker of a command stream.

use dram_spec::{Channel, ColumnRun, Command, CommandEvent, CommandLog, Cycle, Dialect, EventSink, Issued, System};

use crate::check::{Check, Setting};
use crate::conformance::exists;
use crate::history::ChannelHistory;
use crate::report::ViolationReport;
use crate::rule::Rule;
use crate::violation::Violation;

/// Checks a command stream, command by command, in bounded memory.
///
/// Total: it accepts any stream and never panics.
#[derive(Clone, Debug)]
pub struct Checker {
    setting: Setting,
    channels: Vec<ChannelHistory>,
    report: ViolationReport,
    finished: bool,
}

impl Checker {
    /// A checker for a system at cycle 0: all banks closed, all ranks awake, no command before.
    pub fn new(system: &System, dialect: Dialect) -> Checker {
        let channels = vec![ChannelHistory::new(system); usize::from(system.geometry.channels())];
        let report = ViolationReport::new(ViolationReport::KEPT, system.bin.standard);
        Checker { setting: Setting::new(system, dialect), channels, report, finished: false }
    }

    /// Sets the number of violations that are stored in full. All are counted.
    #[must_use]
    pub fn keeping(self, most: usize) -> Checker {
        Checker { report: ViolationReport::new(most, self.report.standard()), ..self }
    }

    /// The first violations up to now, as [`ViolationReport::violations`].
    pub fn violations(&self) -> &[Violation] {
        self.report.violations()
    }

    /// The number of all violations up to now, including those not stored.
    pub fn total(&self) -> u64 {
        self.report.total()
    }

    /// The number of violations of a rule up to now.
    pub const fn count(&self, rule: Rule) -> u64 {
        self.report.count(rule)
    }

    /// The report up to now.
    pub const fn report(&self) -> &ViolationReport {
        &self.report
    }

    /// Checks the maxima at the end of the run as [`EventSink::finish`] does, but only of some ranks: for a stream that
    /// has the commands of these ranks alone.
    pub fn finish_ranks(&mut self, end: Cycle, is_checked: impl Fn(Channel, u8) -> bool) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        let Checker { setting, channels, report, finished: _ } = self;
        for (channel, history) in (0..).map(Channel).zip(&*channels) {
            let at = history.last.map_or(end, |last| last.at.max(end));
            for (rank, history) in (0..).zip(&history.ranks).filter(|(rank, _)| is_checked(channel, *rank)) {
                history.check_end(&mut Check::of_end(setting, report, at, channel, rank));
            }
        }
    }

    /// Converts the checker into its report. The maxima at the end of the run are checked by [`EventSink::finish`].
    pub fn into_report(self) -> ViolationReport {
        self.report
    }
}

impl Checker {
    /// Checks a command. The checker follows the open rows by itself, so it needs no effect.
    pub fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        let issued = Issued { at, channel, command: *command };
        let Checker { setting, channels, report, finished: _ } = self;
        let mut check = Check::of(setting, report, &issued);
        match channels.get_mut(usize::from(channel.0)) {
            Some(history) => {
                history.check(&mut check, command);
                history.record(&issued, setting);
            }
            None => check.state(Rule::Address, None),
        }
    }

    /// Checks the commands and the end of a log.
    pub fn replay(&mut self, log: &CommandLog) {
        log.commands.iter().for_each(|issued| self.push(issued.at, issued.channel, &issued.command));
        self.finish(log.end);
    }
}

impl EventSink for Checker {
    fn command(&mut self, event: &CommandEvent) {
        self.push(event.at, event.channel, &event.command);
    }

    /// Checks a run of columns as a whole, with the violations of its commands one by one.
    ///
    /// If the first two commands break no rule, neither does a later one whose columns exist:
    ///
    /// - The commands have no auto-precharge, after which the second one would break `bank-closed`. So they change no
    ///   row and no power state, and of the history only the last commands of their own kind: the state rules hold as
    ///   for the second command, and after the last command, nothing of the others is left.
    /// - The distance to the command of the run before it is the second one's distance to the first.
    /// - The distance to a command before the run is longer than that of the second command. A command before the run
    ///   at a later instant, to which a distance is checked only after that instant, requires an earlier violation of
    ///   `order`.
    /// - A column command ends no maximum.
    fn run(&mut self, run: &ColumnRun) {
        let broken = self.total();
        let mut events = run.events();
        events.by_ref().take(2).for_each(|event| self.command(&event));
        let last = run.event(run.lines - 1).issued();
        if self.total() == broken && self.count(Rule::Order) == 0 && exists(&self.setting.geometry, &last.command) {
            let history = self.channels.get_mut(usize::from(last.channel.0)).expect("its commands were checked");
            history.record(&last, &self.setting);
        } else {
            events.for_each(|event| self.command(&event));
        }
    }

    /// Checks the maxima at the end of the run. Only the first call has an effect. An `end` before the last command of
    /// a channel is replaced by the instant of that command.
    fn finish(&mut self, end: Cycle) {
        self.finish_ranks(end, |_, _| true);
    }
}

/// Checks a whole log, including its end.
///
/// Returns the first [`ViolationReport::KEPT`] violations; none means that the log complies with every rule.
pub fn audit(system: &System, dialect: Dialect, log: &CommandLog) -> Vec<Violation> {
    let mut checker = Checker::new(system, dialect);
    checker.replay(log);
    checker.into_report().into_violations()
}
