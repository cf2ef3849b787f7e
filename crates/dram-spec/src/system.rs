//! Everything about a memory system that decides which command streams are legal, and what they cost.

use crate::datasheet::SpeedBin;
use crate::geometry::Geometry;
use crate::units::{Clock, Cycles};

/// Whether a copy activation counts as an activation in tRRD and tFAW. No source says; see `docs/decisions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CopyActivations {
    /// It counts in both (the default: the conservative reading).
    #[default]
    Counted,
    /// It counts in neither, as an earlier or as a later activation.
    Free,
}

/// How precharge power-down is left (MR0 bit 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrechargePowerDown {
    /// The DLL stays on: tXP to any command; draws IDD2P1.
    #[default]
    FastExit,
    /// The DLL is off: tXP, but tXPDLL to a read or write; draws IDD2P0.
    SlowExit,
}

/// Whether the rows must be refreshed, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refresh {
    /// One REF is due each `t_refi_ps`: 7,800,000 at or below 85 C, 3,900,000 above.
    Every {
        /// tREFI in ps.
        t_refi_ps: u64,
    },
    /// No REF is ever due: for measuring a device apart from its upkeep.
    Off,
}

impl Refresh {
    /// tREFI at or below 85 C, in ps.
    pub const T_REFI_PS: u64 = 7_800_000;
    /// 7.8 us.
    pub const NORMAL: Refresh = Refresh::Every { t_refi_ps: Self::T_REFI_PS };

    /// tREFI in clocks, rounded down. Where refresh is off, that of 7.8 us: tRAS and tPD have maxima all the same.
    pub const fn interval(self, clock: Clock) -> Cycles {
        match self {
            Refresh::Every { t_refi_ps } => clock.at_most(t_refi_ps),
            Refresh::Off => clock.at_most(Self::T_REFI_PS),
        }
    }
}

/// Which commands a stream may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Plain DDR3: an ACT to an open bank and a TRANSFER are violations.
    Jedec,
    /// DDR3 with copy activations and TRANSFER.
    #[default]
    RowClone,
}

/// A memory system as its commands see it: parts, bin, geometry, switches. All channels are alike.
///
/// At cycle 0 all banks are closed, all ranks are awake, and no refresh is owed.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// The speed bin that the system runs at.
    pub bin: &'static SpeedBin,
    /// Channels, ranks, rows.
    pub geometry: Geometry,
    /// Whether copy activations count in tRRD and tFAW.
    pub copy_activations: CopyActivations,
    /// How precharge power-down is left.
    pub precharge_power_down: PrechargePowerDown,
    /// How often refresh is due.
    pub refresh: Refresh,
}

impl System {
    /// The clock of the bin.
    pub const fn clock(&self) -> Clock {
        self.bin.clock
    }
}
