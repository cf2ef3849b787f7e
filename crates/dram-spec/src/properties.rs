//! Properties of commands and of their kinds, for readers that do not distinguish commands.

use derive_more::Display;

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

/// Effect of a command beyond its usual effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None.
    Plain,
    /// A copy activation copied a row.
    Copied {
        /// Row that was open.
        src: Row,
    },
    /// A copy activation to another subarray than that of the open row, which the chip dropped.
    Dropped {
        /// Row that is still open.
        open: Row,
    },
    /// A row buffer movement moved the contents of a row.
    Moved {
        /// Row that was open.
        src: Row,
        /// Subarrays from that of the open row to that of the destination.
        hops: u16,
    },
}

impl Effect {
    /// Units by which the command is counted and priced: the hops of a row buffer movement, else 1.
    #[inline]
    pub const fn units(self) -> u64 {
        if let Effect::Moved { hops, .. } = self { hops as u64 } else { 1 }
    }

    /// Row from which a copy activation copied.
    pub const fn copied_from(self) -> Option<Row> {
        if let Effect::Copied { src } = self { Some(src) } else { None }
    }

    /// What to add to the description of a command: " (copy)".
    pub fn remark(self) -> String {
        match self {
            Effect::Plain => String::new(),
            Effect::Copied { .. } => " (copy)".to_owned(),
            Effect::Dropped { .. } => " (dropped)".to_owned(),
            Effect::Moved { src, hops } => format!(" from row {}, hops {hops}", src.0),
        }
    }

    /// The row of a command and the effect on it: "row 5 (copies 4)".
    pub fn with_row(self, row: Row) -> String {
        match self {
            Effect::Plain => format!("row {}", row.0),
            Effect::Copied { src } => format!("row {} (copies {})", row.0, src.0),
            Effect::Dropped { .. } => format!("row {} (dropped)", row.0),
            Effect::Moved { src, hops } => format!("row {} -> row {} (hops {hops})", src.0, row.0),
        }
    }
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
///
/// Displayed as `5.7 nJ x row bytes / 8192, a hop (chosen)`.
#[derive(Clone, Copy, Debug, PartialEq, Display)]
#[display("{} nJ x row bytes / 8192, {unit} (chosen)", per_8_kb.nj())]
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
