//! Commands without their causes: a log, for tests and for readers of files.

use crate::command::{Channel, Command};
use crate::event::{CommandEvent, EventSink};
use crate::units::Cycle;

/// One command, and when and where it was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The (first) command-bus cycle.
    pub at: Cycle,
    /// The channel.
    pub channel: Channel,
    /// The command.
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

impl EventSink for CommandLog {
    fn command(&mut self, event: &CommandEvent) {
        self.commands.push(event.issued());
    }
    fn finish(&mut self, end: Cycle) {
        self.end = end;
    }
}

impl CommandLog {
    /// Plays the log to another reader.
    pub fn replay(&self, sink: &mut impl EventSink) {
        for issued in &self.commands {
            sink.push(issued.at, issued.channel, &issued.command);
        }
        sink.finish(self.end);
    }
}
