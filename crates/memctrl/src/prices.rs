//! What commands cost, as far as a choice between mechanisms goes.

use dram_spec::Picojoule;

/// The energy above standby of each command that a copy may need, all chips of the rank together, with what its burst costs on the
/// channel. The controller is handed it; it knows no currents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceTable {
    /// An ACT of a closed bank, with the PRE that ends it.
    pub activate: Picojoule,
    /// A copy activation.
    pub copy_activate: Picojoule,
    /// A RD, with I/O and termination.
    pub read: Picojoule,
    /// A WR, with I/O and termination.
    pub write: Picojoule,
    /// A TRANSFER.
    pub transfer: Picojoule,
}
