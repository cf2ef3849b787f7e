//! The command stream: the product of a simulation, and all that its readers see.

use crate::command::{Channel, Command};
use crate::units::Cycle;

/// How many accesses wait in the queues of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Entries of the read queue.
    pub reads: u64,
    /// Entries of the write queue.
    pub writes: u64,
}

/// Reads each command as it is issued.
///
/// Within a channel instants never fall; between channels they may be up to one engine step apart in either order.
pub trait CommandSink {
    /// `command` was put on the bus of `channel` at `at`.
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command);

    /// Whether it is to be told what is left in the queues.
    #[inline]
    fn wants_queues(&self) -> bool {
        false
    }

    /// After a command of `channel` at `at`, so many accesses were left in its queues. Only a controller tells, and only who wants it.
    #[inline]
    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        let _ = (at, channel, queued);
    }

    /// Nothing follows; the run lasted until `end`.
    fn finish(&mut self, end: Cycle) {
        let _ = end;
    }
}

/// A sink that reads nothing.
impl CommandSink for () {
    fn push(&mut self, _: Cycle, _: Channel, _: &Command) {}
}

impl<S: CommandSink + ?Sized> CommandSink for &mut S {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        (**self).push(at, channel, command);
    }
    fn wants_queues(&self) -> bool {
        (**self).wants_queues()
    }
    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        (**self).queued(at, channel, queued);
    }
    fn finish(&mut self, end: Cycle) {
        (**self).finish(end);
    }
}

impl<S: CommandSink> CommandSink for Option<S> {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        if let Some(sink) = self {
            sink.push(at, channel, command);
        }
    }
    fn wants_queues(&self) -> bool {
        self.as_ref().is_some_and(CommandSink::wants_queues)
    }
    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        if let Some(sink) = self {
            sink.queued(at, channel, queued);
        }
    }
    fn finish(&mut self, end: Cycle) {
        if let Some(sink) = self {
            sink.finish(end);
        }
    }
}

impl<A: CommandSink, B: CommandSink> CommandSink for (A, B) {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        self.0.push(at, channel, command);
        self.1.push(at, channel, command);
    }
    fn wants_queues(&self) -> bool {
        self.0.wants_queues() || self.1.wants_queues()
    }
    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        self.0.queued(at, channel, queued);
        self.1.queued(at, channel, queued);
    }
    fn finish(&mut self, end: Cycle) {
        self.0.finish(end);
        self.1.finish(end);
    }
}

/// One command, and when and where it was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The (first) command-bus cycle.
    pub at: Cycle,
    /// The channel.
    pub channel: Channel,
    /// What was said.
    pub command: Command,
}

/// The reader that keeps every command, for tests and small runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLog {
    /// The commands, in the order in which they were issued.
    pub commands: Vec<Issued>,
    /// When the run ended, once it has.
    pub end: Cycle,
}

impl CommandSink for CommandLog {
    fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        self.commands.push(Issued { at, channel, command: *command });
    }
    fn finish(&mut self, end: Cycle) {
        self.end = end;
    }
}

impl CommandLog {
    /// Plays the log to another reader.
    pub fn replay(&self, sink: &mut impl CommandSink) {
        for issued in &self.commands {
            sink.push(issued.at, issued.channel, &issued.command);
        }
        sink.finish(self.end);
    }
}
