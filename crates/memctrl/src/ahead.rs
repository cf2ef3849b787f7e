//! What an older party's column access keeps back.

use dram_spec::Command;

/// Column accesses of older parties that wait for the device: a younger one must not push them back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    /// A RD or WR waits for the data bus.
    data_bus: bool,
    /// Ranks, as a mask, where a RD or WR waits.
    bursts: u8,
    /// Ranks, as a mask, where a TRANSFER waits.
    transfers: u8,
}

impl Ahead {
    /// An older party has that access to make, and waits for the device.
    pub(crate) fn wait_for(&mut self, command: &Command) {
        let rank = 1 << command.rank();
        if let Command::Transfer { .. } = command {
            self.transfers |= rank;
        } else {
            self.data_bus = true;
            self.bursts |= rank;
        }
    }

    /// Whether the command would go on a bus, the channel's or a rank's own, that an older access waits for.
    pub(crate) fn keeps_back(self, command: &Command) -> bool {
        let rank = 1 << command.rank();
        if let Command::Transfer { .. } = command {
            (self.bursts | self.transfers) & rank != 0
        } else {
            self.data_bus || self.transfers & rank != 0
        }
    }
}
