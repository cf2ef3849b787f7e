//! Names of copy mechanisms.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use derive_more::Display;

use crate::CommandKind;

/// A mechanism of copying or initializing rows: a name, and a rank in the `RowClone` paper's order
/// of preference.
///
/// Statistics and tables are keyed by it. The crate `rowclone` defines one constant per mechanism.
#[derive(Clone, Copy, Debug, Display)]
#[display("{}", self.name())]
pub struct Mechanism(&'static MechanismInfo);

/// Definition of a [`Mechanism`].
#[derive(Debug)]
pub struct MechanismInfo {
    /// Name in outputs: "fpm".
    pub name: &'static str,
    /// Name in labels of figures: "FPM".
    pub label: &'static str,
    /// Rank; 0 is preferred. Ranks are unique.
    pub rank: u8,
    /// Commands that it needs and that JEDEC does not define.
    pub commands: &'static [CommandKind],
}

impl Mechanism {
    /// Over the memory channel, with RD and WR. It can serve every part of a copy, so it ranks last.
    pub const CHANNEL: Mechanism =
        Mechanism::new(&MechanismInfo { name: "channel", label: "channel", rank: u8::MAX, commands: &[] });

    /// Creates a mechanism.
    pub const fn new(info: &'static MechanismInfo) -> Mechanism {
        Mechanism(info)
    }

    /// Name in outputs: "fpm".
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Name in labels of figures: "FPM".
    pub const fn label(self) -> &'static str {
        self.0.label
    }

    /// Commands that it needs and that JEDEC does not define.
    pub const fn commands(self) -> &'static [CommandKind] {
        self.0.commands
    }

    /// Whether the chips of the `RowClone` paper offer it: reports name the others only where they are
    /// used.
    pub const fn is_in_every_chip(self) -> bool {
        let mut index = 0;
        while index < self.0.commands.len() {
            if !self.0.commands[index].is_in_all_standards() {
                return false;
            }
            index += 1;
        }
        true
    }

    /// Rank; 0 is preferred.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0.rank
    }
}

impl PartialEq for Mechanism {
    #[inline]
    fn eq(&self, other: &Mechanism) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Mechanism {}

impl PartialOrd for Mechanism {
    fn partial_cmp(&self, other: &Mechanism) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// In the order in which the paper prefers mechanisms: FPM first, the channel last.
impl Ord for Mechanism {
    fn cmp(&self, other: &Mechanism) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl Hash for Mechanism {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
    }
}
