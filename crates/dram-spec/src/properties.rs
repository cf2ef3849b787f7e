//! Properties of commands and of their kinds, for readers that do not distinguish commands.

use std::fmt;

use crate::command::Command;
use crate::coordinates::{BankId, Column, Row};
use crate::units::Picojoule;

/// Operands of a command: what it addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// A row of a bank.
    Row(BankId, Row),
    /// A line of the open row of a bank.
    Line(BankId, Column),
    /// A line of the open row of a bank, and one of another bank of the rank: source and destination.
    Lines((BankId, Column), (BankId, Column)),
    /// A bank.
    Bank(BankId),
    /// The banks of a rank with the number of this bank in their groups ([`crate::Topology::bank_set`]).
    BankSet(BankId),
    /// A rank.
    Rank(u8),
}

/// Constructor of a command from its operands.
#[derive(Clone, Copy, Debug)]
pub enum Constructor {
    /// [`Operands::Row`].
    Row(fn(BankId, Row) -> Command),
    /// [`Operands::Line`].
    Line(fn(BankId, Column) -> Command),
    /// [`Operands::Lines`].
    Lines(fn((BankId, Column), (BankId, Column)) -> Command),
    /// [`Operands::Bank`] and [`Operands::BankSet`].
    Bank(fn(BankId) -> Command),
    /// [`Operands::Rank`].
    Rank(fn(u8) -> Command),
}

/// Effect of a command on the open row of each of its banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The row is open after it, unless the chips drop the command ([`crate::Effect::Dropped`]).
    Opens(Row),
    /// The bank is closed: by PRE, PREA or auto-precharge.
    Closes,
    /// The contents leave the row buffer of the open row, and the bank stays active without an open row.
    Leaves,
    /// None.
    None,
}

/// Chips that have the commands of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferedBy {
    /// Those of every standard.
    AllStandards,
    /// Those of some standards.
    SomeStandards,
    /// Those of the `RowClone` paper, of every standard.
    RowClone,
    /// Those that offer a mechanism with these commands.
    Mechanism,
}

/// Time of the commands of a kind on the command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusTime {
    /// One cycle.
    One,
    /// Two cycles in the standards that have commands of two cycles, else one.
    ByStandard,
    /// Two cycles.
    Two,
}

/// Source of the energy that a command of a kind takes within the chips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChipEnergy {
    /// No energy of its own: that of a PRE is part of that of its ACT.
    Zero,
    /// The current of activations, which includes the precharge that follows.
    Activation,
    /// The energy of an activation, in an account of its own.
    CopyActivation,
    /// The current of reads.
    Read,
    /// The current of writes.
    Write,
    /// The mean of a read and a write.
    Transfer,
    /// The current of refreshes in the refresh mode of the system.
    Refresh,
    /// The current of refreshes of one bank of each group.
    RefreshSameBank,
    /// The current of normal refreshes, in every refresh mode.
    NormalRefresh,
    /// No current of a datasheet.
    Chosen(ChosenEnergy),
}

/// Energy that no current of a datasheet gives. It is linear in the bytes of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenEnergy {
    /// Energy of one unit ([`crate::Effect::units`]) in a row of 8 KB.
    pub per_8_kb: Picojoule,
    /// The unit: "a hop".
    pub unit: &'static str,
}

impl ChosenEnergy {
    /// Energy of one unit in a row of this length.
    pub fn of_row(self, row_bytes: u64) -> Picojoule {
        self.per_8_kb * (row_bytes as f64 / 8192.0)
    }
}

/// Formats `5.7 nJ x row bytes / 8192, a hop (chosen)`.
impl fmt::Display for ChosenEnergy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nJ x row bytes / 8192, {} (chosen)", self.per_8_kb.nj(), self.unit)
    }
}

/// Direction of a burst on the data bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// From the chips: begins CL after the command.
    Read,
    /// To the chips: begins CWL after the command.
    Write,
}

/// A letter for a kind in drawings of command streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Letter.
    pub letter: char,
    /// Meaning in the legend.
    pub meaning: &'static str,
    /// Whether only a bank with an open row receives the command.
    pub needs_open_row: bool,
}

impl Mark {
    /// Mark of commands to banks with an open row.
    pub const fn of_open(letter: char, meaning: &'static str) -> Mark {
        Mark { letter, meaning, needs_open_row: true }
    }

    /// Mark of other commands.
    pub const fn of_any(letter: char, meaning: &'static str) -> Mark {
        Mark { letter, meaning, needs_open_row: false }
    }
}
