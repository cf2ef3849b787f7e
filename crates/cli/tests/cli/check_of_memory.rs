//! `run --check` reports that memory is not what a flat array holds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cli::experiment::{self, Wanted};
use cli::pricing;
use dram_spec::AddressMap;
use dram_spec::address::Preset;
use report::CheckReport;

use crate::common::Directory;

/// What the check finds of one operation where the flat array has another address map than its controller: the line lies in the other channel.
fn check(operation: &str) -> CheckReport {
    let directory = Directory::sound();
    let text = format!(
        "system = \"system.toml\"\npolicies = [\"rule\"]\nseed = 1\n[[operation]]\ndst = 0x40_0040\n{operation}"
    );
    std::fs::write(directory.path("scenario.toml"), text).unwrap();
    let mut scenario = directory.scenario(&[]).unwrap();
    let other = Preset::LineInterleaved.raw();
    scenario.system.map = AddressMap::new(scenario.system.system.geometry, &other).unwrap();
    let (prices, stop) = (pricing::prices(&scenario.system).unwrap(), Arc::new(AtomicBool::new(false)));
    let wanted = Wanted { check: true, ..Wanted::new(&stop) };
    experiment::run(&scenario, &prices, scenario.variants()[0], wanted, None).unwrap().check.unwrap()
}

#[test]
fn a_wrong_read_and_wrong_cells_are_findings() {
    for (operation, found) in [
        ("kind = \"read\"\nbytes = 64\n", "read 0 returned a wrong byte at offset 0"),
        ("kind = \"write\"\nbytes = 64\n", "memory at 0x"),
        ("kind = \"zero\"\nbytes = 4096\n", "memory at 0x"),
    ] {
        let report = check(operation);
        let mismatch = report.memory_mismatch.as_deref().unwrap_or_default();
        assert!(mismatch.starts_with(found), "{operation}: {mismatch}");
        assert!(!report.memory_equal && !report.passed(), "{operation}");
        assert_eq!((report.violations, report.first_violations.len()), (0, 0), "the commands are legal");
    }
}
