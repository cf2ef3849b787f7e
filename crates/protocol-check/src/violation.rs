//! One broken rule: who broke it, against what, and by how much.

use std::fmt;

use dram_spec::{Channel, Cycle, Cycles, Issued};

use crate::rule::{Rule, Sort};

/// A rule broken by one command, or at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// When: the instant of the command, or the end of the run.
    pub at: Cycle,
    /// The channel.
    pub channel: Channel,
    /// The rank that the command is for, or that the rule is about.
    pub rank: u8,
    /// The command that broke the rule; none where a maximum was still running when the run ended.
    pub command: Option<Issued>,
    /// The earlier command that the distance is counted from, or that brought about the state; none where there was
    /// none, or where it tells nothing.
    pub earlier: Option<Issued>,
    /// The least or greatest distance that is legal, in clocks; none for state rules. For `REF-postponed` it is the
    /// instant of the rank's refresh clock by which the REF was due at the latest.
    pub bound: Option<Cycles>,
    /// How many clocks are missing to a minimum, or too many for a maximum; for `order`, how far the command goes back;
    /// none for other state rules.
    pub clocks_short: Option<u64>,
}

impl Violation {
    /// The distance found, in clocks; none for state rules.
    ///
    /// For `REF-gap` and `REF-postponed` it is counted on the rank's refresh clock, which stands still in self-refresh.
    pub fn found(&self) -> Option<Cycles> {
        let (Cycles(bound), off) = (self.bound?, self.clocks_short?);
        match self.rule.sort() {
            Sort::Timing => Some(Cycles(bound.saturating_sub(off))),
            Sort::Maximum => Some(Cycles(bound.saturating_add(off))),
            Sort::State => None,
        }
    }
}

/// One line: `cycle 17, channel 0: RD r0 b3 col 4 breaks tRCD: 7 clocks after ACT r0 b3 row 9 at cycle 10, needs 8
/// (1 short) [JESD79-3: ACT to RD, WR]`.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { rule, at, channel, rank, command, earlier, bound, clocks_short } = self;
        write!(f, "cycle {at}, channel {}: ", channel.0)?;
        match command {
            Some(issued) => write!(f, "{} breaks {rule}", issued.command)?,
            None => write!(f, "the end of the run breaks {rule} in rank {rank}")?,
        }
        if let (Some(found), Some(bound), Some(off)) = (self.found(), bound, clocks_short) {
            write!(f, ": {found} clocks")?;
            if matches!(rule, Rule::RefGap | Rule::RefPostponed) {
                f.write_str(" of the refresh clock")?;
            }
            match earlier {
                Some(earlier) => write!(f, " after {} at cycle {}", earlier.command, earlier.at)?,
                None => f.write_str(" after cycle 0")?,
            }
            match rule.sort() {
                Sort::Timing | Sort::State => write!(f, ", needs {bound} ({off} short)")?,
                Sort::Maximum => write!(f, ", at most {bound} ({off} over)")?,
            }
        } else if let Some(earlier) = earlier {
            write!(f, ": after {} at cycle {}", earlier.command, earlier.at)?;
        }
        write!(f, " [{}: {}]", rule.source(), rule.what())
    }
}
