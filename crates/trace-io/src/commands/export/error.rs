//! Errors of exports.

use std::io;

use dram_spec::{Channel, Command, Cycle};

use super::NotProgrammable;

/// Reason why a trace cannot be exported. The caller adds the line of the command.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format lacks the command.
    #[error(
        "cycle {at}: {command}{} is a command of RowClone, which the format cannot express",
        if *is_copy { ", to an open bank," } else { "" }
    )]
    Unsupported {
        /// Cycle.
        at: Cycle,
        /// Command.
        command: Command,
        /// Whether it is a copy activation, and not a TRANSFER or an RBM.
        is_copy: bool,
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

impl ExportError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Unsupported { .. } => {
                "leave such commands out with `--drop-unsupported`, or write an HDL list: `--to hdl`".into()
            }
            Self::Address { .. } => "give the system that the trace is of".into(),
            Self::Order { .. } | Self::PowerState { .. } => {
                "`rowclone-sim check` lists all violations of the trace".into()
            }
            Self::Registers(_) => "give a system with parameters that DDR3 mode registers can hold".into(),
            Self::Output(_) => "check that the output may be written to, and has room".into(),
        }
    }
}
