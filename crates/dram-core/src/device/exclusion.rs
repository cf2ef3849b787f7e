//! Forbidden distances of two WRs between permitted ones.

use dram_spec::Cycle;

use super::Device;
use crate::constraints::KeptKind;
use crate::hold::Hold;

impl Device {
    /// Whether some distances of two commands are forbidden that are longer than a permitted one: a command that is
    /// legal then becomes illegal for a time. Such a device needs [`Self::advance_to`].
    pub fn has_exclusion(&self) -> bool {
        self.constraints.exclusion.is_some()
    }

    /// Excludes commands before `now`, so that one which keeps no shorter distance is delayed to the next permitted
    /// one. Returns the next cycle in which time alone delays a command.
    pub fn advance_to(&mut self, now: Cycle) -> Cycle {
        let (mut next, Some(exclusion)) = (Cycle::NEVER, self.constraints.exclusion) else { return Cycle::NEVER };
        for rank in 0..self.geometry.ranks() {
            let last = self.last_writes[rank];
            if last == Cycle::NEVER {
                continue;
            }
            if now < exclusion.begins(last) {
                next = next.min(exclusion.begins(last));
                continue;
            }
            for group in self.topology.groups(rank) {
                let floor = &mut self.floors.of_mut(group)[KeptKind::Wr as usize];
                // Within a run of WRs, which does not advance the device, tCCD_L may end in the same cycle.
                if exclusion.hold(last).until() > floor.until() {
                    *floor = exclusion.hold(last);
                }
            }
        }
        next
    }

    /// The delay of a WR to a rank that ends in no forbidden cycle.
    pub(super) fn not_excluded(&self, rank: u8, hold: Hold) -> Hold {
        let last = self.last_writes[rank];
        match self.constraints.exclusion {
            Some(exclusion) if last != Cycle::NEVER && exclusion.contains(hold.until().since(last)) => {
                exclusion.hold(last)
            }
            _ => hold,
        }
    }

    /// Excludes distances after a WR, which keeps those after the WR before it.
    pub(super) fn exclude_after(&mut self, at: Cycle, rank: u8) {
        let until = self.not_excluded(rank, Hold::at(at)).until();
        assert!(until == at, "a WR to rank {rank} at cycle {at}: not before cycle {until} by a forbidden distance");
        self.last_writes[rank] = at;
    }
}
