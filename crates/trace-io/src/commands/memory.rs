//! The memory system of a trace, as far as its lines depend on it.

use dram_spec::standard::SlowExit;
use dram_spec::topology::BankIndex;
use dram_spec::{BankId, PrechargePowerDown, Standard, System, Topology};

use crate::LineError;

/// Standard and banks of the memory system that a trace is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) standard: Standard,
    pub(super) topology: Topology,
    precharge_power_down: PrechargePowerDown,
}

impl Memory {
    pub(super) const fn of(system: &System) -> Memory {
        let (standard, topology) = (system.standard(), system.geometry.topology());
        Memory { standard, topology, precharge_power_down: system.precharge_power_down }
    }

    /// Whether traces name the group of a bank.
    pub(super) const fn has_groups(self) -> bool {
        self.topology.has_groups()
    }

    /// The bank of a group: its number is that of the group times the banks per group, plus that in the group.
    pub(super) fn bank(self, rank: u8, group: u8, bank: u8) -> Result<BankId, LineError> {
        let Topology { banks_per_group: per_group, .. } = self.topology;
        let (name, groups) = (self.standard.name(), self.topology.groups_per_rank());
        if group >= groups {
            let what = match groups {
                1 => format!("bank group {group}, but {name} has none"),
                _ => format!("bank group {group}, but the chips have {groups}"),
            };
            return Err(self.lacks(what));
        }
        // Without groups, the checker reports a bank that the chips do not have.
        if self.has_groups() && bank >= per_group {
            return Err(self.lacks(format!("bank {bank} of a group, but a group has {per_group}")));
        }
        Ok(BankId { rank, bank: group * per_group + bank })
    }

    /// Whether the standard has a refresh of one bank of each group (REFsb).
    pub(super) fn has_same_bank_refresh(self) -> bool {
        self.standard.definition().refresh_modes.iter().any(|mode| mode.same_bank)
    }

    /// Index of a bank, if the memory has it.
    pub(super) fn index(self, bank: BankId) -> Option<BankIndex> {
        let Topology { ranks, banks_per_rank, .. } = self.topology;
        (bank.rank < ranks && bank.bank < banks_per_rank).then(|| self.topology.index(bank))
    }

    /// The exit of the power-down that can have a slow one, and whether that is active power-down.
    pub(super) fn exit(self) -> (PrechargePowerDown, bool) {
        (self.precharge_power_down, self.standard.definition().slow_exit == Some(SlowExit::Active))
    }

    /// The error for what the memory does not have.
    pub(super) fn lacks(self, what: String) -> LineError {
        LineError::new(what, format!("give a trace of a {} memory", self.standard.name()))
    }
}
