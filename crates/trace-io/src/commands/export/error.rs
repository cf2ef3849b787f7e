//! Errors of exports.

use std::io;

use dram_spec::{Channel, Command, Cycle, SpeedBin, Standard};

use super::NotProgrammable;

/// Reason why a trace cannot be exported. The caller adds the line of the command.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format lacks the command.
    #[error(
        "cycle {at}: {command}{}, which the format cannot express",
        match what {
            Inexpressible::CopyActivation => ", to an open bank, is a command of RowClone",
            Inexpressible::Transfer | Inexpressible::Movement => " is a command of RowClone",
            Inexpressible::SameBankRefresh => " is a refresh of one bank of each group",
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

/// A command that not every format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inexpressible {
    /// ACT to an open bank.
    CopyActivation,
    /// TRANSFER.
    Transfer,
    /// RBM.
    Movement,
    /// REFsb.
    SameBankRefresh,
}

impl ExportError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::Unsupported { what: Inexpressible::SameBankRefresh, .. } => {
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
