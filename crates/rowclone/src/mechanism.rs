//! Copy mechanisms.

use dram_spec::{Mechanism, MechanismInfo};

/// Fast parallel mode: a whole row by a copy activation within one subarray.
pub const FPM: Mechanism = Mechanism::new(&MechanismInfo { name: "fpm", rank: 0 });
/// Pipelined serial mode: one TRANSFER per line, between two banks of a rank.
pub const PSM: Mechanism = Mechanism::new(&MechanismInfo { name: "psm", rank: 1 });
/// Two TRANSFERs per line within one bank, through the temporary row of another bank.
pub const PSM2: Mechanism = Mechanism::new(&MechanismInfo { name: "psm2", rank: 2 });

/// All mechanisms, in their order: as the paper prefers them.
pub const MECHANISMS: [Mechanism; 4] = [FPM, PSM, PSM2, Mechanism::CHANNEL];

/// The mechanism with this name.
pub fn mechanism(name: &str) -> Option<Mechanism> {
    MECHANISMS.into_iter().find(|mechanism| mechanism.name() == name)
}
