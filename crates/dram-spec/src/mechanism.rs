//! Names of copy mechanisms.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A way to copy or initialize rows: a name, and its rank in the order in which the `RowClone` paper prefers mechanisms.
///
/// Statistics and tables are keyed by it. The planner's crate defines one constant for each mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism(&'static MechanismInfo);

/// What a [`Mechanism`] stands for.
#[derive(Debug)]
pub struct MechanismInfo {
    /// The name, as in outputs: "fpm".
    pub name: &'static str,
    /// The rank: 0 is preferred. No two mechanisms have the same.
    pub rank: u8,
}

impl Mechanism {
    /// Over the memory channel, with RD and WR. It can serve every part of a copy, so it ranks last.
    pub const CHANNEL: Mechanism = Mechanism::new(&MechanismInfo { name: "channel", rank: u8::MAX });

    /// A mechanism.
    pub const fn new(info: &'static MechanismInfo) -> Mechanism {
        Mechanism(info)
    }

    /// The name, as in outputs: "fpm".
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The rank: 0 is preferred.
    pub const fn rank(self) -> u8 {
        self.0.rank
    }
}

impl PartialEq for Mechanism {
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

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
