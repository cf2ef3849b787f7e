//! Hand-computed numbers and command listings.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod acceptance;
mod admission;
mod bandwidth;
mod copies;
mod devices;
mod drive;
mod epochs;
mod estimate;
mod histogram;
mod idle;
mod lisa;
mod refresh;
mod refresh_idle;
mod schedulers;
mod source_order;
mod stepping;
mod subarrays;
mod two_channels;
mod unused;

use std::sync::Arc;

use dram_spec::address::{AddressMap, MapPreset};
use dram_spec::{
    BankId, Cycle, Density, Geometry, Operation, PhysicalAddress, RawGeometry, Refresh, RequestId, SourceId, SpeedBin,
    Standard, System, Width,
};
use memctrl::policy::copy::BASELINE;
use memctrl::{Config, Request};
use rowclone::{FaultyRows, Planner};

/// DDR3-1066G, one rank of eight banks, 64 lines per row. Cycles: CL 8, CWL 6, BL/2 4, tRCD 8, tRP 8, tRAS 20, tRC 28,
/// tRRD 4, tCCD 4, tRTP 4, tWR 8, tWTR 4, tXP 4, tDLLK 512, tREFI 4160, tRFC 86.
fn system(channels: u64, refresh: Refresh) -> System {
    let (density, width) = (Density::Gb2, Width::X8);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks: 1,
        density,
        width,
        row_bytes: 4096,
        rows_per_subarray: 512.into(),
    };
    System { refresh, ..System::new(SpeedBin::named("1066G").unwrap(), Geometry::try_from(raw).unwrap()) }
}

/// Default configuration of a controller of this system, with copies over the channel.
fn config_of(system: System, preset: MapPreset) -> Config {
    let map = AddressMap::preset(system.geometry, preset);
    Config::new(system, Arc::new(Planner::new(map, FaultyRows::default())), BASELINE)
}

/// One channel of [`system`], with consecutive rows in consecutive banks.
fn config(refresh: Refresh) -> Config {
    config_of(system(1, refresh), MapPreset::RowInterleaved)
}

const fn bank(bank: u8) -> BankId {
    BankId { rank: 0, bank }
}

/// Address of a line under [`config`]: consecutive rows of a bank lie in its 128 subarrays of 512 rows.
const fn line(bank: u64, row: u64, column: u64) -> PhysicalAddress {
    let (subarray, row) = (row / 512, row % 512);
    PhysicalAddress(((row * 128 + subarray) * 8 + bank) * 4096 + column * 64)
}

/// A read of one line.
const fn read(address: PhysicalAddress) -> Operation {
    Operation::Read { address, bytes: 64 }
}

/// A write of one line.
const fn write(address: PhysicalAddress) -> Operation {
    Operation::Write { address, bytes: 64 }
}

/// Requests of source 0, numbered from 0, each with its arrival.
fn requests(list: &[(u64, Operation)]) -> Vec<Request> {
    let request = |(id, &(arrival, operation)): (u64, &(u64, Operation))| Request {
        id: RequestId(id),
        source: SourceId(0),
        arrival: Some(Cycle(arrival)),
        operation,
        payload: None,
    };
    (0..).zip(list).map(request).collect()
}
