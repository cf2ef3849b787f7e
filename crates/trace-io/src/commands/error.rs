//! Errors of command traces of other simulators.

use dram_spec::Standard;

use super::ramulator2;
use crate::line::LineError;

/// Reason why a command trace cannot be read, with the line (counted from 1).
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The line cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line has too few or too many fields.
    #[error("line {line}: is `{found}`, but a line has {expected}")]
    Shape {
        /// Line.
        line: u64,
        /// Text of the line.
        found: String,
        /// Fields of a line.
        expected: &'static str,
    },
    /// A field is invalid.
    #[error("line {line}: `{field}` is `{found}`, but must be {expected}")]
    Field {
        /// Line.
        line: u64,
        /// Name of the field.
        field: &'static str,
        /// Value found.
        found: String,
        /// Valid values.
        expected: String,
    },
    /// The trace has commands that the format does not have.
    #[error("line {line}: unknown {}", listed("command", found))]
    UnknownCommand {
        /// Line of the first.
        line: u64,
        /// Names, from this line to the end of the trace; at most [`TraceError::UNKNOWN_MAX`].
        found: Vec<String>,
        /// Names of the format.
        known: String,
    },
    /// The memory system does not have what the line says.
    #[error("line {line}: {what}")]
    NotInStandard {
        /// Line.
        line: u64,
        /// What it does not have.
        what: String,
        /// Standard of the memory system.
        standard: Standard,
    },
    /// The first line does not name the levels of the memory system.
    #[error("line {line}: {what}")]
    Header {
        /// Line.
        line: u64,
        /// The fault.
        what: String,
        /// Standard of the memory system.
        standard: Standard,
        /// Whether its levels include bank groups.
        has_groups: bool,
    },
    /// A command of another channel than the rest of the file.
    #[error("line {line}: channel {found}, but the commands before are of channel {expected}")]
    OtherChannel {
        /// Line.
        line: u64,
        /// Channel of the line.
        found: u8,
        /// Channel of the file.
        expected: u8,
    },
    /// A power-down with the other exit than that of the memory system.
    #[error("line {line}: is `{found}`, but the system has `precharge_power_down = \"{system}\"`")]
    PowerDown {
        /// Line.
        line: u64,
        /// Command.
        found: String,
        /// Exit of the system.
        system: &'static str,
    },
    /// A line after `END`.
    #[error("line {line}: is `{found}`, but the trace ended in line {end}")]
    AfterEnd {
        /// Line.
        line: u64,
        /// Text of the line.
        found: String,
        /// Line of `END`.
        end: u64,
    },
}

/// `command `A``, or `commands `A`, `B``.
fn listed(noun: &str, names: &[String]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{noun}{plural} {}", names.join(", "))
}

impl TraceError {
    /// Greatest number of unknown commands that an error lists.
    pub const UNKNOWN_MAX: usize = 8;

    /// Line, counted from 1.
    pub const fn line(&self) -> u64 {
        match self {
            Self::Line(error) => error.line(),
            Self::Shape { line, .. }
            | Self::Field { line, .. }
            | Self::UnknownCommand { line, .. }
            | Self::NotInStandard { line, .. }
            | Self::Header { line, .. }
            | Self::OtherChannel { line, .. }
            | Self::PowerDown { line, .. }
            | Self::AfterEnd { line, .. } => *line,
        }
    }

    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Line(error) => error.help(),
            Self::Shape { .. } | Self::Field { .. } => {
                "correct the line, or name the trace's format; docs/command-traces.md has the grammars".into()
            }
            Self::UnknownCommand { known, .. } => format!("the commands of this format are {known}"),
            Self::NotInStandard { standard, .. } => format!("give a trace of a {} memory", standard.name()),
            Self::Header { standard, has_groups, .. } => {
                format!("the first line of {} is `{}`", standard.name(), ramulator2::first_line(*has_groups))
            }
            Self::OtherChannel { .. } => "give one file per channel, as the tools write them".into(),
            Self::PowerDown { .. } => "give the system that the trace is of".into(),
            Self::AfterEnd { .. } => "leave out what follows `END`, or the `END`".into(),
        }
    }
}
