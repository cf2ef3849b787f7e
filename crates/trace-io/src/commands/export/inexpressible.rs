//! Commands that not every format has.

use dram_spec::{Command, CommandEvent, CommandKind, OfferedBy};

use crate::LineError;

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
    /// The error for the command in a format that cannot express it.
    pub(super) fn unsupported(self, event: &CommandEvent) -> LineError {
        let what = match self {
            Inexpressible::CopyActivation => ", to an open bank, is a command of RowClone",
            Inexpressible::OfMechanism(..) => " is a command of RowClone",
            Inexpressible::OfSomeStandards(kind, _) => &format!(" is {}", kind.what()),
        };
        let help = match self {
            Inexpressible::OfSomeStandards(..) => "or write a command log: `--to log`",
            _ => "or write an HDL list: `--to hdl`",
        };
        let CommandEvent { at, command, .. } = event;
        LineError::new(
            format!("cycle {at}: {command}{what}, which the format cannot express"),
            format!("leave such commands out with `--drop-unsupported`, {help}"),
        )
    }
}
