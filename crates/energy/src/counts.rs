//! Counts of commands and clocks.

use std::ops::Add;

use dram_spec::{CommandCounts, Cycles, PrechargePowerDown, SlowExit, Standard};

use crate::cause::Cause;

dram_spec::named! {
    /// Power state of a rank, which determines its supply current, and has its name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PowerState {
        /// Awake, a bank open.
        ActiveStandby = "IDD3N",
        /// Awake, all banks closed.
        PrechargedStandby = "IDD2N",
        /// In power-down, a bank open.
        ActivePowerDown = "IDD3P",
        /// In power-down, all banks closed, DLL on.
        FastPowerDown = "IDD2P1",
        /// In power-down, all banks closed, DLL off.
        SlowPowerDown = "IDD2P0",
        /// In self-refresh.
        SelfRefresh = "IDD6",
    }
}

impl PowerState {
    /// State of a rank in power-down with all banks closed. `exit` is that of the power-down that has a
    /// slow exit; where it is not this one, the only exit counts as fast.
    pub fn closed_power_down(standard: Standard, exit: PrechargePowerDown) -> PowerState {
        match (standard.definition().slow_exit, exit) {
            (Some(SlowExit::Precharge), PrechargePowerDown::SlowExit) => PowerState::SlowPowerDown,
            (_, PrechargePowerDown::FastExit) | (None | Some(SlowExit::Active), _) => PowerState::FastPowerDown,
        }
    }

    /// Cause of the energy of the state.
    pub const fn cause(self) -> Cause {
        match self {
            PowerState::ActiveStandby => Cause::BackgroundActive,
            PowerState::PrechargedStandby => Cause::BackgroundPrecharged,
            PowerState::ActivePowerDown => Cause::PowerDownActive,
            PowerState::FastPowerDown => Cause::PowerDownFast,
            PowerState::SlowPowerDown => Cause::PowerDownSlow,
            PowerState::SelfRefresh => Cause::SelfRefresh,
        }
    }
}

/// Commands by kind, and clocks by state, of one rank or of several: two idle ranks add two clocks
/// per clock. All counts are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Commands by kind. Dropped activations take no energy; an SRE counts only if its rank was
    /// awake, because the device then starts one refresh on entry.
    pub commands: CommandCounts,
    /// Clocks in each state, in the order of [`PowerState::ALL`].
    pub clocks: [Cycles; 6],
    /// Clocks in active standby, each multiplied by the number of banks open in it. A bank in a REF counts
    /// as open.
    pub open_bank_clocks: Cycles,
}

impl Counts {
    /// Clocks spent in a state.
    pub const fn in_state(&self, state: PowerState) -> Cycles {
        self.clocks[state as usize]
    }

    /// Difference of two readings of one account.
    ///
    /// # Panics
    ///
    /// If a count is greater in `earlier`, which is then not the earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Counts) -> Counts {
        let mut clocks = self.clocks;
        for (later, earlier) in clocks.iter_mut().zip(earlier.clocks) {
            later.0 = later.0.checked_sub(earlier.0).expect("counts never fall");
        }
        let open_bank_clocks =
            self.open_bank_clocks.0.checked_sub(earlier.open_bank_clocks.0).map(Cycles).expect("counts never fall");
        Counts { commands: self.commands.since(&earlier.commands), clocks, open_bank_clocks }
    }
}

impl Add for Counts {
    type Output = Counts;
    fn add(mut self, other: Counts) -> Counts {
        self.commands += other.commands;
        self.open_bank_clocks += other.open_bank_clocks;
        for (mine, theirs) in self.clocks.iter_mut().zip(other.clocks) {
            *mine += theirs;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::CommandKind;

    use super::*;

    #[test]
    fn states_are_listed_in_their_order() {
        for (index, state) in PowerState::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, index);
        }
    }

    #[test]
    fn since_is_the_inverse_of_addition() {
        let first = Counts {
            commands: CommandCounts::new(3).with(CommandKind::Read, 5),
            clocks: [1, 2, 3, 4, 5, 6].map(Cycles),
            open_bank_clocks: Cycles(7),
        };
        let second = Counts {
            commands: CommandCounts::new(0).with(CommandKind::Read, 1),
            clocks: [9; 6].map(Cycles),
            open_bank_clocks: Cycles(11),
        };
        assert_eq!((first + second).since(&first), second);
    }

    #[test]
    #[should_panic(expected = "counts never fall")]
    fn a_later_reading_cannot_be_the_earlier_one() {
        let _ = Counts::default().since(&Counts { commands: CommandCounts::new(1), ..Counts::default() });
    }
}
