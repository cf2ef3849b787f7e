//! Commands on the command bus of a channel, and the kinds by which they are counted and priced.
//!
//! A command is defined here: its operands, its mnemonic, and one row of the table of kinds. Most readers of
//! commands ask for [`Command::operands`], [`Command::row_change`] and the properties of its kind, and need
//! no change for a further command.

use std::fmt;

use crate::coordinates::{BankId, Column, Row};
use crate::properties::{Burst, BusTime, ChipEnergy, ChosenEnergy, Effect, Mark, OfferedBy, Operands, RowChange};
use crate::units::Picojoule;

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

macro_rules! mnemonics {
    ($($name:literal => $form:ident($command:expr);)*) => {
        /// All mnemonics, in the order of reports.
        pub const MNEMONICS: [&'static str; [$($name),*].len()] = [$($name),*];

        /// Constructor of the command with a mnemonic, if there is one.
        #[inline]
        pub fn constructor(mnemonic: &[u8]) -> Option<Constructor> {
            $(
                if mnemonic == $name.as_bytes() {
                    return Some(Constructor::$form($command));
                }
            )*
            None
        }
    };
}

#[rustfmt::skip] // One mnemonic per line.
impl Command {
    mnemonics! {
        "ACT"      => Row(|bank, row| Command::Activate { bank, row });
        "PRE"      => Bank(|bank| Command::Precharge { bank });
        "PREA"     => Rank(|rank| Command::PrechargeAll { rank });
        "RD"       => Line(|bank, column| Command::Read { bank, column, auto_precharge: AutoPrecharge::No });
        "RDA"      => Line(|bank, column| Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes });
        "WR"       => Line(|bank, column| Command::Write { bank, column, auto_precharge: AutoPrecharge::No });
        "WRA"      => Line(|bank, column| Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes });
        "TRANSFER" => Lines(|(src, src_column), (dst, dst_column)| {
            Command::Transfer { src, src_column, dst, dst_column }
        });
        "RBM"      => Row(|bank, row| Command::MoveRowBuffer { bank, row });
        "REF"      => Rank(|rank| Command::Refresh { rank });
        "REFsb"    => Bank(|bank| Command::RefreshSameBank { bank });
        "PDE"      => Rank(|rank| Command::PowerDownEnter { rank });
        "PDX"      => Rank(|rank| Command::PowerDownExit { rank });
        "SRE"      => Rank(|rank| Command::SelfRefreshEnter { rank });
        "SRX"      => Rank(|rank| Command::SelfRefreshExit { rank });
    }
}

impl Command {
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

    /// Operands of the command.
    #[inline]
    pub const fn operands(&self) -> Operands {
        match *self {
            Command::Activate { bank, row } | Command::MoveRowBuffer { bank, row } => Operands::Row(bank, row),
            Command::Precharge { bank } => Operands::Bank(bank),
            Command::RefreshSameBank { bank } => Operands::BankSet(bank),
            Command::Read { bank, column, .. } | Command::Write { bank, column, .. } => Operands::Line(bank, column),
            Command::Transfer { src, src_column, dst, dst_column } => {
                Operands::Lines((src, src_column), (dst, dst_column))
            }
            Command::PrechargeAll { rank }
            | Command::Refresh { rank }
            | Command::PowerDownEnter { rank }
            | Command::PowerDownExit { rank }
            | Command::SelfRefreshEnter { rank }
            | Command::SelfRefreshExit { rank } => Operands::Rank(rank),
        }
    }

    /// Effect on the open row of each bank of the command.
    #[inline]
    pub const fn row_change(&self) -> RowChange {
        match *self {
            Command::Activate { row, .. } => RowChange::Opens(row),
            Command::Precharge { .. }
            | Command::PrechargeAll { .. }
            | Command::Read { auto_precharge: AutoPrecharge::Yes, .. }
            | Command::Write { auto_precharge: AutoPrecharge::Yes, .. } => RowChange::Closes,
            Command::MoveRowBuffer { .. } => RowChange::Leaves,
            Command::Read { auto_precharge: AutoPrecharge::No, .. }
            | Command::Write { auto_precharge: AutoPrecharge::No, .. }
            | Command::Transfer { .. }
            | Command::Refresh { .. }
            | Command::RefreshSameBank { .. }
            | Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshEnter { .. }
            | Command::SelfRefreshExit { .. } => RowChange::None,
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

    /// The bank that the command names: of a TRANSFER, the source.
    #[inline]
    pub const fn bank(&self) -> Option<BankId> {
        match self.operands() {
            Operands::Row(bank, _)
            | Operands::Line(bank, _)
            | Operands::Lines((bank, _), _)
            | Operands::Bank(bank)
            | Operands::BankSet(bank) => Some(bank),
            Operands::Rank(_) => None,
        }
    }

    /// Rank of the command.
    #[inline]
    pub const fn rank(&self) -> u8 {
        match self.operands() {
            Operands::Row(bank, _)
            | Operands::Line(bank, _)
            | Operands::Lines((bank, _), _)
            | Operands::Bank(bank)
            | Operands::BankSet(bank) => bank.rank,
            Operands::Rank(rank) => rank,
        }
    }
}

/// Formats `RD r0 b3 col 17`.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.mnemonic();
        match self.operands() {
            Operands::Row(bank, row) => write!(f, "{name} r{} b{} row {}", bank.rank, bank.bank, row.0),
            Operands::Line(bank, column) => write!(f, "{name} r{} b{} col {}", bank.rank, bank.bank, column.0),
            Operands::Lines((src, from), (dst, to)) => {
                write!(f, "{name} r{} b{} col {} -> b{} col {}", src.rank, src.bank, from.0, dst.bank, to.0)
            }
            Operands::Bank(bank) | Operands::BankSet(bank) => write!(f, "{name} r{} b{}", bank.rank, bank.bank),
            Operands::Rank(rank) => write!(f, "{name} r{rank}"),
        }
    }
}

macro_rules! kinds {
    ($($variant:ident = $name:literal, $offered:ident, $time:ident, $burst:expr, $energy:ident $(($chosen:expr))?,
        $of:ident($letter:literal, $meaning:literal), $what:literal;)*) => {
        /// Kind of a command and its effect, for counts, energies and prices.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CommandKind {
            $(#[doc = concat!($name, ": ", $what, ".")] $variant,)*
        }

        impl CommandKind {
            /// All kinds, in the order of reports.
            pub const ALL: [CommandKind; [$($name),*].len()] = [$(CommandKind::$variant),*];

            /// Name in results: "ACT copy".
            pub const fn name(self) -> &'static str {
                match self {
                    $(CommandKind::$variant => $name,)*
                }
            }

            /// The commands of the kind in a few words, without a full stop.
            pub const fn what(self) -> &'static str {
                match self {
                    $(CommandKind::$variant => $what,)*
                }
            }

            /// Chips that have the commands.
            pub const fn offered_by(self) -> OfferedBy {
                match self {
                    $(CommandKind::$variant => OfferedBy::$offered,)*
                }
            }

            /// Time on the command bus.
            pub const fn bus_time(self) -> BusTime {
                match self {
                    $(CommandKind::$variant => BusTime::$time,)*
                }
            }

            /// Burst on the data bus, if the commands transfer one.
            #[inline]
            pub const fn burst(self) -> Option<Burst> {
                match self {
                    $(CommandKind::$variant => $burst,)*
                }
            }

            /// Source of the energy within the chips.
            #[inline]
            pub const fn chip_energy(self) -> ChipEnergy {
                match self {
                    $(CommandKind::$variant => ChipEnergy::$energy $(($chosen))?,)*
                }
            }

            /// Letter in drawings; of a TRANSFER, that of its source bank.
            pub const fn mark(self) -> Mark {
                match self {
                    $(CommandKind::$variant => Mark::$of($letter, $meaning),)*
                }
            }
        }
    };
}

/// Energy of one hop of a row buffer movement. Chosen: the slope of the published energies of copies over 1 and
/// 15 hops, (0.17 - 0.09) uJ / 14 (Chang et al., "LISA", HPCA 2016).
const HOP: ChosenEnergy = ChosenEnergy { per_8_kb: Picojoule(5_700.0), unit: "a hop" };

#[rustfmt::skip] // One kind per line.
kinds! {
//  kind               name           offered by     bus time    burst               energy           letter in drawings          what
    Activate         = "ACT",         AllStandards,  ByStandard, None,               Activation,      of_any('A', "ACT"),            "an ACT to a closed bank";
    CopyActivate     = "ACT copy",    RowClone,      ByStandard, None,               CopyActivation,  of_open('C', "ACT (copy)"),    "a copy activation: an ACT to an open bank, in the open row's subarray";
    DroppedActivate  = "ACT dropped", RowClone,      ByStandard, None,               Zero,            of_open('D', "ACT (dropped)"), "an ACT to an open bank, in another subarray: dropped by the chips";
    Precharge        = "PRE",         AllStandards,  One,        None,               Zero,            of_open('P', "PRE"),           "PRE and PREA";
    Read             = "RD",          AllStandards,  ByStandard, Some(Burst::Read),  Read,            of_open('R', "RD"),            "RD and RDA";
    Write            = "WR",          AllStandards,  ByStandard, Some(Burst::Write), Write,           of_open('W', "WR"),            "WR and WRA";
    Transfer         = "TRANSFER",    RowClone,      Two,        None,               Transfer,        of_open('T', "TRANSFER out"),  "a line over the internal bus";
    MoveRowBuffer    = "RBM hop",     Mechanism,     One,        None,               Chosen(HOP),     of_open('M', "RBM"),           "a row buffer movement, counted by hops";
    Refresh          = "REF",         AllStandards,  One,        None,               Refresh,         of_any('F', "REF"),            "a refresh of all banks";
    RefreshSameBank  = "REFsb",       SomeStandards, One,        None,               RefreshSameBank, of_any('f', "REFsb"),          "a refresh of one bank of each group";
    PowerDownEnter   = "PDE",         AllStandards,  One,        None,               Zero,            of_any('Z', "to sleep"),       "an entry into power-down";
    SelfRefreshEnter = "SRE",         AllStandards,  One,        None,               NormalRefresh,   of_any('Z', "to sleep"),       "an entry into self-refresh";
    WakeUp           = "PDX or SRX",  AllStandards,  One,        None,               Zero,            of_any('U', "woken"),          "PDX and SRX";
}

impl CommandKind {
    /// Kind of a command that had this effect.
    #[inline]
    pub const fn of(command: &Command, effect: Effect) -> CommandKind {
        match command {
            Command::Activate { .. } => match effect {
                Effect::Copied { .. } => CommandKind::CopyActivate,
                Effect::Dropped { .. } => CommandKind::DroppedActivate,
                Effect::Plain | Effect::Moved { .. } => CommandKind::Activate,
            },
            Command::Precharge { .. } | Command::PrechargeAll { .. } => CommandKind::Precharge,
            Command::Read { .. } => CommandKind::Read,
            Command::Write { .. } => CommandKind::Write,
            Command::Transfer { .. } => CommandKind::Transfer,
            Command::MoveRowBuffer { .. } => CommandKind::MoveRowBuffer,
            Command::Refresh { .. } => CommandKind::Refresh,
            Command::RefreshSameBank { .. } => CommandKind::RefreshSameBank,
            Command::PowerDownEnter { .. } => CommandKind::PowerDownEnter,
            Command::SelfRefreshEnter { .. } => CommandKind::SelfRefreshEnter,
            Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. } => CommandKind::WakeUp,
        }
    }

    /// Whether every standard has such commands, or `RowClone` adds them to it: reports name the others only
    /// where they occur.
    pub const fn is_in_all_standards(self) -> bool {
        matches!(self.offered_by(), OfferedBy::AllStandards | OfferedBy::RowClone)
    }

    /// Commands of this kind in rank 0, one per mnemonic, with their effect: inputs for tests of
    /// code that must handle every kind.
    pub fn examples(self) -> Vec<(Command, Effect)> {
        use AutoPrecharge::{No, Yes};
        const BANK: BankId = BankId { rank: 0, bank: 0 };
        const DST: BankId = BankId { rank: 0, bank: 1 };
        let (rank, bank, column) = (BANK.rank, BANK, Column(2));
        let activate = |effect| vec![(Command::Activate { bank, row: Row(5) }, effect)];
        let plain = |commands: &[Command]| commands.iter().map(|command| (*command, Effect::Plain)).collect();
        match self {
            CommandKind::Activate => activate(Effect::Plain),
            CommandKind::CopyActivate => activate(Effect::Copied { src: Row(4) }),
            CommandKind::DroppedActivate => activate(Effect::Dropped { open: Row(4096) }),
            CommandKind::Precharge => plain(&[Command::Precharge { bank }, Command::PrechargeAll { rank }]),
            CommandKind::Read => plain(&[No, Yes].map(|auto_precharge| Command::Read { bank, column, auto_precharge })),
            CommandKind::Write => {
                plain(&[No, Yes].map(|auto_precharge| Command::Write { bank, column, auto_precharge }))
            }
            CommandKind::Transfer => {
                plain(&[Command::Transfer { src: bank, src_column: column, dst: DST, dst_column: Column(3) }])
            }
            CommandKind::MoveRowBuffer => {
                vec![(Command::MoveRowBuffer { bank, row: Row(512) }, Effect::Moved { src: Row(4), hops: 1 })]
            }
            CommandKind::Refresh => plain(&[Command::Refresh { rank }]),
            CommandKind::RefreshSameBank => plain(&[Command::RefreshSameBank { bank }]),
            CommandKind::PowerDownEnter => plain(&[Command::PowerDownEnter { rank }]),
            CommandKind::SelfRefreshEnter => plain(&[Command::SelfRefreshEnter { rank }]),
            CommandKind::WakeUp => plain(&[Command::PowerDownExit { rank }, Command::SelfRefreshExit { rank }]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn kinds_are_listed_in_their_order_and_under_distinct_names() {
        for (index, kind) in CommandKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(CommandKind::ALL.iter().filter(|other| other.name() == kind.name()).count(), 1, "{kind:?}");
        }
    }

    #[test]
    fn examples_are_of_their_kind_and_have_every_mnemonic() {
        let mut mnemonics = BTreeSet::new();
        for kind in CommandKind::ALL {
            for (command, effect) in kind.examples() {
                assert_eq!(CommandKind::of(&command, effect), kind);
                mnemonics.insert(command.mnemonic());
            }
        }
        assert_eq!(mnemonics, BTreeSet::from(Command::MNEMONICS));
    }

    /// The constructor of each mnemonic makes the example with it from the operands of the example.
    #[test]
    fn commands_are_made_of_their_mnemonic_and_their_operands() {
        for (command, _) in CommandKind::ALL.into_iter().flat_map(CommandKind::examples) {
            let constructor = Command::constructor(command.mnemonic().as_bytes()).expect("it is a mnemonic");
            let made = match (constructor, command.operands()) {
                (Constructor::Row(make), Operands::Row(bank, row)) => make(bank, row),
                (Constructor::Line(make), Operands::Line(bank, column)) => make(bank, column),
                (Constructor::Lines(make), Operands::Lines(src, dst)) => make(src, dst),
                (Constructor::Bank(make), Operands::Bank(bank) | Operands::BankSet(bank)) => make(bank),
                (Constructor::Rank(make), Operands::Rank(rank)) => make(rank),
                other => panic!("{command}: {other:?}"),
            };
            assert_eq!(made, command);
        }
        assert!(Command::constructor(b"ACT ").is_none());
    }
}
