//! Parameters of a memory system that determine which command streams are legal, and their energy.

use crate::datasheet::{Density, SpeedBin, Width};
use crate::geometry::{Geometry, PAPER_ROW_BYTES, RawGeometry};
use crate::units::{Clock, Cycles, Min};

/// Whether a copy activation counts as an activation in tRRD and tFAW. The sources do not specify
/// it; see `docs/decisions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CopyActivations {
    /// Counts in both (the default, which is conservative).
    #[default]
    Counted,
    /// Counts in neither, as an earlier or as a later activation.
    Free,
}

/// Exit of precharge power-down (MR0 bit 12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrechargePowerDown {
    /// The DLL stays on: tXP to any command; current IDD2P1.
    #[default]
    FastExit,
    /// The DLL is off: tXP, but tXPDLL to a read or write; current IDD2P0.
    SlowExit,
}

/// Refresh requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refresh {
    /// One REF is due each `t_refi_ps`: 7,800,000 at or below 85 C, 3,900,000 above.
    Every {
        /// tREFI in ps.
        t_refi_ps: u64,
    },
    /// No REF is due: for measurements of a device without refresh.
    Off,
}

impl Refresh {
    /// tREFI at or below 85 C, in ps.
    pub const T_REFI_PS: u64 = 7_800_000;
    /// 7.8 us.
    pub const NORMAL: Refresh = Refresh::Every { t_refi_ps: Self::T_REFI_PS };

    /// tREFI in ps. With refresh off it is 7.8 us, as rules in units of tREFI still apply.
    pub const fn interval_ps(self) -> u64 {
        match self {
            Refresh::Every { t_refi_ps } => t_refi_ps,
            Refresh::Off => Self::T_REFI_PS,
        }
    }

    /// tREFI in clocks, rounded down; see [`Refresh::interval_ps`].
    pub const fn interval(self, clock: Clock) -> Cycles {
        clock.at_most(self.interval_ps())
    }
}

/// Commands that a stream may contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Plain DDR3: an ACT to an open bank and a TRANSFER are violations.
    Jedec,
    /// DDR3 with copy activations and TRANSFER.
    #[default]
    RowClone,
}

impl Dialect {
    /// Name in logs and command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Jedec => "jedec",
            Dialect::RowClone => "rowclone",
        }
    }
}

/// Parameters of a memory system that its commands depend on: bin, geometry, options. All channels
/// are equal.
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
    /// Exit of precharge power-down.
    pub precharge_power_down: PrechargePowerDown,
    /// Refresh interval.
    pub refresh: Refresh,
}

impl System {
    /// The memory of the `RowClone` paper, with these chips: DDR3-1066 8-8-8, one rank, rows of 4
    /// KB, 512 rows per subarray, copy activations counted, tREFI 7.8 us.
    ///
    /// # Panics
    /// If `channels` is not 1, 2, 4 or 8.
    pub fn paper(channels: u64, density: Density, width: Width) -> System {
        let (row_bytes, rows_per_subarray) = (PAPER_ROW_BYTES, 512);
        let raw = RawGeometry { channels, ranks: 1, density, width, row_bytes, rows_per_subarray };
        System {
            bin: SpeedBin::named("1066G").expect("it is in the table of bins"),
            geometry: Geometry::try_from(raw).expect("every rank can have the paper's rows"),
            copy_activations: CopyActivations::Counted,
            precharge_power_down: PrechargePowerDown::FastExit,
            refresh: Refresh::NORMAL,
        }
    }

    /// tRFC: the value of the density, unless the bin replaces it.
    pub fn t_rfc(&self) -> Min {
        self.bin.t_rfc.unwrap_or(self.geometry.density().t_rfc())
    }

    /// tXS = max(5 nCK, tRFC + 10 ns). Source: Samsung K4B2G0446D rev 1.01, table 49.
    pub fn t_xs(&self) -> Min {
        let clock = self.clock();
        let after_refresh = clock.at_least(self.t_rfc()) + clock.at_least(Min::ps(10_000));
        match self.bin.t_rfc {
            Some(_) => Min::ck(after_refresh.0.max(5)),
            None => self.geometry.density().t_xs(),
        }
    }

    /// Clock of the bin.
    pub const fn clock(&self) -> Clock {
        self.bin.clock
    }
}
