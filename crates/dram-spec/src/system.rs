//! Parameters of a memory system that determine which command streams are legal, and their energy.

use crate::command::CommandKind;
use crate::geometry::{Geometry, PAPER_ROW_BYTES, RawGeometry};
use crate::properties::BusTime;
use crate::standard::{Density, SpeedBin, Width};
use crate::standard::{RefreshMode, Standard};
use crate::units::{Clock, Cycles, Min};

crate::named! {
    /// Whether a copy activation counts as an activation in tRRD and tFAW. The sources do not specify
    /// it; see `docs/decisions`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum CopyActivations {
        /// Counts in both (the default, which is conservative).
        #[default]
        Counted = "counted",
        /// Counts in neither, as an earlier or as a later activation.
        Free = "free",
    }
}

crate::named! {
    /// Exit of precharge power-down (MR0 bit 12).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum PrechargePowerDown {
        /// The DLL stays on: tXP to any command; current IDD2P1.
        #[default]
        FastExit = "fast-exit",
        /// The DLL is off: tXP, but tXPDLL to a read or write; current IDD2P0.
        SlowExit = "slow-exit",
    }
}

/// Refresh requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refresh {
    /// One REF of normal refresh is due each `t_refi_ps`: 7,800,000 at or below 85 C, 3,900,000 above.
    Every {
        /// tREFI in ps.
        t_refi_ps: u64,
    },
    /// No REF is due: for measurements of a device without refresh.
    Off,
}

impl Refresh {
    /// 7.8 us.
    pub const NORMAL: Refresh = Refresh::Every { t_refi_ps: 7_800_000 };
}

crate::named! {
    /// The cycle of a command of two cycles from which distances to other commands count. No public
    /// source says which one JESD79-5 means.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum ReferenceCycle {
        /// The first.
        First = "first",
        /// The second (the default).
        #[default]
        Second = "second",
    }
}

crate::named! {
    /// Commands that a stream may contain.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Dialect {
        /// The plain standard: an ACT to an open bank and a TRANSFER are violations.
        Jedec = "jedec",
        /// The standard with copy activations and TRANSFER.
        #[default]
        RowClone = "rowclone",
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
    /// Refresh mode: one of the standard's.
    pub refresh_mode: &'static RefreshMode,
    /// Reference of commands of two cycles, in standards that have them.
    pub reference_cycle: ReferenceCycle,
}

impl System {
    /// The memory of the `RowClone` paper, with these chips: DDR3-1066 8-8-8, one rank, rows of 4
    /// KB, 512 rows per subarray, copy activations counted, tREFI 7.8 us.
    ///
    /// # Panics
    /// If `channels` is not 1, 2, 4 or 8.
    pub fn paper(channels: u64, density: Density, width: Width) -> System {
        let (row_bytes, rows_per_subarray) = (PAPER_ROW_BYTES, 512.into());
        let bin = SpeedBin::named("1066G").expect("it is in the table of bins");
        let standard = bin.standard;
        let raw = RawGeometry { standard, channels, ranks: 1, density, width, row_bytes, rows_per_subarray };
        System::new(bin, Geometry::try_from(raw).expect("every rank can have the paper's rows"))
    }

    /// The system of a bin and a geometry of its standard, with copy activations counted, fast exit, and
    /// the standard's tREFI and first refresh mode.
    pub fn new(bin: &'static SpeedBin, geometry: Geometry) -> System {
        let definition = bin.standard.definition();
        System {
            bin,
            geometry,
            copy_activations: CopyActivations::Counted,
            precharge_power_down: PrechargePowerDown::FastExit,
            refresh: Refresh::Every { t_refi_ps: definition.t_refi_ps },
            refresh_mode: &definition.refresh_modes[0],
            reference_cycle: ReferenceCycle::Second,
        }
    }

    /// Standard of the chips.
    pub const fn standard(&self) -> Standard {
        self.bin.standard
    }

    /// tREFI in ps. With refresh off it is the standard's, as rules in units of tREFI still apply.
    pub const fn t_refi_ps(&self) -> u64 {
        match self.refresh {
            Refresh::Every { t_refi_ps } => t_refi_ps,
            Refresh::Off => self.standard().definition().t_refi_ps,
        }
    }

    /// Refresh commands of the refresh mode for all banks: one REF, or a REFsb per bank number of a group.
    pub const fn refreshes_per_round(&self) -> u64 {
        if self.refresh_mode.same_bank { self.geometry.chip().banks_per_group as u64 } else { 1 }
    }

    /// Whether distances count from the second cycle of commands of two cycles.
    pub fn counts_from_second_cycle(&self) -> bool {
        self.standard().definition().two_cycle_commands && self.reference_cycle == ReferenceCycle::Second
    }

    /// Distance in which one REF of the refresh mode is due, in clocks, rounded down.
    pub const fn refresh_interval(&self) -> Cycles {
        self.clock().at_most(self.t_refi_ps() / self.refresh_mode.divisor / self.refreshes_per_round())
    }

    /// tRFC of the refresh mode: the value of the chip, unless the bin replaces it.
    pub fn t_rfc(&self) -> Min {
        self.bin.t_rfc.unwrap_or(self.geometry.chip().t_rfc[self.refresh_mode.duration])
    }

    /// tXS, in clocks, after the tRFC of normal refresh.
    pub fn t_xs(&self) -> Min {
        let t_rfc = self.bin.t_rfc.unwrap_or(self.geometry.chip().t_rfc[0]);
        Min::ck(self.standard().definition().t_xs(self.clock(), t_rfc).0)
    }

    /// Clocks of a burst on the data bus.
    pub const fn burst(&self) -> Cycles {
        self.standard().definition().burst
    }

    /// Cycles of a kind of command on the command bus.
    pub const fn bus_cycles(&self, kind: CommandKind) -> Cycles {
        let two = match kind.bus_time() {
            BusTime::One => false,
            BusTime::ByStandard => self.standard().definition().two_cycle_commands,
            BusTime::Two => true,
        };
        Cycles(if two { 2 } else { 1 })
    }

    /// Clock of the bin.
    pub const fn clock(&self) -> Clock {
        self.bin.clock
    }
}
