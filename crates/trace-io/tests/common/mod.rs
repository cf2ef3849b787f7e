//! The system of the tests' logs.

use dram_spec::geometry::native_row_bytes;
use dram_spec::{Density, Geometry, RawGeometry, SpeedBin, Standard, System, Width};

/// DDR3-1066 8-8-8, two ranks, rows of 8 KB.
pub fn system() -> System {
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 2,
        density: Density::Gb2,
        width: Width::X8,
        row_bytes: 8192,
        rows_per_subarray: 512.into(),
    };
    System::new(
        SpeedBin::named("1066G").expect("a bin of the table"),
        Geometry::try_from(raw).expect("a legal geometry"),
    )
}

/// One channel of a rank of x8 chips, with the rows of the chips.
#[allow(dead_code, reason = "not every test needs it")]
pub fn system_of(bin: &str, density: Density) -> System {
    let bin = SpeedBin::named(bin).expect("a bin of the table");
    let (standard, width) = (bin.standard, Width::X8);
    let row_bytes = native_row_bytes(standard, density, width);
    let raw = RawGeometry { standard, channels: 1, ranks: 1, density, width, row_bytes, rows_per_subarray: 512.into() };
    System::new(bin, Geometry::try_from(raw).expect("a legal geometry"))
}
