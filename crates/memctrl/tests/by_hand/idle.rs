//! Commands while no request is in progress: only REF and the commands of power-down.

use dram_spec::address::MapPreset;
use dram_spec::geometry::native_row_bytes;
use dram_spec::{Cycles, Density, Geometry, PhysicalAddress, RawGeometry, Refresh, SpeedBin, System, Width};
use memctrl::{Config, PowerPolicy, RefreshPolicy};

use crate::drive::check;
use crate::{config, config_of, line, read, requests};

#[test]
fn without_refresh_nothing_is_issued_while_no_request_is_in_progress() {
    // tREFI is 4160: a row may stay open for 9 x 4160 cycles, and is closed before.
    let reads = requests(&[(0, read(line(0, 0, 0))), (30_000, read(line(0, 0, 1)))]);
    let expected = ["0 ACT r0 b0 row 0", "8 RD r0 b0 col 0", "30000 RD r0 b0 col 1"];
    check(&config(Refresh::Off), reads, 30_100, &expected);
}

/// tRAS is at most 9 tREFI = 37,440 cycles; the rank yields 206 cycles before (`refresh.rs`).
#[test]
fn without_refresh_a_row_is_closed_before_it_has_been_open_for_too_long() {
    let reads = requests(&[(0, read(line(0, 0, 0))), (1_000_000, read(line(1, 0, 0)))]);
    let expected =
        ["0 ACT r0 b0 row 0", "8 RD r0 b0 col 0", "37234 PREA r0", "1000000 ACT r0 b1 row 0", "1000008 RD r0 b1 col 0"];
    check(&config(Refresh::Off), reads, 1_000_100, &expected);
}

#[test]
fn with_refresh_exactly_the_refreshes_are_issued_when_they_fall_due() {
    let reads = requests(&[(0, read(line(0, 0, 0))), (1_000_000, read(line(0, 0, 1)))]);
    let mut expected = vec!["0 ACT r0 b0 row 0".to_string(), "8 RD r0 b0 col 0".to_string()];
    expected.extend(["4160 PREA r0".to_string(), "4168 REF r0".to_string()]);
    // 240 x 4160 = 998,400 is the last before the second read.
    expected.extend((2..=240).map(|number| format!("{} REF r0", 4160 * number)));
    expected.extend(["1000000 ACT r0 b0 row 0".to_string(), "1000008 RD r0 b0 col 1".to_string()]);
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(&config(Refresh::NORMAL), reads, 1_000_100, &expected);
}

#[test]
fn an_idle_rank_sleeps_between_its_refreshes() {
    let power = PowerPolicy { power_down_after: Some(Cycles(50)), self_refresh_after: None };
    let reads = requests(&[(0, read(line(0, 0, 0))), (10_000, read(line(0, 0, 1)))]);
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "58 PDE r0",
        // tXP 4 from PDX to PREA, tRP 8 to REF; tREFPDEN 1: the rank has been idle for more than 50 cycles.
        "4160 PDX r0",
        "4164 PREA r0",
        "4172 REF r0",
        "4173 PDE r0",
        "8320 PDX r0",
        "8324 REF r0",
        // tXPDLL 13 after PDX, since a REF came in between.
        "8333 PDE r0",
        "10000 PDX r0",
        "10004 ACT r0 b0 row 0",
        "10012 RD r0 b0 col 1",
        "10062 PDE r0",
    ];
    check(&Config { power, ..config(Refresh::NORMAL) }, reads, 10_100, &expected);
}

#[test]
fn a_rank_in_self_refresh_is_left_alone() {
    let power = PowerPolicy { power_down_after: Some(Cycles(50)), self_refresh_after: Some(Cycles(5000)) };
    let refresh = RefreshPolicy { postpone_max: 8, ..RefreshPolicy::default() };
    let reads = requests(&[(0, read(line(0, 0, 0))), (1_000_000, read(line(0, 0, 1)))]);
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "58 PDE r0",
        "4160 PDX r0",
        "4164 PREA r0",
        "4172 REF r0",
        "4173 PDE r0",
        // 5000 cycles after the last RD, or the PREA: PDX, then SRE tXP 4 later.
        "5008 PDX r0",
        "5012 SRE r0",
        "1000000 SRX r0",
        // tXS = tRFC + 10 ns: 91; tDLLK 512
        "1000091 ACT r0 b0 row 0",
        "1000512 RD r0 b0 col 1",
        "1000562 PDE r0",
    ];
    check(&Config { power, refresh, ..config(Refresh::NORMAL) }, reads, 1_000_600, &expected);
}

/// One rank at DDR4-2400R, 8 Gb x8: tXP 8, tRP 16, tXS 432, tDLLK 768, tREFPDEN 2.
fn ddr4() -> Config {
    let (bin, density, width) = (SpeedBin::named("DDR4-2400R").unwrap(), Density::Gb8, Width::X8);
    let paper = System::paper(1, Density::Gb2, width).geometry.raw();
    let row_bytes = native_row_bytes(bin.standard, density, width);
    let geometry = Geometry::try_from(RawGeometry { standard: bin.standard, density, row_bytes, ..paper }).unwrap();
    config_of(System::new(bin, geometry), MapPreset::RowInterleaved)
}

/// JESD79-4, 4.27: a rank that left self-refresh has a REF before its next power-down.
#[test]
fn in_ddr4_a_refresh_comes_between_self_refresh_and_power_down() {
    let power = PowerPolicy { power_down_after: Some(Cycles(50)), self_refresh_after: Some(Cycles(1000)) };
    let reads = requests(&[(0, read(PhysicalAddress(0))), (20_000, read(PhysicalAddress(64)))]);
    let expected = [
        "0 ACT r0 b0 row 0",
        "16 RD r0 b0 col 0",
        "66 PDE r0",
        "1016 PDX r0",
        "1024 PREA r0",
        "1040 SRE r0",
        "20000 SRX r0",
        "20432 ACT r0 b0 row 0",
        "20768 RD r0 b0 col 1",
        "20818 PREA r0",
        "20834 REF r0",
        "20836 PDE r0",
    ];
    check(&Config { power, ..ddr4() }, reads, 21_000, &expected);
}
