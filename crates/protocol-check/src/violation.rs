//! One violation: the rule, the two commands, and the distance.

use std::fmt;

use dram_spec::{Channel, Cycle, Cycles, Issued};

use crate::rule::{Rule, Sort};

/// A violation of a rule by one command, or at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The instant of the command, or the end of the run.
    pub at: Cycle,
    /// The channel.
    pub channel: Channel,
    /// The rank of the command, or at the end of the run the rank that breaks the maximum.
    pub rank: u8,
    /// The command that breaks the rule; none for a maximum that is exceeded at the end of the run.
    pub command: Option<Issued>,
    /// The earlier command that the distance is counted from, or that caused the state; none where no command did.
    pub earlier: Option<Issued>,
    /// The minimum or maximum, in clocks; none for state rules. For `REF-postponed`, the last legal instant of the
    /// overdue REF on the rank's refresh clock.
    pub bound: Option<Cycles>,
    /// The clocks below a minimum or above a maximum; for `order`, the clocks to the later command before this one;
    /// none for the other state rules.
    pub clocks_short: Option<u64>,
    /// The source of the rule in the standard of the system.
    pub source: &'static str,
}

impl Violation {
    /// The distance in the stream, in clocks; none for state rules.
    ///
    /// For `REF-gap` and `REF-postponed` it is counted on the rank's refresh clock, which stops in self-refresh.
    pub fn found(&self) -> Option<Cycles> {
        let (Cycles(bound), difference) = (self.bound?, self.clocks_short?);
        match self.rule.sort() {
            Sort::Timing => Some(Cycles(bound.saturating_sub(difference))),
            Sort::Maximum => Some(Cycles(bound.saturating_add(difference))),
            Sort::State => None,
        }
    }
}

/// One line: `cycle 17, channel 0: RD r0 b3 col 4 breaks tRCD: 7 clocks after ACT r0 b3 row 9 at cycle 10, needs 8
/// (1 short) [JESD79-3: ACT to RD, WR]`.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { rule, at, channel, rank, command, earlier, bound, clocks_short, source } = self;
        write!(f, "cycle {at}, channel {}: ", channel.0)?;
        match command {
            Some(issued) => write!(f, "{} breaks {rule}", issued.command)?,
            None => write!(f, "the end of the run breaks {rule} in rank {rank}")?,
        }
        if let (Some(found), Some(bound), Some(difference)) = (self.found(), bound, clocks_short) {
            write!(f, ": {found} clocks")?;
            if matches!(rule, Rule::RefGap | Rule::RefPostponed) {
                f.write_str(" of the refresh clock")?;
            }
            match earlier {
                Some(earlier) => write!(f, " after {} at cycle {}", earlier.command, earlier.at)?,
                None => f.write_str(" after cycle 0")?,
            }
            match rule.sort() {
                Sort::Timing | Sort::State => write!(f, ", needs {bound} ({difference} short)")?,
                Sort::Maximum => write!(f, ", at most {bound} ({difference} over)")?,
            }
        } else if let Some(earlier) = earlier {
            write!(f, ": after {} at cycle {}", earlier.command, earlier.at)?;
        }
        write!(f, " [{source}: {}]", rule.what())
    }
}
