//! Command logs: commands without their causes.

use crate::command::{Channel, Command};
use crate::event::{CommandEvent, EventSink};
use crate::units::Cycle;

/// A command, its cycle and its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// First command-bus cycle.
    pub at: Cycle,
    /// Channel.
    pub channel: Channel,
    /// Command.
    pub command: Command,
}

/// A sink that stores all commands, for tests and small runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLog {
    /// Commands, in the order of issue.
    pub commands: Vec<Issued>,
    /// End of the run, once it has ended.
    pub end: Cycle,
}

impl EventSink for CommandLog {
    fn command(&mut self, event: &CommandEvent) {
        self.commands.push(event.issued());
    }
    fn finish(&mut self, end: Cycle) {
        self.end = end;
    }
}

impl CommandLog {
    /// Sends the log to another sink.
    pub fn replay(&self, sink: &mut impl EventSink) {
        for issued in &self.commands {
            sink.push(issued.at, issued.channel, &issued.command);
        }
        sink.finish(self.end);
    }
}
