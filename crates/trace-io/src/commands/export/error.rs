//! Errors of exports.

use std::io;

use dram_spec::{Channel, Command, CommandEvent, CommandKind, Cycle, OfferedBy, SpeedBin, Standard};

use super::NotProgrammable;

/// Reason why a trace cannot be exported. The caller adds the line of the command.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format lacks the command.
    #[error(
        "cycle {at}: {command}{}, which the format cannot express",
        match what {
            Inexpressible::CopyActivation => ", to an open bank, is a command of RowClone".to_owned(),
            Inexpressible::OfMechanism(..) => " is a command of RowClone".to_owned(),
            Inexpressible::OfSomeStandards(kind, _) => format!(" is {}", kind.what()),
        }
    )]
    Unsupported {
        /// Cycle.
        at: Cycle,
        /// Command.
        command: Command,
        /// What it is.
        what: Inexpressible,
    },
    /// The format is that of another standard.
    #[error("the format is one of {} chips only, and the system is {}", supported.name(), found.full_name())]
    Standard {
        /// Standard of the format.
        supported: Standard,
        /// Bin of the system.
        found: &'static SpeedBin,
    },
    /// The system does not have the channel, rank, bank, row or column.
    #[error("cycle {at}: the system does not have the place of {command}, channel {}", channel.0)]
    Address {
        /// Cycle.
        at: Cycle,
        /// Channel.
        channel: Channel,
        /// Command.
        command: Command,
    },
    /// A command before the last one of its rank.
    #[error("cycle {at}: {command} follows a command at cycle {last}")]
    Order {
        /// Cycle.
        at: Cycle,
        /// Command.
        command: Command,
        /// Cycle of the command before.
        last: Cycle,
    },
    /// A power-down entry of a rank that is not awake, or an exit of one that is not in power-down.
    #[error("cycle {at}: {command} of a rank {state}")]
    PowerState {
        /// Cycle.
        at: Cycle,
        /// Command.
        command: Command,
        /// State of the rank.
        state: &'static str,
    },
    /// The mode registers cannot hold a timing parameter.
    #[error(transparent)]
    Registers(#[from] NotProgrammable),
    /// The output failed.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// A command that not every format has, in the order of reports. Commands with a mnemonic of their own have it, after
/// their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inexpressible {
    /// A command of a copy mechanism: a comment in an HDL list, left out otherwise.
    OfMechanism(CommandKind, &'static str),
    /// ACT to an open bank: an ACT in an HDL list, left out otherwise.
    CopyActivation,
    /// A command of some standards only: left out.
    OfSomeStandards(CommandKind, &'static str),
}

impl Inexpressible {
    /// The command, if not every format has it.
    pub const fn of(event: &CommandEvent) -> Option<Inexpressible> {
        let (kind, mnemonic) = (event.kind(), event.command.mnemonic());
        match kind.offered_by() {
            OfferedBy::AllStandards => None,
            OfferedBy::SomeStandards => Some(Inexpressible::OfSomeStandards(kind, mnemonic)),
            OfferedBy::RowClone | OfferedBy::Mechanism => match event.command {
                Command::Activate { .. } => Some(Inexpressible::CopyActivation),
                _ => Some(Inexpressible::OfMechanism(kind, mnemonic)),
            },
        }
    }

    /// Name in messages: "copy activation".
    pub const fn name(self) -> &'static str {
        match self {
            Inexpressible::CopyActivation => "copy activation",
            Inexpressible::OfMechanism(_, mnemonic) | Inexpressible::OfSomeStandards(_, mnemonic) => mnemonic,
        }
    }
}

impl ExportError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Unsupported { what: Inexpressible::OfSomeStandards(..), .. } => {
                "leave such commands out with `--drop-unsupported`, or write a command log: `--to log`".into()
            }
            Self::Unsupported { .. } => {
                "leave such commands out with `--drop-unsupported`, or write an HDL list: `--to hdl`".into()
            }
            Self::Standard { .. } => {
                "write another format, for example `--to drampower`, which takes every standard".into()
            }
            Self::Address { .. } => "give the system that the trace is of".into(),
            Self::Order { .. } | Self::PowerState { .. } => {
                "`rowclone-sim check` lists all violations of the trace".into()
            }
            Self::Registers(_) => "give a system with parameters that the mode registers can hold".into(),
            Self::Output(_) => "check that the output may be written to, and has room".into(),
        }
    }
}
