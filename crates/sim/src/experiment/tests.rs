use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, PhysicalAddress};
use host::{OperationKind, OperationSpec};
use memctrl::policy::copy::ROWCLONE;

use super::*;
use crate::SystemBuilder;

/// Results of the checks of one operation if the flat memory has another address map than the
/// controller: the line lies in the other channel.
fn check(kind: OperationKind, bytes: u64) -> CheckReport {
    let system = SystemBuilder::default().build().unwrap();
    let other = AddressMap::preset(system.system().geometry, MapPreset::LineInterleaved);
    let check = Some(Contents::new(1, other));
    let (policy, seed, warm_up, epoch) = (ROWCLONE, 1, Cycles(0), None);
    let run = RunSettings { system: &system, policy, seed, warm_up, epoch, check, is_listed: true };
    let spec = OperationSpec { kind, src: None, dst: PhysicalAddress(0x40_0040), bytes, value: 0, at: None };
    let listed = spec.resolve(system.planner()).unwrap();
    run.operations(&[listed], Attachments::default()).unwrap().check.unwrap()
}

#[test]
fn a_wrong_read_and_wrong_cells_are_findings() {
    for (kind, bytes, found) in [
        (OperationKind::Read, 64, "read 0 returned a wrong byte at offset 0"),
        (OperationKind::Write, 64, "memory at 0x"),
        (OperationKind::Zero, 4096, "memory at 0x"),
    ] {
        let report = check(kind, bytes);
        let mismatch = report.memory_mismatch.as_deref().unwrap_or_default();
        assert!(mismatch.starts_with(found), "{kind:?}: {mismatch}");
        assert!(!report.memory_equal && !report.passed(), "{kind:?}");
        assert_eq!((report.violations, report.first_violations.len()), (0, 0), "the commands are legal");
    }
}
