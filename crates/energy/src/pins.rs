//! Data pins of a rank, and the energy of driving and terminating them.

use dram_spec::{Clock, Cycles, Geometry, Picojoule, Width};

/// Strobes of a chip, a differential pair counting as one: one per eight data pins, and one on x4.
pub const fn strobes(width: Width) -> u64 {
    match width {
        Width::X4 | Width::X8 => 1,
        Width::X16 => 2,
    }
}

/// Data-mask pins of a chip on a module: one per eight data pins. None on x4, whose modules use
/// those pins for the strobes of the other nibble.
pub const fn masks(width: Width) -> u64 {
    match width {
        Width::X4 => 0,
        Width::X8 => 1,
        Width::X16 => 2,
    }
}

/// Pins of a rank driven during a read: DQ and DQS. Eight x8 chips: 72.
pub const fn read_pins(geometry: &Geometry) -> u64 {
    (geometry.width().pins() + strobes(geometry.width())) * geometry.chips()
}

/// Pins of a rank driven during a write: DQ, DQS and DM. Eight x8 chips: 80.
pub const fn write_pins(geometry: &Geometry) -> u64 {
    read_pins(geometry) + masks(geometry.width()) * geometry.chips()
}

/// Energy of `pins` pins of `mw` each during one burst. 72 pins of 4.6 mW at DDR3-1066: 7.5 ns,
/// 2484 pJ.
pub fn burst(mw: f64, pins: u64, clock: Clock, burst: Cycles) -> Picojoule {
    Picojoule(mw * pins as f64 * clock.ns(burst))
}

#[cfg(test)]
mod tests {
    use dram_spec::{Density, System};

    use super::*;

    #[test]
    fn driven_pins_of_a_rank_depend_on_the_width() {
        let pins = Width::ALL.map(|width| {
            let geometry = System::paper(1, Density::Gb2, width).geometry;
            (read_pins(&geometry), write_pins(&geometry))
        });
        assert_eq!(pins, [(80, 80), (72, 80), (72, 80)]);
    }
}
