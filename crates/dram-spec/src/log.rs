//! Command logs: commands without their causes and effects.

use crate::command::Command;
use crate::coordinates::Channel;
use crate::event::{CommandEvent, EventSink, Issued};
use crate::geometry::Geometry;
use crate::rows::OpenRows;
use crate::units::Cycle;

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
    /// Adds a command.
    pub fn push(&mut self, at: Cycle, channel: Channel, command: &Command) {
        self.commands.push(Issued { at, channel, command: *command });
    }

    /// Sends the log to a sink. Effects follow from the subarrays of `geometry`.
    pub fn replay(&self, geometry: Geometry, sink: &mut impl EventSink) {
        let mut rows = OpenRows::new(geometry);
        for issued in &self.commands {
            sink.command(&rows.event(*issued));
        }
        sink.finish(self.end);
    }
}
