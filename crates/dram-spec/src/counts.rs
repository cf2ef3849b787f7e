//! Arrays indexed by kinds of commands, and counts of commands.

use std::fmt;
use std::ops::AddAssign;

use crate::command::{Command, CommandKind};
use crate::properties::Effect;
use crate::topology::index_by;

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
    /// Counts a command that had this effect, by its [units](Effect::units).
    #[inline]
    pub const fn count(&mut self, command: &Command, effect: Effect) {
        self.0[CommandKind::of(command, effect) as usize] += effect.units();
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

index_by!(PerKind by CommandKind: |kind| kind as usize);

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
    use super::*;

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
