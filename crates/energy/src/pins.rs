//! The data pins of a rank, and what driving and terminating them takes.

use dram_spec::datasheet::BURST;
use dram_spec::{Clock, Picojoule, Width};

/// Read output driver, mW a pin, while a burst is read.
///
/// This and the three below: `DRAMPower` 4.x, `MemoryPowerModel.cc`, "conservative, from Micron's DDR3 power calculator".
pub const READ_DRIVER_MW: f64 = 4.6;
/// Termination in the rank written to, mW a pin, while a burst is written.
pub const WRITE_TERMINATION_MW: f64 = 21.2;
/// Termination in another rank, mW a pin, while a burst is read.
pub const IDLE_READ_TERMINATION_MW: f64 = 15.5;
/// Termination in another rank, mW a pin, while a burst is written.
pub const IDLE_WRITE_TERMINATION_MW: f64 = 15.4;

/// Strobes of a chip, a differential pair counting as one: one for each eight data pins, and one on x4.
pub const fn strobes(width: Width) -> u64 {
    match width {
        Width::X4 | Width::X8 => 1,
        Width::X16 => 2,
    }
}

/// Data-mask pins of a chip that a module wires: one for each eight data pins. None on x4, whose modules use those
/// lines for the strobes of the other nibble.
pub const fn masks(width: Width) -> u64 {
    match width {
        Width::X4 => 0,
        Width::X8 => 1,
        Width::X16 => 2,
    }
}

/// Pins of a rank that are busy during a read: DQ and DQS. Eight x8 chips: 72.
pub const fn read_pins(width: Width) -> u64 {
    (width.pins() + strobes(width)) * width.chips()
}

/// Pins of a rank that are busy during a write: DQ, DQS and DM. Eight x8 chips: 80.
pub const fn write_pins(width: Width) -> u64 {
    read_pins(width) + masks(width) * width.chips()
}

/// What so many pins of `mw` each take during one burst. 72 pins of 4.6 mW at DDR3-1066: 7.5 ns, 2484 pJ.
pub fn burst(mw: f64, pins: u64, clock: Clock) -> Picojoule {
    Picojoule(mw * pins as f64 * clock.ns(BURST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_has_so_many_busy_pins() {
        let pins = Width::ALL.map(|width| (read_pins(width), write_pins(width)));
        assert_eq!(pins, [(80, 80), (72, 80), (72, 80)]);
    }
}
