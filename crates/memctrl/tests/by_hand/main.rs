//! Numbers worked out on paper for what the engine and its plain counterpart share: estimates, the refresh deadline, percentiles.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod estimate;
mod histogram;
mod refresh;

use dram_spec::{
    BankId, CopyActivations, Density, Geometry, PrechargePowerDown, RawGeometry, Refresh, SpeedBin, System, Width,
};

/// DDR3-1066G, one rank of eight banks, 64 lines a row. Clocks: CL 8, CWL 6, BL/2 4, tRCD 8, tRP 8, tRAS 20, tRC 28, tRRD 4, tCCD 4,
/// tRTP 4, tWR 8, tXP 4, tDLLK 512, tREFI 4160.
fn system(channels: u64, refresh: Refresh) -> System {
    let (density, width) = (Density::Gb2, Width::X8);
    let raw = RawGeometry { channels, ranks: 1, density, width, row_bytes: 4096, rows_per_subarray: 512 };
    System {
        bin: SpeedBin::named("1066G").unwrap(),
        geometry: Geometry::try_from(raw).unwrap(),
        copy_activations: CopyActivations::Counted,
        precharge_power_down: PrechargePowerDown::FastExit,
        refresh,
    }
}

const fn bank(bank: u8) -> BankId {
    BankId { rank: 0, bank }
}
