//! Kinds of commands, by which commands are counted and priced, and arrays indexed by them.

use std::fmt;
use std::ops::{AddAssign, Index, IndexMut};

use crate::command::{AutoPrecharge, BankId, Column, Command, Row};

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

macro_rules! kinds {
    ($($variant:ident = $name:literal, $what:literal;)*) => {
        /// Kind of a command and its effect, for counts, energies and prices.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CommandKind {
            $(#[doc = concat!($what, ".")] $variant,)*
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
        }
    };
}

#[rustfmt::skip] // One kind per line.
kinds! {
    Activate         = "ACT",         "ACT to a closed bank";
    CopyActivate     = "ACT copy",    "ACT to an open bank, in the open row's subarray: a copy activation";
    DroppedActivate  = "ACT dropped", "ACT to an open bank, in another subarray: dropped by the chips";
    Precharge        = "PRE",         "PRE and PREA";
    Read             = "RD",          "RD and RDA";
    Write            = "WR",          "WR and WRA";
    Transfer         = "TRANSFER",    "TRANSFER";
    MoveRowBuffer    = "RBM hop",     "RBM, counted by hops";
    Refresh          = "REF",         "REF";
    RefreshSameBank  = "REFsb",       "REFsb";
    PowerDownEnter   = "PDE",         "PDE";
    SelfRefreshEnter = "SRE",         "SRE";
    WakeUp           = "PDX or SRX",  "PDX and SRX";
}

impl CommandKind {
    /// Kind of a command that had this effect.
    #[inline]
    pub const fn of(command: &Command, effect: Effect) -> CommandKind {
        match command {
            Command::Activate { .. } => match effect {
                Effect::Plain | Effect::Moved { .. } => CommandKind::Activate,
                Effect::Copied { .. } => CommandKind::CopyActivate,
                Effect::Dropped { .. } => CommandKind::DroppedActivate,
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

    /// Whether every standard has such commands, or `RowClone` adds them to it.
    pub const fn is_in_all_standards(self) -> bool {
        !matches!(self, CommandKind::RefreshSameBank | CommandKind::MoveRowBuffer)
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

/// One value per [`CommandKind`].
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct PerKind<T>([T; CommandKind::ALL.len()]);

/// Number of commands of each kind.
pub type CommandCounts = PerKind<u64>;

impl<T> PerKind<T> {
    /// The value of each kind, computed in the order of [`CommandKind::ALL`].
    pub fn from_fn(value: impl FnMut(CommandKind) -> T) -> PerKind<T> {
        PerKind(CommandKind::ALL.map(value))
    }
}

impl<T: Copy> PerKind<T> {
    /// An equal value for every kind.
    pub const fn new(value: T) -> PerKind<T> {
        PerKind([value; CommandKind::ALL.len()])
    }

    /// Replaces the value of a kind.
    #[must_use]
    pub const fn with(mut self, kind: CommandKind, value: T) -> PerKind<T> {
        self.0[kind as usize] = value;
        self
    }
}

impl CommandCounts {
    /// Counts a command that had this effect. A row buffer movement counts once per hop.
    #[inline]
    pub const fn count(&mut self, command: &Command, effect: Effect) {
        let units = if let Effect::Moved { hops, .. } = effect { hops as u64 } else { 1 };
        self.0[CommandKind::of(command, effect) as usize] += units;
    }

    /// Difference of two readings of the same counters.
    ///
    /// # Panics
    /// If a count is greater in `earlier`, which is then not the earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &CommandCounts) -> CommandCounts {
        PerKind::from_fn(|kind| self[kind].checked_sub(earlier[kind]).expect("counts never fall"))
    }
}

impl<T> Index<CommandKind> for PerKind<T> {
    type Output = T;

    #[inline]
    fn index(&self, kind: CommandKind) -> &T {
        &self.0[kind as usize]
    }
}

impl<T> IndexMut<CommandKind> for PerKind<T> {
    #[inline]
    fn index_mut(&mut self, kind: CommandKind) -> &mut T {
        &mut self.0[kind as usize]
    }
}

/// Formats `{Activate: 1, CopyActivate: 0, …}`.
impl<T: fmt::Debug> fmt::Debug for PerKind<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(CommandKind::ALL.iter().zip(&self.0)).finish()
    }
}

impl<T: AddAssign> AddAssign for PerKind<T> {
    fn add_assign(&mut self, other: PerKind<T>) {
        for (sum, value) in self.0.iter_mut().zip(other.0) {
            *sum += value;
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

    #[test]
    fn counts_are_indexed_by_kind_and_added() {
        let mut counts = CommandCounts::new(0).with(CommandKind::Read, 3).with(CommandKind::WakeUp, 1);
        counts[CommandKind::Read] += 1;
        counts += CommandCounts::default().with(CommandKind::Write, 2).with(CommandKind::Read, 5);
        let expected = |kind| match kind {
            CommandKind::Read => 9,
            CommandKind::Write => 2,
            CommandKind::WakeUp => 1,
            _ => 0,
        };
        assert_eq!(counts, PerKind::from_fn(expected));
    }
}
