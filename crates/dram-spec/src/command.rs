//! Commands on the command bus of a channel.

use std::fmt;

/// A memory channel, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u8);

/// A bank of one rank of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BankId {
    /// Rank within its channel, counted from 0.
    pub rank: u8,
    /// Bank within its rank, counted from 0 over all bank groups.
    pub bank: u8,
}

/// A row of a bank, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(pub u32);

/// A column of a row, counted in bursts: column 3 is the fourth 64-byte line of the row.
///
/// A burst is eight of JEDEC's columns, and sixteen in DDR5: JEDEC's column address is this one times 8 or 16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column(pub u16);

/// Whether a column access precharges its bank (A10 high: RDA, WRA).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AutoPrecharge {
    /// RDA, WRA.
    Yes,
    /// RD, WR.
    No,
}

/// One command on the command bus of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// ACT: opens `row`. To a bank that is already open, it is `RowClone`'s copy activation.
    Activate {
        /// Bank.
        bank: BankId,
        /// Row to open, or to which the open row is copied.
        row: Row,
    },
    /// PRE: closes a bank. No effect on a closed bank.
    Precharge {
        /// Bank.
        bank: BankId,
    },
    /// PREA: closes all banks of a rank.
    PrechargeAll {
        /// Rank.
        rank: u8,
    },
    /// RD or RDA: reads one burst from the open row.
    Read {
        /// Bank.
        bank: BankId,
        /// Line of the row.
        column: Column,
        /// RD or RDA.
        auto_precharge: AutoPrecharge,
    },
    /// WR or WRA: writes one burst to the open row.
    Write {
        /// Bank.
        bank: BankId,
        /// Line of the row.
        column: Column,
        /// WR or WRA.
        auto_precharge: AutoPrecharge,
    },
    /// TRANSFER, `RowClone`'s serial mode: copies one burst from an open row to an open row of
    /// another bank of the same rank, over the internal bus. Takes two command-bus cycles, of which
    /// the event's cycle is the first.
    Transfer {
        /// Source bank.
        src: BankId,
        /// Source line.
        src_column: Column,
        /// Destination bank: another bank of the same rank.
        dst: BankId,
        /// Destination line.
        dst_column: Column,
    },
    /// RBM, LISA's row buffer movement: the sense amplifiers of the open row's subarray drive those of
    /// the subarray of `row`, hop by hop. The bank then has no open row until an ACT in that subarray,
    /// which stores the contents.
    MoveRowBuffer {
        /// Bank.
        bank: BankId,
        /// Row whose subarray receives the contents.
        row: Row,
    },
    /// REF: refreshes the next rows of all banks of a rank. All banks must be closed.
    Refresh {
        /// Rank.
        rank: u8,
    },
    /// REFsb: refreshes the next rows of the banks of a rank that have this number in their groups.
    /// These banks must be closed.
    RefreshSameBank {
        /// One of the banks.
        bank: BankId,
    },
    /// PDE: CKE low. Active power-down if a bank is open, else precharge power-down.
    PowerDownEnter {
        /// Rank.
        rank: u8,
    },
    /// PDX: CKE high.
    PowerDownExit {
        /// Rank.
        rank: u8,
    },
    /// SRE: self-refresh entry. All banks must be closed.
    SelfRefreshEnter {
        /// Rank.
        rank: u8,
    },
    /// SRX: self-refresh exit.
    SelfRefreshExit {
        /// Rank.
        rank: u8,
    },
}

impl Command {
    /// All mnemonics, in the order of reports.
    pub const MNEMONICS: [&'static str; 15] =
        ["ACT", "PRE", "PREA", "RD", "RDA", "WR", "WRA", "TRANSFER", "RBM", "REF", "REFsb", "PDE", "PDX", "SRE", "SRX"];

    /// Mnemonic in logs. A copy activation is an ACT on the bus, and in logs.
    pub const fn mnemonic(&self) -> &'static str {
        use AutoPrecharge::{No, Yes};
        match self {
            Command::Activate { .. } => "ACT",
            Command::Precharge { .. } => "PRE",
            Command::PrechargeAll { .. } => "PREA",
            Command::Read { auto_precharge: No, .. } => "RD",
            Command::Read { auto_precharge: Yes, .. } => "RDA",
            Command::Write { auto_precharge: No, .. } => "WR",
            Command::Write { auto_precharge: Yes, .. } => "WRA",
            Command::Transfer { .. } => "TRANSFER",
            Command::MoveRowBuffer { .. } => "RBM",
            Command::Refresh { .. } => "REF",
            Command::RefreshSameBank { .. } => "REFsb",
            Command::PowerDownEnter { .. } => "PDE",
            Command::PowerDownExit { .. } => "PDX",
            Command::SelfRefreshEnter { .. } => "SRE",
            Command::SelfRefreshExit { .. } => "SRX",
        }
    }

    /// The column command some columns further on.
    ///
    /// # Panics
    /// If it is no column command.
    #[must_use]
    #[inline]
    pub const fn further(mut self, columns: u16) -> Command {
        match &mut self {
            Command::Read { column, .. } | Command::Write { column, .. } => column.0 += columns,
            Command::Transfer { src_column, dst_column, .. } => {
                src_column.0 += columns;
                dst_column.0 += columns;
            }
            _ => panic!("only column commands have columns"),
        }
        self
    }

    /// Rank of the command.
    pub const fn rank(&self) -> u8 {
        match self {
            Command::Activate { bank, .. }
            | Command::Precharge { bank }
            | Command::MoveRowBuffer { bank, .. }
            | Command::RefreshSameBank { bank }
            | Command::Read { bank, .. }
            | Command::Write { bank, .. } => bank.rank,
            Command::Transfer { src, .. } => src.rank,
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => *rank,
        }
    }
}

impl fmt::Display for BankId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} bank {}", self.rank, self.bank)
    }
}

/// Formats `RD r0 b3 col 17`.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.mnemonic();
        match self {
            Command::Activate { bank, row } | Command::MoveRowBuffer { bank, row } => {
                write!(f, "{name} r{} b{} row {}", bank.rank, bank.bank, row.0)
            }
            Command::Precharge { bank } | Command::RefreshSameBank { bank } => {
                write!(f, "{name} r{} b{}", bank.rank, bank.bank)
            }
            Command::Read { bank, column, .. } | Command::Write { bank, column, .. } => {
                write!(f, "{name} r{} b{} col {}", bank.rank, bank.bank, column.0)
            }
            Command::Transfer { src, src_column, dst, dst_column } => write!(
                f,
                "{name} r{} b{} col {} -> b{} col {}",
                src.rank, src.bank, src_column.0, dst.bank, dst_column.0
            ),
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => write!(f, "{name} r{rank}"),
        }
    }
}
