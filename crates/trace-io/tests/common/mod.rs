//! The system of the tests' logs.

use dram_spec::{
    CopyActivations, Density, Geometry, PrechargePowerDown, RawGeometry, Refresh, SpeedBin, Standard, System, Width,
};

/// DDR3-1066 8-8-8, two ranks, rows of 8 KB.
pub fn system() -> System {
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 2,
        density: Density::Gb2,
        width: Width::X8,
        row_bytes: 8192,
        rows_per_subarray: 512,
    };
    System::new(
        SpeedBin::named("1066G").expect("a bin of the table"),
        Geometry::try_from(raw).expect("a legal geometry"),
    )
}
